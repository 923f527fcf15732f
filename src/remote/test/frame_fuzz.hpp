#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <random>

#include "core/error.hpp"
#include "remote/frame_link.hpp"
#include "remote/listener.hpp"
#include "remote/tcp.hpp"

/// Bytes from anywhere, made from right ones by random damage or out of nothing, for everything that reads them. Only errors that
/// the readers promise may come out; memory is watched by the sanitizers.
namespace mdpcosim::test {

using bytes = std::vector<char>;

inline subsystem_description some_description() {
    subsystem_description d;
    d.type = "fuzzed";
    for (int i = 0; i < 3; ++i) {
        input_variable u;
        u.name = "u" + std::to_string(i);
        u.unit = "N";
        u.slot = i;
        d.inputs.push_back(u);
    }
    for (int i = 0; i < 4; ++i) {
        output_variable y;
        y.name = "y" + std::to_string(i);
        y.slot = i;
        y.rate_slot = i - 1;
        y.direct = {0, 2};
        d.outputs.push_back(y);
    }
    port p;
    p.name = "mass";
    p.motion = {0, 1, -1};
    p.load = 0;
    d.ports.push_back(p);
    p.kind = port_kind::frame;
    p.motion_slots.assign(frame_motion::count, 3);
    p.load_slots.assign(frame_load_count, 2);
    d.ports.push_back(p);
    return d;
}

inline std::vector<remote_member> some_members() { return {{some_description(), {}}, {some_description(), {}}}; }

template <class Put>
bytes frame_of(const Put& put_into) {
    wire_writer w;
    put_into(w);
    return {w.bytes().begin(), w.bytes().end()};
}
inline bytes hello_of(const std::string& name) {
    return frame_of([&](wire_writer& w) { put(w, remote_hello{{}, name, 0, {}}); });
}
inline bytes word_of(const master_word& word) {
    return frame_of([&](wire_writer& w) { put(w, word); });
}
inline bytes proof_frame(const digest& proof) {
    return frame_of([&](wire_writer& w) { put_proof(w, proof); });
}
inline bytes introduction_of(const std::vector<remote_member>& members) {
    return frame_of([&](wire_writer& w) { put_introduction(w, members); });
}
inline bytes request_of(const exchange& areas) {
    return frame_of([&](wire_writer& w) { put_request(w, areas); });
}
inline bytes reply_of(const exchange& areas) {
    return frame_of([&](wire_writer& w) { put_reply(w, areas); });
}

class damage {
   public:
    explicit damage(unsigned seed) : random_(seed) {}

    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
    bool sometimes(double share = 0.5) { return std::bernoulli_distribution(share)(random_); }

    bytes noise(std::size_t most) {
        bytes b(below(most + 1));
        for (char& c : b) c = static_cast<char>(below(256));
        return b;
    }

    bytes damaged(bytes b) {
        if (sometimes(0.1)) return noise(300);
        for (std::size_t times = 1 + below(4); times > 0; --times) {
            const std::size_t at = b.empty() ? 0 : below(b.size());
            const auto place = b.begin() + static_cast<std::ptrdiff_t>(at);
            switch (below(5)) {
                case 0:  // a bit
                    if (!b.empty()) b[at] = static_cast<char>(b[at] ^ (1 << below(8)));
                    break;
                case 1:  // the end is missing
                    b.resize(at);
                    break;
                case 2: {  // something in between
                    const bytes more = noise(20);
                    b.insert(place, more.begin(), more.end());
                    break;
                }
                case 3:  // something is missing
                    b.erase(place, place + static_cast<std::ptrdiff_t>(std::min(below(16), b.size() - at)));
                    break;
                default: {  // a number that counts something, perhaps
                    constexpr std::uint64_t numbers[] = {0, 1, 0x7fffffff, 0xffffffff, 1ULL << 62, ~0ULL, 255, 100000};
                    const std::uint64_t number = numbers[below(std::size(numbers))];
                    const std::size_t size = std::min(sometimes() ? sizeof number : 4, b.size() - at);
                    std::memcpy(b.data() + at, &number, size);
                }
            }
        }
        return b;
    }

   private:
    std::mt19937 random_;
};

/// Of two levels, for some_members().
inline group_plan some_plan() {
    return {.advances = true,
            .provisional = false,
            .items = {{0, false, 0, 1}, {1, true, 1, 1}},
            .signals = {{1, {2, 1, 1, 0.5}}},
            .ends = {1, 2}};
}

/// Whether it was taken.
template <class Read>
bool taken(const Read& read) {
    try {
        read();
        return true;
    } catch (const run_error&) {
    } catch (const user_error&) {
    }
    return false;
}

inline void fuzz_frames(int count, unsigned seed) {
    damage random(seed);
    const auto members = some_members();
    exchange areas(members);
    areas.place();
    areas.top().request = {.command = remote_command::advance, .timed = true};
    for (std::size_t i = 0; i < 2; ++i)
        for (auto& p : areas.polynomials(i)) p.degree = 3;
    const bytes hello = hello_of("name"), proof = proof_frame({});
    const bytes refusal = word_of({.refusal = "no"}), welcome = word_of({.welcome = true});
    const bytes introduction = introduction_of(members);
    const bytes request = request_of(areas), reply = reply_of(areas);
    const bytes plan = frame_of([](wire_writer& w) { put(w, some_plan()); });
    areas.set_plan(0, some_plan());
    int refused = 0;
    for (int i = 0; i < count; ++i) {
        refused += !taken([&] {
            const bytes damaged_plan = random.damaged(plan);
            wire_reader words(damaged_plan);
            areas.set_plan(0, get_group_plan(words, members));
        });
        refused += !taken([&] { get_hello(random.damaged(hello)); });
        refused += !taken([&] { get_master_word(random.damaged(refusal)); });
        refused += !taken([&] { get_master_word(random.damaged(welcome)); });
        refused += !taken([&] { get_proof(random.damaged(proof)); });
        refused += !taken([&] { get_introduction(random.damaged(introduction), 2); });
        refused += !taken([&] { get_reply(random.damaged(reply), areas); });
        // What was read into the areas must be fit for writing again.
        if (taken([&] { get_request(random.damaged(request), areas); })) request_of(areas);
        areas.top().request = {.command = random.sometimes(0.3) ? remote_command::carry_out
                                                                : static_cast<remote_command>(random.below(10)),
                               .subsystem = static_cast<int>(random.below(3)) - 1,
                               .timed = random.sometimes(),
                               .level = static_cast<int>(random.below(3))};
        if (areas.top().request.command == remote_command::carry_out) areas.top().request.subsystem = -1;
    }
    EXPECT_GT(refused, count) << "the damage does none";
    EXPECT_TRUE(taken([&] { get_introduction(introduction, 2); }));
}

inline void say(int socket, const bytes& sent) {
    static_cast<void>(::send(socket, sent.data(), sent.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

inline bytes with_length(const bytes& frame) {
    const auto length = static_cast<std::uint32_t>(frame.size());
    bytes all(sizeof length);
    std::memcpy(all.data(), &length, sizeof length);
    all.insert(all.end(), frame.begin(), frame.end());
    return all;
}

/// Somebody with the right token says anything, ahead of every request, and then leaves or falls silent.
inline void fuzz_peers(int count, unsigned seed) {
    damage random(seed);
    const auto members = some_members();
    exchange areas(members);
    areas.place();
    areas.top().request = {.command = remote_command::advance};
    const bytes introduction = introduction_of(members);
    const bytes reply = reply_of(areas);
    const bytes nothing = frame_of([](wire_writer& w) { w.put(std::int32_t{-1}); });
    int failures = 0, steps = 0;
    for (int i = 0; i < count; ++i) {
        int ends[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        file_handle theirs(ends[1]);
        linked_group group({"peer", 2, 0.02}, make_socket_link(file_handle(ends[0])));
        bytes said = with_length(random.sometimes(0.3) ? random.damaged(introduction) : introduction);
        const bytes more = with_length(nothing);
        said.insert(said.end(), more.begin(), more.end());
        for (int n = 0; n < 3; ++n) {
            const bytes next = with_length(random.sometimes() ? reply : random.damaged(reply));
            said.insert(said.end(), next.begin(), next.end());
        }
        if (random.sometimes(0.2)) said = random.damaged(said);
        say(theirs.get(), said);
        if (random.sometimes(0.8)) theirs.close();
        try {
            group.introduce();
            group.call({.command = remote_command::initialise});
            for (int n = 0; n < 5; ++n, ++steps) group.call({.command = remote_command::advance, .step = {0, 1, n}});
        } catch (const run_error&) {
            ++failures;
        } catch (const user_error&) {
            ++failures;
        }
    }
    EXPECT_EQ(failures, count) << "somebody answered five steps with three replies";
    EXPECT_GT(steps, count / 4) << "nobody got past the introduction";
}

/// Strangers of all kinds; in between somebody who is expected.
inline void fuzz_listener(int count, unsigned seed) {
    damage random(seed);
    listener door({});
    std::vector<file_handle> silent;
    for (int i = 0; i < count; ++i) {
        const std::string name = "a" + std::to_string(i);
        door.expect(name);
        const bytes hello = hello_of(name), proof = proof_frame(random_challenge());
        for (int k = 0; k < 4; ++k) {
            file_handle stranger = connect_to(parse_tcp_address(door.address()), 0);
            const std::string browser = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
            switch (random.below(6)) {
                case 0:
                    say(stranger.get(), {browser.begin(), browser.end()});
                    break;
                case 1:
                    say(stranger.get(), random.noise(9000));
                    break;
                case 2:
                    say(stranger.get(), random.damaged(with_length(hello)));
                    break;
                case 3:
                    say(stranger.get(), with_length(random.damaged(hello)));
                    break;
                case 4:
                    say(stranger.get(), with_length(hello));
                    say(stranger.get(), with_length(random.sometimes() ? proof : random.damaged(proof)));
                    break;
                default:
                    break;
            }
            if (random.sometimes()) silent.push_back(std::move(stranger));
            if (random.sometimes()) door.work(std::chrono::milliseconds(0));
        }
        if (silent.size() > 50) silent.clear();
        const auto link = make_socket_link(connect_to(parse_tcp_address(door.address()), 0));
        bytes answer;
        const auto hear = [&] {
            while (!link->receive(answer, std::chrono::milliseconds(0), 1000)) door.work(std::chrono::milliseconds(5));
            return get_master_word(answer);
        };
        link->send(hello);
        link->send(proof_frame(proof_of(prover::subsystem, door.token(), get_hello(hello), hear().value)));
        EXPECT_TRUE(hear().welcome);
        EXPECT_NE(door.take(name), nullptr);
    }
    EXPECT_TRUE(door.missing().empty());
}

}  // namespace mdpcosim::test
