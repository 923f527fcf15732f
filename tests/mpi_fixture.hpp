#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "core/json.hpp"
#include "process.hpp"
#include "support/temporary_folder.hpp"

/// Runs of the real program on the ranks of one MPI: who starts them, and what is left of them.
namespace mdpcosim::test {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;
using words = std::vector<std::string>;

inline const std::string build_folder = MDPCOSIM_BINARY_DIR;

/// On two ranks a and b are on the first, c and d on the second.
inline const std::string four = R"(mdpcosim: 1
time: {end: 1 s, step: 1 ms}
subsystems:
  a: {model: mass-spring-damper, set: {x0: 10 mm}, solver: rk4}
  b: {model: mass-spring-damper, solver: rk4}
  c: {model: lag-1, solver: rk4}
  d: {model: lag-1, solver: rk4}
connections:
  rod: {law: spring, between: [a.mass, b.mass], stiffness: 400 N/m}
)";

inline std::string with(std::string text, const std::string& old, const std::string& other) {
    text.replace(text.find(old), old.size(), other);
    return text;
}

class mpi_fixture : public testing::TestWithParam<std::string> {
   protected:
    void SetUp() override {
        if (!fs::exists(fs::path(build_folder) / ("mdpcosim-mpi-" + GetParam() + ".so")))
            GTEST_SKIP() << "mdpcosim was built without " << GetParam() << ": its development package is not installed";
        if (process({"/usr/bin/env", mpiexec_name(), "--version"}, {}).wait().exit_status != 0)
            GTEST_SKIP() << mpiexec_name() << " is not installed";
    }
    /// Whatever a test does, no process of its runs is left.
    void TearDown() override {
        const auto limit = clock::now() + std::chrono::seconds(20);
        while (!processes().empty() && clock::now() < limit) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        for (const auto& left : processes()) ADD_FAILURE() << "left behind: " << left.second;
    }

    static std::string mpiexec_name() { return "mpiexec." + GetParam(); }
    static bool is_openmpi() { return GetParam() == "openmpi"; }

    std::string scenario(const std::string& text) const {
        write_file(folder_ / "test.yaml", text);
        return (folder_ / "test.yaml").string();
    }
    std::string out() const { return (folder_ / "out").string(); }
    json summary() const { return json::parse(content(folder_ / "out/summary.json")); }

    words program(const std::string& file, const words& more) const {
        // A run that takes long on a busy machine would not verify itself.
        words all{MDPCOSIM_PROGRAM, "run", file, "--out", out(), "--no-verify"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    /// Under an mpiexec that knows nothing of mdpcosim.
    words foreign(int ranks, const std::string& file, const words& more = {}) const {
        words all{"/usr/bin/env", mpiexec_name()};
        if (is_openmpi()) all.insert(all.end(), {"--allow-run-as-root", "--oversubscribe", "-q"});
        all.insert(all.end(), {"-n", std::to_string(ranks)});
        for (const auto& w : program(file, more)) all.push_back(w);
        all.insert(all.end(), {"--transport", "mpi"});
        return all;
    }
    /// By the program itself.
    words own(int ranks, const std::string& file, const words& more = {}) const {
        words all{"/usr/bin/env", "MDPCOSIM_MPI=" + GetParam()};
        for (const auto& w : program(file, more)) all.push_back(w);
        all.insert(all.end(), {"--transport", "mpi", "--hosts", "localhost:" + std::to_string(ranks)});
        return all;
    }
    static process::outcome run(const words& command) { return process(command, {}).wait(); }
    process::outcome on_threads(const std::string& file, const words& more = {}) const {
        return run(program(file, more));
    }

    /// Number and command of all processes that write into this test's folder, or watch one that does.
    std::vector<std::pair<pid_t, std::string>> processes() const {
        std::vector<std::pair<pid_t, std::string>> found;
        for (const auto& entry : fs::directory_iterator("/proc")) {
            const std::string name = entry.path().filename().string();
            if (name.find_first_not_of("0123456789") != std::string::npos) continue;
            const std::string command = content(entry.path() / "cmdline");
            if (command.find(folder_.path().string()) != std::string::npos)
                found.emplace_back(static_cast<pid_t>(std::stol(name)), command);
        }
        return found;
    }
    /// The process of a rank; 0 where there is none.
    pid_t process_of_rank(int rank) const {
        const std::string variable = (is_openmpi() ? "OMPI_COMM_WORLD_RANK=" : "PMI_RANK=") + std::to_string(rank);
        for (const auto& [id, command] : processes()) {
            const fs::path at = fs::path("/proc") / std::to_string(id);
            std::istringstream environment(content(at / "environ"));
            for (std::string entry; std::getline(environment, entry, '\0');)
                if (entry == variable && content(at / "comm") == "mdpcosim\n") return id;
        }
        return 0;
    }
    void wait_for_begin() const {
        std::error_code none;
        for (int i = 0; i < 3000; ++i) {
            const auto size = fs::file_size(folder_ / "out/results.csv", none);
            if (!none && size > 2000) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    std::string endless() const { return scenario(with(four, "end: 1 s", "end: 1e9 s") + "record: {every: 100 ms}\n"); }

    /// `killed`: the process that wrote them, perhaps in the middle of the last one.
    void expect_whole_rows(bool killed = false) const {
        std::istringstream in(content(folder_ / "out/results.csv"));
        std::string line;
        std::getline(in, line);
        const auto separators = std::count(line.begin(), line.end(), ',');
        std::int64_t rows = 0;
        while (std::getline(in, line)) {
            if (in.eof() && killed) break;
            ASSERT_FALSE(in.eof()) << "the last line has no end";
            ASSERT_EQ(std::count(line.begin(), line.end(), ','), separators);
            ++rows;
        }
        EXPECT_GT(rows, 10);
    }

    /// The same results to the last bit, and the same summary but for times and workers.
    void expect_the_same(const std::string& file, const std::vector<words>& commands, const words& more = {}) const {
        ASSERT_EQ(on_threads(file, more).exit_status, 0);
        const std::string csv = content(folder_ / "out/results.csv");
        const json before = comparable(summary());
        ASSERT_GT(csv.size(), 500u);
        for (const auto& command : commands) {
            fs::remove_all(out());
            const auto seen = run(command);
            SCOPED_TRACE(command[command.size() - 1] + " " + command[4]);
            ASSERT_EQ(seen.exit_status, 0) << seen.err;
            EXPECT_EQ(without_progress(seen.err), "");
            EXPECT_TRUE(content(folder_ / "out/results.csv") == csv);
            EXPECT_EQ(comparable(summary()), before);
            EXPECT_EQ(summary()["transport"], "mpi");
        }
    }
    static json comparable(json s) {
        for (const char* key :
             {"transport", "workers", "wall_seconds", "setup_seconds", "parallel_macro_steps", "work"})
            s.erase(key);
        s["initialisation"].erase("seconds");
        for (auto& entry : s["subsystems"]) {
            entry.erase("seconds_per_macro_step");
            entry.erase("worker");
        }
        return s;
    }

    temporary_folder folder_;
};

}  // namespace mdpcosim::test
