#include "results/run_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <set>

#include "core/error.hpp"
#include "support/largest_file.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::content;
using test::temporary_folder;
using test::write_file;

std::set<std::string> names_in(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
    return names;
}

std::string refusal(const fs::path& path) {
    try {
        const run_folder folder(path);
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "taken";
}

TEST(run_folder, is_made_with_its_parents_and_leaves_no_lock) {
    const temporary_folder place;
    {
        const run_folder folder(place / "a/b/c");
        EXPECT_EQ(folder.path(), place / "a/b/c");
        EXPECT_TRUE(fs::is_directory(place / "a/b/c"));
    }
    EXPECT_TRUE(names_in(place / "a/b/c").empty());
}

TEST(run_folder, replaces_a_finished_run_and_keeps_foreign_files) {
    const temporary_folder place;
    for (const char* name : {"results.csv", "results.h5.part", "scenario.yaml", "notes.txt", "results.csv.bak"})
        write_file(place / name, "old");
    write_file(place / "summary.json", R"({"status": "done"})");
    fs::create_directory(place / "pictures");
    const run_folder folder(place.path());
    EXPECT_EQ(names_in(place.path()), (std::set<std::string>{".running", "notes.txt", "pictures", "results.csv.bak"}));
    EXPECT_EQ(content(place / "notes.txt"), "old");
}

TEST(run_folder, refuses_a_folder_in_which_a_run_is_going_on) {
    const temporary_folder place;
    {
        const run_folder folder(place.path());
        write_file(place / "results.csv", "mine");
        write_file(place / "system.json", R"({"columns": []})");
        EXPECT_EQ(refusal(place.path()),
                  "--out " + place.path().string() +
                      ": another mdpcosim is running in this folder. Wait for it or choose another "
                      "folder with --out.");
        EXPECT_EQ(content(place / "results.csv"), "mine");
    }
    EXPECT_EQ(refusal(place.path()), "taken");
}

TEST(run_folder, says_why_a_folder_cannot_be_made) {
    const temporary_folder place;
    write_file(place / "file", "");
    EXPECT_EQ(refusal(place / "file"),
              "--out " + (place / "file").string() + ": the folder cannot be made (a file of this name exists).");
    EXPECT_THAT(refusal(place / "file/below"), testing::HasSubstr("the folder cannot be made (Not a directory)"));
    EXPECT_THAT(refusal("/proc/no-such-folder"), testing::HasSubstr("the folder cannot be made ("));
    EXPECT_THAT(refusal("/proc"), testing::HasSubstr("the folder is not empty and holds no run of mdpcosim"));
}

/// A process that is killed cannot tidy up: its lock goes with it all the same.
TEST(run_folder, the_lock_goes_with_a_killed_process) {
    const temporary_folder place;
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        auto* held = new run_folder(place.path());
        write_file(held->file("results.csv"), "torn");
        if (::write(ready[1], "x", 1) != 1) ::_exit(1);
        ::pause();
        ::_exit(0);
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_THAT(refusal(place.path()), testing::HasSubstr("another mdpcosim is running"));
    EXPECT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(names_in(place.path()), (std::set<std::string>{".running", "results.csv"}));
    EXPECT_EQ(refusal(place.path()), "taken");
    EXPECT_TRUE(names_in(place.path()).empty());
    ::close(ready[0]);
}

TEST(run_folder, writes_whole_files) {
    const temporary_folder place;
    {
        const run_folder folder(place.path());
        folder.write("summary.json", "first");
        folder.write("summary.json", std::string(1 << 20, 'x'));
        EXPECT_EQ(content(place / "summary.json").size(), 1u << 20);
    }
    EXPECT_EQ(names_in(place.path()), (std::set<std::string>{"summary.json"}));
}

TEST(run_folder, a_file_that_cannot_be_written_is_a_run_error_and_leaves_no_draft) {
    const temporary_folder place;
    const run_folder folder(place.path());
    fs::create_directories(place / "summary.json/in-the-way");
    try {
        folder.write("summary.json", "text");
        FAIL() << "written";
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(),
                    testing::StartsWith((place / "summary.json").string() + ": the file cannot be written ("));
    }
    EXPECT_EQ(names_in(place.path()), (std::set<std::string>{".running", "summary.json"}));
    EXPECT_THROW(folder.write("no/such/folder", "text"), run_error);
}

TEST(run_folder, a_file_that_gets_too_large_is_a_run_error_with_the_systems_reason) {
    const temporary_folder place;
    const run_folder folder(place.path());
    const test::largest_file limit(1 << 15);
    try {
        folder.write("summary.json", std::string(1 << 16, 'x'));
        FAIL() << "written";
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), testing::HasSubstr("File too large"));
    }
    EXPECT_EQ(names_in(place.path()), (std::set<std::string>{".running"}));
}

TEST(run_folder, drafts_and_locks_follow_no_link) {
    const temporary_folder place, elsewhere;
    write_file(elsewhere / "mine", "mine");
    {
        const run_folder folder(place.path());
        for (const char* name : {"summary.json", "summary.json.part"})
            fs::create_symlink(elsewhere / "mine", place / name);
        folder.write("summary.json", R"({"status": "done"})");
    }
    EXPECT_EQ(content(elsewhere / "mine"), "mine");
    fs::create_symlink(elsewhere / "new", place / ".running");
    EXPECT_THAT(refusal(place.path()), testing::HasSubstr("the folder cannot be written ("));
    EXPECT_FALSE(fs::exists(elsewhere / "new"));
    fs::remove(place / ".running");
    // Nor is anything removed behind a link.
    write_file(elsewhere / "results.csv", "mine");
    fs::create_symlink(elsewhere.path(), place / half_step_folder);
    EXPECT_EQ(refusal(place.path()), "taken");
    EXPECT_EQ(content(elsewhere / "results.csv"), "mine");
}

TEST(run_folder, takes_only_what_is_empty_or_was_left_by_a_run) {
    const temporary_folder place;
    write_file(place / "scenario.yaml", "mine");
    write_file(place / "results.csv", "mine");
    const std::string refused =
        "--out " + place.path().string() +
        ": the folder is not empty and holds no run of mdpcosim, but: results.csv, scenario.yaml. Nothing was "
        "changed. Name a new or an empty folder, or that of an earlier run.";
    EXPECT_EQ(refusal(place.path()), refused);
    EXPECT_EQ(names_in(place.path()), (std::set<std::string>{"results.csv", "scenario.yaml"}));
    EXPECT_EQ(content(place / "scenario.yaml"), "mine");
    // A summary of somebody else is no sign of a run.
    for (const char* other : {"{}", "[1]", "text", "{\"status\": "}) {
        write_file(place / "summary.json", other);
        EXPECT_THAT(refusal(place.path()), testing::HasSubstr("holds no run of mdpcosim")) << other;
    }
    for (const auto& [name, text] :
         {std::pair("summary.json", R"({"status": "failed"})"), std::pair("system.json", R"({"columns": []})"),
          std::pair(".running", ""), std::pair("fmi.log", "# time [s], subsystem (FMU): call -> status\n1 s")}) {
        const temporary_folder run;
        write_file(run / "results.csv", "old");
        write_file(run / name, text);
        EXPECT_EQ(refusal(run.path()), "taken") << name;
        EXPECT_TRUE(names_in(run.path()).empty()) << name;
    }
}

TEST(run_folder, what_a_run_reads_is_never_written_over) {
    const temporary_folder place;
    write_file(place / "summary.json", R"({"status": "done"})");
    write_file(place / "results.csv", "input");
    fs::create_directory(place / half_step_folder);
    write_file(place / half_step_folder / "scenario.yaml", "input");
    fs::create_symlink(place / "results.csv", place / "link.csv");
    const auto told = [&](const std::vector<fs::path>& inputs) -> std::string {
        try {
            check_run_folder(place.path(), inputs);
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "taken";
    };
    EXPECT_EQ(told({}), "taken");
    EXPECT_EQ(told({place / "link.csv"}),
              "--out " + place.path().string() + ": the run would write over " + (place / "link.csv").string() +
                  ", which it reads. Nothing was changed. Choose another folder with --out.");
    EXPECT_THAT(told({place / half_step_folder / "scenario.yaml"}), testing::HasSubstr("which it reads"));
    EXPECT_EQ(content(place / "results.csv"), "input");
}

TEST(run_folder, keeps_a_reserve_until_it_is_released) {
    const temporary_folder place;
    {
        run_folder folder(place.path());
        folder.reserve(100'000);
        EXPECT_EQ(fs::file_size(place / ".reserve"), 100'000u);
        folder.release();
        EXPECT_EQ(names_in(place.path()), (std::set<std::string>{".running"}));
        folder.reserve(1000);
    }
    EXPECT_TRUE(names_in(place.path()).empty());
}

}  // namespace
}  // namespace mdpcosim
