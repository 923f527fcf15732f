#include <gtest/gtest.h>

#include "master/macro_loop.hpp"
#include "master/step_control.hpp"
#include "master/test/small_systems.hpp"

namespace mdpcosim {
namespace {

using test::two_mass;
using options = step_control_options;

std::unique_ptr<method> method_named(const char* name) { return method_registry::instance().find(name)->make(); }

/// The exact solution over H from the state x_A, v_A, x_B, v_B, mode by mode.
std::array<double, 4> exact_step(const std::array<double, 4>& from, double H) {
    const auto mode = [H](double x, double v, double w) {
        return std::pair{x * std::cos(w * H) + v / w * std::sin(w * H), v * std::cos(w * H) - x * w * std::sin(w * H)};
    };
    const auto [s, ds] = mode((from[0] + from[2]) / 2, (from[1] + from[3]) / 2, 1);
    const auto [d, dd] = mode((from[0] - from[2]) / 2, (from[1] - from[3]) / 2, 3);
    return {s + d, ds + dd, s - d, ds - dd};
}

std::array<double, 4> state_of(const coupled_system& system) {
    const auto y = system.subsystems->outputs();
    return {y[0], y[1], y[3], y[4]};
}

struct outcome {
    double largest_local = 0;  ///< true error of an accepted step over what is allowed
    std::int64_t steps = 0, rejected = 0;
    std::vector<macro_step> accepted;
    std::array<double, 4> end{};
};

outcome run_controlled(const char* name, const char* rule, const options& control, double end = 5) {
    coupled_system system = two_mass::make(make_extrapolation(rule), 2e-4);
    const auto how = method_named(name);
    system.initialise(0);
    how->prepare(system);
    step_controller steps(control, 0, end);
    steps.prepare(system, *how);
    outcome result;
    while (!steps.done()) {
        const auto before = state_of(system);
        const macro_step step = steps.step(system, *how);
        result.accepted.push_back(step);
        const auto should = exact_step(before, step.end - step.begin), is = state_of(system);
        for (std::size_t k = 0; k < 4; ++k) {
            const double allowed = (k % 2 == 0 ? control.atol : control.atol_rate) + control.rtol * std::abs(is[k]);
            if (k % 2 == 0 ? control.of != options::level::rate : control.of != options::level::value)
                result.largest_local = std::max(result.largest_local, std::abs(is[k] - should[k]) / allowed);
        }
    }
    result.steps = steps.counts().accepted;
    result.rejected = steps.counts().rejected;
    result.end = state_of(system);
    return result;
}

TEST(step_control, local_errors_follow_the_tolerance_over_four_decades) {
    for (const char* name : {"explicit", "semi-implicit"})
        for (const char* rule : {"poly-1", "poly-2", "poly-3"})
            for (const auto of : {options::level::value, options::level::rate})
                for (const double tolerance : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
                    if (tolerance < 1e-5 && rule[5] == '1') continue;  // first order: too many steps
                    SCOPED_TRACE(testing::Message()
                                 << name << ' ' << rule << ' ' << tolerance << " level " << static_cast<int>(of));
                    const outcome r = run_controlled(name, rule,
                                                     {.rtol = tolerance,
                                                      .atol = tolerance,
                                                      .atol_rate = tolerance,
                                                      .of = of,
                                                      .first = 1e-3,
                                                      .smallest = 1e-9,
                                                      .largest = 1});
                    EXPECT_LE(r.largest_local, 1.0);
                    EXPECT_GE(r.largest_local, 1.0 / 3);
                }
}

/// What was tried and undone leaves no trace: the accepted steps alone give the same bits.
TEST(step_control, rejected_steps_leave_no_trace) {
    for (const char* name : {"explicit", "semi-implicit"}) {
        const outcome r = run_controlled(
            name, "poly-3",
            {.rtol = 1e-6, .atol = 1e-6, .atol_rate = 1e-6, .first = 0.2, .smallest = 1e-9, .largest = 1});
        EXPECT_GT(r.rejected, 0);
        coupled_system system = two_mass::make(make_extrapolation("poly-3"), 2e-4);
        const auto how = method_named("explicit");
        system.initialise(0);
        if (std::string_view(name) != "explicit") continue;  // its answers depend on what was tried
        for (const macro_step& step : r.accepted) how->step(system, step);
        EXPECT_EQ(state_of(system), r.end);
    }
}

TEST(step_control, meets_the_end_and_every_point_that_must_be_met) {
    const outcome r = run_controlled("explicit", "poly-2",
                                     {.rtol = 1e-4, .first = 0.01, .smallest = 1e-9, .largest = 1, .meet = 0.07}, 1);
    EXPECT_EQ(r.accepted.back().end, 1);
    std::size_t met = 0;
    for (int k = 1; k <= 14; ++k)
        for (const auto& step : r.accepted) met += step.end == 0.07 * k;
    EXPECT_EQ(met, 14);
    for (std::size_t i = 1; i < r.accepted.size(); ++i) EXPECT_EQ(r.accepted[i].begin, r.accepted[i - 1].end);
}

TEST(step_control, says_where_the_tolerance_cannot_be_met) {
    try {
        run_controlled("explicit", "poly-2",
                       {.rtol = 1e-9, .atol = 1e-12, .atol_rate = 1e-12, .first = 0.1, .smallest = 0.05, .largest = 1});
        FAIL();
    } catch (const run_error& problem) {
        const std::string text = problem.what();
        EXPECT_NE(text.find("connection 'spring'"), std::string::npos) << text;
        EXPECT_NE(text.find("smallest macro step, 0.05 s"), std::string::npos) << text;
        EXPECT_NE(text.find("at t = 0 s"), std::string::npos) << text;
    }
}

/// Without a second integration: smaller tolerances give smaller errors, by as much as the order says, or more.
TEST(step_control, estimators_that_repeat_nothing) {
    for (const auto how : {options::estimator::jump, options::estimator::energy}) {
        double before = 1;
        for (const double tolerance : {1e-2, 1e-3, 1e-4}) {
            const outcome r = run_controlled(
                "explicit", "poly-3",
                {.rtol = tolerance, .atol = tolerance, .how = how, .first = 1e-3, .smallest = 1e-9, .largest = 1});
            EXPECT_EQ(r.rejected, 0);
            const auto x = two_mass::exact(5);
            double error = 0;
            for (std::size_t k = 0; k < 4; ++k) error = std::max(error, std::abs(r.end[k] - x[k]));
            EXPECT_LT(error, before / 4) << tolerance;
            before = error;
        }
    }
}

/// The one-pass method, whose constant u would seem to miss its slope in every step.
TEST(step_control, one_pass_steps_grow_where_little_changes) {
    double before = 1;
    std::int64_t steps = 0;
    for (const double tolerance : {1e-2, 1e-3, 1e-4}) {
        const outcome r = run_controlled("one-pass", "lin-2-3-opt",
                                         {.rtol = tolerance,
                                          .atol = tolerance,
                                          .how = options::estimator::jump,
                                          .first = 1e-3,
                                          .smallest = 1e-9,
                                          .largest = 1});
        const auto x = two_mass::exact(5);
        double error = 0;
        for (std::size_t k = 0; k < 4; ++k) error = std::max(error, std::abs(r.end[k] - x[k]));
        EXPECT_LT(error, before / 2) << tolerance;
        EXPECT_GT(r.steps, steps);
        before = error;
        steps = r.steps;
    }
    EXPECT_LT(steps, 5000);
}

TEST(step_control, names_who_cannot_repeat_and_what_needs_less) {
    std::vector<named_subsystem> parts;
    parts.push_back({"plain", std::make_unique<test::algebraic>(0, false, [](double, auto) { return 2.0; })});
    coupled_system system;
    system.subsystems = make_thread_transport(std::move(parts), 1);
    system.coupling.finish({});
    system.finish();
    const auto how = method_named("explicit");
    try {
        step_controller::check({}, system, *how, "explicit");
        FAIL();
    } catch (const user_error& problem) {
        const std::string text = problem.what();
        EXPECT_NE(text.find("plain"), std::string::npos) << text;
        EXPECT_NE(text.find("estimate: jump"), std::string::npos) << text;
    }
    EXPECT_NO_THROW(step_controller::check({.how = options::estimator::jump}, system, *how, "explicit"));
}

}  // namespace
}  // namespace mdpcosim
