// The example motor-control against an integration of the whole sampled loop that shares no code with the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "coupled_run.hpp"
#include "monolithic_fixture.hpp"

namespace mdpcosim {
namespace {

using test::coupled_run;

constexpr double T = 5e-3;  // sample time of the example

scenario example(const std::string& step, const std::string& delay = "0 s") {
    return read_scenario(MDPCOSIM_SOURCE_DIR "/examples/motor-control/scenario.yaml",
                         {{"time.step", step, "--step"}, {"delay", delay, "--set"}});
}

/// Speed of the load, current and voltage at multiples of 0.5 ms.
struct row {
    double speed, current, voltage;
};

std::vector<row> co_simulated(const std::string& step, const std::string& delay = "0 s", int workers = 1) {
    coupled_run run(example(step, delay), workers);
    for (const char* address : {"load.shaft.speed", "motor.i", "controller.y"}) run.watch(address);
    const auto all = run.rows();
    const std::size_t every = (all.size() - 1) / 2000;
    std::vector<row> rows;
    for (std::size_t n = 0; n < all.size(); n += every) rows.push_back({all[n][0], all[n][1], all[n][2]});
    return rows;
}

/// Motor, spring and load as one system of five states by the classical Runge-Kutta method with h = 10 us; the PI
/// controller by its recursion, its outputs `delay` after their sample.
std::vector<row> reference(double delay = 0) {
    using state = std::array<double, 5>;  // i, phi, w of the motor, phi, w of the load
    const double R = 0.8, L = 2e-3, k = 0.08, J = 2e-4, d = 1e-4, J_load = 6e-4, d_load = 2e-4, c = 20;
    const double kp = 0.3, ki = 4, limit = 24, h = 1e-5;
    state x{};
    double I = 0, V = 0;
    std::vector<double> computed;  // y_k
    std::vector<row> rows;
    const int period = 500, delay_steps = static_cast<int>(std::lround(delay / h));
    for (int n = 0;; ++n) {
        if (n % period == 0) {
            const double r = n * h >= 48e-3 ? 100 : 0, e = r - x[4];
            I += ki * T * e;
            const double v = kp * e + I, y = std::clamp(v, -limit, limit);
            I += T / (kp / ki) * (y - v);
            computed.push_back(y);
        }
        if (const int from = n - delay_steps; from >= 0 && from % period == 0)
            V = computed[static_cast<std::size_t>(from / period)];
        if (n % 50 == 0) rows.push_back({x[4], x[0], V});
        if (n == 100000) return rows;
        const auto f = [&](const state& s) -> state {
            const double u = c * (s[1] - s[3]);
            return {(V - R * s[0] - k * s[2]) / L, s[2], (k * s[0] - d * s[2] - u) / J, s[4],
                    (u - d_load * s[4]) / J_load};
        };
        const auto plus = [](state s, double factor, const state& ds) {
            for (std::size_t i = 0; i < s.size(); ++i) s[i] += factor * ds[i];
            return s;
        };
        const state k1 = f(x), k2 = f(plus(x, h / 2, k1)), k3 = f(plus(x, h / 2, k2)), k4 = f(plus(x, h, k3));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
}

row largest_difference(const std::vector<row>& a, const std::vector<row>& b) {
    EXPECT_EQ(a.size(), b.size());
    row most{};
    for (std::size_t n = 0; n < std::min(a.size(), b.size()); ++n) {
        most.speed = std::max(most.speed, std::abs(a[n].speed - b[n].speed));
        most.current = std::max(most.current, std::abs(a[n].current - b[n].current));
        most.voltage = std::max(most.voltage, std::abs(a[n].voltage - b[n].voltage));
    }
    return most;
}

double overshoot(const std::vector<row>& rows) {
    return std::max_element(rows.begin(), rows.end(), [](const row& a, const row& b) { return a.speed < b.speed; })
                   ->speed /
               100 -
           1;
}

TEST(motor_control, follows_the_integration_of_the_whole_loop) {
    const auto exact = reference();
    double last = 0;
    for (const auto& [step, speed] : {std::pair{"100 us", 2.5e-4}, {"50 us", 3.2e-5}, {"25 us", 4e-6}}) {
        const row error = largest_difference(co_simulated(step), exact);
        EXPECT_LT(error.speed, speed) << step;
        EXPECT_LT(error.current, speed) << step;
        EXPECT_LT(error.voltage, speed) << step;
        // Sampling costs no order: what is left is the extrapolation of the spring's torque, of third order.
        if (last > 0) {
            EXPECT_NEAR(std::log2(last / error.speed), 3, 0.1) << step;
        }
        last = error.speed;
    }
}

class motor_control_as_one : public test::monolithic {};

/// What is left is the error of the integration above: h^4.
TEST_F(motor_control_as_one, equals_the_integration_of_the_whole_loop) {
    for (const double delay : {0.0, 1e-3, 5e-3, 8e-3}) {
        const result_table t = run("whole", test::examples / "motor-control/scenario.yaml", true,
                                   {{"record.every", "0.5 ms"}, {"delay", std::to_string(delay)}});
        std::vector<row> rows;
        for (std::size_t n = 0; n < t.rows(); ++n)
            rows.push_back({t.value(n, test::column(t, "load.shaft.speed")), t.value(n, test::column(t, "motor.i")),
                            t.value(n, test::column(t, "controller.y"))});
        const row error = largest_difference(rows, reference(delay));
        EXPECT_LT(test::shown("speed [rad/s]", error.speed), 1e-9) << delay;
        EXPECT_LT(test::shown("current [A]", error.current), 1e-9) << delay;
        EXPECT_LT(test::shown("voltage [V]", error.voltage), 1e-9) << delay;
    }
}

TEST(motor_control, delay_follows_the_integration_too) {
    for (const double delay : {1e-3, 5e-3, 8e-3}) {
        const row error = largest_difference(co_simulated("100 us", std::to_string(delay)), reference(delay));
        EXPECT_LT(error.speed, 4e-4) << delay;
        EXPECT_LT(error.current, 4e-4) << delay;
        EXPECT_LT(error.voltage, 4e-4) << delay;
    }
}

TEST(motor_control, reaches_the_setpoint_and_overshoots_more_with_delay) {
    const auto prompt = co_simulated("100 us"), late = co_simulated("100 us", "5 ms"),
               later = co_simulated("100 us", "8 ms");
    EXPECT_NEAR(prompt.back().speed, 100, 1e-3);
    EXPECT_NEAR(late.back().speed, 100, 1e-3);
    EXPECT_NEAR(overshoot(prompt), 0.0420, 5e-5);
    EXPECT_NEAR(overshoot(late), 0.0489, 5e-5);
    EXPECT_NEAR(overshoot(later), 0.1026, 5e-5);
    // The voltage is at its limit after the step, and comes back from there at once: no windup.
    const auto at_limit = std::count_if(prompt.begin(), prompt.end(), [](const row& r) { return r.voltage == 24; });
    EXPECT_EQ(at_limit, 30);  // three sample times of 5 ms
}

TEST(motor_control, workers_do_not_matter) {
    const auto one = co_simulated("100 us", "5 ms", 1), two = co_simulated("100 us", "5 ms", 2),
               four = co_simulated("100 us", "5 ms", 4);
    for (const auto* other : {&two, &four}) {
        const row difference = largest_difference(one, *other);
        EXPECT_EQ(difference.speed, 0);
        EXPECT_EQ(difference.current, 0);
        EXPECT_EQ(difference.voltage, 0);
    }
}

}  // namespace
}  // namespace mdpcosim
