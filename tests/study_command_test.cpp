// Studies as a user starts them.
#include <gmock/gmock.h>

#include <signal.h>

#include <cmath>
#include <random>
#include <thread>

#include "assembly/fmu_scenario.hpp"
#include "core/json.hpp"
#include "process.hpp"
#include "simulation/simulation.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::test {
namespace {

namespace fs = std::filesystem;
using words = std::vector<std::string>;

const char* const strut = R"(
time: {end: 0.2 s, step: 1 ms}
subsystems:
  wheel: {model: mass-spring-damper, set: {mass: 40 kg, stiffness: 200 kN/m}}
  body:  {model: mass-spring-damper, set: {mass: 400 kg, x0: 20 mm}}
connections:
  strut: {law: spring-damper, between: [wheel.mass, body.mass], stiffness: 20 kN/m, damping: 1500 N.s/m}
)";

struct csv_table {
    std::vector<std::string> names;
    std::vector<words> rows;
    const std::string& cell(std::size_t row, const std::string& name) const {
        return rows.at(row).at(static_cast<std::size_t>(std::ranges::find(names, name) - names.begin()));
    }
    double number(std::size_t row, const std::string& name) const { return std::stod(cell(row, name)); }
};

/// Without quoted commas, which reasons may have: only what is before the last columns is looked at.
csv_table read_table(const fs::path& file) {
    csv_table t;
    std::istringstream in(content(file));
    for (std::string line; std::getline(in, line);) {
        words cells;
        std::istringstream fields(line);
        for (std::string cell; std::getline(fields, cell, ',');) cells.push_back(cell);
        (t.names.empty() ? t.names : t.rows.emplace_back()) = cells;
    }
    return t;
}

/// All but wall time, and the reason behind it.
std::string lasting(const fs::path& file) {
    const csv_table t = read_table(file);
    std::string all;
    for (const words& row : t.rows) {
        for (std::size_t k = 0; k + 1 < t.names.size() && t.names[k] != "seconds"; ++k) all += row.at(k) + ",";
        all += "\n";
    }
    return all;
}

class study_command : public testing::Test {
   protected:
    std::string write(const std::string& name, const std::string& text) const {
        write_file(folder_ / name, text);
        return (folder_ / name).string();
    }
    process::outcome study(const std::string& file, words more = {}, words before = {}) const {
        words command = std::move(before);
        command.insert(command.end(), {MDPCOSIM_PROGRAM, "study", file, "--out", (folder_ / "out").string()});
        command.insert(command.end(), more.begin(), more.end());
        return process(command, {}).wait();
    }
    fs::path out(const char* name) const { return folder_ / "out" / name; }

    temporary_folder folder_;
};

/// The last values of single runs are the table's, to the last bit, where one simulation is reset for all variants and where each has one of its own.
TEST_F(study_command, variants_are_single_runs) {
    const std::string scenario = write("s.yaml", strut);
    for (const bool resets : {true, false}) {
        const std::string second = resets ? "wheel.stiffness" : "strut.damping";
        const std::string file = write(
            "study.yaml", fmt::format("scenario: s.yaml\nvary:\n  body.mass: {{from: 300 kg, to: 500 kg, count: 7}}\n"
                                      "  {}: [1234.5, 2e3, 3.3e3]\nmeasure:\n  x: {{end: body.mass.position}}\n"
                                      "  u: {{max: strut.u}}\n",
                                      second));
        const auto outcome = study(file, {"--json"});
        ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
        EXPECT_EQ(json::parse(outcome.out)["one-simulation"].get<bool>(), resets);
        const csv_table t = read_table(out("table.csv"));
        ASSERT_EQ(t.rows.size(), 21U);
        for (std::size_t k = 0; k < t.rows.size(); ++k) {
            simulation alone(load_scenario(scenario, {{"body.mass", t.cell(k, "body.mass") + " kg", "test"},
                                                      {second, t.cell(k, second), "test"}}),
                             {.workers = 1});
            alone.initialise();
            double most = alone.value("strut.u");
            while (!alone.done()) {
                alone.step();
                most = std::max(most, alone.value("strut.u"));
            }
            EXPECT_EQ(t.number(k, "x"), alone.value("body.mass.position")) << k;
            EXPECT_EQ(t.number(k, "u"), most) << k;
            EXPECT_EQ(t.cell(k, "status"), "done");
        }
    }
}

/// Killed at any moment, a study loses nothing that its workers had finished, and ends with the table of one that was left alone.
TEST_F(study_command, resumes_after_being_killed) {
    write("s.yaml", strut);
    const std::string file =
        write("study.yaml",
              "scenario: s.yaml\nvary:\n  body.mass: {from: 300 kg, to: 500 kg, count: 40}\n"
              "  strut.damping: {from: 1, to: 5000, count: 20}\nmeasure:\n  x: {end: body.mass.position}\n");
    ASSERT_EQ(study(file).exit_status, 0);
    const std::string whole = lasting(out("table.csv"));
    fs::remove_all(folder_ / "out");
    std::mt19937 dice(5);
    int killed = 0;
    for (bool first = true; killed < 6; first = false) {
        words command{MDPCOSIM_PROGRAM, "study", file, "--out", (folder_ / "out").string()};
        if (!first && fs::exists(out("study.json"))) command.emplace_back("--resume");
        process running(command, {});
        std::this_thread::sleep_for(std::chrono::milliseconds(30 + dice() % 250));
        ::kill(running.id(), SIGKILL);
        const auto outcome = running.wait();
        if (outcome.exit_status == 0) break;  // it was quicker
        ++killed;
    }
    ASSERT_GT(killed, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // workers hear of it
    std::size_t there = 0;
    for (const auto& part : fs::directory_iterator(folder_ / "out" / "parts")) {
        if (part.path().extension() != ".rows") continue;
        std::istringstream in(content(part.path()));
        for (std::string line; std::getline(in, line) && !in.eof();) there += line.starts_with("row\t");
    }
    const auto refused = study(file);
    if (refused.exit_status == 2) {
        EXPECT_THAT(refused.err, testing::HasSubstr("--resume"));
    }
    const auto outcome = study(file, {"--resume", "--json"});
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    if (refused.exit_status == 2) {
        EXPECT_EQ(json::parse(outcome.out)["already-there"].get<std::size_t>(), there);
    }
    EXPECT_EQ(lasting(out("table.csv")), whole);
    // What belongs to something else is not taken.
    write("s.yaml", std::string(strut) + "monitor: {divergence: note}\n");
    const auto other = study(file, {"--resume"});
    EXPECT_EQ(other.exit_status, 2);
    EXPECT_THAT(other.err, testing::HasSubstr("another study"));
}

TEST_F(study_command, runs_are_kept_where_that_is_wanted) {
    write("s.yaml", std::string(strut) + "record: {every: 10 ms}\n");
    const auto outcome = study(write(
        "study.yaml",
        "scenario: s.yaml\nvary: {body.mass: [300 kg, 400 kg]}\nkeep: all\nmeasure: {x: {end: body.mass.position}}\n"));
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    const csv_table t = read_table(out("table.csv"));
    for (std::size_t k = 0; k < 2; ++k) {
        const csv_table run = read_table(out("runs") / std::to_string(k) / "results.csv");
        EXPECT_EQ(run.cell(run.rows.size() - 1, "body.mass.position"), t.cell(k, "x"));
    }
}

/// A crash costs one variant, and so does a mistake in a value.
TEST_F(study_command, failed_variants_are_rows_with_their_reason) {
    write("s.yaml", fmt::format("time: {{end: 0.1 s, step: 10 ms}}\nsubsystems:\n  a: {{fmu: {}/fmus/misbehave-2.fmu, "
                                "isolate: false, set: {{where: step, when: 0.05}}}}\n",
                                MDPCOSIM_BINARY_DIR));
    const auto outcome = study(write("study.yaml",
                                     "scenario: s.yaml\nvary:\n  a.how: [nothing, crash, nothing, raw-exit-0, error, "
                                     "nothing]\nmeasure:\n  y: {end: a.y}\n"),
                               {"--workers", "2"});
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    const csv_table t = read_table(out("table.csv"));
    ASSERT_EQ(t.rows.size(), 6U);
    for (std::size_t k = 0; k < 6; ++k) {
        const bool good = t.cell(k, "a.how") == "nothing";
        EXPECT_EQ(t.cell(k, "status"), good ? "done" : "failed") << k;
        EXPECT_EQ(t.cell(k, "y").empty(), !good) << k;
    }
    const std::string all = content(out("table.csv"));
    EXPECT_THAT(all, testing::HasSubstr("the process that ran it was killed by signal 11"));
    EXPECT_THAT(all, testing::HasSubstr("the process that ran it ended"));

    write("s.yaml", strut);
    const auto values = study(write(
        "study.yaml",
        "scenario: s.yaml\nvary:\n  body.mass: [100 kg, -1 kg, 200 kg]\nmeasure:\n  x: {end: body.mass.position}\n"));
    ASSERT_EQ(values.exit_status, 0) << values.err;
    EXPECT_EQ(read_table(out("table.csv")).cell(1, "status"), "failed");
    EXPECT_EQ(read_table(out("table.csv")).cell(2, "status"), "done");
    EXPECT_THAT(content(out("table.csv")), testing::HasSubstr("body.mass"));
}

TEST_F(study_command, mistakes_are_told_before_anything_is_run) {
    write("s.yaml", strut);
    const auto refused = [&](const std::string& text, words more = {}) {
        const auto outcome = study(write("study.yaml", "scenario: s.yaml\n" + text), std::move(more));
        EXPECT_EQ(outcome.exit_status, 2) << text;
        EXPECT_FALSE(fs::exists(folder_ / "out")) << text;
        return outcome.err;
    };
    EXPECT_THAT(refused("vary: {body.mas: [1 kg]}\n"),
                testing::AllOf(testing::HasSubstr("study.yaml:2:8"), testing::HasSubstr("Did you mean 'mass'?")));
    EXPECT_THAT(refused("vary: {body.mass: [1 N]}\n"), testing::HasSubstr("study.yaml:2:8"));
    EXPECT_THAT(refused("vary: {body.mass: [1 kg]}\nmeasure: {x: {max: body.mass.positon}}\n"),
                testing::HasSubstr("Did you mean"));
    EXPECT_THAT(refused("vary: {body.mass: {from: 1 kg, to: 2 kg, count: 1000}, wheel.mass: {from: 1 kg, to: 2 kg, "
                        "count: 1001}}\n"),
                testing::HasSubstr("1001000 variants. If you mean that many, say so: --many."));
    EXPECT_THAT(refused("optimise: {minimise: peak, parameters: {body.mass: {from: 1 kg, to: 2 kg}}}\n"),
                testing::HasSubstr("measure 'peak' does not exist"));
    EXPECT_THAT(refused("sample: {count: 1000000000, parameters: {body.mass: {uniform: [1 kg, 2 kg]}}}\n"),
                testing::HasSubstr("1000000000 variants"));
    EXPECT_THAT(refused("vary: {body.mass: [1 kg]}\n", {"--resume"}), testing::HasSubstr("there is no study in"));
    write_file(folder_ / "mine.txt", "x");
    const auto full =
        process({MDPCOSIM_PROGRAM, "study", write("study.yaml", "scenario: s.yaml\nvary: {body.mass: [1 kg]}\n"),
                 "--out", folder_.path().string()},
                {})
            .wait();
    EXPECT_EQ(full.exit_status, 2);
    EXPECT_THAT(full.err, testing::HasSubstr("neither empty nor a study's"));
}

/// A mass on a spring with an absorber, both struck: the stiffness and damping that make the mean square of the motion smallest are known in closed form
/// (Crandall and Mark 1963): f = sqrt(1 + mu/2)/(1 + mu), zeta^2 = mu (1 + 3 mu/4)/(4 (1 + mu)(1 + mu/2)).
TEST_F(study_command, finds_the_optimum_of_a_tuned_absorber) {
    write("s.yaml", R"(
time: {end: 120 s, step: 20 ms}
extrapolation: quad-2-4
subsystems:
  main: {model: mass-spring-damper, set: {mass: 1 kg, stiffness: 1 N/m, v0: 1 m/s}}
  absorber: {model: mass-spring-damper, set: {mass: 0.1 kg}}
connections:
  tie: {law: spring-damper, between: [main.mass, absorber.mass], stiffness: 0.05 N/m, damping: 0.05 N.s/m}
)");
    const auto outcome = study(write("study.yaml", R"(
scenario: s.yaml
measure: {motion: {rms: main.mass.position}}
optimise:
  minimise: motion
  parameters:
    tie.stiffness: {from: 0.02 N/m, to: 0.3 N/m, scale: logarithmic}
    tie.damping: {from: 0.005 N.s/m, to: 0.2 N.s/m, scale: logarithmic}
)"));
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    const double mu = 0.1, f = std::sqrt(1 + mu / 2) / (1 + mu), k = mu * f * f;
    const double c = 2 * std::sqrt(mu * (1 + 0.75 * mu) / (4 * (1 + mu) * (1 + mu / 2))) * mu * f;
    const csv_table t = read_table(out("table.csv"));
    const auto summary = json::parse(content(out("summary.json")));
    const auto best = summary["best"]["variant"].get<std::size_t>();
    EXPECT_NEAR(t.number(best, "tie.stiffness"), k, 0.01 * k);
    EXPECT_NEAR(t.number(best, "tie.damping"), c, 0.01 * c);
    EXPECT_LT(t.rows.size(), 150U);
}

/// Parameters from data that were made with others, with noise of 1 % of the range.
TEST_F(study_command, fits_parameters_to_noisy_data) {
    write("s.yaml", strut);
    simulation truth(load_scenario(
        (folder_ / "s.yaml").string(),
        {{"strut.damping", "777 N.s/m", "test"}, {"body.mass", "350 kg", "test"}, {"time.end", "1 s", "test"}}));
    truth.initialise();
    std::mt19937 dice(3);
    std::string data = "time,x\n";
    while (!truth.done()) {
        truth.advance_to(truth.time() + 0.01);
        const double noise = 4e-4 * (static_cast<double>(dice()) / 4294967296.0 - 0.5);
        data += fmt::format("{},{}\n", truth.time(), truth.value("body.mass.position") + noise);
    }
    write("data.csv", data);
    const auto outcome = study(write("study.yaml", R"(
scenario: s.yaml
set: {time.end: 1 s}
fit:
  data: data.csv
  columns: {body.mass.position: x}
  parameters:
    body.mass: {from: 200 kg, to: 600 kg}
    strut.damping: {from: 100 N.s/m, to: 10 kN.s/m, scale: logarithmic}
)"));
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    const csv_table t = read_table(out("table.csv"));
    const auto best = json::parse(content(out("summary.json")))["best"]["variant"].get<std::size_t>();
    EXPECT_NEAR(t.number(best, "body.mass"), 350, 3.5);
    EXPECT_NEAR(t.number(best, "strut.damping"), 777, 20);
}

/// The same table from ranks of mpiexec, of which one is killed, and from tasks of a job array.
TEST_F(study_command, the_table_is_the_same_wherever_it_ran) {
    write("s.yaml", strut);
    const std::string file =
        write("study.yaml",
              "scenario: s.yaml\nset: {time.end: 2 s}\nvary:\n  body.mass: {from: 300 kg, to: 500 kg, count: 30}\n"
              "  strut.damping: {from: 1, to: 5000, count: 10}\nmeasure:\n  x: {end: body.mass.position}\n");
    ASSERT_EQ(study(file).exit_status, 0);
    const std::string here = lasting(out("table.csv"));
    EXPECT_EQ(std::ranges::count(here, '\n'), 300);

    // What Slurm does: every task of the array runs the script.
    write_file(folder_ / "sbatch",
               "#!/bin/sh\n[ \"$1\" = --wait ] || exit 9\ngrep -q 'SBATCH --array=0-2$' \"$2\" || exit 8\n"
               "for task in 0 1 2; do sh \"$2\" & done\nwait\n");
    fs::permissions(folder_ / "sbatch", fs::perms::owner_all);
    const auto slurm = study(file, {"--on", "slurm", "--workers", "3"},
                             {"/usr/bin/env", "PATH=" + folder_.path().string() + ":/usr/bin:/bin"});
    ASSERT_EQ(slurm.exit_status, 0) << slurm.err;
    EXPECT_EQ(lasting(out("table.csv")), here);

    if (process({"/usr/bin/env", "mpiexec", "--version"}, {}).wait().exit_status != 0)
        GTEST_SKIP() << "there is no mpiexec";
    process running(
        {MDPCOSIM_PROGRAM, "study", file, "--out", (folder_ / "out").string(), "--on", "mpi", "--workers", "2"}, {});
    bool killed = false;
    for (int n = 0; n < 2000 && !killed; ++n) {
        std::error_code none;
        for (const auto& part : fs::directory_iterator(folder_ / "out" / "parts", none)) {
            const std::string name = part.path().stem().string();
            if (part.path().extension() != ".rows" || content(part.path()).find("row\t") == std::string::npos ||
                name == "conductor")
                continue;
            const auto id = static_cast<pid_t>(std::stol(name.substr(name.rfind('-') + 1)));
            if (content(fmt::format("/proc/{}/cmdline", id)).find("study-worker") == std::string::npos) continue;
            killed = ::kill(id, SIGKILL) == 0;
            break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const auto mpi = running.wait();
    ASSERT_EQ(mpi.exit_status, 0) << mpi.err;
    EXPECT_TRUE(killed);
    EXPECT_EQ(lasting(out("table.csv")), here);
}

}  // namespace
}  // namespace mdpcosim::test
