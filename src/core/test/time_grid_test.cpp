#include "core/time_grid.hpp"

#include <gtest/gtest.h>

namespace mdpcosim {
namespace {

TEST(time_grid, points_are_start_plus_n_steps) {
    const time_grid grid(0.5, 2.5, 1e-4);
    ASSERT_EQ(grid.steps(), 20000);
    for (std::int64_t n = 0; n < grid.steps(); ++n) ASSERT_EQ(grid.time(n), 0.5 + static_cast<double>(n) * 1e-4) << n;
    EXPECT_EQ(grid.time(grid.steps()), 2.5);
    EXPECT_EQ(grid.start(), 0.5);
    EXPECT_EQ(grid.end(), 2.5);
    EXPECT_EQ(grid.step_size(), 1e-4);
}

TEST(time_grid, steps_join_without_gap) {
    const time_grid grid(-1, 1, 0.03);
    for (std::int64_t n = 0; n + 1 < grid.steps(); ++n) {
        const macro_step step = grid.step(n);
        ASSERT_EQ(step.end, grid.step(n + 1).begin);
        ASSERT_EQ(step.counter, n);
        ASSERT_LT(step.begin, step.end);
    }
}

TEST(time_grid, the_last_step_is_shorter_where_the_step_does_not_divide_the_span) {
    const time_grid grid(0, 1, 0.3);
    ASSERT_EQ(grid.steps(), 4);
    EXPECT_EQ(grid.step(3).begin, 3 * 0.3);
    EXPECT_EQ(grid.step(3).end, 1);
    EXPECT_LT(grid.step(3).end - grid.step(3).begin, 0.3);
}

TEST(time_grid, a_step_beyond_the_end_is_one_shorter_step) {
    const time_grid grid(0, 1, 5);
    ASSERT_EQ(grid.steps(), 1);
    EXPECT_EQ(grid.step(0).begin, 0);
    EXPECT_EQ(grid.step(0).end, 1);
}

TEST(time_grid, rounding_in_the_users_numbers_makes_no_step_of_its_own) {
    EXPECT_EQ(time_grid(0, 0.3, 0.1).steps(), 3);     // 0.3/0.1 is below 3
    EXPECT_EQ(time_grid(0, 0.7, 0.1).steps(), 7);     // 0.7/0.1 is below 7
    EXPECT_EQ(time_grid(0.1, 1.1, 0.1).steps(), 10);  // (1.1 - 0.1)/0.1 is above 10
    EXPECT_EQ(time_grid(0, 2, 20e-6).steps(), 100000);
    EXPECT_EQ(time_grid(0, 1, 1.0 / 3).steps(), 3);
    EXPECT_EQ(time_grid(0, 1000, 1e-7).steps(), 10'000'000'000);
    EXPECT_EQ(time_grid(0, 1, 0.333333).steps(), 4);  // this is no rounding
}

TEST(time_grid, every_decimal_step_divides_every_multiple) {
    for (const double step : {1e-6, 2e-5, 1e-4, 1e-3, 0.007, 0.01, 0.1})
        for (std::int64_t n = 1; n < 5000; n += 7) {
            const time_grid grid(0, static_cast<double>(n) * step, step);
            ASSERT_EQ(grid.steps(), n) << step;
            ASSERT_GT(grid.step(n - 1).end - grid.step(n - 1).begin, 0.99 * step);
        }
}

}  // namespace
}  // namespace mdpcosim
