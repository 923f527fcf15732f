#include "results/run_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <set>

#include "core/error.hpp"
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
    for (const char* name : {"results.csv", "summary.json", "scenario.yaml", "notes.txt", "results.csv.bak"})
        write_file(place / name, "old");
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
    EXPECT_THAT(refusal("/proc"), testing::HasSubstr("the folder cannot be written ("));
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

/// A full disk: the draft is a link to a device that takes nothing.
TEST(run_folder, a_full_disk_is_a_run_error_with_the_systems_reason) {
    const temporary_folder place;
    const run_folder folder(place.path());
    fs::create_symlink("/dev/full", place / "summary.json.part");
    try {
        folder.write("summary.json", std::string(1 << 16, 'x'));
        FAIL() << "written";
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), testing::HasSubstr("No space left on device"));
    }
    EXPECT_EQ(names_in(place.path()), (std::set<std::string>{".running"}));
}

}  // namespace
}  // namespace mdpcosim
