// examples/flat-engine: what its README says of accuracy, counted work and the void, over the first milliseconds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "monolithic_fixture.hpp"

namespace mdpcosim {
namespace {

class flat_engine : public test::monolithic {};

TEST_F(flat_engine, against_one_system) {
    const test::settings time{{"time.end", "10 ms"}};
    const auto all = [](std::string_view) { return true; };
    const auto read = [&](const char* file) {
        return read_scenario(test::examples / "flat-engine" / file, overrides(time));
    };
    const run_summary whole = run_into("whole", read("scenario.yaml"), true),
                      four = run_into("four", read("scenario.yaml"), false),
                      two = run_into("two", read("two.yaml"), false);
    ASSERT_EQ(four.status, "done") << four.message;
    ASSERT_EQ(two.status, "done") << two.message;
    const result_table exact = read_results(folder / "whole", all), parts = read_results(folder / "four", all),
                       halves = read_results(folder / "two", all);
    for (const char* name : {"right-contact.u", "left-contact.u", "right-tensioner.chamber.pressure",
                             "left-tensioner.chamber.pressure", "left-tensioner.inlet.pressure",
                             "left-tensioner.valve.lift", "right.upper.shaft.angle", "left.rail.shoe.position"})
        EXPECT_LT(test::shown(name, test::difference(parts, name, exact, name)), 0.02) << name;
    EXPECT_LT(test::difference(halves, "tensioners.left-chamber.pressure", exact, "left-tensioner.chamber.pressure"),
              0.02);

    const auto evaluations = [](const run_summary& s, std::size_t i) {
        return static_cast<double>(s.subsystems.at(i).evaluations);
    };
    fmt::print("evaluations: {} as one, chains {} and {}, tensioners {} and {}\n", evaluations(whole, 0),
               evaluations(four, 0), evaluations(four, 1), evaluations(four, 2), evaluations(four, 3));
    EXPECT_GT(evaluations(whole, 0), 6 * std::max(evaluations(four, 0), evaluations(four, 1)));

    // The left chamber cavitates: a void, and never less than the vapour pressure.
    const std::size_t pressure = test::column(parts, "left-tensioner.chamber.pressure"),
                      empty = test::column(parts, "left-tensioner.chamber.void");
    double lowest = INFINITY, largest = 0;
    for (std::size_t row = 0; row < parts.rows(); ++row) {
        lowest = std::min(lowest, parts.value(row, pressure));
        largest = std::max(largest, parts.value(row, empty));
    }
    EXPECT_EQ(lowest, 1000);
    EXPECT_GT(test::shown("largest void [m3]", largest), 1e-9);
}

}  // namespace
}  // namespace mdpcosim
