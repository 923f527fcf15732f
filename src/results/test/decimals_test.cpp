#include "results/decimals.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace mdpcosim {
namespace {

std::string written(double value) {
    char text[decimal_room];
    return {text, write_decimal(text, value)};
}

std::string of_the_standard_library(double value) {
    char text[decimal_room];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

TEST(write_decimal, numbers_at_the_edges) {
    for (const double x : {0.0,
                           1.0,
                           0.1,
                           100.0,
                           1e5,
                           1e6,
                           123456.0,
                           1e22,
                           1e23,
                           5e-324,
                           2.2250738585072014e-308,
                           1.7976931348623157e308,
                           9007199254740991.0,
                           9007199254740992.0,
                           9007199254740993.0,
                           0.001,
                           1e-4,
                           1.5e-5,
                           0.30000000000000004,
                           4.35,
                           2e-44,
                           std::numeric_limits<double>::infinity()})
        for (const double value : {x, -x}) EXPECT_EQ(written(value), of_the_standard_library(value));
    EXPECT_EQ(written(std::nan("")), "nan");
    EXPECT_EQ(written(-2.2250738585072014e-308).size(), longest_decimal);
}

/// Where the distance to the number below is half of that above.
TEST(write_decimal, powers_of_two_and_their_neighbours) {
    for (std::uint64_t exponent = 0; exponent < 2047; ++exponent)
        for (const int away : {-2, -1, 0, 1, 2}) {
            const auto value = std::bit_cast<double>((exponent << 52) + static_cast<std::uint64_t>(away));
            ASSERT_EQ(written(value), of_the_standard_library(value));
        }
}

TEST(write_decimal, numbers_by_chance) {
    std::mt19937_64 chance(2031);
    std::normal_distribution<double> usual;
    const auto compare = [](double value) { ASSERT_EQ(written(value), of_the_standard_library(value)); };
    for (int i = 0; i < 200000; ++i) {
        const std::uint64_t bits = chance();
        compare(std::bit_cast<double>(bits));
        compare(usual(chance));
        compare(static_cast<double>(bits >> (bits % 64)));
        compare(static_cast<double>(bits % 100000) * 1e-4);
        compare(std::ldexp(static_cast<double>(bits >> 11), -static_cast<int>(bits % 90)));
        compare(std::bit_cast<double>(bits >> 12));  // below all normal numbers
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace mdpcosim
