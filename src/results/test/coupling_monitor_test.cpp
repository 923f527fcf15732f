#include "results/coupling_monitor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

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
    // Without rates u lies on a polynomial through the last macro points and q is taken as linear: an error of third order.
    const double exact = 0.01 * std::sin(2.0);
    EXPECT_NEAR((error(conjugate::rate, false, 100) - exact) / (error(conjugate::rate, false, 200) - exact), 8, 0.2);
}

/// A defect of alpha u is a stiffness that is wrong by alpha: after n periods the phase is off by alpha/2 2 pi n.
TEST(coupling_monitor, a_wrong_stiffness_is_an_error_of_phase) {
    const double omega = 5, alpha = 1e-3, H = 0.01;
    for (const bool rates : {true, false})
        for (const int periods : {10, 100}) {
            single_channel c(conjugate::rate, rates);
            const function u = [&](double t) { return 7 + 2 * std::cos(omega * t); };
            const function du = [&](double t) { return -2 * omega * std::sin(omega * t); };
            const function q = [&](double t) { return -0.5 * std::cos(omega * t); };
            const function v = [&](double t) { return 0.5 * omega * std::sin(omega * t); };
            const int n = static_cast<int>(std::lround(periods * 2 * std::numbers::pi / omega / H));
            c.run(H, n, u, du, q, v, [&](double t) { return alpha * (u(t) - 7); });
            const coupling_quality found = c.monitor.quality(0);
            EXPECT_NEAR(found.phase, alpha * std::numbers::pi * periods, 0.05 * found.phase) << rates << periods;
            EXPECT_NEAR(found.unresolved, alpha, 0.02 * alpha);
            EXPECT_LT(found.amplitude, 0.01 * found.phase);
            EXPECT_EQ(found.contacts, 0);
        }
}

/// A defect of epsilon v takes epsilon omega^2/2 of the amplitude per time, however much energy has gone to and fro.
TEST(coupling_monitor, a_damper_too_much_is_an_error_of_amplitude) {
    const double omega = 5, epsilon = 1e-4, H = 0.01, T = 200;
    single_channel c(conjugate::rate);
    const function q = [&](double t) { return 0.5 * std::sin(omega * t); };
    const function v = [&](double t) { return 0.5 * omega * std::cos(omega * t); };
    c.run(
        H, static_cast<int>(T / H), [&](double t) { return -q(t); }, [&](double t) { return -v(t); }, q, v,
        [&](double t) { return epsilon * v(t); });
    const coupling_quality found = c.monitor.quality(0);
    EXPECT_NEAR(found.amplitude, epsilon * omega * omega * T / 2, 0.02 * found.amplitude);
    EXPECT_NEAR(found.energy_peak, 0.5 * 0.25, 1e-3);
    EXPECT_LT(found.energy_error / found.energy, 0.01);
}

/// What is put onto the line between macro points, as a corrector does, misses what lies between.
TEST(coupling_monitor, inputs_on_a_line_between_macro_points_are_judged) {
    coupling_monitor monitor({conjugate::none});
    const auto one = [](const double& x) { return std::span<const double>(&x, 1); };
    const double zero_value = 0, omega = 1, H = 0.4;
    const auto u = [&](int i) { return std::sin(omega * H * i); };
    const double first = u(0);
    monitor.start(one(first), one(zero_value), one(zero_value), one(zero_value));
    for (int i = 0; i < 400; ++i) {
        const double begin = u(i), end = u(i + 1), middle = (begin + end) / 2;
        monitor.step(H,
                     {one(begin), one(middle), one(end), one(end), one(zero_value), one(zero_value), one(zero_value)});
    }
    // The line misses (omega H)^2/8 in the middle, a part of which is within the uncertainty of u.
    const double share = monitor.quality(0).unresolved / (omega * H * omega * H / 8 * std::sqrt(2.0 / 3));
    EXPECT_GT(share, 0.5);
    EXPECT_LT(share, 1.1);
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
        EXPECT_NE(c.monitor.reason().find("no longer a number to compute with"), std::string::npos);
    }
}

}  // namespace
}  // namespace mdpcosim
