// Runs through the facade: what stands in the run folder, however the run ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "core/json.hpp"
#include "results/run_folder.hpp"
#include "scenario/read.hpp"
#include "simulation/check.hpp"
#include "simulation/run.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

const std::set<std::string> files_of_a_run{"coupling.json", "profile.json", "results.csv", "results.h5",
                                           "scenario.yaml", "summary.json", "system.json"};

namespace fs = std::filesystem;
using test::content;
using test::temporary_folder;
using testing::HasSubstr;

const std::string two_mass = R"(mdpcosim: 1
time: {end: 1 s, step: 1 ms}
subsystems:
  A: {model: mass-spring-damper, set: {stiffness: 100 N/m, x0: 10 mm}, solver: rk4}
  B: {model: mass-spring-damper, set: {stiffness: 100 N/m}, solver: rk4}
connections:
  spring: {law: spring, between: [A.mass, B.mass], stiffness: 1 kN/m}
record: {every: 10 ms}
)";

/// x' = x^2 from x(0) = 2 is 1/(1/2 - t): it grows beyond all bounds at 0.5 s.
const std::string blows_up = R"(mdpcosim: 1
time: {end: 1 s, step: 1 ms}
subsystems:
  calm: {model: mass-spring-damper, set: {stiffness: 100 N/m, x0: 10 mm}, solver: rk4}
  wild: {ode: {states: {x: 2}, equations: {x: x^2}}, solver: rk4}
  idle: {model: lag-1, solver: rk4}
signals:
  - calm.mass.position -> idle.u
)";

run_summary run_text(const std::string& text, const fs::path& out, int workers = 1,
                     const std::atomic<bool>* interrupt = nullptr) {
    return run(read_scenario_text(text, "test.yaml"), {.out = out, .workers = workers, .interrupt = interrupt});
}

struct table {
    std::vector<std::string> names;
    std::vector<std::vector<double>> rows;

    explicit table(const fs::path& file) {
        std::istringstream in(content(file));
        std::string line, field;
        std::getline(in, line);
        for (std::istringstream fields(line); std::getline(fields, field, ',');) names.push_back(field);
        while (std::getline(in, line)) {
            EXPECT_FALSE(in.eof()) << "the last line has no end";
            rows.emplace_back();
            for (std::istringstream fields(line); std::getline(fields, field, ',');)
                rows.back().push_back(std::stod(field));
            EXPECT_EQ(rows.back().size(), names.size()) << line;
        }
    }
};

std::set<std::string> names_in(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
    return names;
}

TEST(run, follows_the_exact_solution_and_writes_its_files) {
    const temporary_folder folder;
    const run_summary s = run_text(two_mass, folder / "out");
    EXPECT_EQ(s.status, "done");
    EXPECT_EQ(names_in(folder / "out"), files_of_a_run);
    const table t(folder / "out/results.csv");
    EXPECT_EQ(t.names,
              (std::vector<std::string>{"time", "A.mass.position", "A.mass.velocity", "A.mass.acceleration",
                                        "B.mass.position", "B.mass.velocity", "B.mass.acceleration", "spring.u"}));
    ASSERT_EQ(t.rows.size(), 101u);
    const double w1 = 10, w2 = std::sqrt(2100.0);
    for (std::size_t i = 0; i < t.rows.size(); ++i) {
        const double time = t.rows[i][0];
        ASSERT_NEAR(time, 0.01 * static_cast<double>(i), 1e-12);
        ASSERT_NEAR(t.rows[i][1], 0.005 * (std::cos(w1 * time) + std::cos(w2 * time)), 2e-6);
        ASSERT_NEAR(t.rows[i][4], 0.005 * (std::cos(w1 * time) - std::cos(w2 * time)), 2e-6);
        ASSERT_EQ(t.rows[i][7], 1000 * (t.rows[i][1] - t.rows[i][4]));
    }
}

TEST(run, the_summary_has_the_facts) {
    const temporary_folder folder;
    const run_summary s = run_text(two_mass, folder / "out");
    const json j = json::parse(content(folder / "out/summary.json"));
    EXPECT_EQ(j, json::parse(to_json(s)));
    EXPECT_EQ(j["status"], "done");
    EXPECT_EQ(j["message"], "");
    EXPECT_EQ(j["method"], "explicit");
    EXPECT_EQ(j["time"], (json{{"start", 0.0}, {"end", 1.0}, {"step", 1e-3}, {"reached", 1.0}}));
    EXPECT_EQ(j["macro_steps"], 1000);
    EXPECT_EQ(j["rows"], 101);
    EXPECT_EQ(j["workers"], 1);
    ASSERT_EQ(j["subsystems"].size(), 2u);
    EXPECT_EQ(j["subsystems"][1]["name"], "B");
    EXPECT_EQ(j["subsystems"][1]["type"], "model mass-spring-damper");
    EXPECT_EQ(j["subsystems"][1]["solver"], "rk4");
    // The first macro step is done in ten parts.
    EXPECT_EQ(j["subsystems"][1]["micro_steps"], 1000 + 9);
    EXPECT_EQ(j["subsystems"][1]["evaluations"], 4 * (1000 + 9));
    ASSERT_EQ(j["connections"].size(), 1u);
    EXPECT_EQ(j["connections"][0]["law"], "spring");
    // Extremes are those of all macro points: u = 1000 (x_A - x_B) = 10 cos(w2 t), up to 10.
    EXPECT_EQ(j["connections"][0]["u_max"], 10.0);
    EXPECT_NEAR(j["connections"][0]["u_min"].get<double>(), -10, 0.05);
    const table t(folder / "out/results.csv");
    EXPECT_EQ(j["connections"][0]["u_end"], t.rows.back()[7]);
}

TEST(run, replaces_a_finished_run_and_keeps_foreign_files) {
    const temporary_folder folder;
    run_text(two_mass, folder / "out");
    const std::string first = content(folder / "out/results.csv");
    test::write_file(folder / "out/notes.txt", "mine");
    test::write_file(folder / "out/results.csv", "spoilt");
    run_text(two_mass, folder / "out");
    EXPECT_EQ(content(folder / "out/results.csv"), first);
    EXPECT_EQ(content(folder / "out/notes.txt"), "mine");
}

TEST(run, refuses_the_folder_of_a_running_one) {
    const temporary_folder folder;
    const run_folder held(folder / "out");
    test::write_file(folder / "out/results.csv", "of the other run");
    EXPECT_THROW(run_text(two_mass, folder / "out"), user_error);
    EXPECT_EQ(content(folder / "out/results.csv"), "of the other run");
}

TEST(run, a_mistake_in_the_scenario_leaves_the_last_run_alone) {
    const temporary_folder folder;
    run_text(two_mass, folder / "out");
    const std::string first = content(folder / "out/results.csv");
    std::string wrong = two_mass;
    wrong.replace(wrong.find("B.mass]"), 7, "C.mass]");
    EXPECT_THROW(run_text(wrong, folder / "out"), user_error);
    EXPECT_EQ(content(folder / "out/results.csv"), first);
    EXPECT_EQ(names_in(folder / "out"), files_of_a_run);
}

TEST(run, a_failing_subsystem_is_named_and_what_was_recorded_is_there) {
    std::string first;
    for (const int workers : {1, 2, 3}) {
        const temporary_folder folder;
        const run_summary s = run_text(blows_up, folder / "out", workers);
        EXPECT_EQ(s.status, "failed");
        EXPECT_THAT(s.message, testing::StartsWith("subsystem 'wild' failed at t = "));
        EXPECT_THAT(s.message, HasSubstr("is inf (macro step "));
        EXPECT_GE(s.reached, 0.49);
        EXPECT_LT(s.reached, 0.6);
        EXPECT_EQ(s.steps, std::lround(s.reached / 1e-3));
        const table t(folder / "out/results.csv");
        ASSERT_EQ(t.rows.size(), static_cast<std::size_t>(s.steps) + 1);
        EXPECT_EQ(t.rows.back()[0], s.reached);
        for (const auto& row : t.rows)
            for (const double value : row) ASSERT_TRUE(std::isfinite(value));
        for (std::size_t i = 0; i < 400; ++i) ASSERT_NEAR(t.rows[i][4], 1 / (0.5 - t.rows[i][0]), 1e-6 * t.rows[i][4]);
        const json j = json::parse(content(folder / "out/summary.json"));
        EXPECT_EQ(j["status"], "failed");
        EXPECT_EQ(j["message"], s.message);
        EXPECT_EQ(j["time"]["reached"], s.reached);
        EXPECT_EQ(j["rows"], t.rows.size());
        EXPECT_EQ(names_in(folder / "out"), files_of_a_run);
        if (first.empty()) first = s.message;
        EXPECT_EQ(s.message, first);  // whatever the number of workers
    }
}

/// 1/x at x = 0: the outputs are not finite before the first step.
TEST(run, a_subsystem_that_fails_at_the_start) {
    const temporary_folder folder;
    const run_summary s = run_text(R"(mdpcosim: 1
time: {end: 1 s, step: 1 ms}
subsystems:
  bad: {ode: {states: {x: 0}, equations: {x: 1}, outputs: {y: 1/x}}, solver: rk4}
)",
                                   folder / "out");
    EXPECT_EQ(s.status, "failed");
    EXPECT_THAT(s.message, HasSubstr("subsystem 'bad' failed at t = 0 s: output 'y' is inf"));
    EXPECT_EQ(s.steps, 0);
    EXPECT_EQ(content(folder / "out/results.csv"), "time,bad.x,bad.y\n");
    EXPECT_EQ(json::parse(content(folder / "out/summary.json"))["status"], "failed");
}

/// 1/u is infinite for the start value of u and finite for the value that the signal gives.
TEST(run, start_values_of_connected_inputs_do_not_matter) {
    const temporary_folder folder;
    const run_summary s = run_text(R"(mdpcosim: 1
time: {end: 0.1 s, step: 1 ms}
subsystems:
  inverse: {ode: {inputs: {u: 0}, outputs: {y: 1/u}}, solver: rk4}
  again: {ode: {inputs: {u: 0}, outputs: {y: 1/u}}, solver: rk4}
  src: {model: source, set: {kind: sine, offset: 2}, solver: rk4}
signals:
  - src.y -> again.u
  - again.y -> inverse.u
)",
                                   folder / "out");
    EXPECT_EQ(s.status, "done") << s.message;
    EXPECT_EQ(table(folder / "out/results.csv").rows[0], (std::vector<double>{0, 2, 0.5, 2}));
}

TEST(run, an_interrupt_ends_in_order) {
    const temporary_folder folder;
    const std::atomic<bool> interrupt{true};
    const run_summary s = run_text(two_mass, folder / "out", 2, &interrupt);
    EXPECT_EQ(s.status, "interrupted");
    EXPECT_EQ(s.message, "interrupted at t = 0.001 s");
    EXPECT_EQ(s.steps, 1);
    const table t(folder / "out/results.csv");
    ASSERT_EQ(t.rows.size(), 2u);
    EXPECT_EQ(t.rows[1][0], 1e-3);
    EXPECT_EQ(json::parse(content(folder / "out/summary.json"))["status"], "interrupted");
}

TEST(run, results_that_cannot_be_written_fail_the_run) {
    const temporary_folder folder;
    run_text(two_mass, folder / "out");
    fs::remove(folder / "out/results.csv");
    fs::create_directories(folder / "out/results.csv/in-the-way");
    const run_summary s = run_text(two_mass, folder / "out");
    EXPECT_EQ(s.status, "failed");
    EXPECT_THAT(s.message, HasSubstr("results.csv: the results cannot be opened"));
    EXPECT_EQ(json::parse(content(folder / "out/summary.json"))["message"], s.message);
    EXPECT_FALSE(fs::exists(folder / "out/.running"));
}

/// The summary cannot replace a folder of its name: the run has failed, though its results are whole.
TEST(run, a_summary_that_cannot_be_written_fails_the_run) {
    const temporary_folder folder;
    run_text(two_mass, folder / "out");
    fs::remove(folder / "out/summary.json");
    fs::create_directories(folder / "out/summary.json/in-the-way");
    const run_summary s = run_text(two_mass, folder / "out");
    EXPECT_EQ(s.status, "failed");
    EXPECT_THAT(s.message, HasSubstr("summary.json: the file cannot be written"));
    EXPECT_EQ(table(folder / "out/results.csv").rows.size(), 101u);
    EXPECT_EQ(s.subsystems.size(), 2u);
}

/// A chain of gains without states, in the file against its flow: every output that another subsystem takes is the product
/// at the same time, at every row.
TEST(run, a_chain_of_gains_has_no_delay) {
    const temporary_folder folder;
    run_text(R"(mdpcosim: 1
time: {end: 1 s, step: 10 ms}
subsystems:
  end: {model: lag-1, solver: rk4}
  c: {ode: {inputs: {u: 0}, outputs: {y: 5*u}}, solver: rk4}
  b: {ode: {inputs: {u: 0}, outputs: {y: 3*u}}, solver: rk4}
  a: {ode: {inputs: {u: 0}, outputs: {y: 2*u}}, solver: rk4}
  src: {model: source, set: {kind: chirp, frequency: 1 Hz, end-frequency: 20 Hz, offset: 0.5}, solver: rk4}
signals:
  - src.y -> a.u
  - a.y -> b.u
  - b.y + 1 -> c.u
  - c.y -> end.u
)",
             folder / "out");
    const table t(folder / "out/results.csv");
    ASSERT_EQ(t.names, (std::vector<std::string>{"time", "end.y", "c.y", "b.y", "a.y", "src.y"}));
    for (const auto& row : t.rows) {
        ASSERT_EQ(row[4], 2 * row[5]);
        ASSERT_EQ(row[3], 3 * row[4]);
        ASSERT_EQ(row[2], 5 * (row[3] + 1));
    }
}

}  // namespace
}  // namespace mdpcosim
