// Who may connect to a run, and that nobody else disturbs it.
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <future>
#include <set>
#include <thread>

#include "core/error.hpp"
#include "remote/listener.hpp"
#include "remote/tcp.hpp"
#include "support/sanitizer.hpp"
#include "support/told_messages.hpp"

namespace mdpcosim {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

/// Works until all have come.
void gather_all(listener& l) {
    while (!l.missing().empty()) l.work(20ms);
}

std::future<std::string> refusal_of(const listener& l, remote_hello hello) {
    return std::async(std::launch::async, [address = l.address(), hello] {
        try {
            connect_to_master(address, hello);
        } catch (const user_error& problem) {
            return std::string(problem.what());
        }
        return std::string("welcome");
    });
}

std::string finish(listener& l, std::future<std::string> answer) {
    while (answer.wait_for(0ms) != std::future_status::ready) l.work(5ms);
    return answer.get();
}

file_handle stranger(const listener& l, const std::string& says = {}) {
    file_handle socket = connect_to(parse_tcp_address(l.address()), 0);
    if (!says.empty()) {
        EXPECT_EQ(send(socket.get(), says.data(), says.size(), MSG_NOSIGNAL), static_cast<ssize_t>(says.size()));
    }
    return socket;
}

TEST(listener, tokens_are_long_and_never_the_same) {
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) seen.insert(random_token());
    EXPECT_EQ(seen.size(), 100u);
    EXPECT_EQ(seen.begin()->size(), 32u);
}

TEST(listener, listens_on_this_machine_only_unless_told) {
    const listener l({});
    EXPECT_THAT(l.address(), testing::StartsWith("127.0.0.1:"));
    EXPECT_EQ(l.address(), "127.0.0.1:" + std::to_string(l.port()));
}

TEST(listener, a_port_in_use_is_told_with_the_remedy) {
    const listener l({});
    try {
        const listener again({.address = std::to_string(l.port()), .token = {}});
        FAIL() << "two listeners at one port";
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(HasSubstr(l.address()), HasSubstr("choose another port, or 0 for any")));
    }
}

TEST(listener, addresses_that_are_none_are_told) {
    for (const char* bad : {"host:port", "1:2:3", "127.0.0.1:70000", "127.0.0.1:-1", "a:1x"})
        EXPECT_THROW(parse_tcp_address(bad), user_error) << bad;
    EXPECT_THROW(listener({.address = "no.such.host.invalid:0", .token = {}}), user_error);
    EXPECT_EQ(parse_tcp_address("[::1]:50").host, "::1");
    EXPECT_EQ(parse_tcp_address("50").port, "50");
}

TEST(listener, links_by_name_carry_frames_both_ways) {
    listener l({});
    l.expect("a");
    l.expect("b");
    std::vector<std::jthread> others;
    for (const std::string name : {"b", "a"})
        others.emplace_back([&l, name, address = l.address()] {
            const auto link = connect_to_master(address, {l.token(), name, 0, {}});
            link->send(name);
            std::vector<char> answer;
            while (!link->receive(answer, 1s, 100)) continue;
            EXPECT_EQ(std::string(answer.begin(), answer.end()), name + " too");
        });
    gather_all(l);
    l.close();
    for (const std::string name : {"a", "b"}) {
        const auto link = l.take(name);
        std::vector<char> frame;
        while (!link->receive(frame, 1s, 100)) continue;
        EXPECT_EQ(std::string(frame.begin(), frame.end()), name);
        link->send(name + " too");
        EXPECT_EQ(l.take(name), nullptr);
    }
    EXPECT_THROW(connect_to(parse_tcp_address(l.address()), 0), user_error) << "the port is still open";
}

TEST(listener, refuses_with_the_reason_and_logs_it) {
    const test::told_messages messages;
    listener l({});
    l.expect("a");
    EXPECT_THAT(finish(l, refusal_of(l, {"wrong", "a", 0, {}})), HasSubstr("its token is not this run's"));
    EXPECT_THAT(finish(l, refusal_of(l, {l.token(), "c", 0, {}})),
                AllOf(HasSubstr("'c' is not expected"), HasSubstr("Missing: a")));
    EXPECT_EQ(finish(l, refusal_of(l, {l.token(), "a", 0, {}})), "welcome");
    EXPECT_THAT(finish(l, refusal_of(l, {l.token(), "a", 0, {}})), HasSubstr("here already"));
    const std::string log = messages.text();
    EXPECT_THAT(log, AllOf(HasSubstr("a connection from 127.0.0.1:"), HasSubstr("its token is not this run's"),
                           HasSubstr("'c' is not expected"), HasSubstr("here already")));
    EXPECT_THAT(log, testing::Not(HasSubstr(l.token())));
}

TEST(listener, another_version_is_refused_with_both_numbers) {
    const test::told_messages messages;
    listener l({});
    l.expect("a");
    wire_writer hello;
    put(hello, remote_hello{l.token(), "a", 0, {}});
    std::vector<char> bytes(hello.bytes().begin(), hello.bytes().end());
    bytes[8] = 77;
    const auto link = make_socket_link(connect_to(parse_tcp_address(l.address()), 0));
    link->send(bytes);
    std::vector<char> answer;
    while (!link->receive(answer, 5ms, 1000)) l.work(5ms);
    EXPECT_THAT(get_master_word(answer).refusal,
                HasSubstr("it speaks version 77 of the protocol, this program version"));
    EXPECT_THAT(messages.text(), HasSubstr("version 77"));
    EXPECT_THAT(l.missing(), ElementsAre("a"));
}

/// What an eavesdropper has heard is of no use, and no token was among it.
TEST(listener, a_recorded_greeting_opens_nothing) {
    const test::told_messages messages;
    listener l({});
    l.expect("a");
    const remote_hello hello{l.token(), "a", 0, random_challenge()};
    wire_writer first, second;
    put(first, hello);
    std::vector<char> answer;
    const auto hear = [&](frame_link& link) {
        while (!link.receive(answer, 5ms, 1000)) l.work(5ms);
        return get_master_word(answer);
    };
    const auto link = make_socket_link(connect_to(parse_tcp_address(l.address()), 0));
    link->send(first.bytes());
    put_proof(second, proof_of(prover::subsystem, l.token(), hello, hear(*link).value));
    const auto again = make_socket_link(connect_to(parse_tcp_address(l.address()), 0));
    again->send(first.bytes());
    again->send(second.bytes());
    EXPECT_FALSE(hear(*again).welcome);
    EXPECT_THAT(hear(*again).refusal, HasSubstr("its token is not this run's"));
    link->send(second.bytes());
    const master_word welcome = hear(*link);
    EXPECT_TRUE(welcome.welcome);
    for (const auto* said : {&first, &second})
        EXPECT_EQ(std::string(said->bytes().begin(), said->bytes().end()).find(l.token()), std::string::npos);
}

/// Somebody else listens at the master's address, and answers with what it has heard or made up.
TEST(listener, a_false_master_learns_no_token_and_gets_no_subsystem) {
    for (const bool echo : {true, false}) {
        const file_handle door = listen_at({"127.0.0.1", "0"});
        sockaddr_storage bound{};
        socklen_t size = sizeof bound;
        getsockname(door.get(), reinterpret_cast<sockaddr*>(&bound), &size);
        std::string heard;
        std::jthread liar([&] {
            pollfd ready{door.get(), POLLIN, 0};
            poll(&ready, 1, 10000);
            const auto link = make_socket_link(file_handle(accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC)));
            std::vector<char> frame;
            const auto hear = [&] {
                while (!link->receive(frame, 1s, 5000)) continue;
                heard.append(frame.begin(), frame.end());
            };
            wire_writer said;
            hear();
            put(said, master_word{.value = random_challenge()});
            link->send(said.bytes());
            hear();
            said.clear();
            put(said, master_word{.welcome = true, .value = echo ? get_proof(frame) : random_challenge()});
            link->send(said.bytes());
        });
        const std::string token = random_token();
        try {
            connect_to_master(to_string(bound), {token, "a", 0, {}});
            ADD_FAILURE() << "the false master was believed";
        } catch (const user_error& problem) {
            EXPECT_THAT(problem.what(), HasSubstr("does not know the run's token itself"));
        }
        liar.join();
        EXPECT_EQ(heard.find(token), std::string::npos);
    }
}

/// A program that the run has started cannot come in the name of another subsystem.
TEST(listener, processes_of_the_run_have_tokens_of_their_own) {
    const test::told_messages messages;
    listener l({});
    l.expect_own("own process 0");
    l.expect_own("own process 1");
    l.expect("a");
    const std::string first = l.token_of("own process 0");
    EXPECT_NE(first, l.token());
    EXPECT_NE(first, l.token_of("own process 1"));
    for (const char* name : {"a", "own process 1"})
        EXPECT_THAT(finish(l, refusal_of(l, {first, name, 0, {}})), HasSubstr("its token is not this run's"));
    EXPECT_THAT(finish(l, refusal_of(l, {l.token(), "own process 0", 0, {}})),
                HasSubstr("its token is not this run's"));
    EXPECT_EQ(finish(l, refusal_of(l, {first, "own process 0", 0, {}})), "welcome");
}

/// With no file left for a connection, waiting for it would be in vain.
TEST(listener, too_few_files_are_told_at_once) {
    MDPCOSIM_NEEDS_LAST_FILE();
    listener l({});
    l.expect("a");
    const file_handle socket = connect_to(parse_tcp_address(l.address()), 0);
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const file_handle highest(dup(socket.get()));
    const rlimit few{static_cast<rlim_t>(highest.get()) + 1, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    std::string said;
    try {
        l.work(1s);
    } catch (const run_error& problem) {
        said = problem.what();
    }
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_THAT(said, AllOf(HasSubstr("no connection can be accepted from subsystem a"),
                            HasSubstr("open files at a time"), HasSubstr("ulimit -n")));
}

/// Browsers, scanners and half a greeting: the run's start goes on.
TEST(listener, strangers_do_not_stall_the_start) {
    const test::told_messages messages;
    listener l({});
    l.expect("a");
    std::vector<file_handle> others;
    for (int i = 0; i < 100; ++i) others.push_back(stranger(l));
    others.push_back(stranger(l, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    others.push_back(stranger(l, std::string("\x40\0\0\0half a hello", 16)));
    others.push_back(stranger(l, std::string("\xff\xff\xff\xff", 4)));
    stranger(l);  // and leaves
    auto welcome = refusal_of(l, {l.token(), "a", 0, {}});
    gather_all(l);
    EXPECT_EQ(finish(l, std::move(welcome)), "welcome");
    EXPECT_THAT(messages.text(),
                AllOf(HasSubstr("does not speak mdpcosim's protocol"), HasSubstr("too many others wait")));
}

TEST(listener, nobody_there_is_told_at_once_or_after_the_wait) {
    std::string address;
    {
        const listener gone({});
        address = gone.address();
    }
    EXPECT_THROW(connect_to_master(address, {"t", "a", 0, {}}), user_error);
    std::jthread late([&] {
        std::this_thread::sleep_for(300ms);
        listener l({.address = address, .token = "t"});
        l.expect("a");
        gather_all(l);
    });
    EXPECT_NO_THROW(connect_to_master(address, {"t", "a", 0, {}}, false, 60));
}

/// A frame that the other side does not read does not stop the sender, and arrives whole later.
TEST(socket_link, sending_never_blocks) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const auto near = make_socket_link(file_handle(ends[0])), far = make_socket_link(file_handle(ends[1]));
    std::vector<char> large(std::size_t{20} << 20), got;
    for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7 + i / 1000);
    near->send(large);
    near->send(std::string("after it"));
    std::vector<char> none;
    while (!far->receive(got, 1ms, large.size())) EXPECT_FALSE(near->receive(none, 0ms, 10));
    EXPECT_TRUE(got == large);
    while (!far->receive(got, 1ms, 100)) EXPECT_FALSE(near->receive(none, 0ms, 10));
    EXPECT_EQ(std::string(got.begin(), got.end()), "after it");
    EXPECT_THAT(none, IsEmpty());
}

}  // namespace
}  // namespace mdpcosim
