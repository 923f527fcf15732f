#include "coupling/extrapolation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <set>

namespace mdpcosim {
namespace {

using testing::HasSubstr;

std::vector<double> constant_grid(int K) {
    std::vector<double> tau(K);
    for (int k = 0; k < K; ++k) tau[k] = -k;
    return tau;
}

/// Steps between 0.5 and 1.5 of the coming one.
std::vector<double> random_grid(int K, std::mt19937& random) {
    std::uniform_real_distribution<double> step(0.5, 1.5);
    std::vector<double> tau(K, 0.0);
    for (int k = 1; k < K; ++k) tau[k] = tau[k - 1] - step(random);
    return tau;
}

/// Mean coefficients of the weights: int_0^1 of the polynomial, for values and rates.
struct mean_coefficients {
    std::vector<double> a, b;
};
mean_coefficients mean_of(const extrapolation_weights& w) {
    mean_coefficients m{std::vector<double>(w.points), std::vector<double>(w.points)};
    for (int n = 0; n <= w.degree; ++n)
        for (int k = 0; k < w.points; ++k) {
            m.a[k] += w.A[n][k] / (n + 1);
            m.b[k] += w.B[n][k] / (n + 1);
        }
    return m;
}

/// Coefficient n of the extrapolation of s^p with H = 1.
double applied_to_monomial(const extrapolation_weights& w, const std::vector<double>& tau, int n, int p) {
    double sum = 0;
    for (int k = 0; k < w.points; ++k) {
        sum += w.A[n][k] * std::pow(tau[k], p);
        if (p > 0) sum += w.B[n][k] * p * std::pow(tau[k], p - 1);
    }
    return sum + w.C[n] * (p == 0 ? 1 : 0);  // a continuous rule that was exact so far ends at s^p(0)
}

void expect_coefficients(const char* name, std::vector<double> a, std::vector<double> b) {
    const auto rule = make_extrapolation(name);
    ASSERT_EQ(rule.a.size(), a.size()) << name;
    ASSERT_EQ(rule.b.size(), b.size()) << name;
    for (std::size_t k = 0; k < a.size(); ++k) {
        EXPECT_NEAR(rule.a[k], a[k], 1e-15 * std::max(1.0, std::abs(a[k]))) << name << " a_" << k;
        EXPECT_NEAR(rule.b[k], b[k], 1e-15 * std::max(1.0, std::abs(b[k]))) << name << " b_" << k;
    }
}

TEST(extrapolation, mean_coefficients_2_30_to_2_32) {
    for (const char* family : {"const", "lin"}) {
        const auto named = [family](const char* rest) { return std::string(family) + rest; };
        expect_coefficients(named("-1-1-b0").c_str(), {1}, {0});
        expect_coefficients(named("-2-2-b0").c_str(), {3.0 / 2, -1.0 / 2}, {0, 0});
        expect_coefficients(named("-3-3-b0").c_str(), {23.0 / 12, -16.0 / 12, 5.0 / 12}, {0, 0, 0});
    }
    for (const char* family : {"const", "lin", "quad"}) {
        const auto named = [family](const char* rest) { return std::string(family) + rest; };
        expect_coefficients(named("-1-2").c_str(), {1}, {0.5});
        expect_coefficients(named("-2-4").c_str(), {-6.0 / 12, 18.0 / 12}, {17.0 / 12, 7.0 / 12});
        expect_coefficients(named("-3-6").c_str(), {-949.0 / 240, 608.0 / 240, 581.0 / 240},
                            {637.0 / 240, 1080.0 / 240, 173.0 / 240});
    }
    expect_coefficients("poly-1", {1}, {0});
    expect_coefficients("poly-2", {3.0 / 2, -1.0 / 2}, {0, 0});
    expect_coefficients("poly-3", {23.0 / 12, -16.0 / 12, 5.0 / 12}, {0, 0, 0});
    expect_coefficients("hermite-1", {1}, {0.5});
    expect_coefficients("hermite-2", {-6.0 / 12, 18.0 / 12}, {17.0 / 12, 7.0 / 12});
    expect_coefficients("hermite-3", {-949.0 / 240, 608.0 / 240, 581.0 / 240},
                        {637.0 / 240, 1080.0 / 240, 173.0 / 240});
}

TEST(extrapolation, optimised_coefficients_2_64_to_2_68) {
    expect_coefficients("const-2-3-opt-2011", {2.0 / 3, 1.0 / 3}, {5.0 / 6, 0});
    const auto near = [](const char* name, double a_0, double a_1, double b_0, double b_1, double half_digit) {
        const auto rule = make_extrapolation(name);
        EXPECT_NEAR(rule.a[0], a_0, half_digit) << name;
        EXPECT_NEAR(rule.a[1], a_1, half_digit) << name;
        EXPECT_NEAR(rule.b[0], b_0, half_digit) << name;
        EXPECT_NEAR(rule.b[1], b_1, half_digit) << name;
    };
    near("lin-2-3-opt-2011", 1.0731067, -0.0731067, 0.6301133, -0.20322, 0.5e-7);
    near("const-2-2-opt-2011", 1.3370, -0.33700, 0.363, -0.2, 1e-15);
    near("lin-2-2-opt-2011", 0.83990, 0.1601, 0.667, -0.0069, 1e-15);
}

TEST(extrapolation, order_conditions_of_every_rule_on_any_grid) {
    std::mt19937 random(1);
    for (const auto& name : extrapolation_names()) {
        const auto rule = make_extrapolation(name);
        std::vector<std::vector<double>> grids{constant_grid(rule.K)};
        for (int i = 0; i < 20; ++i) grids.push_back(random_grid(rule.K, random));
        for (const auto& tau : grids) {
            const auto w = make_weights(rule, tau);
            EXPECT_EQ(w.degree, rule.degree) << name;
            auto m = mean_of(w);
            EXPECT_EQ(w.C[0] + w.C[1] / 2, 0) << name << ": the mean does not depend on the end";
            double size = 1;
            for (int k = 0; k < rule.K; ++k) size = std::max({size, std::abs(m.a[k]), std::abs(m.b[k])});
            for (int r = 0; r < rule.R; ++r)
                EXPECT_NEAR(order_condition(tau, m.a, m.b, r), 0, 1e-12 * size) << name << " r=" << r;
            for (const double b : m.b) EXPECT_TRUE(rule.uses_rates || b == 0) << name;
        }
        // R is the whole number of conditions that hold, not merely some of them.
        EXPECT_GT(std::abs(order_condition(constant_grid(rule.K), rule.a, rule.b, rule.R)), 1e-4) << name;
    }
}

TEST(extrapolation, free_coefficients_are_held_on_non_equidistant_grids) {
    std::mt19937 random(2);
    for (const char* name : {"const-2-3-opt", "lin-2-2-opt"}) {
        const auto rule = make_extrapolation(name);
        const auto m = mean_of(make_weights(rule, random_grid(2, random)));
        EXPECT_NEAR(m.b[1], rule.b[1], 1e-15) << name;
        EXPECT_TRUE(rule.R != 2 || std::abs(m.b[0] - rule.b[0]) < 1e-15) << name;
    }
}

TEST(extrapolation, interpolations_reproduce_polynomials_on_any_grid) {
    std::mt19937 random(3);
    for (const auto& name : extrapolation_names()) {
        const auto rule = make_extrapolation(name);
        if (rule.kind != extrapolation_rule::family::poly && rule.kind != extrapolation_rule::family::hermite) continue;
        EXPECT_EQ(rule.degree, rule.uses_rates ? 2 * rule.K - 1 : rule.K - 1);
        for (int i = 0; i < 20; ++i) {
            const auto tau = i == 0 ? constant_grid(rule.K) : random_grid(rule.K, random);
            const auto w = make_weights(rule, tau);
            for (int p = 0; p <= rule.degree; ++p)
                for (int n = 0; n <= rule.degree; ++n)
                    EXPECT_NEAR(applied_to_monomial(w, tau, n, p), n == p ? 1 : 0, 1e-9)
                        << name << ' ' << n << ' ' << p;
        }
    }
}

TEST(extrapolation, mean_of_polynomials_of_degree_R_minus_1_is_exact) {
    std::mt19937 random(4);
    for (const auto& name : extrapolation_names()) {
        const auto rule = make_extrapolation(name);
        for (int i = 0; i < 10; ++i) {
            const auto tau = i == 0 ? constant_grid(rule.K) : random_grid(rule.K, random);
            const auto w = make_weights(rule, tau);
            for (int p = 0; p < rule.R; ++p) {
                double mean = 0;
                for (int n = 0; n <= w.degree; ++n) mean += applied_to_monomial(w, tau, n, p) / (n + 1);
                EXPECT_NEAR(mean, 1.0 / (p + 1), 1e-9) << name << ' ' << p;
            }
        }
    }
}

TEST(extrapolation, linear_starts_at_u_and_quadratic_also_with_its_slope) {
    std::mt19937 random(5);
    for (const auto& name : extrapolation_names()) {
        const auto rule = make_extrapolation(name);
        const auto w = make_weights(rule, random_grid(rule.K, random));
        const bool quadratic = rule.kind == extrapolation_rule::family::quadratic;
        if ((rule.kind != extrapolation_rule::family::linear || rule.continuous) && !quadratic) continue;
        for (int k = 0; k < rule.K; ++k) {
            EXPECT_EQ(w.A[0][k], k == 0 ? 1 : 0) << name;
            EXPECT_EQ(w.B[0][k], 0) << name;
            if (!quadratic) continue;
            EXPECT_EQ(w.A[1][k], 0) << name;
            EXPECT_EQ(w.B[1][k], k == 0 ? 1 : 0) << name;
        }
    }
}

TEST(extrapolation, starts_with_the_points_there_are) {
    for (const auto& name : extrapolation_names()) {
        const auto rule = make_extrapolation(name);
        for (int points = 1; points < rule.K; ++points) {
            const auto tau = constant_grid(points);
            const auto w = make_weights(rule, tau);
            EXPECT_EQ(w.points, points);
            const auto m = mean_of(w);
            for (int r = 0; r < (rule.uses_rates ? 2 : 1) * points; ++r)
                EXPECT_NEAR(order_condition(tau, m.a, m.b, r), 0, 1e-13) << name << " with " << points;
            const bool interpolates =
                rule.kind == extrapolation_rule::family::poly || rule.kind == extrapolation_rule::family::hermite;
            EXPECT_EQ(w.degree, interpolates ? (rule.uses_rates ? 2 : 1) * points - 1 : rule.degree) << name;
        }
        const auto first = make_weights(rule, constant_grid(1));
        if (rule.kind == extrapolation_rule::family::quadratic) {
            EXPECT_EQ(first.A[2][0], 0) << name;
            EXPECT_EQ(first.B[2][0], 0) << name;
        }
        if (rule.uses_rates || rule.continuous) continue;
        for (int n = 1; n <= rule.degree; ++n) EXPECT_EQ(first.A[n][0], 0) << name << ": constant without rates";
    }
}

TEST(extrapolation, rounding_of_the_grid_does_not_change_the_weights) {
    const auto rule = make_extrapolation("lin-2-3-opt");
    const auto exact = make_weights(rule, constant_grid(2));
    const double H = 1e-5;
    for (int n = 1; n < 1000; ++n) {
        const double t_0 = (n - 1) * H, t_1 = n * H, t_2 = (n + 1) * H;
        const std::vector<double> tau{0, (t_0 - t_1) / (t_2 - t_1)};
        const auto w = make_weights(rule, tau);
        EXPECT_EQ(w.A, exact.A);
        EXPECT_EQ(w.B, exact.B);
    }
}

TEST(extrapolation, own_coefficients) {
    const auto rule = make_extrapolation(1, {1.0731067, -0.0731067}, {0.6301133, -0.20322}, false);
    EXPECT_EQ(rule.R, 3) << "rounded decimals count";
    EXPECT_EQ(rule.degree, 1);
    EXPECT_TRUE(rule.uses_rates);
    EXPECT_EQ(rule.a, (std::vector<double>{1.0731067, -0.0731067})) << "used as given";
    const auto w = make_weights(rule, constant_grid(2));
    EXPECT_DOUBLE_EQ(w.A[1][1], 2 * -0.0731067);

    const auto without_rates = make_extrapolation(0, {1.5, -0.5}, {0, 0}, false);
    EXPECT_EQ(without_rates.R, 2);
    EXPECT_FALSE(without_rates.uses_rates);
    EXPECT_EQ(make_extrapolation(0, {0.25, 0.75}, {0, 0}, false).R, 1);
    EXPECT_TRUE(make_extrapolation(2, {1.5, -0.5}, {0, 0}, false).uses_rates) << "(2.38b) needs du/dt";
    EXPECT_TRUE(make_extrapolation(1, {1.5, -0.5}, {0, 0}, true).continuous);

    const std::vector<double> irregular{0, -0.7};
    const auto m = mean_of(make_weights(rule, irregular));
    for (int r = 0; r < 3; ++r) EXPECT_NEAR(order_condition(irregular, m.a, m.b, r), 0, 1e-14);
    EXPECT_NEAR(m.b[1], -0.20322, 1e-15);
}

std::string refusal(std::function<void()> action) {
    try {
        action();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "nothing was refused";
}

TEST(extrapolation, own_coefficients_are_refused_with_the_reason) {
    EXPECT_THAT(refusal([] { make_extrapolation(0, {0.5, 0.25}, {0, 0}, false); }), HasSubstr("their sum is 0.75"));
    EXPECT_THAT(refusal([] { make_extrapolation(3, {1}, {0}, false); }), HasSubstr("degree 3"));
    EXPECT_THAT(refusal([] {
                    make_extrapolation(0, {1}, {0, 0}, false);
                }),
                HasSubstr("a has 1 coefficients and b has 2"));
    EXPECT_THAT(refusal([] { make_extrapolation(0, std::vector<double>(8, 0.125), std::vector<double>(8), false); }),
                HasSubstr("1 to 7"));
    EXPECT_THAT(refusal([] { make_extrapolation(0, {1}, {0}, true); }), HasSubstr("continuity"));
    EXPECT_THAT(refusal([] { make_extrapolation(0, {NAN}, {0}, false); }), HasSubstr("finite"));
}

TEST(extrapolation, names_are_refused_with_the_reason) {
    const auto message = [](const char* name) { return refusal([name] { make_extrapolation(name); }); };
    EXPECT_THAT(message("const-2-3"), HasSubstr("leave 1 free coefficient,"));
    EXPECT_THAT(message("const-2-3"), HasSubstr("const-2-3-opt"));
    EXPECT_THAT(message("lin-2-2"), HasSubstr("leave 2 free coefficients,"));
    EXPECT_THAT(message("quad-3-3-b0"), HasSubstr("(2.38b)"));
    EXPECT_THAT(message("const-2-5"), HasSubstr("4 coefficients a_k, b_k cannot satisfy 5"));
    EXPECT_THAT(message("const-3-2-b0"), HasSubstr("exactly K = 3"));
    EXPECT_THAT(message("hermite-4"), HasSubstr("K = 1 to 3"));
    EXPECT_THAT(message("poly-8"), HasSubstr("K = 1 to 7"));
    EXPECT_THAT(message("lin-2-3-opr"), HasSubstr("Did you mean 'lin-2-3-opt'?"));
    EXPECT_THAT(message("ploy-2"), HasSubstr("Did you mean 'poly-2'?"));
    EXPECT_THAT(message(""), HasSubstr("does not exist"));
    EXPECT_THAT(message("const-"), HasSubstr("does not exist"));
}

TEST(extrapolation, names_are_complete_and_distinct) {
    const auto names = extrapolation_names();
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
    for (const auto& name : names) EXPECT_EQ(make_extrapolation(name).name, name);
    EXPECT_THAT(names, testing::IsSupersetOf({"poly-1", "poly-7", "hermite-3", "const-3-6", "lin-7-7-b0", "quad-1-2",
                                              "lin-2-4-continuous", "lin-2-3-opt-continuous", "const-2-2-opt-2011"}));
    EXPECT_THAT(names, testing::Not(testing::Contains("quad-2-2-b0")));
}

}  // namespace
}  // namespace mdpcosim
