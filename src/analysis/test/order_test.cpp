#include "analysis/order.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "analysis/nonlinear_pair.hpp"
#include "core/json.hpp"

namespace mdpcosim {
namespace {

using state = nonlinear_pair::state;

double distance(const state& a, const state& b) {
    long double largest = 0;
    for (std::size_t i = 0; i < 4; ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return static_cast<double>(largest);
}

TEST(nonlinear_pair, the_motion_is_exact_to_extended_precision) {
    const state& z = nonlinear_pair::at_begin();
    const double t = nonlinear_pair::begin;
    const state there = nonlinear_pair::exact(z, t, t + 1);
    EXPECT_LT(distance(nonlinear_pair::exact(there, t + 1, t), z), 1e-17);
    state in_pieces = z;  // micro steps of another length, with fewer Taylor terms
    for (int n = 0; n < 1000; ++n) in_pieces = nonlinear_pair::exact(in_pieces, t + n / 1000.0, t + (n + 1) / 1000.0);
    EXPECT_LT(distance(in_pieces, there), 1e-16);
}

/// The equations by themselves: differences of the motion against the right-hand side.
TEST(nonlinear_pair, the_motion_satisfies_the_equations) {
    const double t = 2, h = 1e-3;
    const state z = nonlinear_pair::exact(nonlinear_pair::at_begin(), nonlinear_pair::begin, t);
    const state before = nonlinear_pair::exact(z, t, t - h), after = nonlinear_pair::exact(z, t, t + h);
    const auto [x_A, v_A, x_B, v_B] = z;
    const auto u = 4 * (x_A - x_B);
    const std::array<long double, 4> rates{
        v_A, std::sin(2 * t + 0.5) - u - 0.4 * v_A - 0.3 * v_A * v_A * v_A - 3 * x_A - 2 * x_A * x_A * x_A, v_B,
        (u - 0.3 * v_B - 0.2 * v_B * v_B * v_B - 2 * x_B - 1.5 * x_B * x_B * x_B) / 0.7};
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(static_cast<double>((after[i] - before[i]) / (2 * h)), static_cast<double>(rates[i]), 2e-5);
}

/// K = 2 and exactly R conditions; the free coefficients as given.
extrapolation_rule own(int degree, int R, std::vector<double> a, std::vector<double> b) {
    solve_order_conditions(std::array{0.0, -1.0}, R, false, a, b);
    return make_extrapolation(degree, a, b, false);
}

/// Friedrich 2011, Table 2.3, every entry.
TEST(order, table_2_3) {
    struct entry {
        extrapolation_rule rule;
        int q, v;
    };
    const std::vector<entry> table{
        {own(0, 1, {0, 0.2}, {0.3, 0.1}), 2, 1},        {make_extrapolation("const-2-2-opt-2011"), 2, 2},
        {make_extrapolation("const-2-3-opt"), 2, 2},    {make_extrapolation("const-2-4"), 2, 2},
        {make_extrapolation("lin-2-2-opt-2011"), 3, 2}, {make_extrapolation("lin-2-3-opt-2011"), 3, 3},
        {make_extrapolation("lin-2-4"), 3, 3},          {own(2, 3, {0, 0}, {0, -0.2}), 4, 3},
        {make_extrapolation("quad-2-4"), 4, 4},
    };
    for (const auto& [rule, q, v] : table) {
        const order_result r = measure_order(rule);
        ASSERT_TRUE(r.local.q_band.clean() && r.local.v_band.clean()) << rule.name;
        for (int body = 0; body < 2; ++body) {
            EXPECT_NEAR(r.local.q_band.slope[body] - 1, q, 0.05) << rule.name << " R=" << rule.R;
            EXPECT_NEAR(r.local.v_band.slope[body] - 1, v, 0.05) << rule.name << " R=" << rule.R;
        }
        EXPECT_EQ(expected_local_order(rule).q, q) << rule.name;
        EXPECT_EQ(expected_local_order(rule).v, v) << rule.name;
        // Errors add up over time: a global order is the smaller of the two.
        EXPECT_NEAR(r.exact_history.q_band.mean(), std::min(q, v), 0.05) << rule.name;
        EXPECT_NEAR(r.exact_history.v_band.mean(), std::min(q, v), 0.05) << rule.name;
    }
}

TEST(order, interpolations) {
    for (const auto& [name, P_v] : {std::pair{"poly-2", 2}, {"poly-3", 3}, {"poly-4", 4}, {"hermite-2", 4}}) {
        const order_result r = measure_order(make_extrapolation(name));
        EXPECT_NEAR(r.local.q_band.mean() - 1, P_v + 1, 0.05) << name;
        EXPECT_NEAR(r.local.v_band.mean() - 1, P_v, 0.05) << name;
        EXPECT_NEAR(r.exact_history.q_band.mean(), P_v, 0.05) << name;
    }
    const order_result high = measure_order(make_extrapolation("hermite-3"));
    EXPECT_NEAR(high.local.q_band.mean() - 1, 7, 0.1);
    EXPECT_NEAR(high.local.v_band.mean() - 1, 6, 0.1);
}

/// The first macro step has one value, and a rate only where the rule takes rates; done in parts it keeps the rule's order all the same.
TEST(order, a_cold_start_keeps_the_global_order) {
    for (const auto& [name, order] : {std::pair{"poly-2", 2},
                                      {"poly-3", 3},
                                      {"poly-4", 4},
                                      {"poly-5", 5},
                                      {"poly-6", 6},
                                      {"lin-3-3-b0", 3},
                                      {"hermite-1", 2},
                                      {"hermite-2", 4},
                                      {"hermite-3", 6},
                                      {"quad-2-4", 4},
                                      {"lin-2-3-opt", 3}}) {
        const order_result r = measure_order(make_extrapolation(name));
        EXPECT_NEAR(r.exact_history.q_band.mean(), order, 0.2) << name;
        EXPECT_NEAR(r.cold_start.q_band.mean(), order, 0.2) << name;
        EXPECT_NEAR(r.cold_start.v_band.mean(), order, 0.2) << name;
    }
}

TEST(order, inputs_that_take_constants_only) {
    const order_result r = measure_order(make_extrapolation("lin-2-3-opt"), default_method, 0);
    EXPECT_NEAR(r.local.q_band.mean() - 1, 2, 0.05);
    EXPECT_NEAR(r.local.v_band.mean() - 1, 2, 0.05);
    EXPECT_EQ(expected_local_order(r.rule, 0).q, 2);
}

TEST(order, band) {
    const auto curve = [](auto f) {
        std::vector<double> e;
        for (int n = 0; n < 10; ++n) e.push_back(f(std::ldexp(1.0, -n)));
        return std::array{e, e};
    };
    const auto none = curve([](double) { return 0.0; })[0];
    EXPECT_NEAR(find_band(curve([](double H) { return H * H * H + H * H; }), none).mean(), 2, 0.02);
    // Below rounding nothing is used; what remains is the band of the smallest H.
    const order_band above = find_band(curve([](double H) { return H * H + (H < 0.03 ? 1.0 : 0.0); }),
                                       curve([](double H) { return H < 0.03 ? 2.0 : 0.0; })[0]);
    EXPECT_EQ(above.first, 2);
    EXPECT_NEAR(above.mean(), 2, 1e-12);
    EXPECT_FALSE(find_band(curve([](double H) { return 1 + std::sin(1 / H); }), none).clean());
    EXPECT_FALSE(find_band(curve([](double) { return std::nan(""); }), none).clean());
    EXPECT_FALSE(find_band(curve([](double) { return INFINITY; }), none).clean());
}

TEST(order, reports) {
    const std::vector<order_result> results{measure_order(make_extrapolation("lin-2-3-opt"))};
    const auto document = json::parse(to_json(results));
    const auto& entry = document["orders"][0];
    EXPECT_EQ(entry["extrapolation"], "lin-2-3-opt");
    EXPECT_EQ(entry["theory"]["q"], 3);
    EXPECT_NEAR(entry["local"]["v"]["order"].get<double>(), 3, 0.05);
    EXPECT_LT(entry["local"]["v"]["H_min"].get<double>(), entry["local"]["v"]["H_max"].get<double>());
    EXPECT_EQ(entry["local"]["H"].size(), entry["local"]["error_x_A"].size());
    EXPECT_NE(to_table(results).find("lin-2-3-opt"), std::string::npos);
    EXPECT_EQ(order_plot(results).panels.size(), 6u);
}

}  // namespace
}  // namespace mdpcosim
