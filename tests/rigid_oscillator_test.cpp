// Joints in one dimension: orders and errors of the index-1 method, joints beside force laws, controlled steps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/mdpcosim.hpp"
#include "coupled_run.hpp"
#include "results/result_table.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::test {
namespace {

/// m x'' + d x' + c x = 0 of both masses together.
struct oscillator {
    double m = 3, c = 2000, d = 20, v0 = 100;
    double decay() const { return d / (2 * m); }
    double frequency() const { return std::sqrt(c / m - decay() * decay()); }
    double x(double t) const { return v0 / frequency() * std::exp(-decay() * t) * std::sin(frequency() * t); }
    double v(double t) const {
        return v0 * std::exp(-decay() * t) *
               (std::cos(frequency() * t) - decay() / frequency() * std::sin(frequency() * t));
    }
};

scenario rigid_oscillator(int degree, double H, double end, double x0, double v0) {
    return read_scenario_text(fmt::format(R"(
let: {{c: 1000 N/m, d: 10 N.s/m, x: {} m, v: {} m/s}}
time: {{end: {} s, step: {} s}}
method: {{name: index-1, degree: {}}}
subsystems:
  first: {{model: mass-spring-damper, set: {{mass: 1 kg, stiffness: $c, damping: $d, x0: $x, v0: $v}}, solver: {{name: erk-8, rtol: 1e-14, atol: 1e-14}}}}
  second: {{model: mass-spring-damper, set: {{mass: 2 kg, stiffness: $c, damping: $d, x0: $x, v0: $v}}, solver: {{name: erk-8, rtol: 1e-14, atol: 1e-14}}}}
connections:
  link: {{joint: rigid, between: [second.mass, first.mass]}}
)",
                                          x0, v0, end, H, degree),
                              "rigid.yaml");
}

struct errors {
    double position = 0, velocity = 0;
};

/// Largest at macro points, from the motion at `from` on.
errors errors_of(int degree, double H, double span, double from) {
    const oscillator exact;
    coupled_run run(rigid_oscillator(degree, H, span, exact.x(from), exact.v(from)));
    const auto x = run.watch("first.mass.position"), v = run.watch("first.mass.velocity");
    errors found;
    while (!run.done()) {
        run.step();
        found.position = std::max(found.position, std::abs(run.value(x) - exact.x(from + run.time())));
        found.velocity = std::max(found.velocity, std::abs(run.value(v) - exact.v(from + run.time())));
    }
    return found;
}

TEST(rigid_oscillator, errors_are_those_of_the_source) {
    EXPECT_LE(errors_of(2, 0.01, 1, 0).position, 1.1e-7);
    EXPECT_LE(errors_of(3, 0.01, 1, 0).position, 2.3e-9);
}

TEST(rigid_oscillator, global_orders_are_five_and_six) {
    for (const int degree : {2, 3}) {
        const errors coarse = errors_of(degree, 0.02, 1, 0), fine = errors_of(degree, 0.01, 1, 0);
        EXPECT_NEAR(std::log2(coarse.position / fine.position), degree + 3, 0.15);
        EXPECT_NEAR(std::log2(coarse.velocity / fine.velocity), degree + 3, 0.15);
    }
}

TEST(rigid_oscillator, local_orders_are_six_and_seven) {
    for (const int degree : {2, 3}) {
        const errors coarse = errors_of(degree, 0.01, 0.01, 0.3), fine = errors_of(degree, 0.005, 0.005, 0.3);
        EXPECT_NEAR(std::log2(coarse.position / fine.position), degree + 4, 0.45) << coarse.position;
        EXPECT_NEAR(std::log2(coarse.velocity / fine.velocity), degree + 4, 0.45) << coarse.velocity;
    }
}

TEST(rigid_oscillator, multiplier_at_the_start_is_that_of_the_source) {
    coupled_run run(rigid_oscillator(3, 0.01, 1, 0, 100));
    EXPECT_NEAR(run.all.parts().system.u[0], 1000.0 / 3, 1e-9);
}

TEST(rigid_oscillator, two_integrations_do_for_a_linear_system) {
    coupled_run run(rigid_oscillator(3, 0.01, 1, 0, 100));
    while (!run.done()) run.step();
    // The first step measures: three trials more.
    EXPECT_EQ(run.all.parts().system.integrations, 2 * 100 + 3);
}

TEST(joints_and_laws, act_together_as_on_one_body) {
    const std::string common = R"(
time: {end: 1 s, step: 2 ms}
extrapolation: hermite-1
subsystems:
  third: {model: mass-spring-damper, set: {mass: 1 kg, stiffness: 300 N/m, x0: 20 mm}, solver: {name: erk-8, rtol: 1e-12, atol: 1e-12}}
)";
    const std::string joined = "method: index-1\n" + common + R"(
  first: {model: mass-spring-damper, set: {mass: 1 kg, stiffness: 200 N/m}, solver: {name: erk-8, rtol: 1e-12, atol: 1e-12}}
  second: {model: mass-spring-damper, set: {mass: 3 kg}, solver: {name: erk-8, rtol: 1e-12, atol: 1e-12}}
connections:
  spring: {law: spring, between: [third.mass, first.mass], stiffness: 500 N/m}
  link: {joint: rigid, between: [first.mass, second.mass]}
)";
    const std::string one = common + R"(
  first: {model: mass-spring-damper, set: {mass: 4 kg, stiffness: 200 N/m}, solver: {name: erk-8, rtol: 1e-12, atol: 1e-12}}
connections:
  spring: {law: spring, between: [third.mass, first.mass], stiffness: 500 N/m}
)";
    coupled_run a(read_scenario_text(joined, "a.yaml")), b(read_scenario_text(one, "b.yaml"));
    const auto x = a.watch("third.mass.position"), y = b.watch("third.mass.position");
    double most = 0, largest = 0;
    while (!a.done()) {
        a.step(), b.step();
        most = std::max(most, std::abs(a.value(x) - b.value(y)));
        largest = std::max(largest, std::abs(b.value(y)));
    }
    EXPECT_LT(most, 2e-8 * largest);  // the joint's own error at this step
}

/// A signal reads an acceleration, which depends on the multiplier at once.
TEST(joints_and_signals, accelerations_reach_others_with_the_multiplier) {
    const std::string text = R"(
time: {end: 0.2 s, step: 10 ms}
method: {name: index-1, degree: 3}
subsystems:
  first: {model: mass-spring-damper, set: {mass: 1 kg, stiffness: 1000 N/m, v0: 1 m/s}, solver: {name: erk-8, rtol: 1e-12, atol: 1e-12}}
  second: {model: mass-spring-damper, set: {mass: 2 kg, v0: 1 m/s}, solver: {name: erk-8, rtol: 1e-12, atol: 1e-12}}
  meter: {ode: {inputs: {a: 0 m/s2}, outputs: {y: {value: 2*a, unit: m/s2}}}}
  reader: {model: lag-1}
connections:
  link: {joint: rigid, between: [first.mass, second.mass]}
signals:
  - second.mass.acceleration -> meter.a
  - 1*meter.y -> reader.u
)";
    coupled_run run(read_scenario_text(text, "s.yaml"));
    const auto x = run.watch("first.mass.position"), y = run.watch("meter.y");
    const double omega = std::sqrt(1000.0 / 3);
    while (!run.done()) {
        run.step();
        EXPECT_NEAR(run.value(x), std::sin(omega * run.time()) / omega, 1e-9);
        EXPECT_NEAR(run.value(y), -2 * omega * std::sin(omega * run.time()), 1e-5);
    }
}

struct controlled {
    double error;
    std::int64_t steps;
};

controlled run_controlled(int degree, double tolerance) {
    const temporary_folder folder;
    const oscillator exact;
    scenario s = rigid_oscillator(degree, 0.005, 1, 0, 100);
    s.step_control.rtol = s.step_control.atol = s.step_control.atol_rate = tolerance;
    const run_summary summary = run(s, {.out = folder / "out", .workers = 1});
    const result_table table =
        read_results(folder / "out", [](std::string_view name) { return name == "first.mass.position"; });
    controlled found{0, summary.steps};
    for (std::size_t i = 0; i < table.rows(); ++i)
        found.error = std::max(found.error, std::abs(table.value(i, 0) - exact.x(table.time[i])));
    return found;
}

TEST(rigid_oscillator, controlled_steps_follow_the_tolerance) {
    for (const int degree : {2, 3}) {
        const controlled coarse = run_controlled(degree, 1e-4), fine = run_controlled(degree, 1e-8);
        EXPECT_LT(coarse.error, 1e-3);
        EXPECT_LT(fine.error, 1e-7);
        EXPECT_LT(fine.error, coarse.error / 100);
        EXPECT_GT(fine.steps, 2 * coarse.steps);
    }
}

}  // namespace
}  // namespace mdpcosim::test
