#include "results/bond_monitor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace mdpcosim {
namespace {

/// v = sin t, F = cos t + 1/2, both held over steps of h, up to t = 2: what the monitor finds.
bond_quality held(double h, bool rates, double scale = 1) {
    const auto v = [](double t) { return std::sin(t); };
    const auto F = [](double t) { return std::cos(t) + 0.5; };
    bond_monitor monitor({{.flow = 1, .effort = 0, .scale = scale, .rate_of_flow = rates, .rate_of_effort = rates}});
    const auto values = [&](double t) { return std::array{F(t), v(t)}; };
    const auto slopes = [&](double t) { return std::array{-std::sin(t), std::cos(t)}; };
    const std::array<double, 2> nothing{};
    monitor.start(values(0), slopes(0));
    const int steps = static_cast<int>(std::lround(2 / h));
    for (int n = 0; n < steps; ++n) {
        const auto received = values(n * h), u = values((n + 1) * h), du = slopes((n + 1) * h);
        monitor.step(h, {received, received, received, u, du, nothing, nothing});
    }
    return monitor.quality(0);
}

TEST(bond_monitor, finds_the_energy_that_held_signals_make) {
    // Over one step: F_n (integral of v) - v_n (integral of F), with the antiderivatives 1 - cos t and sin t + t/2.
    const double h = 0.05;
    double exact = 0;
    for (int n = 0; n < 40; ++n) {
        const double a = n * h, b = a + h;
        exact +=
            (std::cos(a) + 0.5) * (std::cos(a) - std::cos(b)) - std::sin(a) * (std::sin(b) - std::sin(a) + (b - a) / 2);
    }
    EXPECT_NEAR(held(h, true).energy_error, exact, h * h * h * h / 30 * std::abs(exact)) << "of fourth order";
    EXPECT_NEAR(held(h, false).energy_error, exact, 1e-3 * std::abs(exact));
    EXPECT_GT(exact, 0) << "the bond adds energy";
    EXPECT_EQ(held(h, true, -2).energy_error, -2 * held(h, true).energy_error);
    // Exchanged: the integral of sin t cos t + sin(t)/2.
    const double exchanged = std::sin(2) * std::sin(2) / 2 + (1 - std::cos(2)) / 2;
    const bond_quality q = held(h, true);
    EXPECT_GE(q.energy_peak, exchanged - 1e-6);
    EXPECT_GE(q.energy, q.energy_peak);
    EXPECT_DOUBLE_EQ(q.deviation(), q.energy_error / (2 * q.energy_peak));
    EXPECT_NEAR(held(h, true).energy_error / held(h / 2, true).energy_error, 2, 0.1) << "of first order";
}

TEST(bond_monitor, exact_signals_make_none) {
    bond_monitor monitor({{.flow = 0, .effort = 1}});
    const std::array<double, 2> u{3, 4}, zero{};
    monitor.start(u, zero);
    monitor.step(0.1, {u, u, u, u, zero, zero, zero});
    EXPECT_EQ(monitor.quality(0).energy_error, 0);
    EXPECT_NEAR(monitor.quality(0).energy_peak, 1.2, 1e-15);
    EXPECT_EQ(bond_monitor().size(), 0U);
}

}  // namespace
}  // namespace mdpcosim
