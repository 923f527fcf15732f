#include "analysis/linear_subsystem.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace mdpcosim {
namespace {

linear_equations oscillator() {
    linear_equations eq;
    eq.A = Eigen::MatrixXd{{0, 1}, {-9, -0.4}};
    eq.B = Eigen::MatrixXd{{0, 0}, {2, 0}};
    eq.E = Eigen::MatrixXd{{0, 0}, {0.3, 0}};
    eq.C = Eigen::MatrixXd{{1, 0}, {5, 0}};
    eq.D = Eigen::MatrixXd{{0, 0}, {-5, 7}};
    eq.inputs = {"w", "shown"};
    eq.outputs = {"x", "f"};
    return eq;
}

std::array<polynomial, 2> inputs(int degree) {
    std::array<polynomial, 2> p;
    p[0].degree = p[1].degree = degree;
    for (int k = 0; k <= degree; ++k) {
        p[0].c[k] = 1.0 / (k + 1);
        p[1].c[k] = k - 1.5;
    }
    return p;
}

/// x'' = -9 x - 0.4 x' + 2 w + 0.3 w' in extended precision, classical Runge-Kutta with 20000 steps.
std::array<double, 2> integrated(const polynomial& w, double H) {
    using real = long double;
    using pair = std::array<real, 2>;
    const auto derivative = [&](real s, const pair& z) {
        real value = 0, rate = 0;
        for (int k = w.degree; k >= 0; --k) value = value * s + w.c[k];
        for (int k = w.degree; k >= 1; --k) rate = rate * s + k * real(w.c[k]);
        return pair{z[1], -9 * z[0] - 0.4L * z[1] + 2 * value + 0.3L * rate};
    };
    const int n = 20000;
    const real h = real(H) / n;
    pair z{0.7L, -0.2L};
    const auto along = [](const pair& a, real s, const pair& b) { return pair{a[0] + s * b[0], a[1] + s * b[1]}; };
    for (int i = 0; i < n; ++i) {
        const real t = i * h;
        const pair k1 = derivative(t, z), k2 = derivative(t + h / 2, along(z, h / 2, k1)),
                   k3 = derivative(t + h / 2, along(z, h / 2, k2)), k4 = derivative(t + h, along(z, h, k3));
        for (int j = 0; j < 2; ++j) z[j] += h / 6 * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j]);
    }
    return {static_cast<double>(z[0]), static_cast<double>(z[1])};
}

TEST(linear_subsystem, is_exact_for_polynomials_of_every_degree) {
    for (const double H : {0.05, 1.0, 4.0})
        for (int degree = 0; degree <= max_degree; ++degree) {
            linear_subsystem s(oscillator(), Eigen::Vector2d(0.7, -0.2), max_degree);
            s.initialise(0);
            const auto p = inputs(degree);
            std::array<double, 2> y;
            s.advance({0, H, 0}, p, y);
            const auto exact = integrated(p[0], H);
            const double size = 1 + std::abs(exact[0]) + std::abs(exact[1]);
            EXPECT_NEAR(s.state()[0], exact[0], 2e-13 * size) << "H = " << H << " degree " << degree;
            EXPECT_NEAR(s.state()[1], exact[1], 2e-13 * size) << "H = " << H << " degree " << degree;
            EXPECT_DOUBLE_EQ(y[0], s.state()[0]);
            EXPECT_NEAR(y[1], 5 * y[0] - 5 * p[0](H) + 7 * p[1](H), 1e-9 * size);
        }
}

TEST(linear_subsystem, describes_what_shows_at_once) {
    const linear_subsystem s(oscillator(), Eigen::Vector2d(0, 0), 1);
    EXPECT_EQ(s.describe().inputs[0].max_degree, 1);
    EXPECT_TRUE(s.describe().outputs[0].direct.empty());
    EXPECT_EQ(s.describe().outputs[1].direct, (std::vector{0, 1}));
}

TEST(linear_subsystem, restored_states_go_on_the_same_way) {
    linear_subsystem s(oscillator(), Eigen::Vector2d(0.7, -0.2), max_degree);
    s.initialise(0);
    const auto p = inputs(2);
    std::array<double, 2> first, second;
    s.advance({0, 0.1, 0}, p, first);
    const auto saved = s.make_snapshot();
    s.save(*saved);
    s.advance({0.1, 0.2, 1}, p, first);
    s.restore(*saved);
    s.advance({0.1, 0.2, 1}, p, second);
    EXPECT_EQ(first, second);
}

/// Times n*H differ from each other in the last digits; the step of the exact solution does not follow them.
TEST(linear_subsystem, rounding_of_times_does_not_show) {
    linear_subsystem a(oscillator(), Eigen::Vector2d(0.7, -0.2), max_degree),
        b(oscillator(), Eigen::Vector2d(0.7, -0.2), max_degree);
    const auto p = inputs(1);
    std::array<double, 2> y;
    for (int n = 0; n < 1000; ++n) {
        a.advance({n * 0.1, (n + 1) * 0.1, n}, p, y);
        b.advance({0, 0.1, 0}, p, y);
        ASSERT_EQ(a.state()[0], b.state()[0]) << n;
    }
}

}  // namespace
}  // namespace mdpcosim
