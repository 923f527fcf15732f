// Micro steps over time: recorded where they are asked for, on every transport, and of the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"
#include "results/result_table.hpp"
#include "scenario/read.hpp"
#include "simulation/run.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

scenario masses(const std::string& only) {
    return read_scenario_text(R"(time: {end: 20 ms, step: 1 ms}
subsystems:
  A: {model: mass-spring-damper, set: {mass: 1, stiffness: 1e4, x0: 1 mm}, solver: {name: rk4, step: 50 us}}
  B: {model: mass-spring-damper, set: {mass: 1, stiffness: 100}, solver: {name: rk4, step: 0.5 ms}}
connections:
  spring: {law: spring, between: [A.mass, B.mass], stiffness: 100}
reference: {solver: {name: rk4, step: 0.25 ms}}
record: {every: 2 ms, only: )" + only +
                                  "}\n",
                              "s.yaml");
}

/// The column without its first row.
std::vector<double> column(const std::filesystem::path& folder, const std::string& name) {
    const result_table t = read_results(folder, [](std::string_view) { return true; });
    const auto found = std::ranges::find(t.names, name);
    if (found == t.names.end()) throw std::logic_error("no column " + name);
    std::vector<double> values;
    for (std::size_t row = 0; row < t.rows(); ++row)
        values.push_back(t.value(row, static_cast<std::size_t>(found - t.names.begin())));
    EXPECT_TRUE(values.at(0) == 0 || !name.ends_with("micro-steps"));
    values.erase(values.begin());
    return values;
}

TEST(micro_steps, of_every_subsystem_between_rows) {
    for (const char* transport : {"threads", "processes"}) {
        const test::temporary_folder folder;
        const auto summary =
            run(masses("[\"*\", \"*.micro-steps\"]"), {.out = folder.path(), .workers = 2, .transport = transport});
        ASSERT_EQ(summary.status, "done") << summary.message;
        // The first macro step is done in parts, none of them shorter than a micro step.
        std::vector<double> a = column(folder.path(), "A.micro-steps"), b = column(folder.path(), "B.micro-steps");
        EXPECT_GE(a.at(0), 40) << transport;
        EXPECT_GE(b.at(0), 4) << transport;
        a[0] = 40;
        b[0] = 4;
        EXPECT_EQ(a, std::vector<double>(10, 40.0)) << transport;
        EXPECT_EQ(b, std::vector<double>(10, 4.0)) << transport;
        std::int64_t in_rows = 0;
        for (const double n : column(folder.path(), "A.micro-steps")) in_rows += static_cast<std::int64_t>(n);
        EXPECT_EQ(in_rows, summary.subsystems.at(0).micro_steps) << transport;
        EXPECT_EQ(column(folder.path(), "A.mass.position").size(), 10U);
    }
}

TEST(micro_steps, of_the_reference_are_those_of_its_one_solver) {
    const test::temporary_folder folder;
    const auto summary = run(masses("[A.micro-steps, B.micro-steps]"), {.out = folder.path(), .monolithic = true});
    ASSERT_EQ(summary.status, "done") << summary.message;
    EXPECT_EQ(column(folder.path(), "A.micro-steps"), std::vector<double>(10, 8.0));
    EXPECT_EQ(column(folder.path(), "B.micro-steps"), std::vector<double>(10, 8.0));
}

TEST(micro_steps, are_recorded_by_name_only) {
    const test::temporary_folder folder;
    run(masses("\"*\""), {.out = folder.path()});
    const result_table t = read_results(folder.path(), [](std::string_view) { return true; });
    EXPECT_THAT(t.names, testing::Not(testing::Contains(testing::HasSubstr("micro-steps"))));
    EXPECT_THROW(run(masses("C.micro-steps"), {.out = folder.path()}), user_error);
}

}  // namespace
}  // namespace mdpcosim
