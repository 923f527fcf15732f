// Subsystems that programs elsewhere bring over TCP, through the real program: same results, and every mistake told.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "core/json.hpp"
#include "process.hpp"
#include "remote/listener.hpp"
#include "scenarios.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::content;
using test::process;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class serve : public testing::Test {
   protected:
    serve() { test::write_file(folder_ / "s.yaml", test::mixed(1, 1, "{end: 0.2 s, step: 1 ms}")); }

    std::string file(const std::string& name) const { return (folder_ / name).string(); }

    process start(std::vector<std::string> words) const {
        words.insert(words.begin(), MDPCOSIM_PROGRAM);
        return process(words, {});
    }
    process start_run(const std::string& out, std::vector<std::string> words) const {
        words.insert(words.begin(),
                     {"run", file("s.yaml"), "--quiet", "--out", file(out), "--token-file", file("token")});
        return start(words);
    }

    /// The address that a waiting run tells.
    static std::string address(process& run) {
        run.wait_for_error_text("--token-file");
        const std::string text = run.so_far().err;
        const std::size_t at = text.find("--connect ") + 10;
        return text.substr(at, text.find(' ', at) - at);
    }

    const test::temporary_folder folder_;
};

TEST_F(serve, brings_the_same_bits) {
    EXPECT_EQ(start_run("threads", {}).wait().exit_status, 0);
    process run = start_run("tcp", {"--transport", "tcp", "--remote", "m0,i0,p0", "--workers", "2"});
    const std::string where = address(run);
    EXPECT_EQ(fs::status(folder_ / "token").permissions(), fs::perms::owner_read | fs::perms::owner_write);
    process one = start({"serve", file("s.yaml"), "m0", "p0", "--connect", where, "--token-file", file("token")});
    ::setenv("MDPCOSIM_TOKEN", content(folder_ / "token").substr(0, 32).c_str(), 1);
    process other = start({"serve", file("s.yaml"), "i0", "--connect", where});
    ::unsetenv("MDPCOSIM_TOKEN");
    const auto done = run.wait();
    EXPECT_EQ(done.exit_status, 0) << done.err;
    for (process* p : {&one, &other}) {
        const auto end = p->wait();
        EXPECT_EQ(end.exit_status, 0) << end.err;
    }
    EXPECT_TRUE(content(folder_ / "tcp/results.csv") == content(folder_ / "threads/results.csv"));
    EXPECT_FALSE(fs::exists(folder_ / "token"));
    EXPECT_THAT(done.err, Not(HasSubstr("refused")));
    const auto summary = json::parse(content(folder_ / "tcp/summary.json"));
    EXPECT_EQ(summary["transport"], "tcp");
}

TEST_F(serve, a_wrong_token_or_name_is_refused_on_both_sides) {
    process run = start_run("out", {"--transport", "tcp", "--remote", "m0"});
    const std::string where = address(run);
    test::write_file(folder_ / "wrong", "0123456789abcdef0123456789abcdef\n");
    const auto wrong = start({"serve", file("s.yaml"), "m0", "--connect", where, "--token-file", file("wrong")}).wait();
    EXPECT_EQ(wrong.exit_status, 2);
    EXPECT_THAT(wrong.err, HasSubstr("does not take 'm0': its token is not this run's"));
    const auto other = start({"serve", file("s.yaml"), "i0", "--connect", where, "--token-file", file("token")}).wait();
    EXPECT_EQ(other.exit_status, 2);
    EXPECT_THAT(other.err, HasSubstr("'i0' is not expected. Missing: m0"));
    const auto right = start({"serve", file("s.yaml"), "m0", "--connect", where, "--token-file", file("token")}).wait();
    EXPECT_EQ(right.exit_status, 0) << right.err;
    const auto done = run.wait();
    EXPECT_EQ(done.exit_status, 0) << done.err;
    EXPECT_THAT(done.err, AllOf(HasSubstr("a connection from 127.0.0.1:"), HasSubstr("its token is not this run's"),
                                HasSubstr("'i0' is not expected")));
}

TEST_F(serve, another_scenario_than_the_runs_is_refused) {
    process run = start_run("out", {"--transport", "tcp", "--remote", "m0", "--set", "m0.mass=3 kg"});
    const std::string where = address(run);
    const std::vector<std::string> same{"serve", file("s.yaml"), "m0",         "--connect",
                                        where,   "--token-file", file("token")};
    const auto with = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
        return start(words).wait();
    };
    for (const auto& options : std::vector<std::vector<std::string>>{
             {}, {"--set", "m0.mass=3.1 kg"}, {"--set", "m0.mass=3 kg", "--step", "0.5 ms"}}) {
        const auto refused = with(same, options);
        EXPECT_EQ(refused.exit_status, 2);
        EXPECT_THAT(
            refused.err,
            HasSubstr("its scenario says something else about subsystem 'm0' or the macro step than the run's"));
    }
    // Where it lies does not count, nor what it says about others.
    fs::create_directory(folder_ / "elsewhere");
    fs::copy(folder_ / "s.yaml", folder_ / "elsewhere/copy.yaml");
    std::vector<std::string> copy = same;
    copy[1] = file("elsewhere/copy.yaml");
    const auto taken = with(copy, {"--set", "m0.mass=3 kg", "--end", "7 s"});
    EXPECT_EQ(taken.exit_status, 0) << taken.err;
    EXPECT_EQ(run.wait().exit_status, 0);
}

/// With the right token, but without a word after that.
TEST_F(serve, a_peer_that_stalls_after_its_hello_is_given_up) {
    process run = start_run("out", {"--transport", "tcp", "--remote", "m0", "--wait", "1"});
    const std::string where = address(run);
    const auto link = connect_to_master(where, {content(folder_ / "token").substr(0, 32), "m0"});
    const auto end = run.wait();
    EXPECT_EQ(end.exit_status, 1);
    EXPECT_THAT(end.err, AllOf(HasSubstr("subsystem 'm0'"), HasSubstr("within 1 s at its start")));
}

TEST_F(serve, a_subsystem_that_does_not_come_is_named) {
    const auto end = start_run("out", {"--transport", "tcp", "--remote", "m0,p0", "--wait", "0.2"}).wait();
    EXPECT_EQ(end.exit_status, 2);
    EXPECT_THAT(end.err, AllOf(HasSubstr("no program brought subsystem 'm0', 'p0' within 0.2 s"),
                               HasSubstr("mdpcosim serve SCENARIO m0 p0 --connect HOST:"), HasSubstr("--wait")));
    EXPECT_FALSE(fs::exists(folder_ / "out"));
    EXPECT_FALSE(fs::exists(folder_ / "token"));
}

TEST_F(serve, waiting_ends_with_an_interrupt) {
    process run = start_run("out", {"--transport", "tcp", "--remote", "m0"});
    address(run);
    run.send(SIGINT);
    const auto end = run.wait();
    EXPECT_EQ(end.exit_status, 130);
    EXPECT_THAT(end.err, HasSubstr("interrupted while waiting for subsystem 'm0'"));
    EXPECT_FALSE(fs::exists(folder_ / "token"));
}

TEST_F(serve, a_killed_run_leaves_no_token) {
    process run = start_run("out", {"--transport", "tcp", "--remote", "m0"});
    address(run);
    EXPECT_TRUE(fs::exists(folder_ / "token"));
    const std::string children = content(fmt::format("/proc/{0}/task/{0}/children", run.id()));
    ASSERT_GT(std::atoi(children.c_str()), 0);
    ::kill(std::atoi(children.c_str()), SIGKILL);
    EXPECT_EQ(run.wait().exit_status, 1);
    EXPECT_FALSE(fs::exists(folder_ / "token"));
}

TEST_F(serve, a_lost_program_ends_the_run_and_a_lost_run_the_program) {
    test::write_file(folder_ / "s.yaml", test::mixed(1, 1, "{end: 1e9 s, step: 1 ms}") + "record: {every: 10 ms}\n");
    for (const bool run_dies : {false, true}) {
        process run = start_run("out", {"--transport", "tcp", "--remote", "m0"});
        process far = start({"serve", file("s.yaml"), "m0", "--connect", address(run), "--token-file", file("token")});
        while (content(folder_ / "out/results.csv").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        (run_dies ? run : far).send(SIGKILL);
        const auto end = (run_dies ? far : run).wait();
        EXPECT_EQ(end.exit_status, 1) << end.err;
        EXPECT_THAT(end.err, HasSubstr("the connection was lost"));
        if (!run_dies) {
            EXPECT_THAT(end.err, HasSubstr("subsystem 'm0' failed at t = "));
        }
        fs::remove_all(folder_ / "out");
    }
}

TEST_F(serve, mistakes_are_told) {
    const listener busy({});
    struct mistake {
        std::vector<std::string> words;
        std::string message;
    };
    const std::string s = file("s.yaml");
    for (const auto& [words, message] : std::vector<mistake>{
             {{"run", s, "--transport", "tcp", "--listen", busy.address()}, "choose another port, or 0 for any"},
             {{"run", s, "--transport", "tcp", "--listen", "here:there"}, "--listen: 'here:there' is no address"},
             {{"run", s, "--transport", "tcp", "--listen", "203.0.113.1:0"}, "must be an address of this machine"},
             {{"run", s, "--transport", "tcp", "--remote", "m1"}, "--remote: subsystem 'm1' does not exist"},
             {{"run", s, "--transport", "tcp", "--remote", "m0,m0"}, "--remote: subsystem 'm0' is named twice"},
             {{"run", s, "--remote", "m0"}, "give --transport tcp, too"},
             {{"serve", s, "m0", "--connect", busy.address()}, "the run's token is missing"},
             {{"serve", s, "m0", "--connect", busy.address(), "--token-file", file("none")}, "cannot be read"},
             {{"serve", s, "mo", "--connect", "127.0.0.1:1", "--token-file", s}, "Did you mean 'm0'?"},
             {{"serve", s, "m0", "--connect", "127.0.0.1:1", "--token-file", s, "--wait", "0"},
              "no master answers at 127.0.0.1:1"}}) {
        const auto end = start(words).wait();
        EXPECT_EQ(end.exit_status, 2) << end.err;
        EXPECT_THAT(end.err, HasSubstr(message));
    }
}

}  // namespace
}  // namespace mdpcosim
