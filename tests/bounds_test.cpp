// Numbers and texts beyond all bounds: refused by name, neither taken for something else nor left to a library to trip over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::content;
using test::write_file;
using testing::HasSubstr;

class bounds : public testing::Test {
   protected:
    struct outcome {
        int status = -1;
        std::string out, err;
    };

    outcome run(const std::string& arguments, const std::string& limit = "") const {
        const test::temporary_folder logs;
        const int status =
            std::system(("cd '" + folder_.path().string() + "' && (" + limit + "exec '" MDPCOSIM_PROGRAM "' " +
                         arguments + ") >'" + (logs / "out").string() + "' 2>'" + (logs / "err").string() + "'")
                            .c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(logs / "out"), content(logs / "err")};
    }

    void expect_refused(const std::string& arguments, const std::string& message) const {
        const outcome seen = run(arguments);
        EXPECT_EQ(seen.status, 2) << arguments << "\n" << seen.err;
        EXPECT_THAT(seen.err, HasSubstr(message)) << arguments;
        EXPECT_LT(seen.err.size(), 2000u);
    }

    void subsystem(const std::string& entry) const {
        write_file(folder_ / "s.yaml", "time: {end: 10 ms, step: 1 ms}\nsubsystems:\n  a: {" + entry +
                                           "}\n  b: {model: mass-spring-damper}\n");
    }

    test::temporary_folder folder_;
};

TEST_F(bounds, counts) {
    subsystem("model: mass-spring-damper, solver: {name: cvode-bdf, max-steps: 1e30}");
    expect_refused(
        "check s.yaml",
        "s.yaml:3:71: subsystem 'a': solver cvode-bdf: parameter 'max-steps': '1e30' is too high; at most 1000000000.");
    subsystem("model: mass-spring-damper, replicas: 1000000000");
    expect_refused("check s.yaml", "s.yaml:3:44: subsystem 'a': replicas 1000000000 is too high; at most 1000.");
    subsystem("model: chain, set: {n: 1e18}");
    expect_refused("check s.yaml", "parameter 'n': '1e18' is too high; at most ");
    subsystem("model: chain, set: {n: 1e9}");
    expect_refused("check s.yaml", "parameter 'n': '1e9' is too high; at most ");
    subsystem("model: state-space, set: {n: 1e8}");
    expect_refused("check s.yaml", "parameter 'n': '1e8' is too high; at most ");
}

TEST_F(bounds, a_solvers_step_is_taken_or_refused) {
    for (const char* solver : {"euler", "rk4", "trapezoidal"}) {
        subsystem(std::string("model: mass-spring-damper, solver: {name: ") + solver + ", step: 1e-300 s}");
        expect_refused("run s.yaml",
                       "subsystem 'a': the solver's step of 1e-300 s makes more than 1000000000 micro steps of every "
                       "macro step of 0.001 s");
    }
    for (const char* solver : {"erk-5", "dirk-4", "cvode-bdf", "ida"}) {
        subsystem(std::string("model: mass-spring-damper, solver: {name: ") + solver + ", max-step: 1e-300 s}");
        expect_refused("run s.yaml",
                       "subsystem 'a': the solver's max-step of 1e-300 s makes more than 1000000000 micro steps");
    }
}

/// No macro step is longer than the run, whatever its size is said to be.
TEST_F(bounds, a_macro_step_beyond_the_run_is_the_run) {
    subsystem("model: mass-spring-damper, solver: {name: rk4, step: 1 ms}");
    const outcome seen = run("run s.yaml --out r --step 1e30 --no-verify --quiet");
    EXPECT_EQ(seen.status, 0) << seen.err;
    EXPECT_THAT(content(folder_ / "r/results.csv"), HasSubstr("\n0.01,"));
}

/// Whichever file is one too many, it is told that files are.
TEST_F(bounds, few_open_files) {
    subsystem("model: mass-spring-damper");
    for (const char* transport : {"processes", "tcp"})
        for (int most = 4; most <= 14; ++most) {
            const outcome seen = run(std::string("run s.yaml --quiet --no-verify --out r --transport ") + transport,
                                     "exec 3>&- 4>&- 5>&-; ulimit -n " + std::to_string(most) + "; ");
            if (seen.status == 0) break;
            EXPECT_THAT(seen.status, testing::AnyOf(1, 2)) << most;  // 2: of a file of the user
            EXPECT_THAT(seen.err, HasSubstr("Too many open files")) << most << " files, " << transport;
        }
}

TEST_F(bounds, files_without_a_name) {
    for (const char* key : {"plugin", "fmu", "file"}) {
        subsystem(std::string(key) + ": ''");
        expect_refused("check s.yaml", std::string("s.yaml:3:") + (std::string(key) == "plugin" ? "16"
                                                                   : std::string(key) == "fmu"  ? "13"
                                                                                                : "14"));
        expect_refused("check s.yaml", "the name of a file is missing.");
    }
}

/// The file system has no name so long; it says so itself only where it is asked in the right way.
TEST_F(bounds, names_that_no_file_can_have) {
    const std::string name(300, 'x');
    subsystem("model: mass-spring-damper");
    write_file(folder_ / "i.yaml", "include: " + name + "\n" + content(folder_ / "s.yaml"));
    expect_refused("check i.yaml", "i.yaml:1:10: include: file '" + name + "' does not exist.");
    expect_refused("report " + name, name + ": there is no such folder.");
    expect_refused("bench trust --write " + name,
                   "--write " + name + ": the folder cannot be made (File name too long).");
    expect_refused("run s.yaml --out " + name, "the folder cannot be made (File name too long).");
    for (const char* key : {"plugin", "fmu", "file"}) {
        subsystem(std::string(key) + ": " + name);
        expect_refused("check s.yaml", "s.yaml:3:");
    }
}

TEST_F(bounds, options_that_are_empty_or_no_number) {
    subsystem("model: mass-spring-damper");
    for (const char* option : {"--out", "--method", "--end", "--set", "--extrapolation", "--hosts", "--input"})
        expect_refused(std::string("run s.yaml ") + option + " ''", std::string(option) + ": the value is empty.");
    expect_refused("run s.yaml --transport tcp --remote a --wait nan", "--wait: 'nan' must be a number above zero.");
    expect_refused("serve s.yaml a --connect x:1 --wait inf", "--wait: 'inf' must be a number not below zero.");
    expect_refused("bench multirate --frequency-ratio nan", "--frequency-ratio: 'nan' must be a number above zero.");
    expect_refused("check ''", "scenario: the value is empty.");
    expect_refused("compare '' ''", "the value is empty.");
    expect_refused("check s.yaml --end nan", "--end nan");
}

/// Half of the largest number twice is none: the one who gave it is told of, not only who got it.
TEST_F(bounds, an_infinite_input_is_not_its_readers_fault) {
    write_file(folder_ / "s.yaml", R"(time: {end: 10 ms, step: 1 ms}
subsystems:
  source: {ode: {outputs: {y: 1.5e308}}, solver: rk4}
  reader: {ode: {states: {x: 0}, inputs: {u: 0}, equations: {x: u}, outputs: {z: x}}, solver: rk4}
signals:
  - 2*source.y -> reader.u
)");
    const outcome seen = run("run s.yaml --out r");
    EXPECT_NE(seen.status, 0);
    EXPECT_THAT(
        seen.err,
        HasSubstr("its input 'u' was inf before it began: what drives the input gave numbers that are too large"));
}

TEST_F(bounds, damaged_run_folders_are_told_by_their_file) {
    subsystem("model: mass-spring-damper");
    ASSERT_EQ(run("run s.yaml --out r").status, 0);
    for (const auto& [name, text] :
         {std::pair("system.json", R"({"columns": [], "scenes": [{}]})"), std::pair("coupling.json", R"({"time": 1})"),
          std::pair("profile.json", R"({"traceEvents": [{"ph": "X"}]})")}) {
        const std::string before = content(folder_ / "r" / name);
        write_file(folder_ / "r" / name, text);
        expect_refused("report r", std::string("r/") + name + ": this is not what a run has written (");
        write_file(folder_ / "r" / name, before);
    }
    EXPECT_EQ(run("report r").status, 0);
    write_file(folder_ / "r/scenario.yaml", std::string(300'000, 'x'));
    EXPECT_EQ(run("report r").status, 0);
}

TEST_F(bounds, names_from_files_do_not_steer_the_terminal) {
    write_file(folder_ / "a.csv", "time,\x1b[31mred\n0,1\n1,2\n");
    const outcome seen = run("compare a.csv a.csv");
    EXPECT_EQ(seen.status, 0) << seen.err;
    EXPECT_EQ(seen.out.find('\x1b'), std::string::npos);
    EXPECT_THAT(seen.out, HasSubstr("\\x1b[31mred"));
    expect_refused("check \"$(printf 'no\\033[31m')\"", "no\\x1b[31m: the file cannot be read");
}

}  // namespace
}  // namespace mdpcosim
