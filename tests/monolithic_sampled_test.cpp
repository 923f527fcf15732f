// `run --monolithic` with sampled subsystems: against difference equations, and co-simulations that converge to it. The tests
// print the numbers they find.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "monolithic_fixture.hpp"

namespace mdpcosim {
namespace {

using test::column;
using test::difference;
using test::examples;
using test::settings;
using test::shown;

class sampled_reference : public test::monolithic {};

constexpr double T = 0.5, k = 2, r = 1.5, y0 = 0.3;  // of the plant T y' + y = k u, and the setpoint

/// Runs every macro step H = 1 ms through the exact solution for a held input: y(t + H) = a y + (1 - a) k u, a = exp(-H/T).
class exact_plant {
   public:
    double y = y0;
    void advance(double u) { y = a_ * y + (1 - a_) * k * u; }

   private:
    double a_ = std::exp(-1e-3 / T);
};

/// A controller every `period` steps from `offset` on, whose outputs appear `delay` steps later.
struct clock {
    int period, offset, delay;
    bool samples(int n) const { return n >= offset && (n - offset) % period == 0; }
};

std::string sample_text(const clock& c) {
    return fmt::format("{{time: {} ms, offset: {} ms, delay: {} ms}}", c.period, c.offset, c.delay);
}

std::string loop(const clock& c, const std::string& more = "", const std::string& gains = "kp: 4") {
    return fmt::format(R"(
time: {{end: 1 s, step: 1 ms}}
subsystems:
  controller: {{model: pid-sampled, set: {{{}}}, sample: {}}}
  plant: {{model: lag-1, set: {{time-constant: 0.5 s, gain: 2, y0: 0.3}}}}
signals: [1.5 -> controller.setpoint, plant.y -> controller.measurement, controller.y -> plant.u]
{})",
                       gains, sample_text(c), more);
}

/// Largest difference from the difference equation at the table's rows: v_n = kp (r - y_n) of the sample that has appeared last.
double loop_error(const result_table& t, const clock& c) {
    exact_plant plant;
    std::vector<double> computed;
    double u = 0, worst = 0;
    std::size_t row = 0;
    for (int n = 0; row < t.rows(); ++n) {
        computed.push_back(4 * (r - plant.y));
        if (n >= c.delay && c.samples(n - c.delay)) u = computed[static_cast<std::size_t>(n - c.delay)];
        if (t.time[row] < 1e-3 * (n + 0.5)) {
            worst = std::max({worst, std::abs(t.value(row, column(t, "plant.y")) - plant.y),
                              std::abs(t.value(row, column(t, "controller.y")) - u)});
            ++row;
        }
        plant.advance(u);
    }
    return worst;
}

TEST_F(sampled_reference, follows_the_difference_equation) {
    for (const clock& c : {clock{20, 0, 0}, {1, 0, 0}, {20, 7, 0}, {20, 0, 6}, {20, 3, 20}, {10, 4, 35}}) {
        const result_table t = run_text("loop", loop(c), true);
        ASSERT_EQ(t.rows(), 1001u);
        EXPECT_LT(shown("lag under control, sample " + sample_text(c), loop_error(t, c)), 1e-11);
    }
}

/// Samples stop the solver wherever the rows are.
TEST_F(sampled_reference, rows_do_not_matter) {
    for (const clock& c : {clock{20, 7, 0}, {10, 4, 35}}) {
        const result_table t = run_text("loop", loop(c, "record: {every: 130 ms}"), true);
        ASSERT_EQ(t.rows(), 9u);
        EXPECT_LT(loop_error(t, c), 1e-11);
    }
}

/// Multistep solvers forget their history at a sample.
TEST_F(sampled_reference, any_solver_follows) {
    for (const auto& [solver, bound] : {std::pair("{name: rk4, step: 1 ms}", 1e-11),
                                        {"{name: erk-4, rtol: 1e-10}", 1e-8},
                                        {"{name: dirk-5, rtol: 1e-10}", 1e-8},
                                        {"{name: cvode-adams, rtol: 1e-10}", 1e-7},
                                        {"{name: cvode-bdf, rtol: 1e-10}", 1e-7},
                                        {"{name: cvode-bdf, rtol: 1e-10, stop: over}", 1e-7},
                                        {"{name: ida, rtol: 1e-10}", 1e-7},
                                        {"{name: ida, rtol: 1e-10, stop: over}", 1e-7}})
        for (const clock& c : {clock{20, 7, 0}, {20, 0, 6}}) {
            const result_table t = run_text("loop", loop(c, fmt::format("reference: {{solver: {}}}", solver)), true);
            EXPECT_LT(shown(solver, loop_error(t, c)), bound) << sample_text(c);
        }
}

TEST_F(sampled_reference, before_the_first_sample_appears) {
    const result_table t = run_text("loop", loop({20, 7, 5}, "", "kp: 4, integral0: -0.7"), true);
    exact_plant plant;
    for (std::size_t row = 0; row < 12; ++row) {
        EXPECT_EQ(t.value(row, column(t, "controller.y")), -0.7) << row;
        EXPECT_NEAR(t.value(row, column(t, "plant.y")), plant.y, 1e-13) << row;
        plant.advance(-0.7);
    }
    EXPECT_GT(t.value(12, column(t, "controller.y")), 1);
}

/// A cascade, written against its order: `inner` sees what `outer` gives at the same sample time. The plant's two lags are one
/// after the other, so that the exact solution needs the matrix exponential of [[-1/T1, 0], [1/T2, -1/T2]].
TEST_F(sampled_reference, two_sample_times_in_a_cascade) {
    for (const clock& slow : {clock{30, 0, 0}, {24, 6, 0}, {30, 10, 4}}) {
        const clock fast{10, 0, 0};
        const result_table t = run_text("cascade",
                                        fmt::format(R"(
time: {{end: 1 s, step: 1 ms}}
subsystems:
  second: {{model: lag-1, set: {{time-constant: 0.4 s}}}}
  first: {{model: lag-1, set: {{time-constant: 0.1 s, gain: 3}}}}
  inner: {{model: pid-sampled, set: {{kp: 2}}, sample: 10 ms}}
  outer: {{model: pid-sampled, set: {{kp: 5}}, sample: {}}}
signals:
  - first.y -> inner.measurement
  - outer.y -> inner.setpoint
  - second.y -> outer.measurement
  - 1 -> outer.setpoint
  - inner.y -> first.u
  - first.y -> second.u
)",
                                                    sample_text(slow)),
                                        true);
        const double H = 1e-3, a1 = std::exp(-H / 0.1), a2 = std::exp(-H / 0.4);
        const double through = 0.1 / (0.1 - 0.4) * (a1 - a2);  // second lag's answer to the first lag's state
        double y1 = 0, y2 = 0, outer = 0, inner = 0, worst = 0;
        std::vector<double> computed;
        for (int n = 0; n <= 1000; ++n) {
            computed.push_back(5 * (1 - y2));
            if (n >= slow.delay && slow.samples(n - slow.delay))
                outer = computed[static_cast<std::size_t>(n - slow.delay)];
            if (fast.samples(n)) inner = 2 * (outer - y1);
            const auto error = [&](const char* name, double exact) {
                worst = std::max(worst, std::abs(t.value(static_cast<std::size_t>(n), column(t, name)) - exact));
            };
            error("first.y", y1);
            error("second.y", y2);
            error("outer.y", outer);
            error("inner.y", inner);
            // Both states decay to the steady state of the held input, 3 inner.
            const double s = 3 * inner, d1 = y1 - s, d2 = y2 - s;
            y1 = s + a1 * d1;
            y2 = s + a2 * d2 + through * d1;
        }
        EXPECT_LT(shown("cascade, outer sample " + sample_text(slow), worst), 1e-11);
    }
}

/// z = k u - y is algebraic: it jumps with the held signal, and the next sample sees the z after the jump.
TEST_F(sampled_reference, algebraic_states_follow_the_held_signal) {
    const clock c{20, 0, 20};
    const result_table t = run_text("dae",
                                    fmt::format(R"(
time: {{end: 1 s, step: 1 ms}}
subsystems:
  controller: {{model: pid-sampled, set: {{kp: 0.3}}, sample: {}}}
  plant:
    ode:
      states: {{y: 0.3}}
      algebraic: {{z: 0}}
      inputs: {{u: 0}}
      equations: {{y: z/0.5, z: z - 2*u + y}}
    solver: ida
signals: [1.5 -> controller.setpoint, plant.z -> controller.measurement, controller.y -> plant.u]
reference: {{solver: {{name: ida, rtol: 1e-10, atol: 1e-13}}}}
)",
                                                sample_text(c)),
                                    true);
    exact_plant plant;
    double u = 0, waiting = 0, worst = 0;
    for (int n = 0; n <= 1000; ++n) {
        if (c.samples(n)) {
            if (n > 0) u = waiting;
            waiting = 0.3 * (r - (k * u - plant.y));
        }
        const auto row = static_cast<std::size_t>(n);
        worst = std::max({worst, std::abs(t.value(row, column(t, "plant.y")) - plant.y),
                          std::abs(t.value(row, column(t, "plant.z")) - (k * u - plant.y)),
                          std::abs(t.value(row, column(t, "controller.y")) - u)});
        plant.advance(u);
    }
    EXPECT_LT(shown("algebraic plant", worst), 1e-7);
}

/// Indicators that jump with a sample are events of its time.
TEST_F(sampled_reference, a_sample_may_cause_an_event) {
    const result_table t = run_text("event", R"(
time: {end: 1 s, step: 10 ms}
subsystems:
  clock: {ode: {states: {x: 0}, equations: {x: 1}}}
  controller: {model: pid-sampled, sample: {time: 100 ms, delay: 30 ms}}
  relay:
    ode:
      states: {n: 0, since: 0, x: 0}
      inputs: {u: 0}
      equations: {n: 0, since: 0, x: n}
      events: [{when: u - 0.55, direction: rising, set: {n: 1, since: t}}]
signals: [clock.x -> controller.setpoint, controller.y -> relay.u]
)",
                                    true);
    // y = 0.6 appears at 0.63 s.
    EXPECT_NEAR(t.value(100, column(t, "relay.since")), 0.63, 1e-12);
    EXPECT_NEAR(t.value(100, column(t, "relay.x")), 0.37, 1e-12);
}

// ---- the example ----------------------------------------------------------------------------------------------------

/// The spring's extrapolation, lin-2-3-opt, is of third order; sampling takes nothing from it. The numbers of the example's README.
TEST_F(sampled_reference, motor_control_converges_to_it) {
    const auto file = examples / "motor-control/scenario.yaml";
    for (const char* delay : {"0 s", "8 ms"}) {
        const result_table whole = run("whole", file, true, {{"delay", delay}});
        double last = 0;
        for (const char* step : {"200 us", "100 us", "50 us", "25 us"}) {
            const settings list{{"delay", delay}, {"time.step", step}};
            // The reference knows the macro step by the times of its stops only.
            EXPECT_LT(difference(run("again", file, true, list), "motor.i", whole, "motor.i"), 1e-11);
            const double error =
                difference(run("coupled", file, false, list), "load.shaft.speed", whole, "load.shaft.speed");
            if (last > 0) {
                const double order = std::log2(last / error);
                std::printf("delay %s, H = %s: error / range %.2e, order %.3f\n", delay, step, error, order);
                EXPECT_NEAR(order, 3, 0.1) << step;
            }
            last = error;
        }
        EXPECT_LT(last, 1e-7);
    }
}

TEST_F(sampled_reference, samples_are_counted) {
    const run_summary summary = run_into("counted", read_scenario(examples / "motor-control/scenario.yaml"), true);
    EXPECT_EQ(summary.subsystems.at(0).type, "4 subsystems as one, 5 states");
    EXPECT_EQ(summary.subsystems.at(0).events, 201);  // 200 samples and the step of the demand
}

}  // namespace
}  // namespace mdpcosim
