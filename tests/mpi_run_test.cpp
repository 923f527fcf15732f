// The transport mpi through the real program and the mpiexec of each MPI that is installed: one result, one message, one exit
// status, whoever has started the ranks; lost ranks, interrupts, mistakes.
#include <fmt/format.h>

#include "core/messages.hpp"
#include "mpi_fixture.hpp"
#include "scenarios.hpp"
#include "transport/mpi/launch.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using namespace test;
using testing::HasSubstr;

class mpi_run : public test::mpi_fixture {};

TEST_P(mpi_run, mixed_subsystems_give_the_same_bits_on_1_2_and_4_ranks) {
    const std::string file = scenario(test::mixed(1, 1, "{end: 0.1 s, step: 1 ms}"));
    expect_the_same(file, {foreign(1, file), foreign(2, file, {"--workers", "1"}), foreign(4, file, {"--workers", "2"}),
                           own(2, file)});
}

TEST_P(mpi_run, many_subsystems_and_heavy_ones_give_the_same_bits) {
    for (const auto& text : {test::mixed(4, 1, "{end: 0.05 s, step: 1 ms}"), test::two_subsystems(5000)}) {
        const std::string file = scenario(text);
        expect_the_same(file, {foreign(2, file), own(2, file, {"--workers", "2"})});
    }
}

TEST_P(mpi_run, subsystems_with_steps_of_their_own_give_the_same_bits) {
    const std::string file = scenario(test::multirate("fastest-first"));
    expect_the_same(file, {foreign(3, file, {"--workers", "1"}), own(2, file, {"--workers", "2"})});
}

TEST_P(mpi_run, joints_give_the_same_bits) {
    const std::string file = scenario(test::double_pendulum() + "method: index-1\n");
    expect_the_same(file, {own(2, file)});
}

TEST_P(mpi_run, subsystems_are_bound_to_the_units_of_the_scenario) {
    const std::string file = scenario(four + "placement: {cores: {a: 0, c: 0, master: 0}}\n");
    expect_the_same(file, {own(2, file)});
    fs::remove_all(out());
    process child(own(2, scenario(with(four, "end: 1 s", "end: 1e9 s") +
                                  "record: {every: 100 ms}\nplacement: {cores: {a: 0, c: 0, master: 0}}\n")),
                  {});
    wait_for_begin();
    for (const int rank : {0, 1}) {
        const std::string status = content(fs::path("/proc") / std::to_string(process_of_rank(rank)) / "status");
        EXPECT_THAT(status, HasSubstr("Cpus_allowed_list:\t0\n")) << "rank " << rank;
    }
    child.send(SIGTERM);
    child.wait();
    const auto seen = run(own(2, scenario(four + "placement: {cores: {d: 4000}}\n")));
    EXPECT_EQ(seen.exit_status, 2);
    EXPECT_THAT(seen.err, HasSubstr("'d' cannot be bound to unit 4000"));
}

TEST_P(mpi_run, another_scenario_than_rank_0s_is_refused) {
    const std::string file = scenario(four), other = (folder_ / "other.yaml").string();
    write_file(other, with(four, "x0: 10 mm", "x0: 11 mm"));
    words command = foreign(1, file);
    command.push_back(":");
    const words second = foreign(1, other);
    command.insert(command.end(), std::find(second.begin(), second.end(), "-n"), second.end());
    const auto seen = run(command);
    EXPECT_EQ(seen.exit_status, 2);
    EXPECT_THAT(seen.err, testing::ContainsRegex("rank 1 on [^ ]+: its '.*other.yaml' is not the scenario of rank 0"));
    EXPECT_FALSE(fs::exists(out()));
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

/// x grows with the length of a text that has the number of the step in it.
TEST_P(mpi_run, texts_pass_between_ranks) {
    const std::string file = scenario(fmt::format(R"(time: {{end: 12 s, step: 0.1 s}}
subsystems:
  a: {{plugin: {0}/tests/plugins/texts.so}}
  b: {{plugin: {0}/tests/plugins/text_equations.so}}
signals: [a.echo -> b.note]
)",
                                                  MDPCOSIM_BINARY_DIR));
    expect_the_same(file, {foreign(2, file), own(2, file)});
    const std::string rows = content(folder_ / "out/results.csv");
    EXPECT_NEAR(std::stod(rows.substr(rows.rfind(',', rows.size() - 2) + 1)), 0.1 * (10 * 2 + 90 * 3 + 20 * 4), 1e-9);
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
        const std::string told = without_progress(seen.err);
        EXPECT_THAT(told, testing::StartsWith("mdpcosim: interrupted at t = "));
        EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
        EXPECT_EQ(summary()["status"], "interrupted");
        expect_whole_rows();
        fs::remove_all(out());
    }
}

/// Before there are ranks, while they start, and while they begin.
TEST_P(mpi_run, a_signal_at_the_start_ends_in_order_with_130) {
    for (const int ms : {0, 5, 20, 50, 80, 120, 200, 350}) {
        process child(own(2, endless()), {});
        while (child.lives() && !child.has_begun(SIGINT)) continue;
        std::this_thread::sleep_for(std::chrono::milliseconds(ms));
        child.send(SIGINT);
        const auto seen = child.wait();
        EXPECT_EQ(seen.exit_status, 130) << ms << " ms: " << seen.err;
        EXPECT_THAT(test::without_progress(seen.err), testing::StartsWith("mdpcosim: interrupted ")) << ms;
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
            EXPECT_THAT(summary()["message"].get<std::string>(),
                        testing::ContainsRegex(
                            "subsystem 'c' failed at t = .*rank 1 on .* was lost in (advance .macro step|outputs)"));
        }
        fs::remove_all(out());
    }
}

/// A library that launches ranks has a message sink, and perhaps no standard error.
TEST_P(mpi_run, what_ranks_and_mpiexec_say_goes_to_the_message_sink) {
    std::vector<std::string> told;
    ASSERT_EQ(::setenv("MDPCOSIM_MPI", GetParam().c_str(), 1), 0);
    testing::internal::CaptureStderr();
    {
        const message_scope scope([&](const std::string& text) { told.push_back(text); });
        const std::atomic<int> none{0};
        const std::string says = "echo 'mdpcosim: of a rank' >&2; printf '\\033[31mred' >&2";
        EXPECT_EQ(launch_ranks({{"/bin/sh", "-c", says}, {}, {"subsystem 'a'"}}, none), 1);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    ::unsetenv("MDPCOSIM_MPI");
    EXPECT_THAT(told, testing::IsSupersetOf<testing::Matcher<std::string>>(
                          {testing::Eq("of a rank"), HasSubstr("\\x1b[31mred"),
                           HasSubstr("ended before the run was done (status 0)")}));
}

/// Who loops is killed by who watches its rank, and rank 0 closed by who watches that.
TEST_P(mpi_run, a_subsystem_that_loops_is_named_after_sigterm) {
    const std::string loops =
        fmt::format("c: {{fmu: {}/fmus/misbehave-2.fmu, set: {{where: step, how: loop, when: 50 ms}}}}", build_folder);
    const std::string file = scenario(with(four, "c: {model: lag-1, solver: rk4}", loops));
    ::setenv("MDPCOSIM_PATIENCE", "1", 1);
    process child(own(2, file, {"--quiet"}), {});
    ::unsetenv("MDPCOSIM_PATIENCE");
    while (child.lives() && content(folder_ / "out/results.csv").empty())
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    child.send(SIGTERM);
    const auto end = child.wait();
    EXPECT_EQ(end.exit_status, 130) << end.err;
    // By who watches its rank, or, where that one is killed before it can tell, by who watches rank 0.
    EXPECT_THAT(end.err, testing::ContainsRegex("subsystem 'c' \\(fmu misbehave-2.fmu\\) in fmi2DoStep at t = 0.0|"
                                                "subsystems 'c', 'd' \\(rank 1 on [^)]*\\) in advance at t = 0.0"));
    EXPECT_EQ(summary()["status"], "interrupted");
    expect_whole_rows();
}

TEST_P(mpi_run, a_crash_under_another_mpiexec_is_named_and_keeps_all_rows) {
    const std::string bad = fmt::format(
        "  bad: {{fmu: {}/fmus/misbehave-2.fmu, set: {{where: step, how: crash, when: 50 ms}}}}\n", build_folder);
    const std::string good = "  good: {model: lag-1, solver: rk4}\n";
    for (const bool on_first : {true, false}) {
        const std::string file =
            scenario("time: {end: 1 s, step: 1 ms}\nsubsystems:\n" + (on_first ? bad + good : good + bad));
        const auto end = run(foreign(2, file, {"--quiet"}));
        EXPECT_NE(end.exit_status, 0);
        EXPECT_THAT(end.err,
                    HasSubstr("subsystem 'bad' (fmu misbehave-2.fmu): crashed (SIGSEGV) in fmi2DoStep at t = "));
        if (on_first || is_openmpi()) {  // MPICH kills rank 0 without a word when another one ends
            expect_whole_rows();
            EXPECT_EQ(summary()["status"], "failed");
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
