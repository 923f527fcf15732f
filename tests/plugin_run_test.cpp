// Plugins through the whole program: equal to native models bit by bit, in parallel, from a resolved scenario; and what is left
// of a run whose plugin crashes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/mdpcosim.hpp"
#include "simulation/simulation.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::content;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const fs::path binary_dir = MDPCOSIM_BINARY_DIR;
const fs::path example = fs::path(MDPCOSIM_SOURCE_DIR) / "examples" / "plugin-model";

/// An example with the libraries of this build, which need not be in build/.
scenario example_scenario(const std::string& name, std::vector<scenario_override> changes = {}) {
    const std::string language = name == "fortran.yaml" ? "oscillator_fortran" : "oscillator_c";
    const std::string solver = name == "fortran.yaml" ? "oscillator_fortran_solver" : "oscillator_cpp_solver";
    changes.push_back({"A.plugin", (binary_dir / "plugins" / (language + ".so")).string(), "--set"});
    changes.push_back({"B.plugin", (binary_dir / "plugins" / (solver + ".so")).string(), "--set"});
    return read_scenario(example / name, changes);
}

class plugin_run : public testing::Test {
   protected:
    static std::string plugin(const std::string& name) { return (binary_dir / "plugins" / (name + ".so")).string(); }
    static std::string test_plugin(const std::string& name) {
        return (binary_dir / "tests" / "plugins" / (name + ".so")).string();
    }

    /// The results of a run.
    std::string results(const std::string& text, int workers = 1, const std::string& name = "run") {
        const run_summary summary = run(read_scenario_text(text, "s.yaml", folder_.path()), {folder_ / name, workers});
        EXPECT_EQ(summary.status, "done") << summary.message;
        return content(folder_ / name / "results.csv");
    }

    /// The real program in a process of its own: its exit status; its standard error is left in errors_.
    int program(const std::string& scenario, const std::string& options) {
        std::ofstream(folder_ / "s.yaml") << scenario;
        const std::string command = "'" MDPCOSIM_PROGRAM "' run '" + (folder_ / "s.yaml").string() + "' --out '" +
                                    (folder_ / "out").string() + "' " + options + " >/dev/null 2>'" +
                                    (folder_ / "errors").string() + "'";
        const int status = std::system(command.c_str());
        errors_ = content(folder_ / "errors");
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    const test::temporary_folder folder_;
    std::string errors_;
};

std::string two_masses(const std::string& a, const std::string& b, const std::string& solver) {
    const std::string set = "set: {mass: 1.3 kg, stiffness: 100 N/m, damping: 0.7 N.s/m, ";
    return "time: {end: 0.5 s, step: 1 ms}\nsubsystems:\n  A: {" + a + ", " + set + "x0: 10 mm}" + solver +
           "}\n  B: {" + b + ", " + set + "v0: 0.2 m/s}" + solver +
           "}\nconnections:\n  spring: {law: spring, between: [A.mass, B.mass], stiffness: 1 kN/m}\n";
}

TEST_F(plugin_run, the_same_equations_and_solver_give_the_same_bits) {
    for (const char* solver : {"erk-5", "rk4", "dirk-4", "cvode-bdf"}) {
        const std::string with = std::string(", solver: ") + solver;
        const std::string native = results(two_masses("model: mass-spring-damper", "model: mass-spring-damper", with));
        EXPECT_GT(native.size(), 10000u);
        const std::string cpp = "plugin: " + plugin("oscillator_cpp");
        EXPECT_EQ(results(two_masses(cpp, cpp, with)), native) << solver;
        // C has no Jacobian: the implicit solvers take differences.
        const std::string c = "plugin: " + plugin("oscillator_c");
        if (solver == std::string("erk-5") || solver == std::string("rk4")) {
            EXPECT_EQ(results(two_masses(c, "model: mass-spring-damper", with)), native) << solver;
        }
    }
}

TEST_F(plugin_run, workers_and_resolved_scenarios_give_the_same_bits) {
    std::string text = "time: {end: 0.2 s, step: 1 ms}\nsubsystems:\n";
    const char* names[] = {"oscillator_c", "oscillator_cpp", "oscillator_cpp_solver", "oscillator_fortran",
                           "oscillator_fortran_solver"};
    // Every library three times.
    for (int i = 0; i < 15; ++i)
        text += "  s" + std::to_string(i) + ": {plugin: " + plugin(names[i % 5]) +
                ", set: {stiffness: 40 N/m, x0: " + std::to_string(i) + " mm}}\n";
    text += "connections:\n";
    for (int i = 0; i < 14; ++i)
        text += "  c" + std::to_string(i) + ": {law: spring, between: [s" + std::to_string(i) + ".mass, s" +
                std::to_string(i + 1) + ".mass], stiffness: 500 N/m}\n";
    const std::string one = results(text, 1);
    EXPECT_EQ(results(text, 4), one);
    EXPECT_EQ(results(content(folder_ / "run" / "scenario.yaml"), 2, "again"), one);
}

/// As plugins are in a library's caller, or with a limit: this process never loads them.
TEST_F(plugin_run, a_plugin_elsewhere_has_its_defaults_in_the_resolved_scenario) {
    for (const char* name : {"oscillator_c", "oscillator_cpp_solver"}) {
        const std::string text =
            "time: {end: 0.1 s, step: 1 ms}\nsubsystems:\n  A: {plugin: " + plugin(name) + ", set: {x0: 10 mm}}\n";
        std::vector<std::string> seen;
        for (const bool isolated : {false, true}) {
            scenario s = read_scenario_text(text, "s.yaml", folder_.path());
            s.subsystems[0].fmu.isolate = isolated;
            std::string all;
            const simulation built(s);
            for (const setting& each : built.resolved().subsystems[0].set)
                all += each.name + "=" + each.values.at(0).value + " ";
            seen.push_back(all);
        }
        EXPECT_THAT(seen[0], AllOf(HasSubstr("x0=10 mm "), HasSubstr("stiffness=")));
        EXPECT_EQ(seen[1], seen[0]);
    }
}

TEST_F(plugin_run, an_own_solver_cannot_be_part_of_one_system) {
    run_options options{folder_ / "run", 1};
    options.monolithic = true;
    try {
        run(example_scenario("scenario.yaml"), options);
        FAIL() << "accepted";
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(),
                    AllOf(HasSubstr("subsystem 'B' ("), HasSubstr("brings its own solver and shows no equations")));
    }
    EXPECT_FALSE(fs::exists(folder_ / "run"));
}

/// Largest error of both positions: two oscillators of 1 kg on 100 N/m, A pulled out by 10 mm, 1 kN/m between them.
double largest_error(const std::string& csv) {
    std::istringstream rows(csv);
    std::string row;
    std::getline(rows, row);
    EXPECT_THAT(row, StartsWith("time,A.mass.position,A.mass.velocity,A.mass.acceleration,B.mass.position,"));
    double worst = 0;
    int count = 0;
    for (; std::getline(rows, row); ++count) {
        double t = 0, a = 0, b = 0;
        EXPECT_EQ(std::sscanf(row.c_str(), "%lf,%lf,%*f,%*f,%lf", &t, &a, &b), 3) << row;
        const double slow = 0.005 * std::cos(10 * t), fast = 0.005 * std::cos(std::sqrt(2100.0) * t);
        worst = std::max({worst, std::fabs(a - (slow + fast)), std::fabs(b - (slow - fast))});
    }
    EXPECT_EQ(count, 201);
    return worst;
}

TEST_F(plugin_run, examples_meet_the_exact_solution_with_third_order) {
    for (const char* name : {"scenario.yaml", "fortran.yaml"}) {
        const auto error = [&](const char* step) {
            const run_summary summary =
                run(example_scenario(name, {{"time.step", step, "--step"}}), {folder_ / "run", 2});
            EXPECT_EQ(summary.status, "done") << summary.message;
            return largest_error(content(folder_ / "run" / "results.csv"));
        };
        EXPECT_NEAR(error("1 ms"), 2.40e-6, 0.01e-6) << name;
        EXPECT_NEAR(error("0.5 ms"), 2.99e-7, 0.01e-7) << name;
    }
}

TEST_F(plugin_run, check_shows_file_ports_and_solver) {
    const std::string text = check(example_scenario("scenario.yaml"));
    EXPECT_THAT(text, AllOf(HasSubstr("plugin oscillator_c.so"), HasSubstr("plugin oscillator_cpp_solver.so"),
                            HasSubstr("gives position [m], velocity [m/s], acceleration [m/s2], takes force [N]"),
                            HasSubstr("x0            10 mm = 0.01 m")));
}

TEST_F(plugin_run, paths_start_at_the_scenario) {
    fs::create_directories(folder_ / "libraries");
    fs::copy_file(plugin("oscillator_c"), folder_ / "libraries" / "mine.so");
    results("time: {end: 1 ms, step: 1 ms}\nsubsystems: {A: {plugin: libraries/mine.so}}\n");
    EXPECT_THAT(content(folder_ / "run" / "scenario.yaml"),
                HasSubstr("plugin: " + (folder_ / "libraries" / "mine.so").string()));
}

std::string faulty_run(const std::string& library, int where, int how, const std::string& more = "") {
    return "time: {end: 40 s, step: 1 ms}\nsubsystems:\n  good: {model: mass-spring-damper, set: {stiffness: 1 N/m, "
           "x0: 1 m}, solver: rk4}\n"
           "  bad: {plugin: " +
           library + ", set: {where: " + std::to_string(where) + ", how: " + std::to_string(how) +
           ", when: 20 s, needed: 1 m}" + more + "}\n";
}

TEST_F(plugin_run, a_missing_library_is_the_users_mistake) {
    EXPECT_EQ(program("time: {end: 1, step: 0.1}\nsubsystems:\n  a: {plugin: none.so}\n", "--quiet"), 2);
    EXPECT_THAT(errors_, AllOf(HasSubstr("s.yaml:3:15: subsystem 'a': plugin 'none.so': the file '"),
                               HasSubstr("' does not exist.")));
}

TEST_F(plugin_run, a_failure_ends_the_run_in_order) {
    constexpr int in_advance = 10, with_message = 5;
    EXPECT_EQ(program(faulty_run(test_plugin("faulty_solver"), in_advance, with_message), "--quiet"), 1);
    EXPECT_THAT(errors_, AllOf(HasSubstr("subsystem 'bad' failed at t = "),
                               HasSubstr("plugin faulty_solver.so: advance at t = 19.999 s: no licence for 3 users"),
                               HasSubstr("inputs at its start: u = 0")));
    EXPECT_THAT(content(folder_ / "out" / "summary.json"), HasSubstr("failed"));
}

TEST_F(plugin_run, a_number_that_is_none_is_told) {
    constexpr int in_outputs = 4, nan = 10;
    EXPECT_EQ(program(faulty_run(test_plugin("faulty"), in_outputs, nan), "--quiet"), 1);
    EXPECT_THAT(errors_, AllOf(HasSubstr("subsystem 'bad' failed at t = "), HasSubstr("output 'x' is nan")));
}

TEST_F(plugin_run, results_survive_a_crash) {
    constexpr int in_outputs = 4, in_derivatives = 5, in_advance = 10, segv = 1, abort = 3, stack = 4;
    struct {
        const char* library;
        int where, how;
        const char* options;
        const char* message;
    } const crashes[] = {
        {"faulty_solver", in_advance, segv, "--workers 1",
         "mdpcosim: subsystem 'bad' (plugin faulty_solver.so): crashed (SIGSEGV) in advance at t = 19.999 s\n"},
        {"faulty_solver", in_advance, stack, "--workers 2",
         "mdpcosim: subsystem 'bad' (plugin faulty_solver.so): crashed (SIGSEGV) in advance at t = 19.999 s\n"},
        {"faulty", in_derivatives, abort, "--workers 2",
         "mdpcosim: subsystem 'bad' (plugin faulty.so): crashed (SIGABRT) in derivatives at t = "},
        {"faulty", in_outputs, segv, "--json",
         "mdpcosim: subsystem 'bad' (plugin faulty.so): crashed (SIGSEGV) in output_values at t = 20 s\n"},
    };
    for (const auto& c : crashes) {
        EXPECT_EQ(program(faulty_run(test_plugin(c.library), c.where, c.how), std::string("--quiet ") + c.options), 1)
            << c.message;
        EXPECT_THAT(errors_, HasSubstr(c.message));
        // What left the recorder's memory is there: a block of 2^15 numbers at least.
        std::istringstream rows(content(folder_ / "out" / "results.csv"));
        std::string row;
        std::getline(rows, row);
        const auto commas = std::count(row.begin(), row.end(), ',');
        EXPECT_THAT(row, StartsWith("time,good.mass.position,"));
        int complete = 0;
        while (std::getline(rows, row) && !rows.eof()) {
            EXPECT_EQ(std::count(row.begin(), row.end(), ','), commas) << row;
            EXPECT_NEAR(std::strtod(row.c_str(), nullptr), 1e-3 * complete, 1e-9);
            ++complete;
        }
        EXPECT_GT(complete, 1000);
        EXPECT_TRUE(fs::exists(folder_ / "out" / "scenario.yaml"));
        // The folder can be used again at once.
        EXPECT_EQ(program(faulty_run(test_plugin("faulty"), 0, 0), "--quiet --end 10ms"), 0) << errors_;
    }
}

}  // namespace
}  // namespace mdpcosim
