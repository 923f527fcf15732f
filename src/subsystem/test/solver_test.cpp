#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/error.hpp"
#include "support/solver_test_models.hpp"

namespace mdpcosim::test {

class adaptive : public testing::TestWithParam<std::string> {};
class every_solver : public testing::TestWithParam<std::string> {};
class implicit : public testing::TestWithParam<std::string> {};

const auto name_of = [](const auto& info) { return test_name(info.param); };
INSTANTIATE_TEST_SUITE_P(solvers, adaptive, testing::ValuesIn(adaptive_solvers), name_of);
INSTANTIATE_TEST_SUITE_P(solvers, every_solver, testing::ValuesIn(all_solvers), name_of);
INSTANTIATE_TEST_SUITE_P(solvers, implicit, testing::Values("dirk-2", "dirk-3", "dirk-4", "dirk-5", "cvode-bdf", "ida"),
                         name_of);

std::unique_ptr<solver> make_accurate(const std::string& name, double tolerance) {
    if (is_fixed(name)) return make_solver(name, {{"step", name == "euler" ? tolerance : 0.1 * std::sqrt(tolerance)}});
    return make_solver(name, {{"rtol", tolerance}, {"atol", tolerance}});
}

TEST(solvers, are_registered) {
    for (const auto& name : all_solvers) EXPECT_NE(solver_registry::instance().find(name), nullptr) << name;
    EXPECT_NE(solver_registry::instance().find(default_solver), nullptr);
}

TEST_P(adaptive, oscillator_to_tolerance) {
    // One long macro step and many short ones; with the local tolerance 1e-7 the global error over 10 s stays below
    // 1e-5.
    for (const int steps : {1, 100}) {
        solver_run run(oscillator(true), make_accurate(GetParam(), 1e-7));
        run.to(10, steps);
        EXPECT_NEAR(run.x[0], std::cos(10), 2e-5) << steps;
        EXPECT_NEAR(run.x[1], -std::sin(10), 2e-5) << steps;
        const auto s = run.integrator->statistics();
        EXPECT_GE(s.micro_steps, steps);
        EXPECT_GT(s.evaluations, s.micro_steps);
    }
}

TEST_P(adaptive, error_follows_tolerance) {
    const auto error = [&](double tolerance) {
        solver_run run(oscillator(), make_accurate(GetParam(), tolerance));
        run.to(5);
        return std::hypot(run.x[0] - std::cos(5), run.x[1] + std::sin(5));
    };
    EXPECT_LT(error(1e-4), 1e-2);
    EXPECT_LT(error(1e-8), 3e-6);
    EXPECT_LT(error(1e-8), 0.05 * error(1e-4));
}

/// Global order: one micro step per macro step, made by a large remembered step and loose tolerances. The implicit
/// methods get a linear problem, which Newton solves exactly whatever the tolerance.
double measured_order(const std::string& name, double h) {
    const double nonlinear = name.starts_with("erk") ? 0.1 : 0;
    const auto end_state = [&](double step) {
        auto model = std::make_unique<function_model>(
            std::vector{1.0, 0.0}, 0, [=](double t, const double* x, const double*, double* dx) {
                dx[0] = x[1] + nonlinear * std::sin(x[0] * t) + (0.1 - nonlinear) * std::sin(t * t);
                dx[1] = -x[0];
            });
        model->jacobian_function = [](double, const double*, double* J) { J[0] = 0, J[1] = -1, J[2] = 1, J[3] = 0; };
        solver_run run(std::move(model), make_solver(name, {{"rtol", 10}, {"atol", 10}}));
        run.integrator->set_memory(std::vector{1e3});
        const int n = static_cast<int>(std::lround(2 / step));
        run.to(2, n);
        EXPECT_EQ(run.integrator->statistics().micro_steps, n) << name;
        return run.x;
    };
    const auto a = end_state(h), b = end_state(h / 2), c = end_state(h / 4);
    return std::log2(std::hypot(a[0] - b[0], a[1] - b[1]) / std::hypot(b[0] - c[0], b[1] - c[1]));
}

TEST(solvers, measured_orders_of_pairs) {
    EXPECT_NEAR(measured_order("erk-2", 0.05), 2, 0.2);
    EXPECT_NEAR(measured_order("erk-3", 0.05), 3, 0.2);
    EXPECT_NEAR(measured_order("erk-4", 0.1), 4, 0.3);
    EXPECT_NEAR(measured_order("erk-5", 0.1), 5, 0.3);
    EXPECT_NEAR(measured_order("erk-6", 0.2), 6, 0.4);
    // Errors of order 8 hardly show in this problem; below they do.
    EXPECT_GE(measured_order("erk-8", 0.5), 7.2);
    EXPECT_NEAR(measured_order("dirk-2", 0.05), 2, 0.2);
    EXPECT_NEAR(measured_order("dirk-3", 0.05), 3, 0.2);
    EXPECT_NEAR(measured_order("dirk-4", 0.1), 4, 0.3);
    EXPECT_NEAR(measured_order("dirk-5", 0.1), 5, 0.3);
}

/// Steps inside a macro step as well, where a wrong first stage of the second step would show.
TEST(solvers, order_across_micro_steps) {
    struct measured {
        std::string name;
        int order;
        double step;
    };
    for (const auto& [name, order, step] :
         {measured{"erk-2", 2, 0.2}, measured{"erk-3", 3, 0.2}, measured{"erk-4", 4, 0.2}, measured{"erk-5", 5, 0.2},
          measured{"erk-6", 6, 0.2}, measured{"erk-8", 8, 0.8}}) {
        const auto error = [&, solver = name](double h) {
            solver_run run(oscillator(), make_solver(solver, {{"rtol", 10}, {"atol", 10}, {"max-step", h}}));
            run.integrator->set_memory(std::vector{h});
            run.to(4);
            return std::hypot(run.x[0] - std::cos(4), run.x[1] + std::sin(4));
        };
        EXPECT_NEAR(std::log2(error(step) / error(step / 2)), order, 0.5) << name;
    }
}

/// A linear problem: the first iteration solves it, the second finds that out.
TEST(solvers, trapezoidal_counts_newton) {
    solver_run run(oscillator(true), make_solver("trapezoidal", {{"step", 0.1}}));
    run.to(10);
    const auto s = run.integrator->statistics();
    EXPECT_EQ(s.micro_steps, 100);
    EXPECT_EQ(s.newton_iterations, 200);
    EXPECT_EQ(s.factorisations, 100);
}

TEST_P(implicit, counts_newton) {
    solver_run run(oscillator(true), make_accurate(GetParam(), 1e-6));
    run.to(10, 10);
    const auto s = run.integrator->statistics();
    EXPECT_GE(s.newton_iterations, s.micro_steps);
    EXPECT_GT(s.factorisations, 0);
    EXPECT_LE(s.factorisations, s.newton_iterations);
}

TEST_P(implicit, prothero_robinson) {
    // x' = lambda (x - cos t) - sin t with lambda = -1e6: explicit methods would need 1e7 steps.
    for (const bool exact : {false, true}) {
        const double lambda = -1e6;
        auto model = std::make_unique<function_model>(std::vector{1.0}, 0,
                                                      [=](double t, const double* x, const double*, double* dx) {
                                                          dx[0] = lambda * (x[0] - std::cos(t)) - std::sin(t);
                                                      });
        if (exact) model->jacobian_function = [=](double, const double*, double* J) { J[0] = lambda; };
        solver_run run(std::move(model), make_accurate(GetParam(), 1e-6));
        run.to(10, 20);
        EXPECT_NEAR(run.x[0], std::cos(10), 1e-5);
        EXPECT_LT(run.integrator->statistics().micro_steps, 20000);
    }
}

TEST_P(implicit, robertson) {
    // Robertson's kinetics at t = 40: 0.7158270688, 9.185534765e-6, 0.2841637457 (Hairer, Wanner II, IV.10).
    auto model = std::make_unique<function_model>(std::vector{1.0, 0.0, 0.0}, 0,
                                                  [](double, const double* x, const double*, double* dx) {
                                                      dx[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
                                                      dx[2] = 3e7 * x[1] * x[1];
                                                      dx[1] = -dx[0] - dx[2];
                                                  });
    solver_run run(std::move(model), make_solver(GetParam(), {{"rtol", 1e-7}, {"atol", 1e-11}}));
    run.to(40, 4);
    EXPECT_NEAR(run.x[0], 0.7158270688, 2e-6);
    EXPECT_NEAR(run.x[1], 9.185534765e-6, 1e-10);
    EXPECT_NEAR(run.x[2], 0.2841637457, 2e-6);
}

TEST_P(every_solver, piecewise_constant_input) {
    // x' = -x + u, u = +1, -1 in turn: x_{k+1} = u + (x_k - u) e^{-H}.
    auto model = std::make_unique<function_model>(
        std::vector{0.0}, 1, [](double, const double* x, const double* u, double* dx) { dx[0] = -x[0] + u[0]; });
    solver_run run(std::move(model), make_accurate(GetParam(), 1e-6));
    const double H = 0.25;
    double exact = 0;
    for (int k = 0; k < 20; ++k) {
        const double u = k % 2 == 0 ? 1 : -1;
        run.inputs[0] = constant(u);
        run.to((k + 1) * H);
        exact = u + (exact - u) * std::exp(-H);
        EXPECT_NEAR(run.x[0], exact, is_multistep(GetParam()) ? 2e-5 : 5e-6) << k;
    }
}

TEST_P(every_solver, looks_neither_back_nor_ahead) {
    // f and the inputs are asked for inside the macro step only.
    double begin = 0, end = 0;
    auto model = std::make_unique<function_model>(std::vector{1.0, 0.0}, 0,
                                                  [&](double t, const double* x, const double*, double* dx) {
                                                      EXPECT_GE(t, begin - 1e-15);
                                                      EXPECT_LE(t, end + 1e-15);
                                                      dx[0] = x[1];
                                                      dx[1] = -std::sin(x[0]);
                                                  });
    solver_run run(std::move(model), make_solver(GetParam()));
    for (int k = 0; k < 20; ++k) {
        begin = run.t;
        end = run.t + 0.3;
        run.to(end);
    }
}

TEST_P(every_solver, no_states) {
    auto model = std::make_unique<function_model>(std::vector<double>{}, 1,
                                                  [](double, const double*, const double*, double*) {});
    solver_run run(std::move(model), make_solver(GetParam()));
    run.to(1, 10);
    EXPECT_EQ(run.t, 1);
    EXPECT_TRUE(run.x.empty());
}

/// One micro step per macro step must stay one when the macro step is short: the remembered step survives the cut.
TEST_P(adaptive, remembers_the_uncut_step) {
    std::vector<option> options{{"rtol", 1e-6}, {"atol", 1e-6}};
    if (is_multistep(GetParam())) options.push_back({"restart", 1});
    solver_run long_steps(oscillator(), make_solver(GetParam(), options));
    long_steps.to(50);
    const auto needed = long_steps.integrator->statistics().micro_steps;
    solver_run run(oscillator(), make_solver(GetParam(), options));
    const int n = is_multistep(GetParam()) ? 100000 : 20000;  // order 1 needs smaller steps
    run.to(50, n);
    const auto s = run.integrator->statistics();
    EXPECT_LT(s.micro_steps, n + n / 100 + 10 * needed);
    EXPECT_LT(s.rejected, n / 100);
}

TEST_P(adaptive, saved_and_restored_bitwise) {
    std::vector<option> options{{"rtol", 1e-6}};
    if (is_multistep(GetParam())) options.push_back({"restart", 1});
    const auto make = [&] {
        return std::make_unique<solver_run>(
            std::make_unique<function_model>(std::vector{2.0, 0.0}, 1,
                                             [](double, const double* x, const double* u, double* dx) {
                                                 dx[0] = x[1];
                                                 dx[1] = 5 * (1 - x[0] * x[0]) * x[1] - x[0] + u[0];
                                             }),
            make_solver(GetParam(), options));
    };
    auto a = make();
    ASSERT_TRUE(a->integrator->saves());
    a->to(1.7, 13);
    const auto x = a->x;
    std::vector<double> memory(a->integrator->memory_size());
    a->integrator->memory(memory);
    a->to(4, 7);
    const auto first = a->x;
    for (int again = 0; again < 2; ++again) {
        a->x = x;
        a->t = 1.7;
        a->integrator->reset(a->t, a->x);
        a->integrator->set_memory(memory);
        a->to(4, 7);
        EXPECT_EQ(std::memcmp(a->x.data(), first.data(), 16), 0) << again;
    }
    auto b = make();  // another instance, as for parallel trial steps
    b->x = x;
    b->t = 1.7;
    b->integrator->reset(b->t, b->x);
    b->integrator->set_memory(memory);
    b->to(4, 7);
    EXPECT_EQ(std::memcmp(b->x.data(), first.data(), 16), 0);
}

TEST(solvers, multistep_without_restart_says_why_it_cannot_be_saved) {
    for (const char* name : {"cvode-adams", "cvode-bdf", "ida"}) {
        EXPECT_FALSE(make_solver(name)->saves());
        EXPECT_NE(make_solver(name)->why_not_saved().find("restart: yes"), std::string::npos);
    }
}

TEST(solvers, multistep_history_lives_on_while_inputs_are_smooth) {
    const auto steps = [](bool restart, double jump) {
        solver_run run(oscillator(), make_solver("cvode-adams", {{"restart", restart ? 1.0 : 0.0}}));
        for (int k = 0; k < 100; ++k) {
            run.inputs[0] = constant(k % 2 * jump);
            run.to(0.1 * (k + 1));
        }
        return run.integrator->statistics().micro_steps;
    };
    EXPECT_LT(3 * steps(false, 0), steps(true, 0));
    EXPECT_LT(3 * steps(false, 1e-7), steps(true, 1e-7));
    EXPECT_GT(2 * steps(false, 1), steps(true, 1));
}

std::string failure(solver_run& run, double end, int n = 1) {
    try {
        run.to(end, n);
    } catch (const run_error& e) {
        return e.what();
    }
    return "no failure";
}

TEST_P(adaptive, too_many_steps) {
    solver_run run(oscillator(), make_solver(GetParam(), {{"max-steps", 10}}));
    const std::string text = failure(run, 1000);
    EXPECT_TRUE(text.starts_with(GetParam() + " at t = ")) << text;
    EXPECT_NE(text.find("more than 10 micro steps in one macro step"), std::string::npos) << text;
    EXPECT_NE(text.find("raise max-steps"), std::string::npos) << text;
}

TEST_P(adaptive, not_a_number) {
    // sqrt(x) with x falling below zero at t = 1; then at once.
    auto model = std::make_unique<function_model>(
        std::vector{1.0}, 0,
        [](double t, const double*, const double*, double* dx) { dx[0] = -1 + 0 * std::sqrt(1 - t); });
    solver_run run(std::move(model), make_solver(GetParam()));
    const std::string text = failure(run, 3, 3);
    EXPECT_NE(text.find("right-hand side is not finite (derivative of state 0"), std::string::npos) << text;

    auto bad = std::make_unique<function_model>(std::vector{1.0}, 0,
                                                [](double, const double*, const double*, double* dx) { dx[0] = NAN; });
    solver_run second(std::move(bad), make_solver(GetParam()));
    const std::string at_once = failure(second, 3);
    EXPECT_TRUE(at_once.starts_with(GetParam() + " at t = 0: the right-hand side is not finite")) << at_once;
    EXPECT_NE(at_once.find("(derivative of state 0 at t = 0)"), std::string::npos) << at_once;
}

TEST_P(every_solver, exceptions_of_the_model_come_through) {
    auto model =
        std::make_unique<function_model>(std::vector{1.0}, 0, [](double t, const double*, const double*, double* dx) {
            if (t > 0.5) throw run_error("no fuel left");
            dx[0] = 1;
        });
    solver_run run(std::move(model), make_solver(GetParam()));
    EXPECT_EQ(failure(run, 1, 4), "no fuel left");
}

TEST_P(adaptive, prints_nothing) {
    testing::internal::CaptureStderr();
    solver_run run(oscillator(), make_solver(GetParam(), {{"max-steps", 10}}));
    failure(run, 1000);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_P(adaptive, max_step_is_kept) {
    solver_run run(oscillator(), make_solver(GetParam(), {{"max-step", 0.01}, {"rtol", 0.1}, {"atol", 0.1}}));
    run.to(1);
    EXPECT_GE(run.integrator->statistics().micro_steps, 100);
    EXPECT_LE(run.integrator->statistics().micro_steps, 130);
}

}  // namespace mdpcosim::test
