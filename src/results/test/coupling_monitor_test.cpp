#include "results/coupling_monitor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace mdpcosim {
namespace {

using function = std::function<double(double)>;

/// Feeds one channel with u = f(t), q = g(t) and polynomials u~ = f + miss over n steps of length H.
struct single_channel {
    explicit single_channel(conjugate partner, bool rates = true) : monitor({partner}) {
        monitor.set_rates(0, rates, rates);
    }

    void run(double H, int n, const function& u, const function& du, const function& q, const function& v,
             const function& miss) {
        const auto one = [](double& x) { return std::span<const double>(&x, 1); };
        double values[4] = {u(0), du(0), q(0), v(0)};
        monitor.start(one(values[0]), one(values[1]), one(values[2]), one(values[3]));
        for (int i = 0; i < n; ++i) {
            const double t = i * H, s = t + H;
            double begin = u(t) + miss(t), middle = u(t + H / 2) + miss(t + H / 2), end = u(s) + miss(s);
            double now[4] = {u(s), du(s), q(s), v(s)};
            monitor.step(H, {one(begin), one(middle), one(end), one(now[0]), one(now[1]), one(now[2]), one(now[3])});
        }
    }

    coupling_monitor monitor;
};

const function zero = [](double) { return 0.0; };

TEST(coupling_monitor, an_exact_extrapolation_has_no_jump_and_no_energy_error) {
    single_channel c(conjugate::rate);
    const function cubic = [](double t) { return 2 - t + 3 * t * t; };
    c.run(
        0.125, 64, cubic, [](double t) { return -1 + 6 * t; }, [](double t) { return t * t; },
        [](double t) { return 2 * t; }, zero);
    const coupling_quality q = c.monitor.quality(0);
    EXPECT_EQ(q.jump_max, 0);
    EXPECT_EQ(q.jump_rms, 0);
    EXPECT_NEAR(q.energy_error, 0, 1e-12 * q.energy);
    EXPECT_EQ(q.u_min, cubic(0.125));
    EXPECT_EQ(q.u_max, cubic(8));
    EXPECT_EQ(c.monitor.diverging(), -1);
}

TEST(coupling_monitor, jumps_are_what_the_extrapolation_missed) {
    single_channel c(conjugate::none);
    c.run(
        0.5, 40, [](double t) { return std::sin(t); }, zero, zero, zero,
        [](double t) { return t == 10 ? -0.25 : 0.01; });
    const coupling_quality q = c.monitor.quality(0);
    EXPECT_NEAR(q.jump_max, 0.25, 1e-15);
    EXPECT_NEAR(q.jump_rms, std::sqrt((0.0625 + 39 * 1e-4) / 40), 1e-15);
    EXPECT_EQ(q.energy, 0);
}

/// A constant miss m against a motion from q(0) to q(T) costs m (q(T) - q(0)), against a potential the integral of m q.
TEST(coupling_monitor, energy_errors_of_each_kind_of_power) {
    const function u = [](double t) { return std::cos(3 * t); }, du = [](double t) { return -3 * std::sin(3 * t); };
    const function q = [](double t) { return std::sin(2 * t); }, v = [](double t) { return 2 * std::cos(2 * t); };
    const function miss = [](double) { return 0.01; };
    const auto error = [&](conjugate partner, bool rates, int steps = 100) {
        single_channel c(partner, rates);
        c.run(1.0 / steps, steps, u, du, q, v, miss);
        return c.monitor.quality(0).energy_error;
    };
    EXPECT_NEAR(error(conjugate::rate, true), 0.01 * std::sin(2.0), 1e-9);
    EXPECT_NEAR(error(conjugate::value, true), 0.01 * (1 - std::cos(2.0)) / 2, 2e-6);
    EXPECT_NEAR(error(conjugate::one, true), 0.01, 1e-9);
    // Without rates u is taken as linear in the step: an error of second order.
    const double exact = 0.01 * std::sin(2.0);
    EXPECT_NEAR((error(conjugate::rate, false, 100) - exact) / (error(conjugate::rate, false, 200) - exact), 4, 0.05);
}

TEST(coupling_monitor, growing_oscillation_of_the_step_is_divergence) {
    for (const double growth : {1.02, 1.1, 1.5, 3.0}) {
        single_channel c(conjugate::rate);
        const double H = 0.01;
        const auto sign = [](double t) { return std::lround(t / 0.01) % 2 == 0 ? 1.0 : -1.0; };
        const function u = [&](double t) { return 1 + 1e-6 * std::pow(growth, t / H) * sign(t); };
        // What a rule that knows the past only says: about the opposite.
        c.run(H, 2000 / static_cast<int>(growth * 2), u, zero, u, zero,
              [&](double t) { return -2e-6 * std::pow(growth, t / H) * sign(t); });
        EXPECT_EQ(c.monitor.diverging(), 0) << growth;
        EXPECT_NE(c.monitor.reason().find("smaller macro step"), std::string::npos);
    }
}

TEST(coupling_monitor, growth_that_the_steps_resolve_is_physics) {
    single_channel c(conjugate::rate);
    const function u = [](double t) { return std::exp(2 * t) * std::sin(40 * t); };
    c.run(1e-3, 8000, u, zero, u, zero, [](double t) { return 1e-3 * std::exp(2 * t) * std::sin(40 * t); });
    EXPECT_EQ(c.monitor.diverging(), -1);
}

TEST(coupling_monitor, jumps_without_growth_are_a_poor_coupling_but_no_divergence) {
    single_channel c(conjugate::rate);
    const auto sign = [](double t) { return std::lround(t / 0.01) % 2 == 0 ? 1.0 : -1.0; };
    const function u = [&](double t) { return sign(t) * (1 + 0.3 * std::sin(0.7 * t)); };
    c.run(0.01, 5000, u, zero, u, zero, [&](double t) { return -2 * sign(t); });
    EXPECT_EQ(c.monitor.diverging(), -1);
    EXPECT_GT(c.monitor.quality(0).jump_rms, 1);
}

TEST(coupling_monitor, a_number_that_is_none_is_told_at_once) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        single_channel c(conjugate::rate);
        c.run(
            0.1, 3, [&](double t) { return t > 0.25 ? bad : 1.0; }, zero, zero, zero, zero);
        EXPECT_EQ(c.monitor.diverging(), 0);
        EXPECT_NE(c.monitor.reason().find("finite"), std::string::npos);
    }
}

}  // namespace
}  // namespace mdpcosim
