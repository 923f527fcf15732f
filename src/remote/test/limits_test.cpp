// What processes of subsystems may not: limits of memory and CPU time, system calls, secrets, rights, output without end.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "core/error.hpp"
#include "remote/child_process.hpp"
#include "remote/host_task.hpp"
#include "remote/isolated_subsystem.hpp"
#include "remote/kept_text.hpp"
#include "remote/system_calls.hpp"
#include "support/far_function.hpp"
#include "support/sanitizer.hpp"
#include "support/solver_test_models.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

struct shell_outcome {
    std::string end, text;
};
shell_outcome shell(const std::string& command, const process_limits& limits = {}, bool subsystem = true) {
    child_process process({.command = {"/bin/bash", "-c", command}, .subsystem = subsystem, .limits = limits});
    std::string end = process.wait();
    return {end, process.last_text()};
}

TEST(kept_text, keeps_begin_and_end_and_says_how_much_is_missing) {
    kept_text all;
    all.add("first words, ");
    for (int i = 0; i < 100000; ++i) all.add("yes\n");
    all.add("last words \n");
    EXPECT_THAT(all.text(), AllOf(testing::StartsWith("first words, yes"), testing::EndsWith("last words"),
                                  HasSubstr("[398125 bytes left out]")));
    EXPECT_LT(all.text().size(), 2000u);
    kept_text little;
    little.add("a\n");
    little.add("b\n");
    EXPECT_EQ(little.text(), "a\nb");
}

TEST(child_process, output_without_end_costs_no_memory) {
    child_process process({.command = {"yes"}});
    EXPECT_EQ(process.ended(0.3), "");
    process.finish(0);
    EXPECT_THAT(process.last_text(), AllOf(HasSubstr("bytes left out"), testing::SizeIs(testing::Lt(2000u))));
}

TEST(child_process, a_limit_of_cpu_time_is_named) {
    EXPECT_THAT(shell("while :; do :; done", {.cpu = 0.5}).end,
                HasSubstr("its limit of 1 s of CPU time ('limits: cpu')"));
    EXPECT_THAT(shell("trap '' XCPU; while :; do :; done", {.cpu = 1}).end, HasSubstr("'limits: cpu'"));
    EXPECT_EQ(shell("exit 3", {.cpu = 1}).end, "ended with status 3");
}

TEST(child_process, subsystems_get_no_rights_and_no_token) {
    ::setenv("MDPCOSIM_TOKEN", "0123456789abcdef", 1);
    const auto seen = shell("echo \"token [$MDPCOSIM_TOKEN]\"; grep NoNewPrivs /proc/self/status; ls -1 /proc/self/fd");
    ::unsetenv("MDPCOSIM_TOKEN");
    EXPECT_THAT(seen.text, AllOf(HasSubstr("token []"), HasSubstr("NoNewPrivs:\t1")));
}

TEST(limits, memory_that_is_not_there_is_named) {
    MDPCOSIM_NEEDS_BOUNDED_MEMORY();
    subsystem_text text = far_subsystem([]() -> std::unique_ptr<subsystem> {
        return make_native_subsystem(
            std::make_unique<function_model>(
                std::vector{1.0}, 1,
                [hoard = std::vector<std::vector<char>>()](double, const double*, const double*, double* dx) mutable {
                    for (int i = 0; i < 100; ++i) hoard.emplace_back(50'000'000);
                    dx[0] = 0;
                }),
            make_solver("rk4"));
    });
    text.limits.memory = 1e9;
    const auto far = make_isolated_subsystem({.name = "far"}, text);
    std::vector<double> y(1);
    far->initialise(0);
    try {
        far->advance({0, 0.1, 0}, std::vector<polynomial>(1), y);
        FAIL() << "5 GB in 1 GB";
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("within its limit of 1000 MB ('limits: memory')"));
    }
}

class system_calls : public testing::Test {
   protected:
    void SetUp() override {
        if (!can_restrict_system_calls()) GTEST_SKIP() << "not on this kind of machine";
    }
    const process_limits compute{.compute_only = true};
    const temporary_folder folder;
};

TEST_F(system_calls, computing_and_reading_goes_on) {
    const auto seen = shell("cat /proc/self/comm; echo $((6*7)); (echo child); ulimit -c 0; echo done", compute);
    EXPECT_EQ(seen.end, "ended with status 0");
    EXPECT_THAT(seen.text, AllOf(HasSubstr("cat"), HasSubstr("42"), HasSubstr("child"), HasSubstr("done")));
}

TEST_F(system_calls, files_are_not_written_made_or_removed) {
    write_file(folder / "kept", "as it was");
    const std::string f = folder.path().string();
    const auto seen =
        shell(fmt::format("cd {}; echo x > made; echo x >> kept; rm -f kept; mv kept other; mkdir d; ln -s kept l; "
                          "chmod 777 kept; truncate -s 0 kept",
                          f),
              compute);
    EXPECT_THAT(seen.text, HasSubstr("made: Permission denied"));
    EXPECT_EQ(content(folder / "kept"), "as it was");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST_F(system_calls, there_is_no_network) {
    EXPECT_THAT(shell("exec 3<>/dev/tcp/127.0.0.1/1").text, HasSubstr("refused"));
    EXPECT_THAT(shell("exec 3<>/dev/tcp/127.0.0.1/1", compute).text, HasSubstr("Permission denied"));
}

TEST_F(system_calls, other_processes_are_out_of_reach) {
    EXPECT_THAT(shell(fmt::format("kill -0 {}", getpid()), compute).end, HasSubstr("'limits: system-calls' forbids"));
    EXPECT_THAT(shell("kill -0 $$ && echo itself", compute).text, HasSubstr("itself"));
    EXPECT_THAT(shell(fmt::format("prlimit --pid {} --cpu=1; echo done", getpid()), compute).text,
                HasSubstr("Operation not permitted"));
}

/// The filter stands before the first line of a plugin: what it would write is not there.
TEST_F(system_calls, hold_for_plugins) {
    subsystem_spec spec;
    spec.name = "bad";
    spec.kind = subsystem_spec::source_kind::plugin;
    spec.path = MDPCOSIM_BINARY_DIR "/tests/plugins/faulty_solver.so";
    spec.source.value = spec.path.string();
    for (const auto& [name, value] : {std::pair{"where", "10"}, {"how", "13"}, {"when", "0 s"}, {"needed", "1 m"}}) {
        setting s;
        s.name = name;
        s.values.push_back({value, {}});
        spec.set.push_back(s);
    }
    const no_leak_checks in_processes;
    for (const bool filtered : {false, true}) {
        spec.limits.compute_only = filtered;
        ::setenv("MDPCOSIM_TEST_FAULT", "status", 1);
        ::setenv("MDPCOSIM_TEST_MOMENT", (folder / "moment").c_str(), 1);
        fs::remove(folder / "moment");
        const auto far = make_isolated_subsystem({.name = "bad"}, text_of(spec));
        ::unsetenv("MDPCOSIM_TEST_FAULT");
        ::unsetenv("MDPCOSIM_TEST_MOMENT");
        std::vector<double> y(1);
        far->initialise(0);
        try {
            far->advance({0, 0.1, 0}, std::vector<polynomial>(1), y);
            FAIL() << "it went on";
        } catch (const run_error& problem) {
            EXPECT_THAT(problem.what(), HasSubstr("ended with status 5"));
        }
        EXPECT_EQ(fs::exists(folder / "moment"), !filtered);
    }
}

/// A caller may have closed standard input, output and error: the files of a process must not get their numbers.
TEST(isolated, works_without_standard_files) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(20);
        for (int file = 0; file < 3; ++file) ::close(file);
        int status = 1;
        try {
            const auto far =
                make_isolated_subsystem({.name = "far", .limit = 10}, far_subsystem([]() -> std::unique_ptr<subsystem> {
                                            return make_native_subsystem(oscillator(), make_solver("rk4"));
                                        }));
            std::vector<double> y(2);
            far->initialise(0);
            far->advance({0, 0.1, 0}, std::vector<polynomial>{constant(1)}, y);
            status = y[0] != 0 ? 0 : 2;
        } catch (const std::exception&) {
        }
        ::_exit(status);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace mdpcosim::test
