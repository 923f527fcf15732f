#include "report/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mdpcosim {

namespace {

std::vector<double> times(std::size_t rows) {
    std::vector<double> t(rows);
    for (std::size_t i = 0; i < rows; ++i) t[i] = 0.25 * static_cast<double>(i);
    return t;
}

TEST(reduce, keeps_every_extreme_with_its_time) {
    constexpr std::size_t rows = 1003, stride = 10;
    const auto t = times(rows);
    std::vector<double> y(rows);
    for (std::size_t i = 0; i < rows; ++i) y[i] = std::sin(0.37 * static_cast<double>(i));
    y[517] = 50;  // one row wide
    y[518] = -60;
    const reduced_column r = reduce_column(t, y, stride);
    const auto edges = bucket_times(t, stride);
    ASSERT_EQ(edges.size(), 102u);
    ASSERT_EQ(r.at.size(), 202u);
    ASSERT_EQ(r.values.size(), r.at.size() + 2);
    EXPECT_EQ(r.values.front(), y.front());
    EXPECT_EQ(r.values.back(), y.back());
    for (std::size_t b = 0; b < 101; ++b) {
        const auto first = y.begin() + static_cast<std::ptrdiff_t>(b * stride);
        const auto last = y.begin() + static_cast<std::ptrdiff_t>(std::min(rows, (b + 1) * stride));
        const auto [low, high] = std::minmax_element(first, last);
        const std::pair found(std::min(r.values[2 * b + 1], r.values[2 * b + 2]),
                              std::max(r.values[2 * b + 1], r.values[2 * b + 2]));
        EXPECT_EQ(found, std::pair(*low, *high)) << b;
        // The order is that of the rows, and times are right to 1/255 of the bucket.
        for (const std::size_t k : {0, 1}) {
            const double at = edges[b] + r.at[2 * b + k] / 255.0 * (edges[b + 1] - edges[b]);
            const auto row = std::find(first, last, r.values[2 * b + 1 + k]) - y.begin();
            EXPECT_NEAR(at, t[static_cast<std::size_t>(row)], (edges[b + 1] - edges[b]) / 500) << b;
        }
        EXPECT_LE(r.at[2 * b], r.at[2 * b + 1]);
    }
}

TEST(reduce, passes_over_values_that_are_not_finite) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN(), big = std::numeric_limits<double>::infinity();
    const std::vector<double> y{none, 3, -big, 1, big, 2, none, none, none};
    const reduced_column r = reduce_column(times(y.size()), y, 3);
    EXPECT_EQ(r.values[1], 3);
    EXPECT_EQ(r.values[2], 3);
    EXPECT_EQ(r.values[3], 1);
    EXPECT_EQ(r.values[4], 2);
    EXPECT_TRUE(std::isnan(r.values[5]));
}

TEST(reduce, stride_one_changes_nothing) {
    const std::vector<double> y{1, 2, 4};
    EXPECT_EQ(reduce_column(times(3), y, 1).values, y);
    EXPECT_TRUE(reduce_column(times(3), y, 1).at.empty());
    EXPECT_EQ(bucket_times(times(3), 1), times(3));
}

TEST(reduce, keeps_within_its_budget) {
    constexpr std::size_t budget = 1'600'000;
    for (const std::size_t columns : {1u, 2u, 10u, 100u, 2000u})
        for (const std::size_t rows : {1u, 100u, 5000u, 100'000u, 10'000'000u}) {
            const reduction r = choose_reduction(rows, columns, budget);
            const std::size_t buckets = (rows + r.stride - 1) / r.stride;
            const std::size_t size =
                r.stride == 1 ? rows * (8 + columns * (r.single ? 4 : 8)) : buckets * (8 + columns * 10);
            EXPECT_LE(size, budget) << columns << " x " << rows;
            // Not more is left out than has to be.
            if (r.stride > 1) {
                EXPECT_GT(2 * buckets * (8 + columns * 10), budget / 2) << columns << " x " << rows;
            }
        }
    EXPECT_EQ(choose_reduction(1000, 10, budget).stride, 1u);
    EXPECT_FALSE(choose_reduction(1000, 10, budget).single);
}

TEST(encode, is_base64_of_little_endian_numbers) {
    EXPECT_EQ(encode(std::vector<std::uint8_t>{}), "");
    EXPECT_EQ(encode(std::vector<std::uint8_t>{'M'}), "TQ==");
    EXPECT_EQ(encode(std::vector<std::uint8_t>{'M', 'a'}), "TWE=");
    EXPECT_EQ(encode(std::vector<std::uint8_t>{'M', 'a', 'n', 255}), "TWFu/w==");
    EXPECT_EQ(encode(std::vector<double>{1.0}), "AAAAAAAA8D8=");
    EXPECT_EQ(encode(std::vector<double>{1.0}, true), "AACAPw==");
    // Beyond single precision the largest number stands, not infinity.
    EXPECT_EQ(encode(std::vector<double>{1e300}, true), encode(std::vector<double>{3.4028234663852886e38}, true));
}

}  // namespace

}  // namespace mdpcosim
