#include "results/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/json.hpp"

namespace mdpcosim {
namespace {

run_summary example() {
    run_summary s;
    s.scenario = "two-mass/scenario.yaml";
    s.folder = "two-mass.out";
    s.status = "failed";
    s.message = "subsystem 'A' failed";
    s.method = "explicit";
    s.transport = "threads";
    s.start = 0;
    s.end = 2;
    s.step = 0.1;
    s.reached = 0.30000000000000004;
    s.steps = 3;
    s.parallel_steps = 1;
    s.rows = 4;
    s.workers = 2;
    s.wall_seconds = 0.5;
    s.setup_seconds = 0.25;
    s.subsystems.push_back({"A", "model mass", "rk4", 3, 12, 1, 2, 1e-6, 1, 0, 0});
    s.connections.push_back(
        {"c", "spring (stiffness = 1 N/m)", "lin-2-3-opt", -1, 2, 0.5, "N", 0.25, 0.125, 0.5, 8, 2, 0.1, 0.2, 0.3, 4});
    s.judged.emplace();
    s.judged->add(trust::doubtful, "something", "do something");
    s.judged->add(trust::wrong, "something worse", "");
    s.notes = {"a note"};
    return s;
}

TEST(summary, json_holds_every_fact) {
    const auto j = json::parse(to_json(example()));
    EXPECT_EQ(j["scenario"], "two-mass/scenario.yaml");
    EXPECT_EQ(j["folder"], "two-mass.out");
    EXPECT_EQ(j["status"], "failed");
    EXPECT_EQ(j["message"], "subsystem 'A' failed");
    EXPECT_EQ(j["method"], "explicit");
    EXPECT_EQ(j["transport"], "threads");
    EXPECT_EQ(j["time"], (json{{"start", 0.0}, {"end", 2.0}, {"step", 0.1}, {"reached", 0.30000000000000004}}));
    EXPECT_EQ(j["macro_steps"], 3);
    EXPECT_EQ(j["parallel_macro_steps"], 1);
    EXPECT_EQ(j["workers"], 2);
    EXPECT_EQ(j["rows"], 4);
    EXPECT_EQ(j["wall_seconds"], 0.5);
    EXPECT_EQ(j["setup_seconds"], 0.25);
    EXPECT_EQ(j["subsystems"][0], (json{{"name", "A"},
                                        {"type", "model mass"},
                                        {"solver", "rk4"},
                                        {"micro_steps", 3},
                                        {"evaluations", 12},
                                        {"rejected", 1},
                                        {"events", 2},
                                        {"seconds_per_macro_step", 1e-6},
                                        {"worker", 1}}));
    run_summary implicit = example();
    implicit.subsystems[0].newton_iterations = 40;
    implicit.subsystems[0].factorisations = 7;
    const auto k = json::parse(to_json(implicit));
    EXPECT_EQ(k["subsystems"][0]["newton_iterations"], 40);
    EXPECT_EQ(k["subsystems"][0]["factorisations"], 7);
    EXPECT_EQ(j["verdict"]["level"], "wrong");
    EXPECT_EQ(j["verdict"]["reasons"][0]["text"], "something worse");
    EXPECT_EQ(j["verdict"]["reasons"][1]["remedy"], "do something");
    EXPECT_EQ(to_text(*example().judged),
              "verdict: wrong\n  wrong: something worse\n  doubtful: something\n    do something\n");
    EXPECT_EQ(j["connections"][0], (json{{"name", "c"},
                                         {"law", "spring (stiffness = 1 N/m)"},
                                         {"extrapolation", "lin-2-3-opt"},
                                         {"unit", "N"},
                                         {"u_min", -1.0},
                                         {"u_max", 2.0},
                                         {"u_end", 0.5},
                                         {"jump_max", 0.25},
                                         {"jump_rms", 0.125},
                                         {"energy_error", 0.5},
                                         {"energy_exchanged", 8.0},
                                         {"energy_peak", 2.0},
                                         {"energy_error_share", 0.25},
                                         {"energy_error_share_per_second", 0.25 / example().reached},
                                         {"unresolved", 0.1},
                                         {"phase_error", 0.2},
                                         {"amplitude_error", 0.3},
                                         {"contacts", 4}}));
    EXPECT_EQ(j["notes"], json::array({"a note"}));
}

/// Before the first macro point there are no extremes; JSON has no infinity, and names may hold any bytes.
TEST(summary, json_stays_valid_without_numbers_and_with_strange_names) {
    run_summary s = example();
    s.connections[0].u_min = std::numeric_limits<double>::infinity();
    s.message = "bad \xff byte, \"quotes\"\n";
    const auto j = json::parse(to_json(s));
    EXPECT_TRUE(j["connections"][0]["u_min"].is_null());
    EXPECT_THAT(j["message"].get<std::string>(), testing::HasSubstr("\"quotes\"\n"));
}

TEST(summary, table_names_subsystems_and_connections) {
    const std::string table = to_table(example());
    EXPECT_THAT(table, testing::StartsWith("failed: 3 macro steps to t = 0.3 s in 500 ms (167 ms per step, "
                                           "2 workers, 1 steps in parallel)\n"));
    EXPECT_THAT(table, testing::ContainsRegex("A +model mass +rk4 +3 +2 +1 us"));
    EXPECT_THAT(table, testing::ContainsRegex("c +spring .stiffness = 1 N/m. +lin-2-3-opt +-1 +2 N +8.3 % +25 %"));
    EXPECT_THAT(table, testing::HasSubstr("note: a note"));
}

TEST(summary, long_tables_are_cut) {
    run_summary s;
    for (int i = 0; i < 40; ++i) s.subsystems.push_back({.name = "s" + std::to_string(i), .type = "", .solver = ""});
    const std::string table = to_table(s);
    EXPECT_THAT(table, testing::HasSubstr("s11"));
    EXPECT_THAT(table, testing::Not(testing::HasSubstr("s12 ")));
    EXPECT_THAT(table, testing::HasSubstr("... and 28 more in summary.json"));
    EXPECT_THAT(table, testing::HasSubstr("serial"));
}

}  // namespace
}  // namespace mdpcosim
