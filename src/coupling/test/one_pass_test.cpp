#include "coupling/test/oscillators.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

namespace mdpcosim {
namespace {

using test::oscillators, test::radius;

/// Two bodies, m_A = omega_A = 1; forces are scaled so that the eigenvalues keep their digits.
oscillators pair(double F, double V, double ratio, double wrong = 1) {
    return oscillators({{1, 1}, {V / (ratio * ratio), ratio}}, {{0, 1, F}}, wrong);
}

TEST(one_pass, no_stiffness_of_the_coupling_limits_the_step_of_equal_bodies) {
    for (const double wrong : {0.8, 1.0, 1.2})
        for (double F = 0.1; F < 2e6; F *= std::sqrt(10.0)) {
            auto two = pair(F, 1, 1, wrong);
            for (double H = 0.02; H <= 0.7; H += 0.04)
                EXPECT_LT(radius(two.recurrence(H)), 1 + 1e-6) << F << ' ' << H << ' ' << wrong;
        }
}

TEST(one_pass, slow_motion_of_unequal_bodies_keeps_its_energy) {
    // omega H = 0.05 of the faster body; the rate of growth is that of the eigenvalue next to the coupled system's lowest.
    for (const double ratio : {1.0 / 3, 0.5, 2.0, 3.0})
        for (const double V : {0.1, 1.0, 10.0})
            for (const double F : {1e2, 1e4}) {
                const double H = 0.05 / std::max(1.0, ratio), m = V / (ratio * ratio);
                Eigen::MatrixXd K{{1 + F, -F}, {-F / m, (V + F) / m}};
                const double slow = std::sqrt(K.eigenvalues().real().minCoeff());
                const std::complex<double> exact = std::polar(1.0, slow * H);
                const Eigen::VectorXcd found = pair(F, V, ratio).recurrence(H).eigenvalues();
                std::complex<double> nearest = 0;
                for (const auto& value : found)
                    if (std::abs(value - exact) < std::abs(nearest - exact)) nearest = value;
                EXPECT_LT(std::abs(std::log(std::abs(nearest))) / H, 1e-7) << ratio << ' ' << V << ' ' << F;
                EXPECT_LT(std::abs(nearest - exact) / H, 5e-5) << ratio << ' ' << V << ' ' << F;
            }
}

TEST(one_pass, is_of_second_order_from_rest_on) {
    // x_A = 1, x_B = 0 swings with omega = 1 in phase and sqrt(1 + 2F) against each other; a damper in a second run.
    const auto error = [](int n) {
        constexpr double F = 10, end = 2;
        oscillators two({{1, 1, 1, 0}, {1, 1, 0, 0}}, {{0, 1, F}});
        for (int i = 0; i < n; ++i) two.step(end / n);
        const double common = std::cos(end), against = std::cos(std::sqrt(1 + 2 * F) * end);
        return std::abs(two.bodies()[0].x - (common + against) / 2);
    };
    EXPECT_NEAR(std::log2(error(2000) / error(4000)), 2, 0.05);
    const auto damped = [](int n) {
        constexpr double d = 0.5, end = 2;
        oscillators two({{1, 1, 1, 0}, {1, 1, -1, 0}}, {{0, 1, 0, d}});
        for (int i = 0; i < n; ++i) two.step(end / n);
        const double omega = std::sqrt(1 - d * d);
        return std::abs(two.bodies()[0].x -
                        std::exp(-d * end) * (std::cos(omega * end) + d / omega * std::sin(omega * end)));
    };
    EXPECT_NEAR(std::log2(damped(2000) / damped(4000)), 2, 0.05);
}

/// Steps between 2^-1/2 and 2^1/2 of their mean, in no order.
std::vector<double> irregular(int n, double end) {
    std::vector<double> steps;
    std::uint32_t random = 12345;
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        random = random * 1664525u + 1013904223u;
        steps.push_back(std::exp2(static_cast<double>(random >> 8) / (1u << 24) - 0.5));
        sum += steps.back();
    }
    for (double& H : steps) H *= end / sum;
    return steps;
}

TEST(one_pass, is_of_second_order_on_an_irregular_grid) {
    const auto error = [](int n) {
        constexpr double F = 10, end = 2;
        oscillators two({{1, 1, 1, 0}, {1, 1, 0, 0}}, {{0, 1, F}});
        for (const double H : irregular(n, end)) two.step(H);
        return std::abs(two.bodies()[0].x - (std::cos(end) + std::cos(std::sqrt(1 + 2 * F) * end)) / 2);
    };
    EXPECT_NEAR(std::log2(error(1000) / error(8000)) / 3, 2, 0.1);
    const auto damped = [](int n) {
        constexpr double d = 0.5, end = 2;
        oscillators two({{1, 1, 1, 0}, {1, 1, -1, 0}}, {{0, 1, 0, d}});
        for (const double H : irregular(n, end)) two.step(H);
        const double omega = std::sqrt(1 - d * d);
        return std::abs(two.bodies()[0].x -
                        std::exp(-d * end) * (std::cos(omega * end) + d / omega * std::sin(omega * end)));
    };
    EXPECT_NEAR(std::log2(damped(1000) / damped(8000)) / 3, 2, 0.1);
}

TEST(one_pass, steps_that_change_are_stable) {
    for (const double F : {1.0, 1e2, 1e5})
        for (const double ratio : {1.0, 3.0}) {
            const std::vector<oscillators::body> bodies{{1, 0.7, 1, 0}, {10 / (ratio * ratio), ratio, 1, 0}};
            const double reach = std::sqrt((0.49 + 10) / 0.49);  // of the first body, with all energy of the start
            const auto largest = [&](const std::vector<double>& steps) {
                oscillators two(bodies, {{0, 1, F}}, 1, 1e-3);
                double found = 0;
                for (const double H : steps) {
                    two.step(H);
                    found = std::max(found, std::abs(two.bodies()[0].x));
                }
                return found;
            };
            std::vector<double> turns, halves;
            for (int i = 0; i < 2000; ++i) {
                turns.push_back((i % 2 == 0 ? 0.7 : 0.35) / ratio);
                halves.push_back(((i / 20) % 2 == 0 ? 0.6 : 0.3) / ratio);
            }
            EXPECT_LT(largest(turns), reach) << F << ' ' << ratio;
            EXPECT_LT(largest(halves), reach) << F << ' ' << ratio;
            EXPECT_LT(largest(irregular(2000, 2000 * 0.5 / ratio)), reach) << F << ' ' << ratio;
        }
}

TEST(one_pass, a_start_in_equilibrium_under_load_stays_there) {
    // Both springs pull against the coupling: omega^2 x_A m = -c (x_A - x_B).
    oscillators two({{1, 1, 1, 0}, {1, 1, 1, 0}}, {{0, 1, 1e5}});
    for (int i = 0; i < 200; ++i) two.step(0.3);
    EXPECT_NEAR(two.bodies()[0].x, two.bodies()[1].x, 1e-12);
    EXPECT_NEAR(two.bodies()[0].x, std::cos(200 * 0.3), 1e-9);
}

TEST(one_pass, a_run_follows_the_recurrence) {
    const double H = 0.2;
    const Eigen::MatrixXd P = pair(300, 2, 1.5).recurrence(H);
    oscillators two({{1, 1, 1, 0.3}, {2 / 2.25, 1.5, -0.5, 0.1}}, {{0, 1, 300}});
    for (int i = 0; i < 4; ++i) two.step(H);
    Eigen::VectorXd r = two.state();
    for (int i = 0; i < 500; ++i) {
        two.step(H);
        r = P * r;
        ASSERT_LT((two.state() - r).cwiseAbs().maxCoeff(), 1e-10 * two.state().cwiseAbs().maxCoeff()) << i;
    }
}

}  // namespace
}  // namespace mdpcosim
