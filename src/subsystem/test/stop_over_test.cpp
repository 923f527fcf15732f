#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/allocation_counter.hpp"
#include "support/solver_test_models.hpp"

/// `stop: over`: micro steps run over the macro points, the state there is interpolated.
namespace mdpcosim::test {
namespace {

class stop_over : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(solvers, stop_over, testing::Values("cvode-adams", "cvode-bdf", "ida"),
                         [](const auto& one) { return test_name(one.param); });

std::unique_ptr<function_model> lag() {
    return std::make_unique<function_model>(
        std::vector{0.0}, 1, [](double, const double* x, const double* u, double* dx) { dx[0] = -x[0] + u[0]; });
}

struct outcome {
    double error = 0;
    std::int64_t steps = 0;
};

/// Largest error at the macro points of x' = -x + u up to t = 2, u being sin(4t) replaced in each macro step by its Taylor
/// polynomial a + b s + c s^2 of the given degree at the begin; the exact answer to these polynomials is known step by step.
outcome drive(const std::string& name, double over, double tolerance, double H, int degree) {
    solver_run run(lag(), make_solver(name, {{"rtol", tolerance}, {"atol", tolerance}, {"stop", over}}));
    double exact = 0;
    outcome result;
    const int n = static_cast<int>(std::lround(2 / H));
    for (int k = 0; k < n; ++k) {
        const double phase = 4 * k * H;
        const double a = std::sin(phase), b = degree > 0 ? 4 * std::cos(phase) : 0,
                     c = degree > 1 ? -8 * std::sin(phase) : 0;
        run.inputs[0] = constant(a);
        run.inputs[0].c[1] = b;
        run.inputs[0].c[2] = c;
        run.inputs[0].degree = degree;
        run.to((k + 1) * H);
        const double B = b - 2 * c, A = a - B;  // x = A + B s + c s^2 + (x_0 - A) e^{-s}
        exact = A + B * H + c * H * H + (exact - A) * std::exp(-H);
        result.error = std::max(result.error, std::fabs(run.x[0] - exact));
    }
    result.steps = run.integrator->statistics().micro_steps;
    return result;
}

/// The added error is the jump of the input, O(H^(degree + 1)), times the piece beyond the macro point, O(H), in each of 1/H
/// steps. The tolerance leaves one micro step of size H per macro step, so that nothing else is seen.
TEST_P(stop_over, converges_with_the_macro_step) {
    for (const int degree : {0, 1}) {
        const double coarse = drive(GetParam(), 1, 1e-3, 0.01, degree).error,
                     fine = drive(GetParam(), 1, 1e-3, 0.0025, degree).error;
        const double order = std::log2(coarse / fine) / 2;
        EXPECT_GT(order, degree + 0.7) << degree;
        EXPECT_LT(order, degree + 1.3) << degree;
    }
}

TEST_P(stop_over, exact_is_more_accurate) {
    for (const int degree : {0, 1})
        for (const double H : {0.04, 0.01})
            EXPECT_LT(3 * drive(GetParam(), 0, 1e-9, H, degree).error, drive(GetParam(), 1, 1e-9, H, degree).error);
}

TEST_P(stop_over, takes_fewer_micro_steps_where_the_inputs_jump_little) {
    EXPECT_LT(2 * drive(GetParam(), 1, 1e-6, 0.02, 2).steps, drive(GetParam(), 0, 1e-6, 0.02, 2).steps);
}

TEST(stop_over_bdf, takes_more_micro_steps_where_the_inputs_jump_much) {
    for (const char* name : {"cvode-bdf", "ida"})
        EXPECT_GT(drive(name, 1, 1e-6, 0.02, 0).steps, drive(name, 0, 1e-6, 0.02, 0).steps) << name;
}

TEST_P(stop_over, micro_steps_are_not_larger_than_the_macro_step) {
    solver_run run(oscillator(), make_solver(GetParam(), {{"stop", 1}, {"rtol", 0.1}, {"atol", 0.1}}));
    run.to(10, 1000);
    EXPECT_GE(run.integrator->statistics().micro_steps, 1000);
    EXPECT_LE(run.integrator->statistics().micro_steps, 1010);
}

TEST_P(stop_over, without_inputs_nothing_is_added) {
    solver_run run(oscillator(), make_solver(GetParam(), {{"stop", 1}, {"rtol", 1e-8}, {"atol", 1e-8}}));
    for (int k = 1; k <= 50; ++k) {
        run.to(0.2 * k);
        EXPECT_NEAR(run.x[0], std::cos(run.t), 5e-6);
        EXPECT_NEAR(run.x[1], -std::sin(run.t), 5e-6);
    }
    run.to(10.01);  // shorter macro steps than before, and one inside the last micro step
    run.to(10.010001);
    EXPECT_NEAR(run.x[0], std::cos(run.t), 5e-6);
    run.to(10.2);
    EXPECT_NEAR(run.x[0], std::cos(run.t), 5e-6);
}

TEST_P(stop_over, does_not_run_over_time_events) {
    // x' = 1 before t = 1, 10 after it: the micro steps end at the event, also where it lies beyond the macro point.
    for (const double H : {0.3, 0.25}) {
        auto model = std::make_unique<function_model>(
            std::vector{0.0}, 0, [](double t, const double*, const double*, double* dx) { dx[0] = t < 1 ? 1 : 10; });
        model->time_events = [](double t) { return t < 1 ? 1 : std::numeric_limits<double>::infinity(); };
        solver_run run(std::move(model), make_solver(GetParam(), {{"stop", 1}}));
        for (int k = 1; k <= 8; ++k) {
            run.to(k * H);
            EXPECT_NEAR(run.x[0], run.t < 1 ? run.t : 1 + 10 * (run.t - 1), 1e-9) << H << ' ' << k;
        }
        EXPECT_EQ(run.integrator->statistics().events, 1);
    }
}

TEST_P(stop_over, state_events_are_found) {
    // A ball falling from 1 m without loss: back at 1 m after every 2 sqrt(2/g).
    auto model = std::make_unique<function_model>(std::vector{1.0, 0.0}, 0,
                                                  [](double, const double* x, const double*, double* dx) {
                                                      dx[0] = x[1];
                                                      dx[1] = -9.81;
                                                  });
    model->events = 1;
    model->indicators = [](double, const double* x, const double*, double* z) { z[0] = x[0]; };
    model->on_event = [](int, bool rising, double, double* x, const double*) {
        if (!rising) x[1] = -x[1];
        return !rising;
    };
    solver_run run(std::move(model), make_solver(GetParam(), {{"stop", 1}, {"rtol", 1e-9}, {"atol", 1e-9}}));
    run.to(6 * std::sqrt(2 / 9.81), 37);
    EXPECT_NEAR(run.x[0], 1, 1e-5);
    EXPECT_EQ(run.integrator->statistics().events, 3);
}

TEST_P(stop_over, cannot_be_saved_and_says_why) {
    const auto made = make_solver(GetParam(), {{"stop", 1}});
    EXPECT_FALSE(made->saves());
    EXPECT_THAT(made->why_not_saved(), testing::HasSubstr("beyond the macro point"));
    EXPECT_THROW(make_solver(GetParam(), {{"stop", 1}, {"restart", 1}}), std::invalid_argument);
}

TEST_P(stop_over, allocates_nothing) {
    if (!allocations_are_counted()) GTEST_SKIP();
    solver_run run(oscillator(), make_solver(GetParam(), {{"stop", 1}}));
    const allocation_counter allocations;
    for (int k = 0; k < 100; ++k) {
        run.inputs[0] = constant(k % 2);
        run.to(0.1 * (k + 1));
    }
    EXPECT_EQ(allocations.count(), 0);
}

}  // namespace
}  // namespace mdpcosim::test
