// External programs through the whole engine: the example programs against native models, bit by bit, over every transport; what is
// left of a run whose program fails; a program that joins a run over TCP by itself.
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "api/mdpcosim.hpp"
#include "core/json.hpp"
#include "process.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::content;
using test::process;
using testing::AllOf;
using testing::HasSubstr;

const fs::path binary_dir = MDPCOSIM_BINARY_DIR;
const fs::path examples = fs::path(MDPCOSIM_SOURCE_DIR) / "examples";

bool is_there(const std::string& program) {
    return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

class external_program : public testing::Test {
   protected:
    static std::string program(const std::string& name) { return (binary_dir / "programs" / name).string(); }
    static std::string faulty() { return (binary_dir / "tests" / "programs" / "faulty").string(); }

    /// An example with the programs of this build, which need not be in build/.
    static scenario example(const fs::path& file) {
        std::string text = content(examples / file);
        const std::string written = "../../build/programs";
        for (auto at = text.find(written); at != std::string::npos; at = text.find(written))
            text.replace(at, written.size(), (binary_dir / "programs").string());
        return read_scenario_text(text, file.string(), (examples / file).parent_path());
    }

    std::string results(scenario s, const std::string& transport = "threads", int workers = 1) {
        run_options options;
        options.out = folder_ / "run";
        options.workers = workers;
        options.transport = transport;
        const run_summary summary = run(std::move(s), options);
        EXPECT_EQ(summary.status, "done") << summary.message;
        return content(folder_ / "run" / "results.csv");
    }
    std::string results(const std::string& text, const std::string& transport = "threads", int workers = 1) {
        return results(read_scenario_text(text, "s.yaml", folder_.path()), transport, workers);
    }

    process::outcome mdpcosim_run(const std::string& scenario, const std::vector<std::string>& more = {}) {
        std::ofstream(folder_ / "s.yaml") << scenario;
        std::vector<std::string> command{MDPCOSIM_PROGRAM,           "run",    (folder_ / "s.yaml").string(), "--out",
                                         (folder_ / "out").string(), "--quiet"};
        command.insert(command.end(), more.begin(), more.end());
        return process(command, {}).wait();
    }

    static std::string with_fault(const std::string& how, const std::string& more = "") {
        return "time: {end: 0.5 s, step: 10 ms}\nsubsystems:\n  force: {model: source, set: {kind: step, amplitude: 2, "
               "start: 0 s}}\n  valve: {program: " +
               faulty() + ", set: {how: " + how + "}" + more + "}\n  other: {program: " + faulty() +
               "}\nsignals: [force.y -> valve.u, valve.y -> other.u]\n";
    }

    test::temporary_folder folder_;
};

/// Processes of this program that run in the folder of one scenario: other tests start it, too.
std::vector<std::string> processes_of(const std::string& program, const fs::path& folder) {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        std::error_code gone;
        if (content(entry.path() / "cmdline").find(program) != std::string::npos &&
            fs::read_symlink(entry.path() / "cwd", gone) == folder)
            found.push_back(name);
    }
    return found;
}

std::string two_masses(const std::string& a, const std::string& b) {
    const std::string set = "set: {mass: 1.3 kg, stiffness: 100 N/m, damping: 0.7 N.s/m, ";
    return "time: {end: 0.5 s, step: 1 ms}\nsubsystems:\n  A: {" + a + ", " + set + "x0: 10 mm}}\n  B: {" + b + ", " +
           set +
           "v0: 0.2 m/s}}\nconnections:\n  spring: {law: spring, between: [A.mass, B.mass], stiffness: 1 kN/m}\n"
           "record: {only: ['*.position', '*.velocity', spring.u]}\n";
}
const std::string native = "model: mass-spring-damper, solver: rk4";

TEST_F(external_program, the_same_arithmetic_gives_the_same_bits_on_every_transport) {
    const std::string expected = results(two_masses(native, native));
    EXPECT_GT(expected.size(), 10000u);
    const std::string c = "program: " + program("mass"), fortran = "program: " + program("mass_fortran");
    for (const auto& transport : {"threads", "processes", "tcp"})
        for (const int workers : {1, 2}) {
            EXPECT_EQ(results(two_masses(c, fortran), transport, workers), expected) << transport << workers;
            EXPECT_EQ(results(two_masses(native, c), transport, workers), expected) << transport << workers;
            EXPECT_EQ(results(two_masses(fortran, native), transport, workers), expected) << transport << workers;
        }
}

std::vector<std::vector<double>> rows_of(const std::string& csv, std::string& header) {
    std::stringstream lines(csv);
    std::vector<std::vector<double>> rows;
    std::string line;
    std::getline(lines, header);
    while (std::getline(lines, line)) {
        rows.emplace_back();
        std::stringstream cells(line);
        for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(std::stod(cell));
    }
    return rows;
}

TEST_F(external_program, the_examples_give_the_numbers_of_the_native_models) {
    const std::string expected = results(example("external-programs/native.yaml"));
    std::string header;
    double worst = 0;
    for (const auto& row : rows_of(expected, header)) {
        const double slow = std::cos(10 * row[0]), fast = std::cos(std::sqrt(2100.0) * row[0]);
        worst = std::max({worst, std::fabs(row[1] - 0.005 * (slow + fast)), std::fabs(row[3] - 0.005 * (slow - fast))});
    }
    EXPECT_EQ(header, "time,A.mass.position,A.mass.velocity,B.mass.position,B.mass.velocity,spring.u");
    std::printf("largest error of the positions: %.3g m\n", worst);
    EXPECT_NEAR(worst, 2.40e-6, 0.01e-6);
    EXPECT_EQ(results(example("external-programs/scenario.yaml")), expected);
    if (!is_there("python3")) GTEST_SKIP() << "python3 is not installed: python.yaml is left out";
    EXPECT_EQ(results(example("external-programs/python.yaml")), expected);
    EXPECT_EQ(results(example("external-programs/python.yaml"), "tcp"), expected);
}

TEST_F(external_program, the_controller_in_octave_equals_the_native_one) {
    if (!is_there("octave-cli") || !fs::exists(binary_dir / "lib" / "mdpcosim" / "mdpcosim_subsystem.mex"))
        GTEST_SKIP() << "Octave with mkoctfile is not installed (tools/setup octave): octave.yaml is left out";
    std::string header, native_header;
    const auto octave = rows_of(results(example("motor-control/octave.yaml")), header);
    const auto expected = rows_of(results(example("motor-control/scenario.yaml")), native_header);
    EXPECT_EQ(header, native_header);
    ASSERT_EQ(octave.size(), 1001u);
    ASSERT_EQ(expected.size(), octave.size());
    double worst = 0;
    for (std::size_t i = 0; i < octave.size(); ++i)
        for (std::size_t k = 0; k < octave[i].size(); ++k)
            worst = std::max(worst, std::fabs(octave[i][k] - expected[i][k]) / (1 + std::fabs(expected[i][k])));
    std::printf("largest difference: %.3g\n", worst);
    EXPECT_LE(worst, 1e-12);
}

TEST_F(external_program, the_resolved_scenario_gives_the_same_bits) {
    const std::string text = two_masses("program: " + program("mass"), "program: " + program("mass_fortran"));
    const std::string first = results(text);
    const std::string resolved = content(folder_ / "run" / "scenario.yaml");
    EXPECT_THAT(resolved, AllOf(HasSubstr("program: [" + program("mass") + "]"),
                                HasSubstr("folder: " + folder_.path().string()), HasSubstr("v0: 0 m/s")));
    EXPECT_EQ(results(resolved), first);
}

TEST_F(external_program, check_shows_what_it_declares_and_its_defaults) {
    const std::string shown = check(example("external-programs/scenario.yaml"));
    EXPECT_THAT(shown, AllOf(HasSubstr("A              program mass\n"), HasSubstr("port mass"),
                             HasSubstr("set mass          1 kg\n"), HasSubstr("set x0            10 mm = 0.01 m\n"),
                             HasSubstr("set v0            0 m/s (default)\n")));
}

TEST_F(external_program, a_command_line_is_split_as_by_a_shell_and_runs_in_its_folder) {
    fs::create_directory(folder_ / "my programs");
    std::ofstream(folder_ / "my programs" / "start.sh")
        << "#!/bin/sh\npwd >&2\nfor a in \"$@\"; do echo \"<$a>\" >&2; done\nexit 5\n";
    fs::permissions(folder_ / "my programs" / "start.sh", fs::perms::owner_all);
    const auto told = [&](const std::string& entry) {
        try {
            check(read_scenario_text("time: {end: 1, step: 1}\nsubsystems: {a: {" + entry + "}}\n", "s.yaml",
                                     folder_.path()));
        } catch (const user_error& problem) {
            return std::string(problem.what());
        }
        return std::string("accepted");
    };
    EXPECT_THAT(told(R"(program: "'my programs/start.sh' one 'two three' \"four \\\"five\\\"\" si\\ x")"),
                AllOf(HasSubstr(folder_.path().string() + "\n"),
                      HasSubstr("<one>\n<two three>\n<four \"five\">\n<si x>"), HasSubstr("ended with status 5")));
    EXPECT_THAT(told("program: [./start.sh, 'a b'], folder: my programs"),
                AllOf(HasSubstr("my programs\n<a b>"), HasSubstr("status 5")));
    EXPECT_THAT(told("program: \"./start.sh 'open\""), HasSubstr("the quote ' is not closed."));
    EXPECT_THAT(told("program: ''"), HasSubstr("the file of the program is missing"));
    EXPECT_THAT(told("program: ./absent"), HasSubstr("s.yaml:2:"));
    EXPECT_THAT(told("program: ./absent, solver: rk4"),
                HasSubstr("'solver' is not allowed: a program brings its own."));
}

TEST_F(external_program, it_cannot_be_part_of_one_system) {
    run_options options;
    options.out = folder_ / "run";
    options.monolithic = true;
    EXPECT_THROW(run(example("external-programs/scenario.yaml"), options), user_error);
}

struct fault {
    std::string how;
    std::string more;
    std::vector<std::string> message;
};

TEST_F(external_program, a_failing_program_ends_the_run_in_order) {
    const std::vector<fault> faults{
        {"exit", "", {"ended with status 7", "no licence"}},
        {"kill", "", {"killed by signal 9", "about to fall"}},
        {"hang", ", limit: 0.3 s", {"did not answer within 0.3 s", "thinking"}},
        {"orphan", ", limit: 0.3 s", {"did not answer within 0.3 s"}},
        {"nan", "", {"nan"}},
        {"fail", "", {"the valve is stuck"}},
        {"close", ", limit: 2 s", {}},
    };
    for (const std::string transport : {"threads", "processes", "tcp"})
        for (const auto& f : faults) {
            const auto outcome = mdpcosim_run(with_fault(f.how, f.more), {"--transport", transport});
            EXPECT_EQ(outcome.exit_status, 1) << transport << " " << f.how << "\n" << outcome.err;
            EXPECT_THAT(outcome.err, AllOf(HasSubstr("subsystem 'valve'"), HasSubstr("0.24"), HasSubstr("u = 2")))
                << transport << " " << f.how;
            for (const auto& part : f.message) EXPECT_THAT(outcome.err, HasSubstr(part)) << transport << " " << f.how;
            if (f.how == "close" && transport == "tcp") {
                EXPECT_THAT(outcome.err, HasSubstr("the connection was lost"));
            }
            const auto summary = json::parse(content(folder_ / "out" / "summary.json"));
            EXPECT_EQ(summary["status"], "failed");
            EXPECT_GT(content(folder_ / "out" / "results.csv").size(), 200u);
        }
    EXPECT_THAT(processes_of(faulty(), folder_.path()), testing::IsEmpty());
}

TEST_F(external_program, mistakes_end_with_2_and_leave_nothing) {
    for (const std::string transport : {"threads", "processes", "tcp"}) {
        const std::vector<std::string> mistakes{
            "program: ./none", "program: " + faulty() + " exit", "program: " + faulty() + " version",
            "program: " + faulty() + ", set: {how: same-name}", "program: " + faulty() + ", set: {no: 1}"};
        for (const auto& wrong : mistakes) {
            const auto outcome = mdpcosim_run(
                "time: {end: 1 s, step: 1 ms}\nsubsystems:\n  a: {" + wrong + "}\n  b: {program: " + faulty() + "}\n",
                {"--transport", transport});
            EXPECT_EQ(outcome.exit_status, 2) << transport << " " << wrong << "\n" << outcome.err;
            EXPECT_THAT(outcome.err, AllOf(HasSubstr("s.yaml:3:"), HasSubstr("subsystem 'a'")))
                << transport << " " << wrong;
            EXPECT_FALSE(fs::exists(folder_ / "out"));
        }
    }
    EXPECT_THAT(processes_of(faulty(), folder_.path()), testing::IsEmpty());
}

TEST_F(external_program, a_system_that_forbids_shared_memory_is_told) {
    const auto run = [&](const std::string& subsystem, const std::string& transport) {
        std::ofstream(folder_ / "s.yaml") << "time: {end: 1 ms, step: 1 ms}\nsubsystems:\n  a: {" + subsystem + "}\n";
        return process({MDPCOSIM_PROGRAM, "run", (folder_ / "s.yaml").string(), "--out", (folder_ / "out").string(),
                        "--quiet", "--transport", transport},
                       {.terminal = false, .file_size = {}, .no_shared_memory = true})
            .wait();
    };
    const std::string model = "model: lag-1, solver: rk4";
    if (run(model, "threads").exit_status == 126) GTEST_SKIP() << "this kernel has no filter of system calls";
    for (const auto& outcome : {run(model, "processes"), run("program: " + faulty(), "threads")}) {
        EXPECT_EQ(outcome.exit_status, 2);
        EXPECT_THAT(outcome.err, AllOf(HasSubstr("subsystem 'a': no memory that a process can share"),
                                       HasSubstr("memfd_create"), HasSubstr("--transport tcp")));
    }
    for (const auto& outcome : {run(model, "tcp"), run("program: " + faulty(), "tcp")})
        EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
}

TEST_F(external_program, a_list_is_a_parameter_too) {
    const auto text = [](const std::string& levels) {
        return "time: {end: 0.1 s, step: 10 ms}\nsubsystems:\n  a: {program: " + faulty() + ", set: {how: list" +
               levels + "}}\nsignals: [1 N -> a.u]\n";
    };
    const std::string plain = results(text(""));
    const std::string resolved = content(folder_ / "run" / "scenario.yaml");
    EXPECT_THAT(resolved, HasSubstr("levels: [1 m, 2 m]"));
    EXPECT_EQ(results(resolved), plain);
    // Three values scale the lag by their product.
    const std::string scaled = results(text(", levels: [0.5 m, 2 m, 200 cm]"));
    EXPECT_EQ(scaled, results(text(", lag: 0.2 s")));
    EXPECT_NE(scaled, plain);
    const auto refused = mdpcosim_run(text(", levels: [1 m, 1 m, 1 m, 1 m]"));
    EXPECT_EQ(refused.exit_status, 2);
    EXPECT_THAT(refused.err, HasSubstr("parameter 'levels' has 4 values; 3 are the most."));
    EXPECT_THAT(mdpcosim_run(text(", levels: [1 kg]")).err, HasSubstr("'levels'"));
}

TEST_F(external_program, it_ends_with_a_master_that_is_killed) {
    std::ofstream(folder_ / "s.yaml") << "time: {end: 1e6 s, step: 1 ms}\nsubsystems:\n  a: {program: [/bin/sh, -c, '" +
                                             faulty() + " loop; true']}\n";
    {
        process master(
            {MDPCOSIM_PROGRAM, "run", (folder_ / "s.yaml").string(), "--out", (folder_ / "out").string(), "--quiet"},
            {});
        while (processes_of(faulty(), folder_.path()).size() < 2 || !fs::exists(folder_ / "out" / "results.csv"))
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        master.send(SIGKILL);
        EXPECT_EQ(master.wait().signal, SIGKILL);
    }
    while (!processes_of(faulty(), folder_.path()).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

TEST_F(external_program, one_that_was_started_by_hand_joins_over_tcp) {
    const std::string text = two_masses(native, "program: ./somewhere-else");
    const std::string expected = results(two_masses(native, native));
    std::ofstream(folder_ / "s.yaml") << text;
    ::setenv("MDPCOSIM_TOKEN", "0123456789abcdef0123456789abcdef", 1);
    process master({MDPCOSIM_PROGRAM, "run", (folder_ / "s.yaml").string(), "--out", (folder_ / "out").string(),
                    "--quiet", "--transport", "tcp", "--remote", "B"},
                   {});
    const std::string told = "waiting for B at ";
    master.wait_for_error_text("\n");
    const std::string seen = master.so_far().err;
    ASSERT_THAT(seen, HasSubstr(told));
    const std::size_t at = seen.find(told) + told.size();
    const std::string address = seen.substr(at, seen.find(';', at) - at);
    ::setenv("MDPCOSIM_CONNECT", address.c_str(), 1);
    ::setenv("MDPCOSIM_SUBSYSTEM", "B", 1);
    process joined({program("mass")}, {});
    for (const char* variable : {"MDPCOSIM_TOKEN", "MDPCOSIM_CONNECT", "MDPCOSIM_SUBSYSTEM"}) ::unsetenv(variable);
    EXPECT_EQ(joined.wait().exit_status, 0);
    const auto outcome = master.wait();
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    EXPECT_EQ(content(folder_ / "out" / "results.csv"), expected);
}

TEST_F(external_program, without_a_master_it_says_how_it_is_started) {
    for (const char* name : {"mass", "mass_fortran"}) {
        const auto outcome = process({program(name)}, {}).wait();
        EXPECT_EQ(outcome.exit_status, 2);
        EXPECT_THAT(outcome.err, AllOf(HasSubstr("mdpcosim run"), HasSubstr("MDPCOSIM_CONNECT=HOST:PORT")));
    }
}

}  // namespace
}  // namespace mdpcosim
