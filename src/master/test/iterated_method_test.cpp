#include <gtest/gtest.h>

#include "master/test/small_systems.hpp"

/// The iterated method on two coupled oscillators with an exact solution.
namespace mdpcosim {
namespace {

using test::two_mass;

std::unique_ptr<method> iterated(int points, double tolerance, const char* solver = "iqn-ils", int limit = 50) {
    const method_info* info = method_registry::instance().find("iterated");
    parameter_values options(info->options);
    options.set("points", {static_cast<double>(points)});
    options.set("tolerance", {tolerance});
    options.set("absolute", {0});
    options.set("limit", {static_cast<double>(limit)});
    const auto& names = std::ranges::find(info->options, "solver", &parameter_info::name)->choices;
    options.set("solver", {static_cast<double>(std::ranges::find(names, solver) - names.begin())});
    return info->make_with(options);
}

/// At t = 2, with Runge-Kutta 4 and four micro steps per macro step.
double error_at_end(int points, double H) {
    coupled_system system = two_mass::make(make_extrapolation("poly-2"), H / 4);
    const auto chosen = iterated(points, 1e-13);
    system.initialise(0);
    test::run_steps(system, *chosen, time_grid(0, 2, H));
    return two_mass::error(system, 2);
}

TEST(iterated_method, has_the_fourth_order_of_runge_kutta_with_four_points) {
    const double coarse = error_at_end(4, 0.1), fine = error_at_end(4, 0.05), finest = error_at_end(4, 0.025);
    EXPECT_NEAR(std::log2(coarse / fine), 4, 0.1);
    EXPECT_NEAR(std::log2(fine / finest), 4, 0.1);
    EXPECT_LT(fine, 2e-6);
}

/// A polynomial of degree m through m + 1 equidistant values leaves an error whose integral is one order smaller for even m.
TEST(iterated_method, the_order_follows_the_points) {
    for (const auto& [points, order] : {std::pair{1, 2.0}, {2, 4.0}, {3, 4.0}}) {
        const double order_seen = std::log2(error_at_end(points, 0.02) / error_at_end(points, 0.01));
        EXPECT_GT(order_seen, order - 0.15) << points << " points";
    }
}

TEST(iterated_method, all_solvers_find_the_same_solution) {
    std::vector<std::vector<double>> ends;
    for (const char* solver : {"newton", "anderson", "iqn-ils", "fixed-point"}) {
        coupled_system system = two_mass::make(make_extrapolation("poly-3"), 0.01);
        const auto chosen = iterated(2, 1e-11, solver);
        system.initialise(0);
        test::run_steps(system, *chosen, time_grid(0, 1, 0.02));
        ends.emplace_back(system.subsystems->outputs().begin(), system.subsystems->outputs().end());
        for (std::size_t i = 0; i < ends[0].size(); ++i) EXPECT_NEAR(ends.back()[i], ends[0][i], 1e-9) << solver;
        EXPECT_EQ(chosen->iterations()->solutions, 50);
        EXPECT_EQ(system.integrations, chosen->iterations()->evaluations);
        EXPECT_EQ(system.advances, 2 * chosen->iterations()->evaluations);
    }
}

/// The polynomials that the watch sees end where the coupling variable does.
TEST(iterated_method, polynomials_meet_the_coupling_variables) {
    coupled_system system = two_mass::make(make_extrapolation("poly-1"), 0.01);
    const auto chosen = iterated(3, 1e-10);
    system.initialise(0);
    chosen->prepare(system);
    for (int n = 0; n < 10; ++n) {
        chosen->step(system, {0.1 * n, 0.1 * (n + 1), n});
        EXPECT_NEAR(system.coupling.expected(channel_index(0), 0.1 * (n + 1)), system.u[0], 1e-8);
        const double t = 0.1 * n + 0.07;
        EXPECT_NEAR(system.coupling.expected(channel_index(0), t), 4 * std::cos(3 * t), 2e-2);
    }
}

TEST(iterated_method, says_what_does_not_converge) {
    coupled_system system = two_mass::make(make_extrapolation("poly-2"), 0.01);
    const auto chosen = iterated(2, 1e-8, "fixed-point", 3);
    system.initialise(0);
    chosen->prepare(system);
    try {
        chosen->step(system, {0, 0.5, 0});
        FAIL() << "it converged";
    } catch (const run_error& problem) {
        const std::string text = problem.what();
        for (const char* part :
             {"method 'iterated': the macro step from t = 0 s to 0.5 s does not converge: the limit is reached after 3 "
              "iterations of fixed-point (3 integrations); last residuals: 'spring' ",
              "tolerance 1e-08. Try a smaller macro step, 'solver: newton', a higher 'limit' than 3"})
            EXPECT_NE(text.find(part), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace mdpcosim
