// The real program: exit status, what stands on which stream, signals, progress on a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "core/json.hpp"
#include "process.hpp"
#include "scenarios.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::content;
using test::process;
using test::temporary_folder;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class program : public testing::Test {
   protected:
    static std::vector<std::string> command(std::initializer_list<std::string> words) {
        std::vector<std::string> all{MDPCOSIM_PROGRAM};
        all.insert(all.end(), words);
        return all;
    }

    std::string scenario(const std::string& text) const {
        test::write_file(folder_ / "test.yaml", text);
        return (folder_ / "test.yaml").string();
    }

    std::string out() const { return (folder_ / "out").string(); }
    json summary() const { return json::parse(content(folder_ / "out/summary.json")); }

    process::outcome run(std::initializer_list<std::string> words, const process::options& given = {}) const {
        return process(command(words), given).wait();
    }

    /// More simulated time than any machine gets through: it runs until it is stopped.
    std::string endless() const {
        return scenario(test::mixed(1, 100, "{end: 1e9 s, step: 1 ms}") + "record: {every: 100 ms}\n");
    }

    /// Until the run has begun: its folder has a header line. Gives up after a while; the expectations then fail.
    void wait_for_begin() const {
        for (int i = 0; i < 3000 && content(folder_ / "out/results.csv").empty(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }

    void expect_whole_rows(bool reached = true) const {
        std::istringstream in(content(folder_ / "out/results.csv"));
        std::string line;
        std::getline(in, line);
        const auto separators = std::count(line.begin(), line.end(), ',');
        std::int64_t rows = 0;
        double last = -1;
        while (std::getline(in, line)) {
            ASSERT_FALSE(in.eof()) << "the last line has no end";
            ASSERT_EQ(std::count(line.begin(), line.end(), ','), separators);
            const double t = std::stod(line);
            ASSERT_GT(t, last);
            last = t;
            ++rows;
        }
        EXPECT_EQ(rows, summary()["rows"]);
        if (reached) {
            EXPECT_EQ(last, summary()["time"]["reached"]);
        }
    }

    void expect_interrupted_by(int signal) const {
        const std::string file = endless();
        process child(command({"run", file, "--out", out()}), {});
        wait_for_begin();
        child.send(signal);
        const auto seen = child.wait();
        EXPECT_EQ(seen.exit_status, 130);
        EXPECT_THAT(seen.err, HasSubstr("mdpcosim: interrupted at t = "));
        EXPECT_EQ(summary()["status"], "interrupted");
        EXPECT_GT(summary()["macro_steps"].get<int>(), 0);
        expect_whole_rows();
        EXPECT_FALSE(fs::exists(folder_ / "out/.running"));
    }

    temporary_folder folder_;
};

TEST_F(program, a_run_that_is_done) {
    const auto seen = run({"run", scenario(test::two_subsystems(1)), "--out", out()});
    EXPECT_EQ(seen.exit_status, 0);
    EXPECT_EQ(test::without_progress(seen.err), "");
    EXPECT_THAT(seen.out, testing::StartsWith("done: 400 macro steps to t = 0.4 s in "));
    EXPECT_THAT(
        seen.out,
        testing::HasSubstr(  // a word on how it was verified may follow
            "results in " + out() +
            ": results.csv and results.h5 (401 rows), summary.json, profile.json, scenario.yaml\nverdict: good\n"));
    expect_whole_rows();
}

/// `rows` of a file that was left out are in the other one.
TEST_F(program, files_that_are_not_wanted_are_not_written) {
    const std::string system = test::two_subsystems(1);
    const auto without = [&](const std::string& record) {
        return run({"run", scenario(system + "record: {" + record + "}\n"), "--out", out()});
    };
    EXPECT_THAT(without("hdf5: no").out, HasSubstr(": results.csv (401 rows), summary.json"));
    EXPECT_FALSE(fs::exists(folder_ / "out/results.h5"));
    expect_whole_rows();
    EXPECT_THAT(without("csv: no").out, HasSubstr(": results.h5 (401 rows), summary.json"));
    EXPECT_FALSE(fs::exists(folder_ / "out/results.csv"));
    const auto none = without("csv: no, hdf5: false");
    EXPECT_EQ(none.exit_status, 2);
    EXPECT_THAT(none.err,
                HasSubstr("record: the run would leave no file of results. Leave out 'csv: no' or 'hdf5: no'"));
    for (const char* option : {"--report", "--verify"}) {
        const auto refused = run({"run", scenario(system + "record: {csv: no}\n"), "--out", out(), option});
        EXPECT_EQ(refused.exit_status, 2) << option;
        EXPECT_THAT(refused.err, HasSubstr("Leave out 'csv: no' of 'record'"));
    }
}

/// What a solver does not know, and tolerances of zero.
TEST_F(program, solver_options_that_mean_nothing_are_refused) {
    const auto refused = [&](const std::string& solver) {
        const auto seen =
            run({"run",
                 scenario("time: {end: 1 s, step: 1 ms}\nsubsystems:\n  a: {model: lag-1, solver: " + solver + "}\n"),
                 "--out", out()});
        EXPECT_EQ(seen.exit_status, 2) << solver;
        return seen.err;
    };
    EXPECT_THAT(refused("{name: erk-5, rtoll: 1e-6}"), AllOf(HasSubstr("rtoll"), HasSubstr("Did you mean 'rtol'?")));
    EXPECT_THAT(refused("{name: rk4, rtol: 1e-6}"), HasSubstr("rtol"));
    EXPECT_THAT(refused("{name: erk-5, rtol: 0}"), AllOf(HasSubstr("rtol"), HasSubstr("must be greater than zero")));
    EXPECT_THAT(refused("{name: erk-5, atol: 0}"), AllOf(HasSubstr("atol"), HasSubstr("must be greater than zero")));
}

TEST_F(program, a_long_run_tells_what_is_to_come) {
    const std::string file =
        scenario("time: {end: 1e6 s, step: 1 ms}\nsubsystems:\n  a: {model: lag-1, solver: rk4}\n");
    EXPECT_THAT(run({"check", file}).out, ContainsRegex("\nexpected: .* with one worker, 54 GB of results\n"));
    const auto wait_and_end = [&](std::initializer_list<std::string> words) {
        process child(command(words), {});
        std::this_thread::sleep_for(std::chrono::seconds(3));
        child.send(SIGINT);
        return child.wait().err;
    };
    EXPECT_THAT(wait_and_end({"run", file, "--out", out()}),
                ContainsRegex("expected: .* in all, [0-9.]+ GB of results"));
    EXPECT_THAT(wait_and_end({"run", file, "--out", out(), "--quiet"}), Not(HasSubstr("expected: ")));
}

TEST_F(program, quiet_prints_nothing) {
    const auto seen =
        run({"run", scenario(test::two_subsystems(1)), "--out", out(), "--quiet"}, {.terminal = true, .file_size = {}});
    EXPECT_EQ(seen.exit_status, 0);
    EXPECT_EQ(seen.out, "");
    EXPECT_EQ(seen.err, "");
}

/// The whole of standard output is one document: the parser would not take anything beside it.
TEST_F(program, json_prints_one_document) {
    const auto seen =
        run({"run", scenario(test::two_subsystems(1)), "--out", out(), "--json"}, {.terminal = true, .file_size = {}});
    EXPECT_EQ(seen.exit_status, 0);
    EXPECT_EQ(seen.err, "");
    EXPECT_EQ(json::parse(seen.out), summary());
}

TEST_F(program, the_default_folder_is_named_after_the_scenario) {
    const std::string file = scenario(test::two_subsystems(1));
    const fs::path before = fs::current_path();
    fs::current_path(folder_.path());
    const auto seen = run({"run", file, "--quiet"});
    fs::current_path(before);
    EXPECT_EQ(seen.exit_status, 0);
    EXPECT_TRUE(fs::exists(folder_ / "test.out/results.csv"));
}

TEST_F(program, a_wrong_scenario_ends_with_2_and_writes_nothing) {
    const auto seen = run({"run", scenario("mdpcosim: 1\ntime: {end: 1 s}\n"), "--out", out()});
    EXPECT_EQ(seen.exit_status, 2);
    EXPECT_EQ(seen.out, "");
    EXPECT_THAT(seen.err, testing::StartsWith("mdpcosim: "));
    EXPECT_FALSE(fs::exists(out()));
    EXPECT_EQ(run({"run"}).exit_status, 2);
    EXPECT_EQ(run({"run", (folder_ / "no.yaml").string()}).exit_status, 2);
}

TEST_F(program, a_failing_subsystem_ends_with_1) {
    const std::string file = scenario(R"(mdpcosim: 1
time: {end: 1 s, step: 1 ms}
subsystems:
  calm: {model: lag-1, solver: rk4}
  wild: {ode: {states: {x: 2}, equations: {x: x^2}}, solver: rk4}
)");
    for (const bool as_json : {false, true}) {
        const auto seen = as_json ? run({"run", file, "--out", out(), "--json"}) : run({"run", file, "--out", out()});
        EXPECT_EQ(seen.exit_status, 1);
        EXPECT_THAT(seen.err, testing::StartsWith("mdpcosim: subsystem 'wild' failed at t = 0.50"));
        EXPECT_EQ(summary()["status"], "failed");
        EXPECT_EQ("mdpcosim: " + summary()["message"].get<std::string>() + "\n", seen.err);
        if (as_json) {
            EXPECT_EQ(json::parse(seen.out), summary());
        }
        expect_whole_rows();
    }
}

/// Files may grow to 2.5 MB only, as on a disk that fills up during the run: room for the HDF5 file, which is made at the start.
TEST_F(program, a_disk_that_fills_up_ends_with_1) {
    const std::string file = scenario(test::mixed(1, 1, "{end: 5 s, step: 1 ms}"));
    const auto seen = run({"run", file, "--out", out()}, {.terminal = false, .file_size = 2500000});
    EXPECT_EQ(seen.exit_status, 1);
    EXPECT_THAT(seen.err, HasSubstr("results.csv: the results cannot be written (File too large)"));
    EXPECT_EQ(summary()["status"], "failed");
    EXPECT_GT(fs::file_size(folder_ / "out/results.csv"), 2400000u);
    expect_whole_rows(false);
    EXPECT_FALSE(fs::exists(folder_ / "out/.running"));
    const auto at_start = run({"run", file, "--out", out()}, {.terminal = false, .file_size = 100000});
    EXPECT_EQ(at_start.exit_status, 1);
    EXPECT_THAT(at_start.err, HasSubstr("results.h5: the results cannot be written"));
    EXPECT_EQ(summary()["status"], "failed");
}

TEST_F(program, ctrl_c_ends_in_order_with_130) { expect_interrupted_by(SIGINT); }
TEST_F(program, sigterm_ends_in_order_with_130) { expect_interrupted_by(SIGTERM); }

TEST_F(program, a_killed_run_leaves_whole_rows_and_no_lock) {
    const std::string file = endless();
    {
        process child(command({"run", file, "--out", out()}), {});
        wait_for_begin();
        const auto refused = run({"run", file, "--out", out()});
        EXPECT_EQ(refused.exit_status, 2);
        EXPECT_THAT(refused.err, HasSubstr("another mdpcosim is running in this folder"));
        child.send(SIGKILL);
        EXPECT_EQ(child.wait().signal, SIGKILL);
    }
    EXPECT_THAT(content(folder_ / "out/results.csv"), testing::EndsWith("\n"));
    EXPECT_FALSE(fs::exists(folder_ / "out/summary.json"));
    EXPECT_EQ(run({"run", scenario(test::two_subsystems(1)), "--out", out(), "--quiet"}).exit_status, 0);
    expect_whole_rows();
    EXPECT_FALSE(fs::exists(folder_ / "out/.running"));
}

/// On a terminal a run that takes a while shows a bar, which is gone at the end.
TEST_F(program, the_bar_appears_on_a_terminal_and_is_removed) {
    const std::string file = endless();
    process child(command({"run", file, "--out", out()}), {.terminal = true, .file_size = {}});
    child.wait_for_error_text(" % |");
    child.send(SIGINT);
    const auto seen = child.wait();
    EXPECT_EQ(seen.exit_status, 130);
    EXPECT_THAT(seen.err, testing::StartsWith("\r\033[K  0 % |"));
    EXPECT_THAT(seen.err, HasSubstr("t = "));
    EXPECT_THAT(seen.err, HasSubstr("s of 1e+09 s"));
    const auto last_bar = seen.err.rfind(" % |");
    EXPECT_THAT(seen.err.substr(last_bar),
                testing::ContainsRegex("\r\033\\[Kmdpcosim: interrupted at t = [^\r\n]*\r?\n$"));
    // Nothing but the bar is written before: each one takes the place of the one before and fits the 100 columns.
    std::istringstream lines(seen.err.substr(0, last_bar));
    for (std::string line; std::getline(lines, line, '\r');) EXPECT_LT(line.size(), 100u + 3);
    EXPECT_THAT(seen.err.substr(0, last_bar), Not(HasSubstr("\n")));
}

/// Not on a terminal: lines come every ten seconds only, so that a log of a short run stays empty.
TEST_F(program, no_bar_in_a_pipe) {
    const std::string file = endless();
    process child(command({"run", file, "--out", out()}), {});
    wait_for_begin();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    child.send(SIGINT);
    const auto seen = child.wait();
    EXPECT_THAT(seen.err, testing::StartsWith("mdpcosim: interrupted"));
}

}  // namespace
}  // namespace mdpcosim
