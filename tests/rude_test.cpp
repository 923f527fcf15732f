// Foreign code that treats the process it lives in as its own (src/plugin/test/plugins/rude.c), and folders that are not as they should be: every end has a
// name and a status, and rows that were recorded are there.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
