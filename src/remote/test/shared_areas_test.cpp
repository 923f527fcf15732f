// Memory shared with processes that nobody trusts: its size is fixed, and what is read from it is checked as frames are.
#include "remote/shared_areas.hpp"

#include <gmock/gmock.h>

#include "remote/frames.hpp"
#include "remote/test/frame_fuzz.hpp"
#include "remote/test/shared_fuzz.hpp"
#include "support/sanitizer.hpp"

namespace mdpcosim::test {
namespace {

using testing::HasSubstr;

/// Both sides of shared memory, without a process.
struct two_sides {
    explicit two_sides(remote_request request, std::vector<remote_member> members = some_members())
        : shared("s"), own(members), theirs(members) {
        shared.map(members, true);
        own.place();
        own.top().request = request;
        memory = map_areas(file_handle(dup(shared.file())), theirs.size());
        theirs.place(memory, false);
        shared.post(own);
    }
    ~two_sides() { munmap(memory, theirs.size()); }

    std::string reply() {
        theirs.top().reply_box.post(1);
        try {
            return shared.take(own, mailbox::none, std::chrono::milliseconds(50)) ? "taken" : "nothing came";
        } catch (const run_error& problem) {
            return problem.what();
        }
    }

    shared_areas shared;
    exchange own, theirs;
    void* memory;
};

TEST(shared_areas, nobody_can_change_its_size) {
    two_sides s({.command = remote_command::advance});
    EXPECT_EQ(ftruncate(s.shared.file(), 0), -1);
    EXPECT_EQ(ftruncate(s.shared.file(), 1 << 24), -1);
    EXPECT_EQ(s.reply(), "taken");
}

/// A process that was there first has shrunk it, or taken the right to seal.
TEST(shared_areas, a_file_that_cannot_be_sealed_is_refused) {
    shared_areas shared("s");
    ASSERT_EQ(fcntl(shared.file(), F_ADD_SEALS, F_SEAL_SEAL), 0);
    EXPECT_THROW(shared.map(some_members(), false), run_error);
}

TEST(shared_areas, carries_requests_and_replies) {
    two_sides s({.command = remote_command::advance, .step = {1, 2, 3}, .timed = true});
    EXPECT_EQ(s.theirs.top().request.step.counter, 3);
    s.own.polynomials(1)[2].c[0] = 7;
    s.shared.post(s.own);
    EXPECT_EQ(s.theirs.polynomials(1)[2].c[0], 7);
    s.theirs.outputs(1)[3] = 5;
    s.theirs.report(1).end = 9;
    s.theirs.notice(1, {.first_event = 1.5, .ask_to_end = true});
    s.theirs.top().reply_box.post(2);
    EXPECT_EQ(s.reply(), "nothing came");
    s.theirs.top().reply_box.post(2);
    EXPECT_TRUE(s.shared.take(s.own, mailbox::none, std::chrono::milliseconds(1000)));
    EXPECT_EQ(s.own.outputs(1)[3], 5);
    EXPECT_EQ(s.own.report(1).end, 9);
    EXPECT_TRUE(s.own.top().noticed);
    EXPECT_EQ(s.own.report(1).notice.first_event, 1.5);
}

TEST(shared_areas, what_the_other_side_changes_later_is_not_read_again) {
    two_sides s({.command = remote_command::outputs});
    EXPECT_EQ(s.reply(), "taken");
    std::memset(s.memory, 0xff, s.theirs.size());
    EXPECT_EQ(s.own.top().request.command, remote_command::outputs);
    EXPECT_EQ(s.own.top().failed, -1);
    EXPECT_EQ(s.own.outputs(0)[0], 0);
}

TEST(shared_areas, replies_that_do_not_fit_are_refused) {
    {
        two_sides s({.command = remote_command::advance});
        s.theirs.top().failed = 2;
        EXPECT_THAT(s.reply(), HasSubstr("a reply that does not fit came"));
        s.theirs.top().failed = -2;
        EXPECT_THAT(s.reply(), HasSubstr("a reply that does not fit came"));
    }
    {
        two_sides s({.command = remote_command::write_state, .subsystem = 0});
        s.theirs.top().piece.size = state_piece::largest + 1;
        EXPECT_THAT(s.reply(), HasSubstr("a piece of a state or text that does not fit came"));
    }
    {
        two_sides s({.command = remote_command::statistics});
        s.theirs.report(1).statistics.evaluations = -1;
        EXPECT_THAT(s.reply(), HasSubstr("a reply that does not fit came"));
    }
    {
        two_sides s({.command = remote_command::advance});
        s.theirs.top().failed = 1;
        s.theirs.top().message.fill('x');
        EXPECT_EQ(s.reply(), "taken");
        EXPECT_EQ(std::strlen(s.own.top().message.data()), s.own.top().message.size() - 1);
    }
}

TEST(shared_areas, carries_levels_of_a_plan) {
    two_sides s({.command = remote_command::clock});
    s.own.set_plan(0, some_plan());
    s.own.top().request = {.command = remote_command::carry_out, .level = 1};
    s.own.inputs(0)[1] = 3;
    s.own.inputs(1)[1] = 7;
    s.shared.post(s.own);
    EXPECT_EQ(s.theirs.inputs(0)[1], 0) << "not of this level";
    EXPECT_EQ(s.theirs.inputs(1)[1], 7);
    s.theirs.outputs(0)[0] = 5;
    s.theirs.outputs(1)[3] = 6;
    s.theirs.top().failed = 1;
    s.theirs.top().in_evaluation = true;
    s.theirs.top().reply_box.post(2);
    EXPECT_TRUE(s.shared.take(s.own, mailbox::none, std::chrono::milliseconds(1000)));
    EXPECT_EQ(s.own.outputs(0)[0], 0);
    EXPECT_EQ(s.own.outputs(1)[3], 6);
    EXPECT_TRUE(s.own.top().in_evaluation);
}

/// Whatever is in the memory, the copy is taken or refused.
TEST(shared_areas, any_bytes_are_taken_or_refused) {
    damage random(31);
    int refused = 0;
    for (int i = 0; i < 600; ++i) {
        two_sides s({.command = static_cast<remote_command>(random.below(static_cast<int>(remote_command::quit) + 1)),
                     .subsystem = static_cast<int>(random.below(3)) - 1,
                     .timed = random.sometimes()});
        s.own.set_plan(0, some_plan());
        const bytes noise = random.noise(s.theirs.size());
        std::memcpy(s.memory, noise.data(), noise.size());
        refused += s.reply() != "taken";
    }
    EXPECT_GT(refused, 100);
}

/// The sanitizer's processes take their time to start.
TEST(shared_areas, a_hostile_process_never_breaks_the_master) { fuzz_shared_memory(address_sanitizer ? 4 : 25, 7); }

}  // namespace
}  // namespace mdpcosim::test
