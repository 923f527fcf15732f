// What users have on their disks: a run destroys nothing of it, and what it writes itself is whole, also where the disk is full.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>

#include "core/json.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::content;
using test::temporary_folder;
using test::write_file;
using testing::HasSubstr;

const std::string scenario_ = R"(time: {end: 0.1 s, step: 1 ms}
subsystems:
  a: {model: mass-spring-damper, set: {x0: 1 mm}, solver: rk4}
  b: {model: mass-spring-damper, solver: rk4}
connections:
  k: {law: spring, between: [a.mass, b.mass], stiffness: 1 kN/m}
)";

const std::string driven_ = R"(time: {end: 0.1 s, step: 1 ms}
subsystems:
  a: {model: mass-spring-damper, solver: rk4}
  d: {file: results.csv}
  o: {ode: {states: {x: 0}, inputs: {u: 0}, equations: {x: u - x}, outputs: {y: x}}}
signals: [d.demand -> o.u]
)";

struct outcome {
    int status = -1;
    std::string out, err;
};

class lost_files : public testing::Test {
   protected:
    lost_files() { write_file(folder_ / "scenario.yaml", scenario_); }

    /// As a shell would, in the test's folder.
    outcome run(const std::string& arguments, const std::string& before = {}) const {
        const temporary_folder logs;
        const std::string to = arguments.find('>') == std::string::npos ? " >'" + (logs / "out").string() + "'" : "";
        const std::string command = "cd '" + folder_.path().string() + "' && " + before + " '" MDPCOSIM_PROGRAM "' " +
                                    arguments + to + " 2>'" + (logs / "err").string() + "'";
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(logs / "out"), content(logs / "err")};
    }

    std::map<std::string, std::string> all_files() const {
        std::map<std::string, std::string> all;
        for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
            if (entry.is_regular_file()) all[entry.path()] = content(entry.path());
        return all;
    }

    void expect_refused(const std::string& arguments, const std::string& message) const {
        const auto before = all_files();
        const outcome seen = run(arguments);
        EXPECT_EQ(seen.status, 2) << arguments << "\n" << seen.err;
        EXPECT_THAT(seen.err, HasSubstr(message));
        EXPECT_TRUE(all_files() == before) << arguments << " has changed files";
    }

    temporary_folder folder_;
};

TEST_F(lost_files, a_run_leaves_the_folder_of_its_scenario_alone) {
    expect_refused("run scenario.yaml --out .",
                   "the folder is not empty and holds no run of mdpcosim, but: scenario.yaml");
    expect_refused("run scenario.yaml --out '" + folder_.path().string() + "'", "Name a new or an empty folder");
    expect_refused("run scenario.yaml --out . --fmi-log", "Nothing was changed");
    expect_refused("run scenario.yaml --out . --verify", "Nothing was changed");
    expect_refused("run scenario.yaml --out . --monolithic", "Nothing was changed");
}

TEST_F(lost_files, a_run_never_writes_over_what_it_reads) {
    ASSERT_EQ(run("run scenario.yaml --out r").status, 0);
    expect_refused("run r/scenario.yaml --out r", "the run would write over r/scenario.yaml, which it reads");
    fs::create_symlink("r/scenario.yaml", folder_ / "again.yaml");
    expect_refused("run again.yaml --out r", "which it reads");
    // An input that stands where results go.
    write_file(folder_ / "driven.yaml", driven_);
    write_file(folder_ / "results.csv", "time,demand\n0,0\n1,1\n");
    expect_refused("run driven.yaml --out .", "holds no run of mdpcosim");
    write_file(folder_ / "r/results.csv", "time,demand\n0,0\n1,1\n");
    std::string text = driven_;
    write_file(folder_ / "driven.yaml", text.replace(text.find("results.csv"), 11, "r/results.csv"));
    expect_refused("run driven.yaml --out r", "the run would write over r/results.csv, which it reads");
    write_file(folder_ / "r/summary.json.part", scenario_);
    write_file(folder_ / "with.yaml", "include: r/steps.csv\n" + scenario_);
    write_file(folder_ / "r/steps.csv", "let: {unused: 1}\n");
    expect_refused("run with.yaml --out r", "the run would write over r/steps.csv, which it reads");
    write_file(folder_ / "expecting.yaml", scenario_ + "expect: [{file: r/results.csv, within: 1}]\n");
    expect_refused("run expecting.yaml --out r", "which it reads");
}

TEST_F(lost_files, a_run_replaces_a_run_and_nothing_else) {
    ASSERT_EQ(run("run scenario.yaml --out r").status, 0);
    write_file(folder_ / "r/notes.txt", "mine");
    ASSERT_EQ(run("run scenario.yaml --out r").status, 0);
    EXPECT_EQ(content(folder_ / "r/notes.txt"), "mine");
    fs::create_directory(folder_ / "empty");
    EXPECT_EQ(run("run scenario.yaml --out empty").status, 0);
    // A mistake that shows when the subsystems start leaves a folder that the next run takes.
    write_file(folder_ / "early.yaml", scenario_ + "expect: [{variable: a.nothing, end: 1}]\n");
    EXPECT_EQ(run("run early.yaml --out e").status, 2);
    EXPECT_EQ(run("run scenario.yaml --out e").status, 0);
}

TEST_F(lost_files, reports_and_pictures_are_not_written_over_what_they_show) {
    ASSERT_EQ(run("run scenario.yaml --out r").status, 0);
    expect_refused("report r --out r/results.csv",
                   "the report would be written over r/results.csv, which it is made from");
    fs::copy_file(folder_ / "r/results.csv", folder_ / "other.csv");
    expect_refused("report r --with other.csv --out other.csv", "which it is made from");
    expect_refused("bench methods --scenario scenario.yaml --svg scenario.yaml",
                   "--svg scenario.yaml: the figure would be written over");
    expect_refused(
        "stability --F 1 --extrapolation lin-2-3-opt --svg scenario.yaml",
        "scenario.yaml: the picture cannot be written (there is a file of this name that is neither SVG nor HTML");
    EXPECT_EQ(run("report r --out page.html").status, 0);
    EXPECT_EQ(run("report r --out page.html").status, 0);
}

TEST_F(lost_files, a_token_takes_no_files_place) {
    write_file(folder_ / "mine", "not a token, but two words\n");
    const outcome seen = run("run scenario.yaml --out r --transport tcp --remote a --wait 0.1 --token-file mine");
    EXPECT_EQ(seen.status, 2) << seen.err;
    EXPECT_THAT(seen.err,
                HasSubstr("token file 'mine' cannot be written: File exists. Name another with --token-file."));
    EXPECT_EQ(content(folder_ / "mine"), "not a token, but two words\n");
    fs::create_symlink("mine", folder_ / "link");
    EXPECT_EQ(run("run scenario.yaml --out r --transport tcp --remote a --wait 0.1 --token-file link").status, 2);
    EXPECT_EQ(content(folder_ / "mine"), "not a token, but two words\n");
    // A new one is left while it is needed, and removed.
    EXPECT_NE(run("run scenario.yaml --out r --transport tcp --remote a --wait 0.1 --token-file new").status, 0);
    EXPECT_FALSE(fs::exists(folder_ / "new"));
}

/// Every row is whole, the summary is there and says how many there are.
void expect_readable(const fs::path& out) {
    const json summary = json::parse(content(out / "summary.json"));
    EXPECT_EQ(summary["status"], "failed");
    std::istringstream in(content(out / "results.csv"));
    std::string line;
    std::int64_t rows = -1;
    std::ptrdiff_t separators = -1;
    while (std::getline(in, line)) {
        ASSERT_FALSE(in.eof()) << "the last row was cut";
        if (separators < 0) separators = std::count(line.begin(), line.end(), ',');
        ASSERT_EQ(std::count(line.begin(), line.end(), ','), separators);
        ++rows;
    }
    EXPECT_EQ(rows, summary["rows"]);
    EXPECT_FALSE(fs::exists(out / ".reserve"));
    EXPECT_FALSE(fs::exists(out / ".running"));
    for (const auto& entry : fs::directory_iterator(out)) EXPECT_NE(entry.path().extension(), ".part") << entry;
}

/// A disk of so many bytes.
class small_disk {
   public:
    small_disk(const fs::path& place, const std::string& size) : place_(place) {
        fs::create_directory(place);
        there_ = ::mount("tmpfs", place.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
    }
    small_disk(const small_disk&) = delete;
    small_disk& operator=(const small_disk&) = delete;
    ~small_disk() {
        if (there_) ::umount2(place_.c_str(), MNT_DETACH);
    }
    bool there() const { return there_; }

   private:
    fs::path place_;
    bool there_ = false;
};

TEST_F(lost_files, on_a_full_disk_rows_are_whole_and_the_summary_is_there) {
    write_file(folder_ / "long.yaml", scenario_);
    for (const auto& [kilobytes, transport] :
         {std::pair{300, "threads"}, std::pair{412, "threads"}, std::pair{530, "threads"}, std::pair{700, "threads"},
          std::pair{1000, "threads"}, std::pair{700, "processes"}}) {
        SCOPED_TRACE(fmt::format("{} {}", kilobytes, transport));
        const small_disk disk(folder_ / "disk", std::to_string(kilobytes) + "k");
        // Where nothing can be mounted, files that cannot grow beyond a size stand for the disk.
        const std::string limit = disk.there() ? "" : "ulimit -f " + std::to_string(kilobytes) + ";";
        const outcome seen =
            run(fmt::format("run long.yaml --end '50 s' --no-verify --out disk/r --transport {}", transport), limit);
        EXPECT_EQ(seen.status, 1) << seen.err;
        EXPECT_THAT(seen.err, testing::ContainsRegex("disk/r/results\\.(csv|h5): the results cannot be written"));
        EXPECT_THAT(seen.err, HasSubstr(disk.there() ? "No space left on device" : "File too large"));
        expect_readable(folder_ / "disk/r");
        fs::remove_all(folder_ / "disk/r");
    }
}

/// What is left to be written when foreign code ends the program is more than the disk takes: the summary has its place all the same.
TEST_F(lost_files, on_a_full_disk_a_sudden_end_leaves_a_summary) {
    write_file(folder_ / "sudden.yaml",
               "time: {end: 0.1 s, step: 1 us}\nsubsystems:\n  a: {plugin: " MDPCOSIM_BINARY_DIR
               "/tests/plugins/rude.so}\n");
    const small_disk disk(folder_ / "disk", "300k");
    const std::string limit = disk.there() ? "" : "ulimit -f 300;";
    const outcome seen = run("run sudden.yaml --no-verify --out disk/r", "export MDPCOSIM_TEST_DEED=quick;" + limit);
    EXPECT_EQ(seen.status, 1) << seen.err;
    expect_readable(folder_ / "disk/r");
}

TEST_F(lost_files, a_disk_without_space_for_results_is_told_at_once) {
    const small_disk disk(folder_ / "disk", "48k");
    const std::string limit = disk.there() ? "" : "ulimit -f 1;";
    const outcome seen = run("run scenario.yaml --out disk/r", limit);
    EXPECT_EQ(seen.status, 1) << seen.err;
    EXPECT_THAT(seen.err, testing::ContainsRegex("disk/r.*(No space left on device|File too large)"));
}

TEST_F(lost_files, a_limit_of_file_sizes_is_an_error_with_a_name) {
    for (const int blocks : {100, 200, 1000}) {
        const outcome seen =
            run("run scenario.yaml --end '50 s' --no-verify --out r", "ulimit -f " + std::to_string(blocks) + ";");
        EXPECT_EQ(seen.status, 1) << seen.err;
        EXPECT_THAT(seen.err, testing::ContainsRegex("r/results\\.(csv|h5): the results cannot be written"));
        EXPECT_EQ(json::parse(content(folder_ / "r/summary.json"))["status"], "failed");
    }
}

/// Signals at any time, and a disk that is full: the FMU is there as a whole, or nothing is.
TEST_F(lost_files, an_export_leaves_the_whole_file_or_nothing) {
    if (!fs::exists(MDPCOSIM_BINARY_DIR "/mdpcosim-fmu.so"))
        GTEST_SKIP() << "the library of exported FMUs is not built";
    int ended = 0;
    const auto left = [&] {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_ / "x"))
            names.push_back(entry.path().filename().string());
        return names;
    };
    for (const int milliseconds : {40, 60, 90, 130, 180, 240}) {
        fs::remove_all(folder_ / "x");
        fs::create_directory(folder_ / "x");
        const outcome seen =
            run("export fmu scenario.yaml --out x/a.fmu", fmt::format("exec timeout -s TERM {} ", 1e-3 * milliseconds));
        if (fs::exists(folder_ / "x/a.fmu"))
            EXPECT_EQ(run("fmu info x/a.fmu").status, 0);
        else
            ++ended;
        EXPECT_THAT(left(), testing::AnyOf(testing::IsEmpty(), testing::ElementsAre("a.fmu"))) << seen.err;
    }
    EXPECT_GT(ended, 0);
    fs::remove_all(folder_ / "x");
    const small_disk disk(folder_ / "x", "200k");
    const outcome seen =
        run("export fmu scenario.yaml --out x/a.fmu", disk.there() ? "" : "trap '' XFSZ; ulimit -f 200;");
    EXPECT_EQ(seen.status, 1) << seen.err;
    EXPECT_THAT(seen.err, HasSubstr("a.fmu' cannot be written"));
    EXPECT_THAT(left(), testing::IsEmpty());
}

TEST_F(lost_files, an_output_that_takes_nothing_fails_the_program) {
    ASSERT_EQ(run("run scenario.yaml --out r").status, 0);
    for (const char* arguments :
         {"run scenario.yaml --out r --json", "run scenario.yaml --out r", "check scenario.yaml", "list models",
          "list models --json", "compare r r", "compare r r --json", "--version", "run --help",
          "stability --F 1 --extrapolation lin-2-3-opt"}) {
        const outcome seen = run(arguments + std::string(" >/dev/full"));
        EXPECT_EQ(seen.status, 1) << arguments;
        EXPECT_THAT(seen.err, HasSubstr("standard output cannot be written")) << arguments;
    }
}

}  // namespace
}  // namespace mdpcosim
