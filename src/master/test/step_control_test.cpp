#include <gtest/gtest.h>

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
    const auto chosen = method_named(name);
    system.initialise(0);
    chosen->prepare(system);
    step_controller steps(control, 0, end);
    steps.prepare(system, *chosen);
    outcome result;
    while (!steps.done()) {
        const auto before = state_of(system);
        const macro_step step = steps.step(system, *chosen);
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

/// Bodies of 1 kg on springs of 1 and 4 N/m, coupled by a spring, which are started in the slow one of their two modes.
struct unequal_pair {
    double stiffness;

    struct mode {
        double x_A, x_B, omega;
    };
    mode slow() const { return in_mode(false); }

    /// `watched`: a third body vibrates at 100 rad/s, and its position goes into A multiplied by zero.
    coupled_system make(const char* rule, bool watched = false) const {
        std::vector<named_subsystem> parts;
        const mode start = slow();
        const auto start_C = [](double) { return std::array{0.0, 0.7}; };
        for (const bool B : {false, true})
            parts.push_back({B ? "B" : "A",
                             test::with_rk4(std::make_unique<test::oscillator>(1, B ? 4 : 1,
                                                                               [x = B ? start.x_B : start.x_A](double) {
                                                                                   return std::array{x, 0.0};
                                                                               }),
                                            1e-3)});
        if (watched) parts.push_back({"C", test::with_rk4(std::make_unique<test::oscillator>(1, 1e4, start_C), 1e-3)});
        coupled_system system;
        system.subsystems = make_thread_transport(std::move(parts), 1);
        const auto channel = system.coupling.add_channel(
            "spring", test::spring(stiffness),
            {{output_slot(0), output_slot(1), 1}, {output_slot(3), output_slot(4), -1}}, make_extrapolation(rule));
        system.coupling.add_delivery(input_slot(0), max_degree, {channel, -1});
        system.coupling.add_delivery(input_slot(1), max_degree, {channel, 1});
        if (watched)
            system.coupling.add_delivery(
                input_slot(0), max_degree,
                {system.coupling.add_channel("signal", nullptr, {{output_slot(6), {}, 1}}, make_extrapolation(rule)),
                 0});
        system.coupling.finish(std::vector<double>(watched ? 3 : 2, 0.0));
        for (const std::size_t body : {0, 1}) system.at_start.push_back({subsystem_index(body), {channel}});
        system.finish();
        return system;
    }

    /// The exact solution over H. Without `vibration` the fast mode is to be at rest at its end.
    std::array<double, 4> exact_step(const std::array<double, 4>& from, double H, bool vibration) const {
        std::array<double, 4> to{};
        for (const bool fast : {false, true}) {
            if (fast && !vibration) continue;
            const mode m = in_mode(fast);
            const double x = m.x_A * from[0] + m.x_B * from[2], v = m.x_A * from[1] + m.x_B * from[3];
            const double C = std::cos(m.omega * H), S = std::sin(m.omega * H);
            const double x_end = x * C + v / m.omega * S, v_end = v * C - x * m.omega * S;
            to = {to[0] + m.x_A * x_end, to[1] + m.x_A * v_end, to[2] + m.x_B * x_end, to[3] + m.x_B * v_end};
        }
        return to;
    }

   private:
    mode in_mode(bool fast) const {
        const double a = 1 + stiffness, b = 4 + stiffness, root = std::hypot((a - b) / 2, stiffness);
        const double square = (a + b) / 2 + (fast ? root : -root);
        const double length = std::hypot(stiffness, a - square);
        return {stiffness / length, (a - square) / length, std::sqrt(square)};
    }
};

struct judged {
    double largest;  ///< true error of an accepted step over the tolerance
    std::int64_t accepted;
};

/// By the method one-pass. Where steps do not resolve the coupling, the true error is that against the slow motion, which the bodies would make if
/// the coupling did not vibrate.
judged run_one_pass(double stiffness, const char* rule, options::level of, double tolerance, bool watched = false) {
    const unequal_pair pair{stiffness};
    const bool stiff = stiffness > 100;
    coupled_system system = pair.make(rule, watched);
    const auto chosen = method_named("one-pass");
    system.initialise(0);
    chosen->prepare(system);
    step_controller steps({.rtol = 1e-12,
                           .atol = tolerance,
                           .atol_rate = tolerance,
                           .of = of,
                           .first = stiff ? 0.02 : 1e-3,
                           .smallest = 1e-9,
                           .largest = 1},
                          0, 5);
    steps.prepare(system, *chosen);
    judged found{};
    while (!steps.done()) {
        const auto before = state_of(system);
        const macro_step step = steps.step(system, *chosen);
        const auto should = pair.exact_step(before, step.end - step.begin, !stiff), is = state_of(system);
        for (std::size_t k = of == options::level::value ? 0 : 1; k < 4; k += 2)
            found.largest = std::max(found.largest, std::abs(is[k] - should[k]) / tolerance);
    }
    found.accepted = steps.counts().accepted;
    return found;
}

TEST(step_control, local_errors_of_one_pass_follow_the_tolerance) {
    for (const double stiffness : {4.0, 1e5})
        for (const auto of : {options::level::value, options::level::rate})
            for (const double tolerance : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
                if (stiffness == 1e5 && of == options::level::rate && tolerance < 1e-6)
                    continue;  // steps come to half a vibration
                SCOPED_TRACE(testing::Message()
                             << stiffness << " N/m " << tolerance << " level " << static_cast<int>(of));
                const auto [largest, accepted] = run_one_pass(stiffness, "poly-3", of, tolerance);
                EXPECT_LE(largest, 1.0);
                EXPECT_GE(largest, 1.0 / 3);
                // 356 vibrations of the stiff coupling are not resolved.
                if (tolerance > 5e-6) {
                    EXPECT_LT(accepted, 800);
                }
            }
}

/// What a signal misses that no step resolves, and that does nothing at all, must not hide what a stiff connection misses.
TEST(step_control, signals_do_not_spoil_estimates_of_one_pass) {
    const judged plain = run_one_pass(1e5, "poly-2", options::level::value, 1e-5);
    const judged watched = run_one_pass(1e5, "poly-2", options::level::value, 1e-5, true);
    EXPECT_LE(plain.largest, 1);
    EXPECT_LE(watched.largest, 1);
    EXPECT_LT(static_cast<double>(watched.accepted), 1.5 * static_cast<double>(plain.accepted));
}

/// The explicit method, which once fails before it has integrated anything.
class failing_once final : public method {
   public:
    failing_once() : method(method_registry::instance().find("explicit")->traits) {}
    void attempt(coupled_system& system, const macro_step& step) override { chosen_->attempt(system, step); }
    void prepare_estimates(coupled_system& system) override { chosen_->prepare_estimates(system); }
    estimate_orders attempt_and_estimate(coupled_system& system, const macro_step& step,
                                         std::span<double> error) override {
        if (step.counter == 5 && !std::exchange(failed_, true)) throw run_error("no answer over so long a step");
        return chosen_->attempt_and_estimate(system, step, error);
    }

   private:
    std::unique_ptr<method> chosen_ = method_named("explicit");
    bool failed_ = false;
};

TEST(step_control, a_failure_before_the_trial_goes_back_no_further_than_to_the_begin_of_the_step) {
    coupled_system system = two_mass::make(make_extrapolation("poly-3"), 2e-4);
    coupled_system again = two_mass::make(make_extrapolation("poly-3"), 2e-4);
    failing_once chosen;
    system.initialise(0);
    step_controller steps(
        {.rtol = 1e-4, .atol = 1e-4, .atol_rate = 1e-4, .first = 0.01, .smallest = 1e-9, .largest = 1}, 0, 2);
    steps.prepare(system, chosen);
    const auto plain = method_named("explicit");
    again.initialise(0);
    while (!steps.done()) plain->step(again, steps.step(system, chosen));
    EXPECT_GT(steps.counts().rejected, 0);
    EXPECT_EQ(state_of(system), state_of(again));
}

/// What was tried and undone leaves no trace: the accepted steps alone give the same bits.
TEST(step_control, rejected_steps_leave_no_trace) {
    for (const char* name : {"explicit", "one-pass"}) {
        const outcome r = run_controlled(
            name, "poly-3",
            {.rtol = 1e-6, .atol = 1e-6, .atol_rate = 1e-6, .first = 0.3, .smallest = 1e-9, .largest = 1});
        EXPECT_GT(r.rejected, 0);
        coupled_system system = two_mass::make(make_extrapolation("poly-3"), 2e-4);
        const auto chosen = method_named(name);
        system.initialise(0);
        chosen->prepare(system);
        for (const macro_step& step : r.accepted) chosen->step(system, step);
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
TEST(step_control, estimators_without_a_second_integration) {
    for (const auto chosen : {options::estimator::jump, options::estimator::energy}) {
        double before = 1;
        for (const double tolerance : {1e-2, 1e-3, 1e-4}) {
            const outcome r = run_controlled("explicit", "poly-3",
                                             {.rtol = tolerance,
                                              .atol = tolerance,
                                              .estimate = chosen,
                                              .first = 1e-3,
                                              .smallest = 1e-9,
                                              .largest = 1});
            EXPECT_LT(r.rejected, r.steps / 4);
            const auto x = two_mass::exact(5);
            double error = 0;
            for (std::size_t k = 0; k < 4; ++k) error = std::max(error, std::abs(r.end[k] - x[k]));
            EXPECT_LT(error, before / 4) << tolerance;
            before = error;
        }
    }
}

/// A first step that is far too long is undone where subsystems can go back; where they cannot, the first one is short.
TEST(step_control, first_steps_are_found) {
    for (const auto chosen : {options::estimator::trial, options::estimator::jump, options::estimator::energy}) {
        std::vector<step_attempt> attempts;
        coupled_system system = two_mass::make(make_extrapolation("poly-3"), 2e-4);
        const auto method = method_named("explicit");
        system.initialise(0);
        method->prepare(system);
        step_controller steps({.rtol = 1e-6,
                               .atol = 1e-6,
                               .atol_rate = 1e-6,
                               .estimate = chosen,
                               .first = 1,
                               .smallest = 1e-9,
                               .largest = 1},
                              0, 5, [&](const step_attempt& a) { attempts.push_back(a); });
        steps.prepare(system, *method);
        while (!steps.done()) steps.step(system, *method);
        for (const auto& a : attempts)
            if (a.accepted) {
                EXPECT_LE(a.error, 1) << static_cast<int>(chosen) << ' ' << a.begin;
            }
        EXPECT_GT(steps.counts().rejected, 0);
        EXPECT_LT(attempts.front().error, std::numeric_limits<double>::infinity());
        EXPECT_EQ(steps.counts().above, 0);
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
                                          .estimate = options::estimator::jump,
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
    const auto chosen = method_named("explicit");
    try {
        step_controller::check({}, system, *chosen, "explicit");
        FAIL();
    } catch (const user_error& problem) {
        const std::string text = problem.what();
        EXPECT_NE(text.find("plain"), std::string::npos) << text;
        EXPECT_NE(text.find("estimate: jump"), std::string::npos) << text;
    }
    EXPECT_NO_THROW(step_controller::check({.estimate = options::estimator::jump}, system, *chosen, "explicit"));
}

}  // namespace
}  // namespace mdpcosim
