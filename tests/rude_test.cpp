// Foreign code that treats the process it lives in as its own (src/plugin/test/plugins/rude.c), and folders that are not as they should be: every end has a
// name and a status, and rows that were recorded are there.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/json.hpp"
#include "marked_processes.hpp"
#include "process.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::content;
using test::process;
using testing::AllOf;
using testing::HasSubstr;

class rude : public testing::Test {
   protected:
    rude() : mark_(std::string(test::mark_variable) + "=" + folder_.path().string()) {
        test::write_file(
            folder_ / "s.yaml",
            fmt::format("time: {{end: 0.2 s, step: 1 ms}}\nsubsystems:\n  a: {{model: lag-1, solver: rk4}}\n"
                        "  bad: {{plugin: {}/tests/plugins/rude.so}}\n",
                        MDPCOSIM_BINARY_DIR));
    }

    process::outcome run(const std::string& deed, const std::vector<std::string>& more = {}) const {
        fs::remove_all(folder_ / "out");
        std::vector<std::string> words{"/usr/bin/env",   mark_,   "MDPCOSIM_TEST_DEED=" + deed,
                                       MDPCOSIM_PROGRAM, "run",   (folder_ / "s.yaml").string(),
                                       "--quiet",        "--out", (folder_ / "out").string()};
        words.insert(words.end(), more.begin(), more.end());
        const auto seen = process(words, {}).wait();
        EXPECT_THAT(test::marked_processes(mark_), testing::IsEmpty()) << deed;
        return seen;
    }

    /// All rows that were recorded, in results.csv and by the summary.
    void expect_rows(const std::string& status, int rows) const {
        const auto summary = json::parse_if_valid(content(folder_ / "out/summary.json"));
        ASSERT_TRUE(summary);
        EXPECT_EQ(summary->at("status"), status);
        EXPECT_EQ(summary->at("rows"), rows);
        const std::string text = content(folder_ / "out/results.csv");
        EXPECT_TRUE(text.ends_with('\n'));
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), rows + 1);
    }

    const test::temporary_folder folder_;
    std::string mark_;
};

TEST_F(rude, ends_are_named) {
    const std::string who = "subsystem 'bad' (plugin rude.so)";
    for (const auto& [deed, message] : std::vector<std::pair<std::string, std::string>>{
             {"ignore-crash", who + ": crashed (SIGSEGV) in advance at t = 0.05 s"},
             {"thread-crash", who + ": crashed (SIGSEGV) in advance at t = 0.05 s"},
             {"thread-exit", who + ": ended the program with _exit(3) in advance at t = 0.05 s"},
             {"overflow", who + ": crashed (SIGSEGV) in advance at t = 0.05 s"},
             {"exec", who + ": ended the program with _exit(0) in advance at t = 0.05 s"},
             {"quick", who + ": called quick_exit() in advance at t = 0.05 s"},
             {"end-thread", who},
             {"cancel-thread", who}}) {
        const auto seen = run(deed);
        EXPECT_EQ(seen.exit_status, 1) << deed;
        EXPECT_THAT(seen.err, HasSubstr(message)) << deed;
        expect_rows("failed", 51);
    }
}

/// What the run cannot write any more, its parent does.
TEST_F(rude, rows_are_kept_without_files) {
    for (const char* deed : {"close-all", "replace-all", "no-size", "no-files"}) {
        const auto seen = run(deed);
        EXPECT_EQ(seen.exit_status, 1) << deed;
        EXPECT_THAT(seen.err, HasSubstr("what the run could not write itself was brought to")) << deed;
        expect_rows("failed", 201);
    }
}

TEST_F(rude, habits_that_do_no_harm_are_none) {
    for (const char* deed : {"close-standard", "fork", "fork-exit", "fork-forever", "chdir", "block", "ignore",
                             "threads", "umask", "environment"}) {
        const auto seen = run(deed);
        EXPECT_EQ(seen.exit_status, 0) << deed << seen.err;
        expect_rows("done", 201);
    }
}

/// Paths begin where the run was started, whatever folder the first plugin has gone to.
TEST_F(rude, a_changed_working_folder_moves_nothing) {
    fs::copy(MDPCOSIM_BINARY_DIR "/tests/plugins/rude.so", folder_ / "rude.so");
    test::write_file(folder_ / "s.yaml",
                     "time: {end: 0.2 s, step: 1 ms}\nsubsystems:\n  a: {plugin: rude.so}\n  b: {plugin: rude.so}\n"
                     "expect:\n  - {variable: a.x, min: 0.5, max: 1}\n");
    for (const char* when : {"EARLY_DEED", "DEED"}) {
        fs::remove_all(folder_ / "out");
        const auto seen = process({"/bin/sh", "-c",
                                   fmt::format("cd '{}' && MDPCOSIM_TEST_{}=chdir '{}' run s.yaml --out out --report",
                                               folder_.path().string(), when, MDPCOSIM_PROGRAM)},
                                  {})
                              .wait();
        EXPECT_EQ(seen.exit_status, 0) << when << seen.err;
        EXPECT_THAT(seen.out, HasSubstr("results in out: results.csv and results.h5 (201 rows), summary.json"));
        expect_rows("done", 201);
        EXPECT_TRUE(fs::exists(folder_ / "out/report.html")) << when;
    }
}

/// Whose run it is can read its results.
TEST_F(rude, a_changed_umask_locks_nobody_out) {
    if (::getuid() != 0) GTEST_SKIP() << "needs another user";
    constexpr unsigned nobody = 65534;
    ASSERT_EQ(::chown(folder_.path().c_str(), nobody, nobody), 0);
    const auto run_as_nobody = [&](const std::string& variable) {
        return process({"/usr/bin/env", variable, "setpriv", "--reuid", fmt::format("{}", nobody), "--regid",
                        fmt::format("{}", nobody), "--clear-groups", MDPCOSIM_PROGRAM, "run",
                        (folder_ / "s.yaml").string(), "--quiet", "--out", (folder_ / "out").string(), "--report"},
                       {})
            .wait();
    };
    if (run_as_nobody("A=b").exit_status != 0) GTEST_SKIP() << "the program is not for others here";
    for (const char* when : {"EARLY_DEED", "DEED"}) {
        fs::remove_all(folder_ / "out");
        const auto seen = run_as_nobody(fmt::format("MDPCOSIM_TEST_{}=umask", when));
        EXPECT_EQ(seen.exit_status, 0) << when << seen.err;
        expect_rows("done", 201);
        for (const auto& entry : fs::directory_iterator(folder_ / "out"))
            EXPECT_NE(entry.status().permissions() & fs::perms::owner_read, fs::perms::none) << entry;
    }
}

/// Units of the library that knows them all are read after it.
TEST_F(rude, a_decimal_comma_changes_no_number) {
    test::write_file(folder_ / "comma",
                     "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3\nEND LC_NUMERIC\n");
    process(
        {"/bin/sh", "-c", fmt::format("cd '{}' && localedef -c -i comma ./xx 2>&1 || true", folder_.path().string())},
        {})
        .wait();
    if (!fs::exists(folder_ / "xx/LC_NUMERIC")) GTEST_SKIP() << "no localedef here";
    test::write_file(folder_ / "input.csv", "time,x [furlong]\n0,0.5\n1,2.25e-1\n");
    test::write_file(
        folder_ / "s.yaml",
        fmt::format("time: {{end: 0.2 s, step: 1 ms}}\nsubsystems:\n  bad: {{plugin: {}/tests/plugins/rude.so}}\n"
                    "  a: {{model: mass-spring-damper, set: {{mass: 1.5 pound, stiffness: 1 lbf/inch, x0: 0.1 inch}}, "
                    "solver: rk4}}\n  c: {{file: input.csv}}\n",
                    MDPCOSIM_BINARY_DIR));
    const auto results = [&](const std::string& deed) {
        fs::remove_all(folder_ / "out");
        const auto seen = process({"/usr/bin/env", "LOCPATH=" + folder_.path().string(), "LC_NUMERIC=xx",
                                   "MDPCOSIM_TEST_EARLY_DEED=" + deed, MDPCOSIM_PROGRAM, "run",
                                   (folder_ / "s.yaml").string(), "--quiet", "--out", (folder_ / "out").string()},
                                  {})
                              .wait();
        EXPECT_EQ(seen.exit_status, 0) << seen.err;
        return content(folder_ / "out/results.csv") + content(folder_ / "out/scenario.yaml");
    };
    const std::string plain = results("none");
    EXPECT_GT(plain.size(), 10000u);
    EXPECT_EQ(results("locale"), plain);
}

/// Memory that the supervising parent reads.
TEST_F(rude, damaged_last_words_are_told) {
    for (const char* deed : {"last-words", "ruin-words"}) {
        const auto seen = run(deed);
        EXPECT_EQ(seen.exit_status, 1) << deed;
        EXPECT_THAT(seen.err, HasSubstr("what it left for its parent is damaged")) << deed;
    }
}

TEST_F(rude, json_stays_one_document) {
    const auto seen = run("stdout", {"--json"});
    EXPECT_EQ(seen.exit_status, 0);
    EXPECT_TRUE(json::parse_if_valid(seen.out)) << seen.out;
    EXPECT_THAT(seen.err, HasSubstr("{\"not\": \"json\""));
}

TEST_F(rude, a_working_folder_that_has_gone_is_told) {
    const std::string line =
        fmt::format("mkdir '{0}/gone' && cd '{0}/gone' && rmdir ../gone && '{1}' run '{0}/s.yaml' --out x",
                    folder_.path().string(), MDPCOSIM_PROGRAM);
    const auto seen = process({"/bin/sh", "-c", line}, {}).wait();
    EXPECT_EQ(seen.exit_status, 2);
    EXPECT_THAT(seen.err, HasSubstr("--out x: the working folder does not exist any more"));
}

}  // namespace
}  // namespace mdpcosim
