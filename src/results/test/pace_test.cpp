#include "results/pace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// Which macro points are rows.
namespace mdpcosim {
namespace {

using testing::ElementsAre;

std::vector<double> rows(const time_grid& grid, std::optional<double> every) {
    record_grid due(grid, every);
    std::vector<double> times;
    for (std::int64_t n = 0; n <= grid.steps(); ++n)
        if (due.due(grid.time(n))) times.push_back(grid.time(n));
    return times;
}

TEST(record_grid, every_macro_point) {
    EXPECT_THAT(rows(time_grid(0.5, 1.75, 0.5), {}), ElementsAre(0.5, 1, 1.5, 1.75));
}

TEST(record_grid, on_multiples) { EXPECT_THAT(rows(time_grid(0, 2, 0.25), 0.5), ElementsAre(0, 0.5, 1, 1.5, 2)); }

/// 0.3 = 3 * 0.1 does not hold in binary: no row is lost or doubled over 30000 of them.
TEST(record_grid, withstands_rounding) {
    const auto t = rows(time_grid(0, 9000, 0.1), 0.3);
    ASSERT_EQ(t.size(), 30001u);
    for (std::size_t k = 0; k < t.size(); ++k) ASSERT_NEAR(t[k], 0.3 * static_cast<double>(k), 1e-9);
}

TEST(record_grid, between_the_steps_takes_the_next_macro_point) {
    EXPECT_THAT(rows(time_grid(0, 2, 0.25), 0.6), ElementsAre(0, 0.75, 1.25, 2));
}

TEST(record_grid, counts_from_the_start) {
    EXPECT_THAT(rows(time_grid(0.125, 1.125, 0.25), 0.5), ElementsAre(0.125, 0.625, 1.125));
}

TEST(record_grid, finer_than_the_steps_records_every_step_once) {
    EXPECT_THAT(rows(time_grid(0, 1, 0.25), 0.1), ElementsAre(0, 0.25, 0.5, 0.75, 1));
}

}  // namespace
}  // namespace mdpcosim
