#include <gtest/gtest.h>

#include <cstdio>

#include "master/test/small_systems.hpp"

/// The explicit method against the exact solution of two coupled oscillators, and its global order.
///
/// Table 2.3 of Friedrich 2011 gives the local order of the velocities, P_v = min(R, N + 2) for degree N and R order
/// conditions. Over a fixed time the error is then of order P_v, if the history is exact from the start. A run begins
/// without one: its first step knows the present value only (error of the velocity H^2) or the value and its rate (H^3), and
/// that error stays. So a run has the order min(P_v, 2) without rates, min(P_v, 3) with rates.
namespace mdpcosim {
namespace {

using test::two_mass;

std::unique_ptr<method> explicit_method() { return method_registry::instance().find("explicit")->make(); }

/// Exact values at t0 - H, t0 - 2H, ... enter the history.
void give_history(coupled_system& system, double t0, double H, int points) {
    for (int k = points - 1; k >= 1; --k) {
        const double t = t0 - k * H;
        const auto x = two_mass::exact(t);
        const std::array<double, 6> y{x[0], x[1], 0, x[2], x[3], 0};
        std::array<double, 1> u, du;
        system.coupling.evaluate(t, y, u, du);
        system.coupling.accept(t, y, u, du);
    }
}

/// Largest error at the macro points of a run from 0.3 s over 2 s in n steps.
double largest_error(const extrapolation_rule& rule, int n, bool exact_history) {
    constexpr double t0 = 0.3, span = 2;
    const time_grid grid(t0, t0 + span, span / n);
    coupled_system system = two_mass::make(rule, grid.step_size() / 8);
    const auto chosen = explicit_method();
    system.initialise(t0);
    if (exact_history) give_history(system, t0, grid.step_size(), rule.K);
    double largest = 0;
    for (std::int64_t i = 0; i < grid.steps(); ++i) {
        chosen->step(system, grid.step(i));
        largest = std::max(largest, two_mass::error(system, grid.time(i + 1)));
    }
    return largest;
}

double measured_order(const extrapolation_rule& rule, int n, bool exact_history) {
    return std::log2(largest_error(rule, n, exact_history) / largest_error(rule, 2 * n, exact_history));
}

TEST(explicit_method, global_order_of_a_run) {
    for (const auto& name : extrapolation_names()) {
        const extrapolation_rule rule = make_extrapolation(name);
        const int expected = std::min({rule.R, rule.degree + 2, rule.uses_rates ? 3 : 2});
        const double order = measured_order(rule, 400, false);
        std::printf("%-28s N=%d R=%d  global order %d, measured %.3f\n", name.c_str(), rule.degree, rule.R, expected,
                    order);
        EXPECT_NEAR(order, expected, 0.12) << name;
    }
}

TEST(explicit_method, global_order_from_exact_history) {
    for (const char* name : {"poly-1", "poly-2", "poly-3", "poly-4", "hermite-1", "hermite-2", "const-1-2", "const-2-4",
                             "const-2-2-opt", "const-2-3-opt", "lin-2-2-b0", "lin-3-3-b0", "lin-2-2-opt", "lin-2-3-opt",
                             "lin-2-4", "lin-3-6", "quad-1-2", "quad-2-4", "quad-3-6"}) {
        const extrapolation_rule rule = make_extrapolation(name);
        const int expected = std::min(rule.R, rule.degree + 2);
        const double order = measured_order(rule, 200, true);
        std::printf("%-28s N=%d R=%d  global order %d, measured %.3f\n", name, rule.degree, rule.R, expected, order);
        EXPECT_NEAR(order, expected, 0.12) << name;
    }
}

/// The default rule at a usual step: 60 macro steps per period of the faster mode.
TEST(explicit_method, follows_the_exact_solution) {
    const time_grid grid(0, 20, 0.035);
    coupled_system system = two_mass::make(make_extrapolation("lin-2-3-opt"), 0);
    system.initialise(0);
    test::run_steps(system, *explicit_method(), grid);
    EXPECT_EQ(grid.steps(), 572);
    EXPECT_LT(two_mass::error(system, 20), 2e-3);
    // The coupling variable belongs to the outputs of the same time.
    const auto y = system.subsystems->outputs();
    EXPECT_EQ(system.u[0], two_mass::c_c * (y[0] - y[3]));
    EXPECT_EQ(system.du[0], two_mass::c_c * (y[1] - y[4]));
}

/// A constant force is extrapolated exactly, so that the coupling adds no error: a mass of 1 kg under 2 N.
TEST(explicit_method, is_exact_for_constant_coupling) {
    std::vector<named_subsystem> parts;
    parts.push_back({"force", std::make_unique<test::algebraic>(0, false, [](double, auto) { return 2.0; })});
    parts.push_back({"body", test::with_rk4(std::make_unique<test::oscillator>(1, 0,
                                                                               [](double) {
                                                                                   return std::array{0.0, 0.0};
                                                                               }),
                                            0)});
    coupled_system system;
    system.subsystems = make_thread_transport(std::move(parts), 1);
    const auto channel = system.coupling.add_channel("signal", nullptr, {{output_slot(0), output_slot(), 1}},
                                                     make_extrapolation("poly-3"));
    system.coupling.add_delivery(input_slot(0), max_degree, {channel, 1});
    system.coupling.finish(std::vector<double>{0});
    system.finish();
    system.initialise(0);
    test::run_steps(system, *explicit_method(), time_grid(0, 4, 0.25));
    EXPECT_EQ(system.subsystems->outputs()[1], 16);
    EXPECT_EQ(system.subsystems->outputs()[2], 8);
    EXPECT_EQ(system.subsystems->outputs()[3], 2);
}

/// The same bits from every number of workers.
TEST(explicit_method, workers_do_not_change_the_solution) {
    std::vector<std::vector<double>> ends;
    for (const int workers : {1, 2}) {
        coupled_system system = two_mass::make(make_extrapolation("quad-2-4"), 1e-4, workers);
        system.initialise(0.3);
        test::run_steps(system, *explicit_method(), time_grid(0.3, 2.3, 0.01));
        const auto y = system.subsystems->outputs();
        ends.emplace_back(y.begin(), y.end());
    }
    EXPECT_EQ(ends[0], ends[1]);
}

}  // namespace
}  // namespace mdpcosim
