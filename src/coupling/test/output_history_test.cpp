#include "coupling/output_history.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace mdpcosim {
namespace {

const std::vector<double> uneven{0, 0.1, 0.25, 0.3, 0.5, 0.62, 0.7, 0.95, 1.0, 1.2, 1.25, 1.5};

double power_sum(int order, double t) {
    double sum = 0;
    for (int n = order; n >= 0; --n) sum = sum * t + (n + 1);
    return sum;
}

/// Two outputs: a polynomial of that order, and a sine.
output_history filled(int order, std::size_t points = 20) {
    output_history h(2, points);
    for (const double t : uneven) h.add(t, std::vector{power_sum(order, t), std::sin(t)});
    return h;
}

TEST(output_history, polynomials_of_its_order_are_exact_between_and_beyond_uneven_points) {
    for (int order = 0; order <= most_order; ++order) {
        const output_history h = filled(order);
        for (const double t : {0.26, 0.3, 0.33, 0.8, 1.3, 1.5, 1.6, 1.9}) {
            EXPECT_NEAR(h.value(h.interpolate(t, order), 0), power_sum(order, t), 1e-11) << order << ", t = " << t;
            EXPECT_NEAR(h.value(h.fit(t, order), 0), power_sum(order, t), 1e-9) << order << ", t = " << t;
        }
    }
}

TEST(output_history, order_0_is_the_first_value_at_or_after_the_time_and_the_last_one_beyond_all) {
    const output_history h = filled(1);
    const auto at = [&](double t) { return h.value(h.interpolate(t, 0), 0); };
    EXPECT_EQ(at(0.5), power_sum(1, 0.5));
    EXPECT_EQ(at(0.51), power_sum(1, 0.62));
    EXPECT_EQ(at(0.5 + 1e-16), power_sum(1, 0.5));
    EXPECT_EQ(at(7), power_sum(1, 1.5));
    EXPECT_EQ(at(-1), power_sum(1, 0));
}

TEST(output_history, a_held_value_is_that_of_the_last_time_reached) {
    const output_history h = filled(1);
    const auto at = [&](double t) { return h.value(h.hold(t), 0); };
    EXPECT_EQ(at(0.5), power_sum(1, 0.5));
    EXPECT_EQ(at(0.5 - 1e-16), power_sum(1, 0.5));
    EXPECT_EQ(at(0.61), power_sum(1, 0.5));
    EXPECT_EQ(at(9), power_sum(1, 1.5));
    EXPECT_EQ(at(-1), power_sum(1, 0));
}

/// The line through 0, 1, 2, 3 nearest to 1, 2, 4, 9 is 0.1 + 2.6 t.
TEST(output_history, least_squares_takes_twice_as_many_points) {
    output_history h(1, 4);
    const double values[] = {1, 2, 4, 9};
    for (int k = 0; k < 4; ++k) h.add(k, std::span(values + k, 1));
    EXPECT_NEAR(h.value(h.fit(3, 1), 0), 7.9, 1e-12);
    EXPECT_NEAR(h.value(h.fit(5, 1), 0), 13.1, 1e-12);
    EXPECT_NEAR(h.value(h.fit(3, 0), 0), 6.5, 1e-12);
}

TEST(output_history, means_are_exact_for_lines) {
    const output_history h = filled(1);
    EXPECT_NEAR(h.mean(0.27, 1.33, 0), power_sum(1, (0.27 + 1.33) / 2), 1e-12);
    EXPECT_NEAR(h.mean(0.26, 0.27, 0), power_sum(1, 0.265), 1e-12);
    EXPECT_NEAR(h.mean(0.5, 1.5, 1), std::cos(0.5) - std::cos(1.5), 5e-3);
}

TEST(output_history, old_points_make_room_and_the_newest_can_be_replaced) {
    output_history h(1, 10);
    for (int k = 0; k < 1000; ++k) h.add(k, std::vector{std::pow(k, 2)});
    EXPECT_EQ(h.newest(), 999);
    EXPECT_NEAR(h.value(h.interpolate(995.5, 2), 0), 995.5 * 995.5, 1e-6);
    EXPECT_EQ(h.value(h.interpolate(3, 2), 0), 990.0 * 990) << "the oldest one holds before it";
    h.replace(std::vector{-1.0});
    EXPECT_EQ(h.value(h.interpolate(999, 3), 0), -1);
}

TEST(output_history, with_few_points_the_order_is_lower) {
    output_history h(1, 10);
    h.add(0, std::vector{3.0});
    EXPECT_EQ(h.value(h.interpolate(1, 4), 0), 3);
    EXPECT_EQ(h.value(h.fit(1, 4), 0), 3);
    h.add(1, std::vector{5.0});
    EXPECT_NEAR(h.value(h.interpolate(2, 4), 0), 7, 1e-14);
    EXPECT_NEAR(h.value(h.fit(2, 4), 0), 7, 1e-14);
    EXPECT_NEAR(h.value(h.interpolate(0.5, 4), 0), 4, 1e-14);
}

}  // namespace
}  // namespace mdpcosim
