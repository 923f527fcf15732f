#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "support/allocation_counter.hpp"
#include "support/solver_test_models.hpp"

namespace mdpcosim::test {

class solver_events : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(solvers, solver_events, testing::ValuesIn(all_solvers),
                         [](const auto& tested) { return test_name(tested.param); });

namespace {

std::unique_ptr<solver> make_tight(const std::string& name, double step = 1e-3) {
    if (is_fixed(name)) return make_solver(name, {{"step", name == "euler" ? 0.1 * step : step}});
    const bool low_order = name.ends_with("-2");
    return make_solver(name,
                       {{"rtol", low_order ? 1e-8 : 1e-10}, {"atol", low_order ? 1e-8 : 1e-10}, {"max-steps", 1e7}});
}

/// Tolerance for results of make_tight().
double tight(const std::string& name) { return name == "euler" ? 5e-3 : 1e-6; }

struct event_log {
    std::vector<double> times;
    int ignored = 0;
};

/// x'' = -g from 1 above the floor; falling through it turns the velocity round with the factor e.
std::unique_ptr<function_model> ball(double e, event_log& log, double floor = 0) {
    auto model = std::make_unique<function_model>(std::vector{1.0 + floor, 0.0}, 0,
                                                  [](double, const double* x, const double*, double* dx) {
                                                      dx[0] = x[1];
                                                      dx[1] = -9.81;
                                                  });
    model->events = 1;
    model->indicators = [floor](double, const double* x, const double*, double* z) { z[0] = x[0] - floor; };
    model->on_event = [&log, e](int, bool rising, double t, double* x, const double*) {
        if (rising) {
            ++log.ignored;
            return false;
        }
        log.times.push_back(t);
        x[1] = -e * x[1];
        return true;
    };
    return model;
}

}  // namespace

TEST_P(solver_events, bouncing_ball) {
    // Impacts at t_1 = sqrt(2/g), t_{k+1} = t_k + 2 e^k g t_1 / g.
    const double g = 9.81, e = 0.8, t_1 = std::sqrt(2 / g);
    for (const int macro_steps : {1, 7, 300}) {
        event_log log;
        solver_run run(ball(e, log), make_tight(GetParam()));
        run.to(2.9, macro_steps);
        ASSERT_EQ(log.times.size(), 6u) << macro_steps;
        double t = t_1, flight = t_1;
        for (std::size_t k = 0; k < log.times.size(); ++k) {
            EXPECT_NEAR(log.times[k], t, tight(GetParam())) << "impact " << k;
            flight = 2 * std::pow(e, k + 1) * t_1;
            t += flight;
        }
        const double since = 2.9 - (t - flight), v = std::pow(e, 6) * g * t_1;
        EXPECT_NEAR(run.x[0], v * since - g / 2 * since * since, 5 * tight(GetParam()));
        EXPECT_EQ(run.integrator->statistics().events, 6);
    }
}

TEST_P(solver_events, several_events_in_one_micro_step) {
    // rk4 and the trapezoidal rule are exact on parabolas: six impacts inside one micro step.
    if (GetParam() == "euler") GTEST_SKIP() << "not exact";
    event_log log;
    solver_run run(ball(0.8, log), make_solver(GetParam()));
    run.to(2.9);
    ASSERT_EQ(log.times.size(), 6u);
    EXPECT_NEAR(log.times[0], std::sqrt(2 / 9.81), is_fixed(GetParam()) ? 1e-11 : 1e-4);
}

TEST_P(solver_events, both_directions_are_told_apart) {
    // sin t crosses zero downwards at pi, 3 pi, upwards at 2 pi, 4 pi; the start at zero is no event.
    auto model = std::make_unique<function_model>(std::vector{0.0, 1.0}, 0,
                                                  [](double, const double* x, const double*, double* dx) {
                                                      dx[0] = x[1];
                                                      dx[1] = -x[0];
                                                  });
    std::vector<double> up, down;
    model->events = 1;
    model->indicators = [](double, const double* x, const double*, double* z) { z[0] = x[0]; };
    model->on_event = [&](int, bool rising, double t, double*, const double*) {
        (rising ? up : down).push_back(t);
        return false;
    };
    solver_run run(std::move(model), make_tight(GetParam()));
    run.to(13, 29);
    ASSERT_EQ(up.size(), 2u);
    ASSERT_EQ(down.size(), 2u);
    const double tolerance = GetParam() == "euler" ? 1e-2 : 1e-5;
    EXPECT_NEAR(down[0], M_PI, tolerance);
    EXPECT_NEAR(up[0], 2 * M_PI, tolerance);
    EXPECT_NEAR(down[1], 3 * M_PI, tolerance);
    EXPECT_NEAR(up[1], 4 * M_PI, tolerance);
    EXPECT_NEAR(run.x[0], std::sin(13), tolerance);
    EXPECT_EQ(run.integrator->statistics().events, 0);
}

TEST_P(solver_events, switch_without_change_of_the_indicator_happens_once) {
    // x' = 1 until x = 1, then x' = 3: the indicator goes on through zero, and the event must not come twice.
    auto model = std::make_unique<function_model>(std::vector{0.0, -1.0}, 0,
                                                  [](double, const double* x, const double*, double* dx) {
                                                      dx[0] = -x[1];
                                                      dx[1] = 0;
                                                  });
    std::vector<std::pair<bool, double>> seen;
    model->events = 1;
    model->indicators = [](double, const double* x, const double*, double* z) { z[0] = x[0] - 1; };
    model->on_event = [&](int, bool rising, double t, double* x, const double*) {
        seen.emplace_back(rising, t);
        if (!rising) return false;
        x[1] = -3;  // goes on, three times as fast
        return true;
    };
    solver_run run(std::move(model), make_tight(GetParam()));
    run.to(2, 3);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_TRUE(seen[0].first);
    EXPECT_NEAR(seen[0].second, 1, 1e-6);
    EXPECT_NEAR(run.x[0], 4, 1e-6);
}

TEST_P(solver_events, simultaneous_events) {
    // Two indicators with the same root, a third half a micro step later.
    auto model = std::make_unique<function_model>(std::vector{0.0}, 0,
                                                  [](double, const double*, const double*, double* dx) { dx[0] = 1; });
    std::vector<int> order;
    model->events = 3;
    model->indicators = [](double, const double* x, const double*, double* z) {
        z[0] = x[0] - 0.7504;
        z[1] = x[0] - 0.75;
        z[2] = 2 * (0.75 - x[0]);
    };
    model->on_event = [&](int event, bool rising, double, double*, const double*) {
        EXPECT_EQ(rising, event != 2);
        order.push_back(event);
        return true;
    };
    solver_run run(std::move(model), make_tight(GetParam()));
    run.to(1, 3);
    EXPECT_EQ(order.size(), 3u);
    EXPECT_EQ(order.back(), 0);
}

TEST_P(solver_events, jump_of_the_inputs) {
    // The indicator is the input itself, which jumps between macro steps: no root inside any step.
    auto model = std::make_unique<function_model>(std::vector{0.0}, 1,
                                                  [](double, const double*, const double*, double* dx) { dx[0] = 0; });
    model->events = 1;
    model->indicators = [](double, const double*, const double* u, double* z) { z[0] = u[0] - 0.5; };
    std::vector<double> rising_at, falling_at;
    model->on_event = [&](int, bool rising, double t, double* x, const double*) {
        (rising ? rising_at : falling_at).push_back(t);
        x[0] += 1;
        return true;
    };
    solver_run run(std::move(model), make_tight(GetParam(), 0.01));
    for (int k = 0; k < 6; ++k) {
        run.inputs[0] = constant(k == 2 || k == 3 ? 1 : 0);
        run.to(0.5 * (k + 1));
    }
    EXPECT_EQ(rising_at, std::vector{1.0});
    EXPECT_EQ(falling_at, std::vector{2.0});
    EXPECT_NEAR(run.x[0], 2, 1e-12);
}

TEST_P(solver_events, time_events_split_the_step) {
    // x' = 1 before t = 0.3 and -2 after 0.7; 0 between. x(1) = 0.3 - 0.6.
    const auto make = [] {
        auto model = std::make_unique<function_model>(std::vector{0.0}, 0,
                                                      [](double t, const double*, const double*, double* dx) {
                                                          dx[0] = t < 0.3 ? 1 : t < 0.7 ? 0 : -2;
                                                      });
        model->time_events = [](double t) {
            return t < 0.3 ? 0.3 : t < 0.7 ? 0.7 : std::numeric_limits<double>::infinity();
        };
        return model;
    };
    for (const int macro_steps : {1, 10, 13}) {  // with 10 the events lie on the grid, but for rounding
        solver_run run(make(), make_solver(GetParam()));
        run.to(1, macro_steps);
        EXPECT_NEAR(run.x[0], -0.3, 1e-12) << macro_steps;
        EXPECT_EQ(run.integrator->statistics().events, 2) << macro_steps;
    }
}

TEST_P(solver_events, chattering_is_an_error) {
    auto model = std::make_unique<function_model>(std::vector<double>{}, 0,
                                                  [](double, const double*, const double*, double*) {});
    model->events = 1;
    model->indicators = [](double t, const double*, const double*, double* z) { z[0] = std::sin(1e6 * t); };
    model->on_event = [](int, bool, double, double*, const double*) { return true; };
    auto integrator = is_fixed(GetParam()) ? make_solver(GetParam(), {{"step", 1e-6}})
                                           : make_solver(GetParam(), {{"max-step", 1e-6}, {"max-steps", 1e7}});
    solver_run run(std::move(model), std::move(integrator));
    try {
        run.to(0.1);
        FAIL() << run.integrator->statistics().events;
    } catch (const run_error& e) {
        const std::string text = e.what();
        EXPECT_TRUE(text.starts_with(GetParam() + " at t = 0.0314")) << text;
        EXPECT_NE(text.find("more than 10000 events in one macro step"), std::string::npos) << text;
        EXPECT_NE(text.find("chattering"), std::string::npos) << text;
    }
}

/// Infinitely many impacts before t = t_1 (1 + e)/(1 - e): the ball never gets below the floor, the run ends there with a reason. Euler's
/// method, whose micro steps see no parabolas, lets it hop on.
TEST_P(solver_events, a_ball_does_not_fall_through_the_floor) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    constexpr double restitutions[]{0.5};
#else
    constexpr double restitutions[]{0.2, 0.5, 0.8, 0.95};
#endif
    const double t_1 = std::sqrt(2 / 9.81);
    for (const double e : restitutions)
        for (const double floor : {0.0, -100.0})
            for (const bool tight_solver : {false, true})
                for (const int macro_steps : {1, 30, 1000}) {
                    if (tight_solver && GetParam().ends_with("-2")) continue;  // slow
                    event_log log;
                    const double rest = t_1 * (1 + e) / (1 - e), end = 1.3 * rest;
                    std::string seen = fmt::format("e = {}, floor {}, {} macro steps, {}: ", e, floor, macro_steps,
                                                   tight_solver ? "tight" : "default");
                    auto integrator = tight_solver           ? make_tight(GetParam())
                                      : is_fixed(GetParam()) ? make_solver(GetParam(), {{"step", 0.01}})
                                                             : make_solver(GetParam(), {{"max-steps", 1e7}});
                    solver_run run(ball(e, log, floor), std::move(integrator));
                    double lowest = 1;
                    try {
                        for (int n = 1; n <= macro_steps; ++n) {
                            run.to(end * n / macro_steps);
                            lowest = std::min(lowest, run.x[0] - floor);
                        }
                        EXPECT_EQ(GetParam(), "euler") << seen;
                    } catch (const run_error& problem) {
                        seen += problem.what();
                        EXPECT_NE(seen.find("indicator 0"), std::string::npos) << seen;
                        EXPECT_NE(seen.find("(chattering)"), std::string::npos) << seen;
                        // Bounces that are not much higher than the tolerance cannot be seen.
                        const double rtol = tight_solver ? 1e-10 : 1e-6;
                        const double height = 100 * rtol * (1 - floor);
                        EXPECT_NEAR(log.times.back(), rest, 2 * std::sqrt(2 * height / 9.81) / (1 - e) + 1e-3 * rest)
                            << seen;
                    }
                    EXPECT_GT(lowest, -1e-6) << seen;
                }
}

/// The remedy of that message: a slow impact ends the motion.
TEST_P(solver_events, a_ball_may_come_to_rest) {
    for (const int macro_steps : {1, 30, 1000}) {
        auto model = std::make_unique<function_model>(std::vector{1.0, 0.0, 9.81}, 0,
                                                      [](double, const double* x, const double*, double* dx) {
                                                          dx[0] = x[1];
                                                          dx[1] = -x[2];
                                                          dx[2] = 0;
                                                      });
        int impacts = 0;
        model->events = 1;
        model->indicators = [](double, const double* x, const double*, double* z) { z[0] = x[0]; };
        model->on_event = [&](int, bool rising, double, double* x, const double*) {
            if (rising) return false;
            ++impacts;
            x[1] = -0.5 * x[1];
            if (x[1] < 0.05) x[0] = x[1] = x[2] = 0;
            return true;
        };
        solver_run run(std::move(model), make_tight(GetParam()));
        run.to(3, macro_steps);
        EXPECT_EQ(impacts, 7) << macro_steps;  // 4.43 m/s 0.5^7 = 0.035 m/s
        EXPECT_EQ(run.x[0], 0);
        EXPECT_EQ(run.x[1], 0);
    }
}

TEST_P(solver_events, a_time_event_in_the_past_is_an_error) {
    auto model = std::make_unique<function_model>(std::vector{0.0}, 0,
                                                  [](double, const double*, const double*, double* dx) { dx[0] = 1; });
    model->time_events = [](double) { return 0.5; };
    solver_run run(std::move(model), make_solver(GetParam()));
    EXPECT_THROW(run.to(1), run_error);
}

TEST_P(solver_events, events_allocate_nothing) {
    if (!allocations_are_counted()) GTEST_SKIP();
    event_log log;
    log.times.reserve(100);
    solver_run run(ball(0.8, log), make_tight(GetParam()));
    const allocation_counter allocations;
    run.to(2.9, 10);
    EXPECT_EQ(allocations.count(), 0);
    EXPECT_EQ(log.times.size(), 6u);
}

}  // namespace mdpcosim::test
