// FMUs at the command line: fmu info, fmu validate, run and check of a single FMU, --fmi-log; every misbehaviour through the
// whole program, in process and isolated: the message names the FMU, the call and the time, what was recorded stays, and
// no temporary folder is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "core/json.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string fmu(const std::string& name) { return (fs::path(MDPCOSIM_BINARY_DIR) / "fmus" / (name + ".fmu")).string(); }

struct outcome {
    int status = -1;
    std::string out, err;
};

class fmu_command : public testing::Test {
   protected:
    fmu_command() { fs::create_directories(temporary()); }

    fs::path path(const std::string& name) const { return folder_.path() / name; }
    void write(const std::string& name, const std::string& text) { test::write_file(path(name), text); }
    fs::path temporary() const { return folder_.path() / "tmp"; }

    outcome run(const std::string& arguments) {
        const std::string command = "cd '" + folder_.path().string() + "' && TMPDIR='" + temporary().string() + "' '" +
                                    MDPCOSIM_PROGRAM "' " + arguments + " >out.txt 2>err.txt";
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content("out.txt"), content("err.txt")};
    }

    std::string content(const std::string& name) const { return test::content(path(name)); }

    std::vector<std::string> lines(const std::string& name) const {
        std::istringstream in(content(name));
        std::vector<std::string> all;
        for (std::string line; std::getline(in, line);) all.push_back(line);
        return all;
    }

    std::vector<double> last_row(const std::string& name) const {
        std::istringstream in(lines(name).back());
        std::vector<double> row;
        for (std::string field; std::getline(in, field, ',');) row.push_back(std::stod(field));
        return row;
    }

    void expect_nothing_left() const { EXPECT_TRUE(fs::is_empty(temporary())); }

    test::temporary_folder folder_;
};

// info

TEST_F(fmu_command, info_shows_what_is_in_it_and_what_becomes_of_it) {
    const outcome shown = run("fmu info '" + fmu("oscillator-2") + "'");
    EXPECT_EQ(shown.status, 0) << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("FMI 2.0, model 'oscillator'"), HasSubstr("interface co-simulation"),
                                 HasSubstr("interface model-exchange"), HasSubstr("polynomials up to degree 1"),
                                 HasSubstr("linux64"), HasSubstr("2 states, 0 event indicators"),
                                 HasSubstr("kind: translation, position: position, velocity: velocity")));
    const outcome plain = run("fmu info '" + fmu("plain-oscillator-3") + "'");
    EXPECT_THAT(plain.out, AllOf(HasSubstr("all as held values (degree 0)"), HasSubstr("save/restore        no"),
                                 HasSubstr("x86_64-linux")));
    EXPECT_THAT(run("fmu info '" + fmu("fixed-step-oscillator-3") + "'").out, HasSubstr("whole multiples of 0.001 s"));
    EXPECT_THAT(run("fmu info '" + fmu("state-space-3") + "'").out,
                AllOf(HasSubstr("structural parameters"), HasSubstr("Float64[n,n]")));
    EXPECT_THAT(run("fmu info '" + fmu("oscillator-3") + "'").out, HasSubstr("ports, from its terminals"));
    expect_nothing_left();
}

TEST_F(fmu_command, info_cuts_long_lists_unless_asked) {
    const outcome cut = run("fmu info '" + fmu("wide-2") + "'");
    EXPECT_THAT(cut.out, AllOf(HasSubstr("1000 inputs"), HasSubstr("... and 980 more; --all shows them"),
                               Not(HasSubstr("u[1000]"))));
    const outcome all = run("fmu info --all '" + fmu("wide-2") + "'");
    EXPECT_THAT(all.out, AllOf(HasSubstr("u[1000]"), Not(HasSubstr("more;"))));
}

TEST_F(fmu_command, info_as_json) {
    const auto shown = json::parse(run("fmu info --json '" + fmu("inertia-3") + "'").out);
    EXPECT_EQ(shown["fmi_version"], "3.0");
    EXPECT_TRUE(shown["interfaces"].contains("co-simulation"));
    EXPECT_TRUE(shown["interfaces"].contains("model-exchange"));
    EXPECT_EQ(shown["ports"][0]["kind"], "rotation");
    bool found = false;
    for (const auto& v : shown["variables"]) found = found || (v["name"] == "J" && v["causality"] == "parameter");
    EXPECT_TRUE(found);
}

// validate

TEST_F(fmu_command, valid_fmus_are_valid) {
    for (const char* name : {"oscillator", "plain-oscillator", "fixed-step-oscillator", "bouncing-ball", "stairs",
                             "feedthrough", "van-der-pol", "only-steps", "only-equations", "resource"})
        for (const char* version : {"-2", "-3"}) {
            const outcome verdict = run("fmu validate '" + fmu(std::string(name) + version) + "'");
            EXPECT_EQ(verdict.status, 0) << verdict.out << verdict.err;
            EXPECT_THAT(verdict.out, AllOf(HasSubstr(": valid\n"), HasSubstr("steps of")));
        }
    expect_nothing_left();
}

TEST_F(fmu_command, violations_are_listed_with_their_place) {
    const auto violation = [&](const std::string& name) {
        const outcome verdict = run("fmu validate '" + fmu(name) + "'");
        EXPECT_EQ(verdict.status, 1) << verdict.out << verdict.err;
        return verdict.out;
    };
    EXPECT_THAT(violation("wrong-token-2"), HasSubstr("co-simulation: fmi2Instantiate gave no instance"));
    EXPECT_THAT(violation("missing-library-3"), HasSubstr("libfmu_absent.so"));
    EXPECT_THAT(violation("missing-symbol-2"), HasSubstr("mdpcosim_absent_function"));
    EXPECT_THAT(violation("missing-function-2"),
                AllOf(HasSubstr("co-simulation: "), HasSubstr("fmi2DoStep"), HasSubstr("model-exchange: ")));
    EXPECT_THAT(violation("throwing-instance-3"), HasSubstr("an exception left fmi3Instantiate"));
    EXPECT_THAT(violation("crash-at-load-2"),
                AllOf(HasSubstr("co-simulation: its process ended with status 1 at its start"),
                      HasSubstr("model-exchange: its process ended with status 1 at its start")));
    expect_nothing_left();
    const auto verdict = json::parse(run("fmu validate --json '" + fmu("wrong-token-3") + "'").out);
    EXPECT_EQ(verdict["valid"], false);
    EXPECT_EQ(verdict["violations"].size(), 2u);
}

TEST_F(fmu_command, what_is_no_archive_is_an_input_error) {
    write("text.fmu", "no archive");
    EXPECT_EQ(run("fmu validate text.fmu").status, 2);
    EXPECT_THAT(content("err.txt"), HasSubstr("cannot be opened as a zip archive"));
    EXPECT_EQ(run("fmu validate nowhere.fmu").status, 2);
    EXPECT_THAT(content("err.txt"), HasSubstr("the file does not exist."));
    EXPECT_EQ(run("fmu info nowhere.fmu").status, 2);
    EXPECT_EQ(run("fmu").status, 2);
    EXPECT_THAT(content("err.txt"), HasSubstr("a subcommand is missing. mdpcosim fmu has: info, validate."));
    EXPECT_EQ(run("fmu inf x.fmu").status, 2);
    EXPECT_THAT(content("err.txt"), HasSubstr("Did you mean 'info'?"));
}

// run

TEST_F(fmu_command, a_single_fmu_runs_with_its_default_experiment) {
    for (const char* version : {"2", "3"})
        for (const char* interface : {"co-simulation", "model-exchange"}) {
            const outcome done = run("run '" + fmu(std::string("decay-") + version) +
                                     "' --quiet --out r --set k=2 --set interface=" + interface);
            ASSERT_EQ(done.status, 0) << done.err;
            const std::vector<double> end = last_row("r/results.csv");
            EXPECT_NEAR(end[1], std::exp(-2 * end[0]), 1e-6) << interface;
        }
    expect_nothing_left();
}

TEST_F(fmu_command, the_resolved_scenario_runs_equally) {
    write("in.csv", "time,force\n0,0\n0.2,3\n1,-1\n");
    ASSERT_EQ(
        run("run '" + fmu("oscillator-2") + "' --quiet --out a --end 1 --step 5ms --set m=2 --input in.csv").status, 0)
        << content("err.txt");
    ASSERT_EQ(run("run a/scenario.yaml --quiet --out b").status, 0) << content("err.txt");
    EXPECT_EQ(content("a/results.csv"), content("b/results.csv"));
    EXPECT_EQ(lines("a/results.csv").size(), 202);
}

TEST_F(fmu_command, columns_drive_the_inputs_of_their_names) {
    write("in.csv", "time,u,int32_in,boolean_in,unknown\n0,0,1,0,9\n1,2,5,1,9\n");
    const outcome done = run("run '" + fmu("feedthrough-3") + "' --out r --end 1 --step 0.01 --input in.csv");
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("left out, since they are no inputs of the FMU: unknown"));
    const auto head = lines("r/results.csv").front();
    const auto value = [&](const std::string& column) {
        std::istringstream in(head);
        std::size_t k = 0;
        for (std::string field; std::getline(in, field, ','); ++k)
            if (field == column) return last_row("r/results.csv")[k];
        ADD_FAILURE() << column << " in " << head;
        return 0.0;
    };
    EXPECT_NEAR(value("feedthrough.y"), 2, 1e-12);
    EXPECT_EQ(value("feedthrough.int32_out"), 5);
    EXPECT_EQ(value("feedthrough.boolean_out"), 1);
    write("wrong.csv", "time,uu\n0,0\n1,1\n");
    EXPECT_EQ(run("run '" + fmu("feedthrough-3") + "' --end 1 --input wrong.csv").status, 2);
    EXPECT_THAT(content("err.txt"), AllOf(HasSubstr("no column is an input"), HasSubstr("Did you mean 'u'?")));
    EXPECT_EQ(run("check '" + fmu("feedthrough-3") + "' --end 1 --input in.csv").status, 0);
}

TEST_F(fmu_command, settings_of_a_single_fmu_are_checked) {
    EXPECT_EQ(run("run '" + fmu("oscillator-2") + "' --set mm=2").status, 2);
    EXPECT_THAT(content("err.txt"),
                HasSubstr("--set mm=2: subsystem 'oscillator' (fmu oscillator-2.fmu): variable 'mm'"));
    write("s.yaml", "time: {end: 1 s, step: 0.1 s}\nsubsystems:\n  a: {model: lag-1}\n");
    EXPECT_EQ(run("run s.yaml --input in.csv").status, 2);
    EXPECT_THAT(content("err.txt"), HasSubstr("this belongs to 'run model.fmu'"));
}

TEST_F(fmu_command, every_call_is_traced_when_asked) {
    for (const char* how : {"", " --set isolate=true"}) {
        ASSERT_EQ(run("run '" + fmu("decay-2") + "' --quiet --out r --end 0.02 --step 0.01 --fmi-log" + how).status, 0);
        const auto log = lines("r/fmi.log");
        EXPECT_THAT(log, testing::Contains("- decay (decay-2.fmu): fmi2Instantiate(\"decay\") -> ok"));
        EXPECT_THAT(log, testing::Contains("0 decay (decay-2.fmu): fmi2DoStep(t 0, H 0.01) -> ok"));
        EXPECT_THAT(log, testing::Contains("0.01 decay (decay-2.fmu): fmi2DoStep(t 0.01, H 0.01) -> ok"));
        EXPECT_THAT(log, testing::Contains("0.02 decay (decay-2.fmu): fmi2Terminate() -> ok"));
    }
    ASSERT_EQ(run("run '" + fmu("decay-2") + "' --quiet --out r --end 0.02 --step 0.01").status, 0);
    EXPECT_FALSE(fs::exists(path("r/fmi.log")));
    EXPECT_EQ(run("run '" + fmu("wrong-token-2") + "' --quiet --out q --fmi-log").status, 2);
    EXPECT_THAT(content("q/fmi.log"), HasSubstr("fmi2Instantiate(\"wrong_token\") -> error"));
}

TEST_F(fmu_command, validate_reads_parameters_back) {
    const outcome verdict = run("fmu validate '" + fmu("forgetful-witness-2") + "'");
    EXPECT_EQ(verdict.status, 1);
    EXPECT_THAT(verdict.out, HasSubstr("error: co-simulation: its parameter 'gain' is 0 (SI) and not 2, as its "
                                       "description says, until it is given that value."));
    EXPECT_THAT(verdict.out, HasSubstr("2 errors"));
    const outcome converting = run("fmu validate '" + fmu("converting-witness-2") + "'");
    EXPECT_EQ(converting.status, 0);
    EXPECT_THAT(converting.out,
                HasSubstr("warning: model-exchange: its parameter 'gain' is 0.002 (SI) and not 2, as its "
                          "description says; given that value, it stays so."));
}

/// 0.1 is no multiple of anything in binary: differences of times are not the step that was asked for.
TEST_F(fmu_command, steps_are_told_as_long_as_they_were_asked_for) {
    struct span {
        const char *how, *H;
        double end;
    };
    for (const char* name : {"decay-1-cs", "decay-2", "decay-3"})
        for (const auto& [how, H, end] :
             {span{" --end 1", "0.1", 1}, span{" --end 1 --set isolate=true", "0.1", 1},
              span{" --start 0.3 --end 1.3", "0.1", 1.3}, span{" --end 0.02", "0.002", 0.02}}) {
            ASSERT_EQ(run("run '" + fmu(name) + "' --quiet --out r --fmi-log --step " + H + how).status, 0);
            int steps = 0;
            for (const std::string& line : lines("r/fmi.log")) {
                const std::size_t at = line.find("DoStep(t ");
                if (at == std::string::npos) continue;
                ++steps;
                EXPECT_THAT(line, HasSubstr(std::string(", H ") + H + ")")) << name << how;
                EXPECT_LE(std::stod(line.substr(at + 9)) + std::stod(H), end) << "behind the end that the FMU knows";
            }
            EXPECT_EQ(steps, 10) << name << how;
        }
}

/// In a chain of feed-through FMUs a macro step costs each FMU two sets (the mean over the step, the value at its end), a step and
/// one read; inputs that nobody drives are set once.
TEST_F(fmu_command, a_step_makes_no_more_calls_than_it_needs) {
    write("s.yaml", "time: {end: 1 s, step: 0.1 s}\nsubsystems:\n  f0: {fmu: '" + fmu("decay-2") + "'}\n  f1: {fmu: '" +
                        fmu("feedthrough-2") + "'}\n  f2: {fmu: '" + fmu("feedthrough-2") +
                        "'}\nsignals:\n  - f0.x -> f1.u\n  - f1.y -> f2.u\nrecord: {only: [f0.x]}\n");
    ASSERT_EQ(run("run s.yaml --quiet --out r --workers 1 --fmi-log").status, 0);
    const auto count = [&](const std::string& begin, const std::string& call) {
        const auto log = lines("r/fmi.log");
        return std::count_if(log.begin(), log.end(), [&](const std::string& line) {
            return line.starts_with(begin) && line.find(call) != std::string::npos;
        });
    };
    EXPECT_EQ(count("0 f1 ", "fmi2SetBoolean"), 1);
    EXPECT_EQ(count("", "fmi2SetBoolean"), 2);
    EXPECT_EQ(count("0.5 f1 ", "fmi2SetReal"), 2);
    EXPECT_EQ(count("0.5 f1 ", "fmi2DoStep"), 1);
    EXPECT_EQ(count("0.5 f1 ", "fmi2GetReal"), 1);
    EXPECT_EQ(count("0.5 f1 ", "fmi2"), 4);
}

// misbehaviour

struct misbehaviour {
    const char *how, *where;
    std::vector<std::string> message;           ///< parts, all of them; the time of the failure is 0.5 s
    std::vector<std::string> isolated_message;  ///< where it differs
    bool never_ends = false;                    ///< in process
};

void PrintTo(const misbehaviour& m, std::ostream* out) { *out << m.how << " in " << m.where; }

class fmu_misbehaves : public fmu_command, public testing::WithParamInterface<misbehaviour> {
   protected:
    void expect_failure(const std::string& version, bool isolated) {
        const misbehaviour& m = GetParam();
        write("in.csv", "time,u\n0,0\n1,1\n");  // an input that does not change is not set again
        const outcome done =
            run("run '" + fmu("misbehave-" + version) +
                "' --quiet --out r --end 1 --step 10ms --input in.csv --set when=0.5 --set how=" + m.how +
                " --set where=" + m.where + (isolated ? " --set isolate='{limit: 1 s}'" : ""));
        SCOPED_TRACE(done.err);
        EXPECT_EQ(done.status, 1);
        EXPECT_THAT(done.err, AllOf(HasSubstr("'misbehave'"), HasSubstr("at t = 0.")));
        const auto& wanted = isolated && !m.isolated_message.empty() ? m.isolated_message : m.message;
        for (const auto& part : wanted) EXPECT_THAT(done.err, HasSubstr(part));
        EXPECT_GE(lines("r/results.csv").size(), 50u);
        EXPECT_TRUE(fs::exists(path("r/summary.json")));
        expect_nothing_left();
    }
};

TEST_P(fmu_misbehaves, the_run_ends_with_a_message_and_keeps_its_results) {
    for (const char* version : {"2", "3"}) {
        SCOPED_TRACE(version);
        if (!GetParam().never_ends) expect_failure(version, false);
        expect_failure(version, true);
    }
}

/// The folder of a process that an FMU ended, without a parent that cleans up, is removed at the next start.
TEST_F(fmu_command, a_crash_in_process_is_cleaned_up_at_the_next_start) {
    run("run '" + fmu("misbehave-2") +
        "' --no-supervisor --quiet --out r --end 1 --step 10ms --set isolate=false --set when=0.5 --set how=abort "
        "--set "
        "where=step");
    EXPECT_FALSE(fs::is_empty(temporary()));
    EXPECT_EQ(run("run '" + fmu("decay-2") + "' --quiet --out r --end 0.1").status, 0);
    expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(
    steps, fmu_misbehaves,
    testing::Values(misbehaviour{"error", "step", {"misbehave-", "DoStep returned error", "as commanded"}, {}},
                    misbehaviour{"fatal", "step", {"misbehave-", "DoStep returned fatal"}, {}},
                    misbehaviour{"discard", "step", {"misbehave-", "it takes no step"}, {}},
                    misbehaviour{"unknown-status", "step", {"DoStep returned the status 42, which does not exist"}, {}},
                    misbehaviour{"throw", "step", {"an exception left fmi", "DoStep: thrown as commanded"}, {}},
                    misbehaviour{"throw-int", "step", {"an exception left fmi", "DoStep"}, {}},
                    misbehaviour{"error", "get", {"returned error"}, {}},
                    misbehaviour{"throw", "set", {"an exception left fmi"}, {}},
                    misbehaviour{"nan", "nowhere", {"output 'y' is nan"}, {}},
                    misbehaviour{"abort",
                                 "step",
                                 {"crashed (SIGABRT) in fmi", "DoStep"},
                                 {"its process ended with status 1 in advance", "crashed (SIGABRT) in fmi", "DoStep"}},
                    misbehaviour{"crash",
                                 "step",
                                 {"crashed (SIGSEGV) in fmi", "DoStep"},
                                 {"its process ended with status 1 in advance", "crashed (SIGSEGV) in fmi", "DoStep"}},
                    misbehaviour{"exit",
                                 "step",
                                 {"called exit(3) in fmi", "DoStep"},
                                 {"its process ended with status 1 in advance", "called exit(3) in fmi", "DoStep"}},
                    misbehaviour{"hang", "step", {}, {"did not answer within 1 s in advance"}, true}));

TEST_F(fmu_command, warnings_and_strange_logs_do_not_end_a_run) {
    for (const char* how : {"warning", "log-format", "log-format-without-arguments", "log-null", "log-long"})
        for (const char* version : {"2", "3"})
            for (const char* isolate : {"false", "true"}) {
                const outcome done =
                    run("run '" + fmu(std::string("misbehave-") + version) +
                        "' --quiet --out r --end 1 --step 10ms --set when=0.5 --set where=step --set how=" + how +
                        " --set isolate=" + isolate);
                EXPECT_EQ(done.status, 0) << how << version << isolate << done.err;
                EXPECT_EQ(lines("r/results.csv").size(), 102u);
            }
    expect_nothing_left();
}

}  // namespace
}  // namespace mdpcosim
