// Serial or parallel steps, by made-up clocks: never slower than serial ones by more than a little, whatever happens to the workers.
#include "transport/parallel_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace mdpcosim {
namespace {

/// What a machine makes of steps that are chosen so.
struct outcome {
    double seconds = 0, serial_seconds = 0;  ///< as chosen, and had all of them been serial
    std::int64_t parallel = 0, steps = 0;
    std::int64_t last_half = 0;  ///< parallel ones of the second half

    double ratio() const { return seconds / serial_seconds; }
    double share() const { return static_cast<double>(parallel) / static_cast<double>(steps); }
    double late_share() const { return 2 * static_cast<double>(last_half) / static_cast<double>(steps); }
};

using cost = std::function<double(double now)>;

outcome run(std::int64_t steps, const cost& serial, const cost& parallel, int workers = 2) {
    parallel_choice choice(workers);
    outcome all{.steps = steps};
    for (std::int64_t n = 0; n < steps; ++n) {
        const double alone = serial(all.seconds);
        const bool shared = choice.parallel();
        const double took = shared ? parallel(all.seconds) : alone;
        if (shared) ++all.parallel, all.last_half += n >= steps / 2;
        const bool heard = choice.listens(n);
        all.seconds += took;
        all.serial_seconds += alone;
        if (heard) choice.took(n, took, all.seconds);
    }
    return all;
}

cost always(double seconds) {
    return [seconds](double) { return seconds; };
}

TEST(parallel_choice, steps_that_gain_are_parallel) {
    const outcome all = run(20000, always(100e-6), always(55e-6));
    EXPECT_GT(all.share(), 0.99);
    EXPECT_LT(all.ratio(), 0.556);
}

TEST(parallel_choice, steps_that_do_not_gain_are_serial) {
    for (const double serial : {5e-6, 100e-6, 5e-3})
        for (const double slower : {1.01, 1.5, 10.0}) {
            const outcome all = run(1000000, always(serial), always(slower * serial));
            EXPECT_LT(all.ratio(), 1.01) << serial << ' ' << slower;
            EXPECT_GT(all.parallel, 0) << "tried";
        }
}

TEST(parallel_choice, tiny_steps_are_not_even_tried) {
    EXPECT_EQ(run(100000, always(1e-6), always(1e-7)).parallel, 0);
    EXPECT_EQ(run(100000, always(1e-3), always(1e-7), 1).parallel, 0);
}

/// Another program takes a worker's core for 3 ms, again and again.
TEST(parallel_choice, gives_way_where_others_use_the_cores) {
    std::mt19937 random(5);
    const auto disturbed = [&](double good, double often) {
        return [&random, good, often](double) {
            return good + (std::uniform_real_distribution<>(0, 1)(random) < often ? 3e-3 : 0);
        };
    };
    const outcome all = run(200000, always(100e-6), disturbed(55e-6, 0.1));
    EXPECT_LT(all.ratio(), 1.02);
    EXPECT_LT(all.share(), 0.01);
    // Rarely: what is gained in between is worth more.
    const outcome rarely = run(200000, always(100e-6), disturbed(55e-6, 0.001));
    EXPECT_GT(rarely.share(), 0.9);
    EXPECT_LT(rarely.ratio(), 0.65);
}

TEST(parallel_choice, tries_again_once_the_cores_are_free) {
    const outcome all = run(400000, always(100e-6), [](double now) { return now < 5 ? 5e-3 : 55e-6; });
    EXPECT_LT(all.ratio(), 0.8);
    EXPECT_GT(all.late_share(), 0.99);
}

TEST(parallel_choice, gives_way_in_the_middle_of_a_run) {
    const outcome all = run(400000, always(100e-6), [](double now) { return now < 5 ? 55e-6 : 150e-6; });
    EXPECT_LT(all.late_share(), 0.02);
    EXPECT_LT(all.ratio(), 0.9);
}

/// Serial steps have become cheaper than parallel ones, which take what they took.
TEST(parallel_choice, looks_at_serial_steps_again) {
    const outcome all = run(
        400000, [](double now) { return now < 2 ? 100e-6 : 10e-6; }, always(55e-6));
    EXPECT_LT(all.late_share(), 0.01);
}

/// A drive that is set in motion: its steps take longer and longer, however they are done.
TEST(parallel_choice, a_model_that_slows_down_is_no_reason_to_give_way) {
    const auto grows = [](double by) {
        return [by](double now) { return by * (40e-6 + 90e-6 * std::min(1.0, now / 5e-3)); };
    };
    const outcome all = run(600, grows(1), grows(0.6));
    EXPECT_GT(all.share(), 0.9);
    EXPECT_LT(all.ratio(), 0.7);
    const outcome slower = run(1000000, grows(1), grows(1.2));
    EXPECT_LT(slower.ratio(), 1.01);
}

TEST(parallel_choice, a_long_first_step_needs_no_proof) {
    parallel_choice choice(2);
    choice.begin_with(1e-5);
    EXPECT_FALSE(choice.parallel());
    choice.begin_with(1e-3);
    EXPECT_TRUE(choice.parallel());
    parallel_choice alone(1);
    alone.begin_with(1);
    EXPECT_FALSE(alone.parallel());
}

}  // namespace
}  // namespace mdpcosim
