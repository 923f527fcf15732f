#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/error.hpp"
#include "support/allocation_counter.hpp"
#include "support/solver_test_models.hpp"

/// Differential-algebraic models of index 1 with known solutions, integrated by ida.
namespace mdpcosim::test {
namespace {

using testing::HasSubstr;

std::unique_ptr<function_model> with_algebraic(std::unique_ptr<function_model> model, std::vector<int> algebraic) {
    model->algebraic = std::move(algebraic);
    return model;
}

/// C v' = i, 0 = u - R i - v with R = 2 Ohm, C = 0.25 F: v = u (1 - e^{-2t}), i = u/R e^{-2t} for constant u.
std::unique_ptr<function_model> rc_circuit(double guess = 0) {
    return with_algebraic(std::make_unique<function_model>(std::vector{0.0, guess}, 1,
                                                           [](double, const double* x, const double* u, double* f) {
                                                               f[0] = x[1] / 0.25;
                                                               f[1] = u[0] - 2 * x[1] - x[0];
                                                           }),
                          {1});
}

std::unique_ptr<solver> make_ida(double tolerance, std::vector<option> more = {}) {
    more.push_back({"rtol", tolerance});
    more.push_back({"atol", tolerance});
    return make_solver("ida", more);
}

std::string failure_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const std::exception& e) {
        return e.what();
    }
    return "no failure";
}

TEST(dae, rc_circuit_follows_its_exact_solution) {
    for (const double restart : {0.0, 1.0})
        for (const int steps : {1, 40}) {
            solver_run run(rc_circuit(), make_ida(1e-8, {{"restart", restart}}));
            run.inputs[0] = constant(5);
            run.to(1.5, steps);
            EXPECT_NEAR(run.x[0], 5 * (1 - std::exp(-3)), 2e-6) << restart << ' ' << steps;
            EXPECT_NEAR(run.x[1], 2.5 * std::exp(-3), 2e-6) << restart << ' ' << steps;
        }
}

TEST(dae, algebraic_state_follows_a_jump_of_the_input) {
    // u = +4, -4 in turn: v_{k+1} = u + (v_k - u) e^{-2H}.
    for (const double over : {0.0, 1.0}) {
        solver_run run(rc_circuit(), make_ida(1e-7, {{"stop", over}}));
        const double H = 0.1;
        double v = 0;
        for (int k = 0; k < 20; ++k) {
            const double u = k % 2 == 0 ? 4 : -4;
            run.inputs[0] = constant(u);
            run.to((k + 1) * H);
            v = u + (v - u) * std::exp(-2 * H);
            EXPECT_NEAR(run.x[0], v, 1e-5) << over << ' ' << k;
            EXPECT_NEAR(run.x[1], (u - v) / 2, 1e-5) << over << ' ' << k;
        }
    }
}

/// The pendulum x = L sin phi, y = -L cos phi with the tension as algebraic variable from the constraint differentiated
/// twice: 0 = |v|^2 - g y - lambda L^2. Against phi'' = -g/L sin phi.
TEST(dae, pendulum_with_its_tension) {
    constexpr double g = 9.81, L = 0.8, phi0 = 1.0;
    auto model = with_algebraic(
        std::make_unique<function_model>(std::vector{L * std::sin(phi0), -L * std::cos(phi0), 0.0, 0.0, 0.0}, 0,
                                         [](double, const double* x, const double*, double* f) {
                                             f[0] = x[2];
                                             f[1] = x[3];
                                             f[2] = -x[4] * x[0];
                                             f[3] = -x[4] * x[1] - g;
                                             f[4] = x[2] * x[2] + x[3] * x[3] - g * x[1] - x[4] * L * L;
                                         }),
        {4});
    solver_run run(std::move(model), make_ida(1e-9));
    EXPECT_NEAR(run.x[4], g * std::cos(phi0) / L, 1e-9);  // made consistent at the start
    auto angle = std::make_unique<function_model>(std::vector{phi0, 0.0}, 0,
                                                  [](double, const double* x, const double*, double* dx) {
                                                      dx[0] = x[1];
                                                      dx[1] = -g / L * std::sin(x[0]);
                                                  });
    solver_run exact(std::move(angle), make_solver("erk-8", {{"rtol", 1e-12}, {"atol", 1e-12}}));
    for (int k = 1; k <= 10; ++k) {
        run.to(0.2 * k, 4);
        exact.to(0.2 * k);
        EXPECT_NEAR(run.x[0], L * std::sin(exact.x[0]), 2e-6) << k;
        EXPECT_NEAR(run.x[1], -L * std::cos(exact.x[0]), 2e-6) << k;
        EXPECT_NEAR(run.x[4], exact.x[1] * exact.x[1] + g / L * std::cos(exact.x[0]), 2e-5) << k;
    }
}

/// Robertson's kinetics with the conservation of mass as algebraic equation; values at t = 40 from Hairer, Wanner II, IV.10, at
/// t = 4e5 from the SUNDIALS documentation (idaRoberts_dns).
TEST(dae, robertson) {
    for (const bool sparse : {false, true}) {
        auto model =
            with_algebraic(std::make_unique<function_model>(std::vector{1.0, 0.0, 0.5}, 0,
                                                            [](double, const double* x, const double*, double* f) {
                                                                f[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
                                                                f[1] = -f[0] - 3e7 * x[1] * x[1];
                                                                f[2] = x[0] + x[1] + x[2] - 1;
                                                            }),
                           {2});
        model->pattern = {{0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}};
        solver_run run(std::move(model),
                       make_solver("ida", {{"rtol", 1e-7}, {"atol", 1e-11}, {"linear-solver", sparse ? 2.0 : 1.0}}));
        EXPECT_NEAR(run.x[2], 0, 1e-15);
        run.to(40, 4);
        EXPECT_NEAR(run.x[0], 0.7158270688, 2e-6);
        EXPECT_NEAR(run.x[1], 9.185534765e-6, 1e-10);
        EXPECT_NEAR(run.x[2], 0.2841637457, 2e-6);
        run.to(4e5, 4);
        EXPECT_NEAR(run.x[0], 4.9383e-3, 2e-6);
        EXPECT_NEAR(run.x[2], 9.9506e-1, 1e-5);
        EXPECT_NEAR(run.x[0] + run.x[1] + run.x[2], 1, 1e-10);
    }
}

TEST(dae, error_follows_tolerance) {
    const auto error = [](double tolerance) {
        solver_run run(rc_circuit(), make_ida(tolerance));
        run.inputs[0] = constant(5);
        run.to(1);
        return std::hypot(run.x[0] - 5 * (1 - std::exp(-2)), run.x[1] - 2.5 * std::exp(-2));
    };
    EXPECT_LT(error(1e-4), 1e-2);
    EXPECT_LT(error(1e-8), 1e-6);
    EXPECT_LT(error(1e-8), 0.01 * error(1e-4));
}

TEST(dae, start_values_are_made_consistent) {
    // 0 = a^3 + a - 10 has the real root 2; far guesses need damping.
    for (const double guess : {0.0, 1e3, -50.0}) {
        auto model =
            with_algebraic(std::make_unique<function_model>(std::vector{0.0, guess}, 0,
                                                            [](double, const double* x, const double*, double* f) {
                                                                f[0] = x[1];
                                                                f[1] = x[1] * x[1] * x[1] + x[1] - 10;
                                                            }),
                           {1});
        solver_run run(std::move(model), make_ida(1e-8));
        EXPECT_NEAR(run.x[1], 2, 1e-9) << guess;
        run.to(1);
        EXPECT_NEAR(run.x[0], 2, 1e-8);
    }
}

TEST(dae, inconsistent_start_values_are_explained) {
    const auto start = [](function_model::rhs f) {
        return failure_of([&] {
            solver_run run(
                with_algebraic(std::make_unique<function_model>(std::vector{1.0, 1.0}, 0, std::move(f)), {1}),
                make_ida(1e-6));
        });
    };
    // a^2 + 1 = 0 has no real root.
    const std::string none = start([](double, const double* x, const double*, double* f) {
        f[0] = -x[0];
        f[1] = x[1] * x[1] + 1;
    });
    EXPECT_THAT(none, HasSubstr("ida at t = 0: no consistent values"));
    EXPECT_THAT(none, HasSubstr("equation of state 1 has the residual"));
    // Index 2: the equation of a does not contain a.
    const std::string index = start([](double, const double* x, const double*, double* f) {
        f[0] = x[1];
        f[1] = x[0] - 1;
    });
    EXPECT_THAT(index, HasSubstr("the index is higher than 1"));
    const std::string undefined = start([](double, const double* x, const double*, double* f) {
        f[0] = x[1];
        f[1] = std::sqrt(-x[0]) - x[1];
    });
    EXPECT_THAT(undefined, HasSubstr("they are not finite there"));
}

TEST(dae, equations_that_lose_their_solution_fail_with_the_reason) {
    // 0 = a^2 - (1 - t): no solution after t = 1, and singular there.
    auto model =
        with_algebraic(std::make_unique<function_model>(std::vector{0.0, 1.0}, 0,
                                                        [](double t, const double* x, const double*, double* f) {
                                                            f[0] = x[1];
                                                            f[1] = x[1] * x[1] - (1 - t);
                                                        }),
                       {1});
    solver_run run(std::move(model), make_ida(1e-6));
    run.to(0.9);
    EXPECT_NEAR(run.x[1], std::sqrt(0.1), 1e-4);
    EXPECT_THAT(failure_of([&] { run.to(2); }), HasSubstr("ida at t = "));
}

TEST(dae, other_solvers_refuse_algebraic_states) {
    for (const auto& name : all_solvers) {
        if (name == "ida") continue;
        EXPECT_THAT(make_solver(name)->why_not(*rc_circuit()), HasSubstr("solver: ida")) << name;
        EXPECT_THROW(make_native_subsystem(rc_circuit(), make_solver(name)), std::invalid_argument) << name;
    }
    EXPECT_EQ(make_solver("ida")->why_not(*rc_circuit()), "");
}

TEST(dae, outputs_see_the_present_inputs) {
    const auto circuit = make_native_subsystem(rc_circuit(), make_ida(1e-8));
    circuit->initialise(0);
    std::vector<double> y(2);
    for (const double u : {3.0, -7.0, 3.0}) {
        circuit->outputs(std::vector{u}, y);
        EXPECT_NEAR(y[1], u / 2, 1e-12);
    }
    const std::vector<polynomial> inputs{constant(3)};
    circuit->advance({0, 0.5, 0}, inputs, y);
    const double v = y[0];
    EXPECT_NEAR(v, 3 * (1 - std::exp(-1)), 1e-6);
    EXPECT_NEAR(y[1], (3 - v) / 2, 1e-12);
    circuit->outputs(std::vector{-1.0}, y);
    EXPECT_EQ(y[0], v);
    EXPECT_NEAR(y[1], (-1 - v) / 2, 1e-12);
}

TEST(dae, state_events_keep_the_equations) {
    // The capacitor is emptied whenever v reaches 1: a relaxation oscillator of period ln(5/4)/2 for u = 5.
    auto model = rc_circuit();
    model->events = 1;
    model->indicators = [](double, const double* x, const double*, double* z) { z[0] = x[0] - 1; };
    model->on_event = [](int, bool rising, double, double* x, const double*) {
        if (!rising) return false;
        x[0] = 0;
        return true;
    };
    solver_run run(std::move(model), make_ida(1e-9));
    run.inputs[0] = constant(5);
    const double period = 0.5 * std::log(5.0 / 4);
    const double end = 10.3 * period;
    run.to(end, 7);
    const double v = 5 * (1 - std::exp(-2 * 0.3 * period));
    EXPECT_NEAR(run.x[0], v, 1e-5);
    EXPECT_NEAR(run.x[1], (5 - v) / 2, 1e-5);
    EXPECT_EQ(run.integrator->statistics().events, 10);
}

TEST(dae, restores_bitwise) {
    const auto make = [] { return make_native_subsystem(rc_circuit(), make_ida(1e-7, {{"restart", 1}})); };
    const auto a = make();
    a->initialise(0);
    const auto saved = a->make_snapshot();
    std::vector<double> y(2), first(2);
    const std::vector<polynomial> inputs{constant(2)}, others{constant(-3)};
    a->advance({0, 0.1, 0}, inputs, y);
    a->save(*saved);
    a->advance({0.1, 0.2, 1}, inputs, first);
    for (int again = 0; again < 3; ++again) {
        a->restore(*saved);
        a->advance({0.1, 0.3, 1}, others, y);
        a->restore(*saved);
        a->advance({0.1, 0.2, 1}, inputs, y);
        EXPECT_EQ(y, first);
    }
}

TEST(dae, integrates_without_allocating) {
    if (!allocations_are_counted()) GTEST_SKIP();
    for (const double restart : {0.0, 1.0}) {
        solver_run run(rc_circuit(), make_ida(1e-7, {{"restart", restart}}));
        const allocation_counter allocations;
        for (int k = 0; k < 50; ++k) {
            run.inputs[0] = constant(k % 3);
            run.to(0.05 * (k + 1));
        }
        EXPECT_EQ(allocations.count(), 0) << restart;
    }
}

}  // namespace
}  // namespace mdpcosim::test
