// Yielding or sleeping, by made-up clocks, and mailboxes between threads.
#include "core/mailbox.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

namespace mdpcosim {
namespace {

using clock = waiting_habit::clock;

/// What waits take on a machine, s: asleep and yielding, by the time.
struct machine {
    std::function<double(double)> asleep, yielding;
};

struct outcome {
    double seconds = 0, asleep_seconds = 0;  ///< as the habit wants it; all of them asleep
    int yields = 0, late_yields = 0;         ///< of all waits, of the second half
};

outcome wait_often(const machine& m, int waits) {
    constexpr double between = 10e-6;
    waiting_habit habit;
    outcome all;
    double now = 0;
    const auto at = [](double t) {
        return clock::time_point(std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(t)));
    };
    for (int n = 0; n < waits; ++n) {
        const bool yields = habit.yields(at(now));
        const double took = yields ? m.yielding(now) : m.asleep(now);
        all.yields += yields;
        all.late_yields += yields && n >= waits / 2;
        all.seconds += took;
        all.asleep_seconds += m.asleep(now);
        now += took;
        habit.took(std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(took)), at(now));
        now += between;
    }
    return all;
}

std::function<double(double)> always(double seconds) {
    return [seconds](double) { return seconds; };
}

TEST(waiting_habit, begins_asleep) {
    waiting_habit habit;
    EXPECT_FALSE(habit.yields(clock::time_point{}));
}

TEST(waiting_habit, yields_where_that_is_quicker) {
    const outcome all = wait_often({always(40e-6), always(2e-6)}, 10000);
    EXPECT_GT(all.yields, 9900);
}

/// Yields that give the core away for 3 ms are a hundredth of the time, or less.
TEST(waiting_habit, sleeps_on_a_busy_machine) {
    const outcome all = wait_often({always(10e-6), always(3e-3)}, 1000000);
    EXPECT_LT(all.yields, 100);
    EXPECT_LT(all.seconds, 1.03 * all.asleep_seconds);
}

TEST(waiting_habit, sleeps_where_it_makes_no_difference) {
    EXPECT_LT(wait_often({always(1e-3), always(0.95e-3)}, 10000).yields, 500);
}

TEST(waiting_habit, follows_what_the_machine_does) {
    const outcome calmer = wait_often({always(40e-6), [](double now) { return now < 2 ? 3e-3 : 2e-6; }}, 1000000);
    EXPECT_GT(calmer.late_yields, 499000);
    const outcome busier = wait_often({always(40e-6), [](double now) { return now < 2 ? 2e-6 : 3e-3; }}, 1000000);
    EXPECT_LT(busier.late_yields, 100);
    EXPECT_LT(busier.seconds, 1.02 * busier.asleep_seconds);
}

/// Two threads in turn: every round arrives, whichever way is in use.
TEST(mailbox, carries_rounds_between_threads) {
    lone_mailbox there, back;
    constexpr std::uint32_t rounds = 2000;
    std::thread other([&] {
        waiting_habit habit;
        for (std::uint32_t n = 1; n <= rounds; ++n) {
            there.wait_for(n, mailbox::none, habit);
            back.post(n);
        }
    });
    waiting_habit habit;
    for (std::uint32_t n = 1; n <= rounds; ++n) {
        there.post(n);
        back.wait_for(n, n % 2 == 0 ? mailbox::none : mailbox::always, habit);
        ASSERT_EQ(back.round(), n);
    }
    other.join();
}

TEST(mailbox, gives_up_after_its_time) {
    lone_mailbox box;
    waiting_habit habit;
    EXPECT_FALSE(box.wait_for(1, mailbox::none, habit, std::chrono::milliseconds(0)));
    EXPECT_FALSE(box.wait_for(1, mailbox::none, habit, std::chrono::milliseconds(1)));
    box.post(1);
    EXPECT_TRUE(box.wait_for(1, mailbox::none, habit, std::chrono::milliseconds(0)));
}

}  // namespace
}  // namespace mdpcosim
