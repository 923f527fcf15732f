// examples/valve-train: what its README says of accuracy and counted work, over the first milliseconds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "monolithic_fixture.hpp"

namespace mdpcosim {
namespace {

class valve_train_example : public test::monolithic {};

TEST_F(valve_train_example, against_one_system) {
    const std::filesystem::path file = test::examples / "valve-train/scenario.yaml";
    const test::settings time{{"time.end", "10 ms"}};
    test::settings exactly = time;
    exactly.insert(exactly.end(), {{"reference.solver.rtol", "1e-7"}, {"reference.solver.atol", "1e-10"}});
    const result_table exact = run("exact", file, true, exactly);
    const run_summary whole = run_into("whole", read_scenario(file, overrides(time)), true),
                      coupled = run_into("coupled", read_scenario(file, overrides(time)), false);
    ASSERT_EQ(coupled.status, "done") << coupled.message;
    const result_table parts = read_results(folder / "coupled", [](std::string_view) { return true; });
    for (const char* name : {"intake-flange.u", "exhaust-flange.u", "exhaust.shaft.speed", "intake.valve-1.lift",
                             "intake.adjuster-1.extension", "intake.rocker-1.cam-force", "chain.rail.shoe.position"})
        EXPECT_LT(test::shown(name, test::difference(parts, name, exact, name)), 0.02) << name;

    // Rocker 1.5, cam 6 mm, less what contacts, rocker and oil give way.
    const std::size_t lift = test::column(parts, "intake.valve-1.lift");
    double highest = 0;
    for (std::size_t row = 0; row < parts.rows(); ++row) highest = std::max(highest, parts.value(row, lift));
    EXPECT_NEAR(highest, 8.97e-3, 0.02e-3);

    const auto evaluations = [](const run_summary& s, std::size_t i) {
        return static_cast<double>(s.subsystems.at(i).evaluations);
    };
    fmt::print("evaluations: {} as one, {} chain, {} intake, {} exhaust\n", evaluations(whole, 0),
               evaluations(coupled, 0), evaluations(coupled, 1), evaluations(coupled, 2));
    EXPECT_LT(3 * evaluations(coupled, 0), evaluations(whole, 0));  // the chain need not follow the valves' contacts
    EXPECT_LT(evaluations(coupled, 1), 1.05 * evaluations(whole, 0));
    EXPECT_LT(evaluations(coupled, 2), 1.05 * evaluations(whole, 0));
}

}  // namespace
}  // namespace mdpcosim
