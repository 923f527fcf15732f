// The transport mpi through the real program and the mpiexec of each MPI that is installed: one result, one message, one exit
// status, whoever has started the ranks; lost ranks, interrupts, mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "process.hpp"
#include "results/test/temporary_folder.hpp"
#include "scenarios.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;
using nlohmann::json;
using test::content;
using test::process;
using test::temporary_folder;
using testing::HasSubstr;
using words = std::vector<std::string>;

const std::string build_folder = MDPCOSIM_BINARY_DIR;

/// On two ranks a and b are on the first, c and d on the second.
const std::string four = R"(mdpcosim: 1
time: {end: 1 s, step: 1 ms}
subsystems:
  a: {model: mass-spring-damper, set: {x0: 10 mm}, solver: rk4}
  b: {model: mass-spring-damper, solver: rk4}
  c: {model: lag-1, solver: rk4}
  d: {model: lag-1, solver: rk4}
connections:
  rod: {law: spring, between: [a.mass, b.mass], stiffness: 400 N/m}
)";

std::string with(std::string text, const std::string& old, const std::string& other) {
    text.replace(text.find(old), old.size(), other);
    return text;
}

class mpi_run : public testing::TestWithParam<std::string> {
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
        test::write_file(folder_ / "test.yaml", text);
        return (folder_ / "test.yaml").string();
    }
    std::string out() const { return (folder_ / "out").string(); }
    json summary() const { return json::parse(content(folder_ / "out/summary.json")); }

    words program(const std::string& file, const words& more) const {
        words all{MDPCOSIM_PROGRAM, "run", file, "--out", out()};
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
            EXPECT_EQ(seen.err, "");
            EXPECT_TRUE(content(folder_ / "out/results.csv") == csv);
            EXPECT_EQ(comparable(summary()), before);
            EXPECT_EQ(summary()["transport"], "mpi");
        }
    }
    static json comparable(json s) {
        for (const char* key :
             {"transport", "workers", "wall_seconds", "setup_seconds", "parallel_macro_steps", "work"})
            s.erase(key);
        for (auto& entry : s["subsystems"]) {
            entry.erase("seconds_per_macro_step");
            entry.erase("worker");
        }
        return s;
    }

    temporary_folder folder_;
};

TEST_P(mpi_run, mixed_subsystems_give_the_same_bits_on_1_2_and_4_ranks) {
    const std::string file = scenario(test::mixed(1, 1, "{end: 0.1 s, step: 1 ms}"));
    expect_the_same(file, {foreign(1, file), foreign(2, file, {"--workers", "1"}), foreign(4, file, {"--workers", "2"}),
                           own(2, file)});
}

TEST_P(mpi_run, a_file_and_plugins_and_fmus_and_programs_give_the_same_bits) {
    const fs::path examples = fs::path(MDPCOSIM_SOURCE_DIR) / "examples";
    for (const auto& [name, ranks, end] :
         std::vector<std::tuple<std::string, int, std::string>>{{"driven-shaft/scenario.yaml", 3, "10 ms"},
                                                                {"fmu-shaft/mixed.yaml", 2, "10 ms"},
                                                                {"plugin-model/scenario.yaml", 2, "0.1 s"},
                                                                {"external-programs/scenario.yaml", 2, "0.1 s"}}) {
        SCOPED_TRACE(name);
        const std::string file = (examples / name).string();
        expect_the_same(file, {foreign(ranks, file, {"--end", end})}, {"--end", end});
    }
}

TEST_P(mpi_run, an_isolated_fmu_lives_beside_its_rank) {
    const std::string file = scenario(fmt::format(R"(mdpcosim: 1
time: {{end: 0.2 s, step: 1 ms}}
subsystems:
  free: {{model: mass-spring-damper, set: {{x0: 10 mm}}, solver: rk4}}
  fmu: {{fmu: {}/fmus/oscillator-2.fmu, isolate: true, ports: {{mass: {{kind: translation, position: position, velocity: velocity, force: force}}}}}}
connections:
  rod: {{law: spring, between: [free.mass, fmu.mass], stiffness: 400 N/m}}
)",
                                                  build_folder));
    expect_the_same(file, {foreign(2, file), own(2, file)});
}

TEST_P(mpi_run, the_calls_of_fmus_on_all_ranks_are_logged) {
    const std::string file = (fs::path(MDPCOSIM_SOURCE_DIR) / "examples/fmu-shaft/scenario.yaml").string();
    ASSERT_EQ(on_threads(file, {"--end", "1 ms", "--fmi-log"}).exit_status, 0);
    const auto lines = [&] {
        const std::string log = content(folder_ / "out/fmi.log");
        return std::count(log.begin(), log.end(), '\n');
    };
    const auto before = lines();
    ASSERT_EQ(run(foreign(2, file, {"--end", "1 ms", "--fmi-log"})).exit_status, 0);
    EXPECT_EQ(lines(), before);
}

TEST_P(mpi_run, one_document_on_standard_output) {
    const auto seen = run(own(2, scenario(four), {"--json"}));
    EXPECT_EQ(seen.exit_status, 0) << seen.err;
    EXPECT_EQ(json::parse(seen.out), summary());
    EXPECT_EQ(seen.err, "");
}

TEST_P(mpi_run, groups_of_the_scenario_share_ranks) {
    const std::string file = scenario(four + "placement: {groups: [[a, d]]}\n");
    expect_the_same(file, {foreign(2, file)});
    const auto seen = run(own(1, file));
    EXPECT_EQ(seen.exit_status, 2);
    EXPECT_EQ(seen.err,
              "mdpcosim: transport 'mpi': 1 ranks do not fit the scenario's 'placement: groups', which make 2 of them. "
              "Ask for "
              "2 with --hosts.\n");
}

TEST_P(mpi_run, a_failing_subsystem_has_one_message_wherever_it_is) {
    for (const std::string place : {"a", "d"}) {
        const std::string entry = place == "a" ? "  a: {model: mass-spring-damper, set: {x0: 10 mm}, solver: rk4}"
                                               : "  d: {model: lag-1, solver: rk4}";
        const std::string file = scenario(with(
            place == "a"
                ? with(four, "connections:\n  rod: {law: spring, between: [a.mass, b.mass], stiffness: 400 N/m}\n", "")
                : four,
            entry, "  " + place + ": {ode: {states: {x: 20}, equations: {x: x^2}}, solver: rk4}"));
        const auto threads = on_threads(file, {"--quiet"});
        EXPECT_EQ(threads.exit_status, 1);
        const std::string csv = content(folder_ / "out/results.csv");
        for (const auto& command : {foreign(2, file, {"--quiet"}), own(4, file, {"--quiet"})}) {
            const auto seen = run(command);
            EXPECT_EQ(seen.exit_status, 1);
            EXPECT_EQ(seen.err, threads.err);
            EXPECT_EQ(seen.out, "");
            EXPECT_TRUE(content(folder_ / "out/results.csv") == csv);
            EXPECT_EQ(summary()["status"], "failed");
        }
    }
}

TEST_P(mpi_run, mistakes_are_told_once_with_2) {
    // Found by every rank, by rank 0 after the others have made theirs, and by the last rank only.
    for (const auto& [old, other] : std::vector<std::pair<std::string, std::string>>{
             {"end: 1 s", "end: 1 kg"},
             {"b.mass]", "b.mas]"},
             {"d: {model: lag-1,", "d: {model: lag-1, set: {time-constant: -1 s},"}}) {
        const std::string file = scenario(with(four, old, other));
        const auto threads = on_threads(file);
        EXPECT_EQ(threads.exit_status, 2);
        for (const auto& command : {foreign(3, file), own(2, file)}) {
            const auto seen = run(command);
            EXPECT_EQ(seen.exit_status, 2);
            EXPECT_EQ(seen.err, threads.err);
            EXPECT_EQ(seen.out, "");
            EXPECT_FALSE(fs::exists(out()));
        }
    }
}

TEST_P(mpi_run, more_ranks_than_subsystems_are_refused) {
    const std::string file = scenario(test::two_subsystems(1));
    const auto seen = run(foreign(3, file));
    EXPECT_EQ(seen.exit_status, 2);
    EXPECT_EQ(seen.err,
              "mdpcosim: transport 'mpi': 3 ranks are more than the scenario's 2 subsystems, the last of which is 'b'. "
              "Ask for at most 2 with mpiexec -n.\n");
    const auto launched = run(own(3, file));
    EXPECT_EQ(launched.exit_status, 2);
    EXPECT_THAT(launched.err, HasSubstr("Ask for at most 2 with --hosts."));
}

TEST_P(mpi_run, another_mpi_than_the_launchers_is_refused) {
    const std::string other = is_openmpi() ? "mpich" : "openmpi";
    if (!fs::exists(fs::path(build_folder) / ("mdpcosim-mpi-" + other + ".so")))
        GTEST_SKIP() << other << " is not installed";
    words command = foreign(2, scenario(four));
    command.insert(command.begin() + 1, "MDPCOSIM_MPI=" + other);
    const auto seen = run(command);
    EXPECT_EQ(seen.exit_status, 2);
    EXPECT_THAT(seen.err, HasSubstr("the launcher has started 2 ranks, but "));
    EXPECT_THAT(seen.err, HasSubstr("MDPCOSIM_MPI=" + GetParam()));
}

TEST_P(mpi_run, ctrl_c_and_sigterm_end_in_order_with_130) {
    for (const int signal : {SIGINT, SIGTERM}) {
        process child(own(2, endless()), {});
        wait_for_begin();
        child.send(signal);
        const auto seen = child.wait();
        EXPECT_EQ(seen.exit_status, 130);
        EXPECT_THAT(seen.err, testing::StartsWith("mdpcosim: interrupted at t = "));
        EXPECT_EQ(std::count(seen.err.begin(), seen.err.end(), '\n'), 1) << seen.err;
        EXPECT_EQ(summary()["status"], "interrupted");
        expect_whole_rows();
        fs::remove_all(out());
    }
}

TEST_P(mpi_run, a_lost_rank_is_told_by_the_launching_process) {
    for (const int rank : {1, 0}) {
        process child(own(2, endless()), {});
        wait_for_begin();
        const pid_t victim = process_of_rank(rank);
        ASSERT_GT(victim, 0);
        const auto begin = clock::now();
        ::kill(victim, SIGKILL);
        child.wait_for_error_text("was lost");
        EXPECT_LT(clock::now() - begin, std::chrono::seconds(3));
        const auto seen = child.wait();
        EXPECT_EQ(seen.exit_status, 1);
        EXPECT_THAT(seen.err,
                    testing::ContainsRegex("mdpcosim: rank " + std::to_string(rank) + " on [^ ]+ was lost, with " +
                                           (rank == 1 ? "subsystems 'c', 'd'" : "subsystems 'a', 'b'")));
        expect_whole_rows(rank == 0);
        if (rank == 1) {
            EXPECT_EQ(summary()["status"], "failed");
            EXPECT_THAT(
                summary()["message"].get<std::string>(),
                testing::ContainsRegex("subsystem 'c' failed at t = .*rank 1 on .* was lost in advance .macro step"));
        }
        fs::remove_all(out());
    }
}

TEST_P(mpi_run, a_rank_lost_under_another_mpiexec_leaves_what_was_flushed) {
    process child(foreign(2, endless()), {});
    wait_for_begin();
    const pid_t victim = process_of_rank(1);
    ASSERT_GT(victim, 0);
    ::kill(victim, SIGKILL);
    EXPECT_NE(child.wait().exit_status, 0);
    expect_whole_rows(true);
}

INSTANTIATE_TEST_SUITE_P(both, mpi_run, testing::Values("openmpi", "mpich"), [](const auto& mpi) { return mpi.param; });

}  // namespace
}  // namespace mdpcosim
