#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "support/solver_test_models.hpp"

namespace mdpcosim::test {

/// Error at t = 2 of a nonlinear problem with time-dependent input: x' = -x^2 + u, u = 1 + t, against a fine rk4.
double error_with_step(const std::string& name, double h) {
    const auto make = [] {
        return std::make_unique<function_model>(std::vector{2.0, 0.5}, 1,
                                                [](double t, const double* x, const double* u, double* dx) {
                                                    dx[0] = -x[0] * x[0] + u[0];
                                                    dx[1] = x[0] * std::cos(t) - x[1];
                                                });
    };
    const auto end_state = [&](const std::string& solver, double step) {
        solver_run run(make(), make_solver(solver, {{"step", step}}));
        run.inputs[0].c = {1, 1};
        run.inputs[0].degree = 1;
        run.to(2);
        return run.x;
    };
    static const std::vector<double> exact = end_state("rk4", 2.0 / 16384);
    const auto x = end_state(name, h);
    return std::hypot(x[0] - exact[0], x[1] - exact[1]);
}

double measured_order(const std::string& name) {
    return std::log2(error_with_step(name, 2.0 / 128) / error_with_step(name, 2.0 / 256));
}

TEST(fixed_step, measured_orders) {
    EXPECT_NEAR(measured_order("euler"), 1, 0.05);
    EXPECT_NEAR(measured_order("trapezoidal"), 2, 0.05);
    EXPECT_NEAR(measured_order("rk4"), 4, 0.1);
}

TEST(fixed_step, step_formulas) {
    solver_run e(oscillator(), make_solver("euler"));
    e.to(0.5);
    EXPECT_EQ(e.x, (std::vector{1.0, -0.5}));
    EXPECT_EQ(e.integrator->statistics().micro_steps, 1);
    EXPECT_EQ(e.integrator->statistics().evaluations, 1);

    // The trapezoidal rule turns the oscillator by 2 atan(h/2) and keeps its energy.
    for (const bool exact : {false, true}) {
        solver_run t(oscillator(exact), make_solver("trapezoidal"));
        t.to(0.5);
        EXPECT_NEAR(t.x[0], std::cos(2 * std::atan(0.25)), 1e-14);
        EXPECT_NEAR(t.x[1], -std::sin(2 * std::atan(0.25)), 1e-14);
    }
}

TEST(fixed_step, number_of_micro_steps) {
    const auto steps = [](double end, double h) {
        solver_run run(oscillator(), make_solver("euler", {{"step", h}}));
        run.to(end);
        return run.integrator->statistics().micro_steps;
    };
    EXPECT_EQ(steps(1, 0.1), 10);  // 1/0.1 is not a whole number in binary
    EXPECT_EQ(steps(1, 0.3), 4);
    EXPECT_EQ(steps(1, 5), 1);
}

TEST(fixed_step, trapezoidal_is_stable_on_stiff_problems) {
    // Prothero-Robinson: x' = lambda (x - cos t) - sin t, x = cos t.
    const double lambda = -1e6;
    auto model = std::make_unique<function_model>(std::vector{1.0}, 0,
                                                  [=](double t, const double* x, const double*, double* dx) {
                                                      dx[0] = lambda * (x[0] - std::cos(t)) - std::sin(t);
                                                  });
    solver_run run(std::move(model), make_solver("trapezoidal", {{"step", 0.01}}));
    run.to(3, 10);
    EXPECT_NEAR(run.x[0], std::cos(3), 1e-6);
}

TEST(fixed_step, overflow_is_an_error) {
    auto model = std::make_unique<function_model>(
        std::vector{1.0}, 0, [](double, const double* x, const double*, double* dx) { dx[0] = x[0] * x[0]; });
    solver_run run(std::move(model), make_solver("euler"));
    try {
        run.to(1e3, 100);
        FAIL();
    } catch (const run_error& e) {
        EXPECT_NE(std::string(e.what()).find("state 0 became"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("euler up to t = "), std::string::npos) << e.what();
    }
}

}  // namespace mdpcosim::test
