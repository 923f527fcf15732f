// The program watched by its parent: whatever ends a run, status 1 (or 130), who was in which call, all rows up to there, a summary, and
// nothing left behind.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <array>
#include <thread>

#include "core/json.hpp"
#include "marked_processes.hpp"
#include "process.hpp"
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

std::string fmu(const std::string& name) { return (fs::path(MDPCOSIM_BINARY_DIR) / "fmus" / (name + ".fmu")).string(); }

/// Rows that an HDF5 file promises, and the time of the last.
std::pair<std::int64_t, double> last_of(const fs::path& path) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) return {-1, -1};
    std::int64_t rows = 0;
    const hid_t count = H5Dopen2(file, "rows", H5P_DEFAULT), set = H5Dopen2(file, "time", H5P_DEFAULT);
    H5Dread(count, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &rows);
    const hid_t space = H5Dget_space(set);
    std::vector<double> time(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, time.data());
    H5Sclose(space);
    H5Dclose(set);
    H5Dclose(count);
    H5Fclose(file);
    return {rows, rows > 0 ? time.at(static_cast<std::size_t>(rows - 1)) : -1};
}

class supervised_run : public testing::Test {
   protected:
    supervised_run() : mark_(std::string(test::mark_variable) + "=" + folder_.path().string()) {
        fs::create_directory(folder_ / "tmp");
        test::write_file(folder_ / "in.csv", "time,u\n0,0\n1,1\n");
        ::setenv(test::mark_variable, folder_.path().c_str(), 1);
        ::setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
    }
    ~supervised_run() override {
        ::unsetenv(test::mark_variable);
        ::unsetenv("TMPDIR");
        ::unsetenv("MDPCOSIM_PATIENCE");
    }

    std::string out() const { return (folder_ / "out").string(); }

    std::vector<std::string> command(std::vector<std::string> words) const {
        words.insert(words.begin(), MDPCOSIM_PROGRAM);
        return words;
    }
    static int run_shell(const std::string& line) { return process({"/bin/bash", "-c", line}, {}).wait().exit_status; }
    process::outcome run(const std::vector<std::string>& words) const { return process(command(words), {}).wait(); }

    /// The FMU that misbehaves in fmi2DoStep from 0.5 s on.
    std::vector<std::string> misbehaving(const std::string& how, const std::string& version = "2",
                                         const std::string& where = "step") const {
        return {"run",
                fmu("misbehave-" + version),
                "--quiet",
                "--out",
                out(),
                "--end",
                "1",
                "--step",
                "10ms",
                "--input",
                folder_ / "in.csv",
                "--set",
                "isolate=false",
                "--set",
                "when=0.5",
                "--set",
                "how=" + how,
                "--set",
                "where=" + where};
    }

    json summary() const {
        return json::parse_if_valid(content(folder_ / "out/summary.json")).value_or(json::object());
    }

    /// All rows from 0 s to 0.5 s, in both files, and a summary that agrees.
    void expect_whole_results(const std::string& status, std::int64_t rows = 51, double reached = 0.5) const {
        const json s = summary();
        ASSERT_TRUE(s.is_object() && !content(folder_ / "out/summary.json").empty());
        EXPECT_EQ(s.at("status"), status);
        EXPECT_EQ(s.at("rows"), rows);
        EXPECT_EQ(s.at("time").at("reached"), reached);
        const std::string text = content(folder_ / "out/results.csv");
        EXPECT_TRUE(text.ends_with('\n'));
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), rows + 1);
        EXPECT_NE(text.find(fmt::format("\n{},", reached)), std::string::npos);
        EXPECT_EQ(last_of(folder_ / "out/results.h5"), std::pair(rows, reached));
    }

    void expect_nothing_left() const {
        EXPECT_THAT(test::marked_processes(mark_), testing::IsEmpty());
        EXPECT_TRUE(fs::is_empty(folder_ / "tmp")) << fs::directory_iterator(folder_ / "tmp")->path();
        if (!fs::exists(out())) return;
        EXPECT_FALSE(fs::exists(folder_ / "out/.running"));
        EXPECT_FALSE(fs::exists(folder_ / "out/.reserve"));
        for (const auto& entry : fs::directory_iterator(out())) EXPECT_NE(entry.path().extension(), ".part") << entry;
    }

    /// The worker, once there are rows.
    pid_t worker_of_begun() const {
        while (content(folder_ / "out/results.csv").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        const auto all = test::marked_processes(mark_);
        for (const auto& p : all)
            for (const auto& q : all)
                if (p.second == q.first) return p.first;
        return -1;
    }

    std::string endless() const {
        test::write_file(folder_ / "endless.yaml",
                         "time: {end: 1e9 s, step: 1 ms}\nsubsystems:\n  a: {model: lag-1, solver: rk4}\n"
                         "record: {every: 100 s}\n");
        return (folder_ / "endless.yaml").string();
    }

    const temporary_folder folder_;
    std::string mark_;
};

struct sudden {
    const char *how, *message;
};
void PrintTo(const sudden& s, std::ostream* out) { *out << s.how; }

class sudden_ends : public supervised_run, public testing::WithParamInterface<sudden> {};

TEST_P(sudden_ends, of_an_fmu_are_named_and_keep_all_rows) {
    for (const char* version : {"2", "3"}) {
        const auto seen = run(misbehaving(GetParam().how, version));
        EXPECT_EQ(seen.exit_status, 1);
        EXPECT_THAT(seen.err, AllOf(HasSubstr(fmt::format("subsystem 'misbehave' (fmu misbehave-{}.fmu)", version)),
                                    HasSubstr(GetParam().message),
                                    HasSubstr(fmt::format(" in fmi{}DoStep at t = 0.5 s", version))));
        EXPECT_THAT(seen.err, HasSubstr("mdpcosim: " + summary()["message"].get<std::string>() + "\n"));
        expect_whole_results("failed");
        expect_nothing_left();
    }
}

INSTANTIATE_TEST_SUITE_P(all, sudden_ends,
                         testing::Values(sudden{"exit-0", "called exit(0)"},
                                         sudden{"raw-exit-0", "ended the program with _exit(0)"},
                                         sudden{"crash", "crashed (SIGSEGV)"}, sudden{"abort", "crashed (SIGABRT)"},
                                         sudden{"overflow", "crashed (SIGSEGV)"},
                                         sudden{"throw-in-thread", "crashed (SIGABRT)"},
                                         sudden{"kill", "was killed (SIGKILL"}));

TEST_F(supervised_run, rows_go_into_the_files_that_there_are) {
    for (const std::string left_out : {"csv", "hdf5"}) {
        test::write_file(folder_ / "s.yaml",
                         fmt::format("time: {{end: 1 s, step: 10 ms}}\nsubsystems:\n"
                                     "  bad: {{fmu: {}, isolate: false, set: {{when: 0.5, how: kill, where: step}}}}\n"
                                     "record: {{{}: no}}\n",
                                     fmu("misbehave-2"), left_out));
        const auto seen = run({"run", folder_ / "s.yaml", "--quiet", "--out", out()});
        EXPECT_EQ(seen.exit_status, 1);
        EXPECT_EQ(summary()["rows"], 51) << left_out;
        EXPECT_EQ(fs::exists(folder_ / "out/results.csv"), left_out != "csv");
        EXPECT_EQ(fs::exists(folder_ / "out/results.h5"), left_out != "hdf5");
        const std::string text = content(folder_ / "out/results.csv");
        if (left_out == "csv")
            EXPECT_EQ(last_of(folder_ / "out/results.h5"), std::pair(std::int64_t{51}, 0.5));
        else
            EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 52);
        expect_nothing_left();
    }
}

TEST_F(supervised_run, a_plugin_that_ends_the_program_is_named) {
    constexpr int in_advance = 10, raw_exit = 11;
    test::write_file(folder_ / "s.yaml",
                     fmt::format("time: {{end: 1 s, step: 10 ms}}\nsubsystems:\n  good: {{model: lag-1, solver: rk4}}\n"
                                 "  bad: {{plugin: {}/tests/plugins/faulty_solver.so, set: {{where: {}, how: {}, "
                                 "when: 0.505 s, needed: 1 m}}}}\n",
                                 MDPCOSIM_BINARY_DIR, in_advance, raw_exit));
    for (const char* workers : {"1", "2"}) {
        const auto seen = run({"run", folder_ / "s.yaml", "--out", out(), "--quiet", "--workers", workers});
        EXPECT_EQ(seen.exit_status, 1);
        EXPECT_THAT(seen.err, HasSubstr("subsystem 'bad' (plugin faulty_solver.so): ended the program with _exit(5) in "
                                        "advance at t = 0.5 s"));
        expect_whole_results("failed");
        expect_nothing_left();
    }
}

/// More rows than a block holds, most of them in the files by then.
TEST_F(supervised_run, a_long_run_keeps_all_rows) {
    test::write_file(folder_ / "s.yaml",
                     fmt::format("time: {{end: 1e3 s, step: 1 ms}}\nsubsystems:\n"
                                 "  a: {{fmu: {}, set: {{how: raw-exit-0, where: step, when: 200}}}}\n",
                                 fmu("misbehave-2")));
    EXPECT_EQ(run({"run", folder_ / "s.yaml", "--out", out(), "--quiet", "--json"}).exit_status, 1);
    expect_whole_results("failed", 200001, 200);
}

TEST_F(supervised_run, json_is_one_document_after_a_sudden_end) {
    auto words = misbehaving("raw-exit-0");
    words.push_back("--json");
    const auto seen = run(words);
    EXPECT_EQ(seen.exit_status, 1);
    EXPECT_EQ(json::parse(seen.out), summary());
}

TEST_F(supervised_run, a_crash_before_and_after_the_run_is_named) {
    auto at_load = run({"run", fmu("crash-at-load-2"), "--out", out(), "--end", "1", "--quiet"});
    EXPECT_EQ(at_load.exit_status, 1);
    EXPECT_THAT(at_load.err, HasSubstr("(fmu crash-at-load-2.fmu): crashed (SIGSEGV) in its start"));
    EXPECT_EQ(summary()["status"], "failed");
    expect_nothing_left();
    auto words = misbehaving("raw-exit-0", "2", "free");
    words[11 + 3] = "when=0";
    const auto at_end = run(words);
    EXPECT_EQ(at_end.exit_status, 1);
    EXPECT_THAT(at_end.err, HasSubstr("ended the program with _exit(0) in fmi2FreeInstance"));
    expect_whole_results("failed", 101, 1);
    EXPECT_GT(summary()["subsystems"].size(), 0u) << "the summary of the run itself is kept";
    expect_nothing_left();
}

TEST_F(supervised_run, other_commands_name_a_crash) {
    for (const auto& words : {std::vector<std::string>{"check", fmu("crash-at-load-2")}}) {
        const auto seen = run(words);
        EXPECT_EQ(seen.exit_status, 1) << words[0];
        EXPECT_THAT(seen.err, HasSubstr("(fmu crash-at-load-2.fmu): crashed (SIGSEGV) in its start")) << words[0];
    }
    EXPECT_EQ(run({"fmu", "validate", fmu("crash-at-load-2")}).exit_status, 1);
    expect_nothing_left();
}

TEST_F(supervised_run, one_signal_ends_a_run_that_loops) {
    ::setenv("MDPCOSIM_PATIENCE", "0.2", 1);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        process child(command(misbehaving("loop")), {});
        while (content(folder_ / "out/results.csv").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        child.send(signal);
        const auto seen = child.wait();
        EXPECT_EQ(seen.exit_status, 130);
        EXPECT_THAT(seen.err,
                    ContainsRegex("interrupted; the run did not end within [0-9.]+ s and was killed; at work: "
                                  "subsystem 'misbehave' \\(fmu misbehave-2.fmu\\) in fmi2DoStep at t = 0.5 "
                                  "s"));
        expect_whole_results("interrupted");
        expect_nothing_left();
        fs::remove_all(out());
    }
}

/// It lives elsewhere, and cannot tell by itself what it is doing.
TEST_F(supervised_run, who_loops_in_another_process_is_named) {
    ::setenv("MDPCOSIM_PATIENCE", "2", 1);  // that it is late is noted after 0.2 s
    const std::string moment = (folder_ / "moment").string();
    for (const char* transport : {"processes", "tcp"}) {
        auto words = misbehaving("as-told");
        words.insert(words.end(), {"--transport", transport});
        words = command(words);
        words.insert(words.begin(), {"/usr/bin/env", "MDPCOSIM_TEST_FAULT=hang", "MDPCOSIM_TEST_MOMENT=" + moment});
        process child(words, {});
        while (child.lives() && content(moment).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        child.send(SIGTERM);
        const auto seen = child.wait();
        EXPECT_EQ(seen.exit_status, 130);
        EXPECT_THAT(seen.err,
                    ContainsRegex("was killed; at work: subsystem 'misbehave' \\(process [0-9]+\\) in advance "
                                  "at t = 0.5 s"));
        expect_whole_results("interrupted");
        expect_nothing_left();
        fs::remove_all(out());
        fs::remove(moment);
    }
}

/// Ctrl-Z and fg, or kill -TSTP and -CONT.
TEST_F(supervised_run, stops_and_goes_on) {
    process child(command({"run", endless(), "--out", out(), "--quiet"}), {});
    const pid_t worker = worker_of_begun();
    const auto is_stopped = [&](pid_t id) {
        const std::string text = content(fmt::format("/proc/{}/stat", id));
        return text.find(") T ") != std::string::npos;
    };
    const auto becomes = [&](bool stopped) {
        for (int n = 0; n < 15000; ++n) {
            if (is_stopped(child.id()) == stopped && is_stopped(worker) == stopped) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        return false;
    };
    for (int i = 0; i < 2; ++i) {
        child.send(SIGTSTP);
        EXPECT_TRUE(becomes(true));
        child.send(SIGCONT);
        EXPECT_TRUE(becomes(false));
    }
    ASSERT_TRUE(child.lives());
    child.send(SIGTERM);
    EXPECT_EQ(child.wait().exit_status, 130);
    expect_nothing_left();
}

TEST_F(supervised_run, a_hangup_ends_in_order) {
    process child(command({"run", endless(), "--out", out()}), {});
    worker_of_begun();
    child.send(SIGHUP);
    const auto seen = child.wait();
    EXPECT_EQ(seen.exit_status, 130);
    EXPECT_THAT(seen.err, HasSubstr("mdpcosim: interrupted at t = "));
    EXPECT_EQ(summary()["status"], "interrupted");
    EXPECT_TRUE(fs::exists(folder_ / "out/profile.json"));
}

/// From the program's first own instruction on; before, while the system loads it, nothing has begun.
TEST_F(supervised_run, a_signal_at_the_start_ends_in_order) {
    const std::string scenario = endless();
    for (int i = 0; i < 48; ++i) {
        const int signal = std::array{SIGTERM, SIGINT, SIGHUP}[static_cast<std::size_t>(i) % 3];
        process child(command({"run", scenario, "--out", out(), "--quiet"}), {});
        while (child.lives() && !child.has_begun(signal)) continue;
        std::this_thread::sleep_for(std::chrono::microseconds(i * i * 20));
        child.send(signal);
        const auto seen = child.wait();
        EXPECT_EQ(seen.exit_status, 130) << "signal " << signal << " after " << i * i * 20 << " us";
        EXPECT_THAT(seen.err, testing::StartsWith("mdpcosim: interrupted")) << i;
        expect_nothing_left();
        fs::remove_all(out());
    }
}

TEST_F(supervised_run, a_killed_worker_is_told_and_a_killed_parent_takes_it_along) {
    {
        process child(command({"run", endless(), "--out", out(), "--quiet"}), {});
        const pid_t worker = worker_of_begun();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        ::kill(worker, SIGKILL);
        const auto seen = child.wait();
        EXPECT_EQ(seen.exit_status, 1);
        EXPECT_THAT(seen.err, HasSubstr("mdpcosim was killed (SIGKILL"));
        EXPECT_EQ(summary()["status"], "failed");
        EXPECT_GT(summary()["macro_steps"].get<int>(), 0);
        expect_nothing_left();
    }
    fs::remove_all(out());
    process child(command({"run", endless(), "--out", out(), "--quiet"}), {});
    ASSERT_GT(worker_of_begun(), 0);
    child.send(SIGKILL);
    child.wait();
    EXPECT_THAT(test::marked_processes(mark_), testing::IsEmpty());
}

TEST_F(supervised_run, works_without_the_parent) {
    for (const char* variable : {"", "MDPCOSIM_SUPERVISOR=0"}) {
        const std::string line = fmt::format(
            "{} '{}' run '{}' --out '{}' --quiet --end 1 --step 10ms --set when=0.5 --set where=step --set how=crash "
            "{} "
            "2> '{}'",
            variable, MDPCOSIM_PROGRAM, fmu("misbehave-2"), out(), *variable == '\0' ? "--no-supervisor" : "",
            (folder_ / "err.txt").string());
        EXPECT_EQ(run_shell(line), 1);
        EXPECT_THAT(content(folder_ / "err.txt"), HasSubstr("(fmu misbehave-2.fmu): crashed (SIGSEGV) in fmi2DoStep"));
    }
}

TEST_F(supervised_run, output_that_nobody_reads_does_not_end_a_run) {
    test::write_file(folder_ / "s.yaml",
                     "time: {end: 1 s, step: 1 ms}\nsubsystems:\n  a: {model: lag-1, solver: rk4}\n");
    const std::string begin =
        fmt::format("cd '{}' && '{}' run s.yaml --out out ", folder_.path().string(), MDPCOSIM_PROGRAM);
    EXPECT_EQ(run_shell(begin + "--json > /dev/full 2> err.txt"), 1);
    EXPECT_THAT(content(folder_ / "err.txt"), HasSubstr("standard output cannot be written (No space left on device)"));
    EXPECT_EQ(summary()["status"], "done");
    fs::remove_all(out());
    EXPECT_EQ(run_shell("set -o pipefail; { " + begin + " 2> err.txt; } | sleep 0"), 1);
    EXPECT_EQ(summary()["status"], "done");
    fs::remove_all(out());
    // Progress and messages that go nowhere were not asked for.
    EXPECT_EQ(run_shell("set -o pipefail; { " + begin + " > /dev/null; } 2>&1 | sleep 0"), 0);
    EXPECT_EQ(summary()["status"], "done");
    EXPECT_EQ(run_shell(begin + "--quiet 2>&- >&-"), 0);
}

/// What an FMU starts ends with the run, also where it has left its process group and lost its parents.
TEST_F(supervised_run, nothing_that_was_started_lives_on) {
    EXPECT_EQ(run(misbehaving("daemon")).exit_status, 0);
    expect_nothing_left();
    auto words = misbehaving("daemon-and-hang");
    words.insert(words.end(), {"--set", "isolate={limit: 0.5 s}"});
    EXPECT_EQ(run(words).exit_status, 1);
    expect_nothing_left();
    test::write_file(folder_ / "s.yaml",
                     fmt::format("time: {{end: 1 s, step: 10 ms}}\nsubsystems:\n"
                                 "  a: {{program: [sh, -c, '(setsid sleep 1000 &) && exec {}/tests/programs/faulty'], "
                                 "set: {{how: well}}}}\n",
                                 MDPCOSIM_BINARY_DIR));
    const auto seen = run({"run", folder_ / "s.yaml", "--out", out(), "--quiet"});
    EXPECT_EQ(seen.exit_status, 0) << seen.err;
    expect_nothing_left();
}

/// What a shell that made way for the program had started is not ours to end.
TEST_F(supervised_run, processes_of_others_live_on) {
    test::write_file(folder_ / "s.yaml",
                     "time: {end: 1 s, step: 1 ms}\nsubsystems:\n  a: {model: lag-1, solver: rk4}\n");
    process shell({"/bin/bash", "-c",
                   fmt::format("sleep 60 >/dev/null 2>&1 & echo $!; exec '{}' run '{}' --out '{}' --quiet",
                               MDPCOSIM_PROGRAM, (folder_ / "s.yaml").string(), out())},
                  {});
    const auto seen = shell.wait();
    EXPECT_EQ(seen.exit_status, 0) << seen.err;
    const pid_t other = std::stoi(seen.out);
    EXPECT_EQ(::kill(other, SIGKILL), 0);
}

}  // namespace
}  // namespace mdpcosim
