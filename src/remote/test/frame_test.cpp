// Readers of frames, groups and the listener meet damaged bytes; many more of them in frame_fuzz_test.cpp.
#include <gmock/gmock.h>

#include "remote/test/frame_fuzz.hpp"
#include "support/told_messages.hpp"

namespace mdpcosim::test {
namespace {

TEST(frames, damaged_ones_are_refused) { fuzz_frames(2000, 1); }

TEST(frames, what_is_announced_must_have_come) {
    bytes introduction = introduction_of(some_members());
    const std::size_t inputs_of_first = 1 + 8 + 8 + std::string("fuzzed").size();
    const std::uint64_t many = introduction.size() / 2;  // fewer than bytes, more than variables
    std::memcpy(introduction.data() + inputs_of_first, &many, sizeof many);
    EXPECT_THROW(get_introduction(introduction, 2), run_error);
}

TEST(frames, a_description_that_would_use_up_the_memory_is_refused) {
    auto members = some_members();
    members[0].description.outputs.back().size = 2'000'000'000;
    const bytes introduction = introduction_of(members);
    EXPECT_THROW(get_introduction(introduction, 2), run_error);
}

TEST(frames, ports_in_space_arrive_as_they_were_and_only_whole) {
    auto members = some_members();
    port& p = members[0].description.ports[1];
    for (std::size_t k = 0; k < p.motion_slots.size(); ++k) p.motion_slots[k] = static_cast<int>(k % 4) - 1;
    p.load_slots = {2, 1, 0, 0, 1, 2};
    const auto arrived = get_introduction(introduction_of(members), 2);
    EXPECT_EQ(arrived[0].description.ports[1].motion_slots, p.motion_slots);
    EXPECT_EQ(arrived[0].description.ports[1].load_slots, p.load_slots);
    const auto expect_refusal = [&](std::vector<int>& slots, std::vector<int> other) {
        std::swap(slots, other);
        EXPECT_THROW(get_introduction(introduction_of(members), 2), run_error);
        std::swap(slots, other);
    };
    expect_refusal(p.load_slots, {0, 1, 2});
    expect_refusal(p.load_slots, {0, 1, 2, 0, 1, 3});
    expect_refusal(p.motion_slots, {});
    expect_refusal(p.motion_slots, std::vector<int>(frame_motion::count, 4));
}

TEST(frames, derivatives_by_an_input_that_does_not_exist_are_refused) {
    exchange areas(some_members());
    areas.place();
    areas.top().request = {.command = remote_command::rate_sensitivities, .subsystem = 1, .number = 2};
    get_request(request_of(areas), areas);
    areas.top().request.number = 3;
    EXPECT_THROW(get_request(request_of(areas), areas), run_error);
}

TEST(peers, that_say_anything_end_the_run_in_order) { fuzz_peers(200, 2); }

TEST(peers, that_announce_a_giant_message_are_told) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const file_handle theirs(ends[1]);
    linked_group group({"peer", 1, 0}, make_socket_link(file_handle(ends[0])));
    say(theirs.get(), bytes(4, '\x7f'));
    try {
        group.introduce();
        FAIL() << "taken";
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), testing::HasSubstr("a message of 2139062143 bytes came where"));
    }
}

TEST(listener, strangers_of_all_kinds_do_not_disturb_it) {
    const test::told_messages messages;
    fuzz_listener(50, 3);
    EXPECT_THAT(messages.text(), testing::HasSubstr("further ones are not shown"));
}

}  // namespace
}  // namespace mdpcosim::test
