// Found by runs, against what the spectral radius of the step tells.
#include "analysis/largest_step.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/stability.hpp"
#include "analysis/test_system.hpp"
#include "core/error.hpp"
#include "coupling/extrapolation.hpp"
#include "scenario/read.hpp"

namespace mdpcosim {
namespace {

using testing::HasSubstr;

largest_step_request request(const std::string& text, const std::vector<step_choice>& choices) {
    return {.load =
                [text](const step_choice& choice) {
                    std::vector<scenario_override> changes{{"method", choice.method, "test"}};
                    if (!choice.extrapolation.empty())
                        changes.push_back({"extrapolation", choice.extrapolation, "test"});
                    for (const auto& [address, value] : choice.changes) changes.push_back({address, value, "test"});
                    return read_scenario_text(text, "system.yaml", {}, changes);
                },
            .choices = choices};
}

std::string two_mass(double F, double end, double step, const std::string& of_a = "") {
    return fmt::format(R"(time: {{end: {}, step: {}}}
subsystems:
  A: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 1, x0: 1{}}}, solver: &s {{name: erk-5, rtol: 1e-9, atol: 1e-11}}}}
  B: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 1}}, solver: *s}}
connections:
  spring: {{law: spring, between: [A.mass, B.mass], stiffness: {}}}
)",
                       end, step, of_a, F);
}

TEST(largest_step, is_that_of_the_spectral_radius) {
    for (const double F : {3.1622776601683795, 100.0}) {
        const double unit = 1 / std::sqrt(2 * F + 1);
        std::vector<step_choice> choices;
        for (const char* rule : {"lin-2-3-opt", "const-2-3-opt", "quad-2-4", "const-2-4"})
            choices.push_back({"explicit", rule});
        auto wanted = request(two_mass(F, 1500 * unit, 0.6 * unit), choices);
        wanted.error = 10;  // not looked for
        for (const auto& one : find_largest_steps(wanted).found) {
            test_system_parameters p;
            p.F = F;
            p.rule = make_extrapolation(one.choice.extrapolation);
            const double exact = stability_scan(p).limit().omega_max;
            EXPECT_EQ(one.outcome, largest_step::kind::limit) << one.choice.extrapolation;
            EXPECT_NEAR(one.largest, exact, 0.01 * exact) << one.choice.extrapolation << ", F " << F;
            EXPECT_LE(one.unstable, one.largest * 1.005);
            EXPECT_FALSE(one.why.empty());
        }
    }
}

/// Bodies of different mass, on springs of their own with dampers.
TEST(largest_step, is_that_of_the_spectral_radius_for_unequal_damped_bodies) {
    for (const double V : {0.2, 6.0}) {
        test_system_parameters p;
        p.F = 8;
        p.V = V;
        p.damping = 0.01;
        p.rule = make_extrapolation("lin-2-3-opt");
        const double exact = stability_scan(p).limit().omega_max;
        const std::string text = fmt::format(R"(time: {{end: {}, step: {}}}
subsystems:
  A: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 1, damping: 0.02, x0: 1}}, solver: &s {{name: erk-5, rtol: 1e-9, atol: 1e-11}}}}
  B: {{model: mass-spring-damper, set: {{mass: {}, stiffness: {}, damping: {}}}, solver: *s}}
connections:
  spring: {{law: spring, between: [A.mass, B.mass], stiffness: 8}}
)",
                                             1500 * exact, 0.7 * exact, V, V, 0.02 * V);
        auto wanted = request(text, {{"explicit", "lin-2-3-opt"}});
        wanted.error = 10;
        EXPECT_NEAR(find_largest_steps(wanted).found[0].largest, exact, 0.01 * exact) << V;
    }
}

/// A force held over the step pushes a light damped oscillator at every step but where a whole period passes in one: stable steps above ones
/// that are not.
TEST(largest_step, tells_of_smaller_steps_that_are_not_stable) {
    const std::string text = R"(time: {end: 300, step: 6}
subsystems:
  A: {model: mass-spring-damper, set: {mass: 1, stiffness: 1, damping: 0.02, x0: 1}}
  B: {model: mass-spring-damper, set: {mass: 1e6, stiffness: 1}}
connections:
  spring: {law: spring, between: [A.mass, B.mass], stiffness: 0.2}
)";
    const auto found = find_largest_steps(request(text, {{"explicit", "poly-1"}}));
    const largest_step& one = found.found[0];
    EXPECT_EQ(one.outcome, largest_step::kind::limit);
    EXPECT_GT(one.largest, 6);
    ASSERT_FALSE(one.pockets().empty());
    for (const double step : one.pockets()) EXPECT_LT(step, 6);
    EXPECT_GT(one.unstable, one.largest);
    EXPECT_THAT(to_table(found), HasSubstr("NOT STABLE with smaller steps of"));
}

/// Samples every 10 ms leave their whole parts as steps.
TEST(largest_step, takes_steps_that_samples_leave) {
    const std::string text = R"(time: {end: 3, step: 1e-3}
subsystems:
  set: {model: source, set: {kind: step, amplitude: 1, start: 0.5}}
  control: {model: pid-sampled, set: {kp: 1, ki: 2, lower: -10, upper: 10}, sample: {time: 10 ms}}
  plant: {model: lag-1, set: {time-constant: 0.2}}
signals: [set.y -> control.setpoint, plant.y -> control.measurement, control.y -> plant.u]
)";
    const auto found = find_largest_steps(request(text, {{"explicit", ""}}));
    const largest_step& one = found.found[0];
    EXPECT_EQ(one.outcome, largest_step::kind::unbounded);
    EXPECT_DOUBLE_EQ(one.largest, 0.01);
    EXPECT_GT(one.runs.size(), 5U);
    for (const step_run& r : one.runs) {
        EXPECT_NEAR(0.01 / r.step, std::round(0.01 / r.step), 1e-9);
        EXPECT_LT(r.error, 1e-3) << r.step;  // held values jump between rows, which is no error
    }
}

TEST(largest_step, begins_no_run_that_takes_too_long) {
    auto wanted = request(two_mass(3, 20, 0.05), {{"explicit", "quad-2-4"}});
    wanted.most_seconds = 0;
    const auto found = find_largest_steps(wanted);
    EXPECT_EQ(found.found[0].outcome, largest_step::kind::ended);
    EXPECT_EQ(found.found[0].runs.size(), 1U);
    EXPECT_TRUE(found.found[0].out_of_time);
    EXPECT_THAT(to_table(found), HasSubstr("the time for the search is over"));
}

/// FMUs show no equations; a step whose eighth is not stable leaves nothing to compare with.
TEST(largest_step, wants_a_reference_that_is_one) {
    const std::string text = fmt::format(R"(time: {{end: 4, step: 0.6}}
subsystems:
  A: {{fmu: {0}/fmus/inertia-3.fmu, set: {{J: 0.2, w0: 1}}}}
  B: {{fmu: {0}/fmus/inertia-3.fmu, set: {{J: 0.2}}}}
connections:
  shaft: {{law: spring, between: [A.shaft, B.shaft], stiffness: 200}}
)",
                                         MDPCOSIM_BINARY_DIR);
    try {
        find_largest_steps(request(text, {{"explicit", "lin-2-3-opt"}}));
        FAIL();
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), testing::AnyOf(HasSubstr("Give a smaller step (--step)"), HasSubstr("fails: ")));
    }
}

TEST(largest_step, keeps_an_error_and_names_the_fastest) {
    auto wanted =
        request(two_mass(3, 20, 0.05, ", damping: 0.1"), {{"explicit", "const-2-3-opt"}, {"explicit", "quad-2-4"}});
    wanted.error = 1e-3;
    int told = 0;
    wanted.told = [&](const std::string&) { ++told; };
    const auto found = find_largest_steps(wanted);
    EXPECT_THAT(found.reference, HasSubstr("one system"));
    for (const auto& one : found.found) {
        ASSERT_GT(one.accurate.step, 0);
        EXPECT_LE(one.accurate.error, 1e-3);
        EXPECT_LT(one.accurate.step, one.largest);
        for (const auto& r : one.runs)
            if (r.stable && r.step > 1.05 * one.accurate.step) {
                EXPECT_GT(r.error, 1e-3) << r.step;
            }
    }
    EXPECT_GT(found.found[1].accurate.step, 2 * found.found[0].accurate.step);
    EXPECT_EQ(found.found[0].best + found.found[1].best, 1);
    EXPECT_GT(told, 10);
    EXPECT_THAT(to_table(found), HasSubstr("fastest"));
    EXPECT_THAT(to_json(found), HasSubstr("\"largest_stable_step\""));
}

/// Where a small step makes solvers work less, the fastest step is not the largest: right at its limit the coupling shakes the bodies.
TEST(largest_step, the_fastest_step_is_that_of_least_time) {
    auto wanted = request(two_mass(3, 20, 0.05, ", damping: 0.1"), {{"explicit", "lin-2-3-opt"}});
    wanted.error = 0.01;
    const largest_step one = find_largest_steps(wanted).found[0];
    ASSERT_GT(one.fastest.step, 0);
    EXPECT_GT(one.fastest.evaluations, 0);
    EXPECT_LE(one.fastest.error, 0.01);
    int below = 0, rivals = 0;
    for (const auto& r : one.runs) {
        below += r.step < 0.9 * one.accurate.step && r.step > 0.45 * one.accurate.step;
        if (!r.stable || r.error > 0.01 || r.step < 0.5 * one.accurate.step) continue;
        ++rivals;
        EXPECT_GE(r.seconds, one.fastest.seconds) << r.step;
    }
    EXPECT_GE(below, 2);
    EXPECT_GE(rivals, 3);
}

/// A damper beside the spring lets poly-1, which has no limit without one, take steps; what changes the scenario changes its reference.
TEST(largest_step, rows_that_change_the_scenario) {
    const std::vector<std::pair<std::string, std::string>> damped{{"spring.law", "spring-damper"},
                                                                  {"spring.damping", "0.5"}};
    auto wanted = request(two_mass(3, 40, 0.02),
                          {{"explicit", "poly-1"}, {"explicit", "poly-1", damped}, {"explicit", "quad-2-4", damped}});
    wanted.error = 0.02;
    const auto found = find_largest_steps(wanted);
    EXPECT_GT(found.found[1].accurate.step, 3 * found.found[0].accurate.step);
    EXPECT_GT(found.found[2].accurate.step, found.found[1].accurate.step);
    const std::string table = to_table(found);
    EXPECT_THAT(table, HasSubstr("explicit poly-1 spring.law=spring-damper spring.damping=0.5"));
    EXPECT_THAT(table, HasSubstr("against the scenario with these changes"));
    EXPECT_THAT(to_json(found), HasSubstr("\"spring.damping\": \"0.5\""));
}

/// A negative damper: the system grows at any step, which is not the coupling's.
TEST(largest_step, tells_a_system_that_grows_by_itself) {
    const auto found =
        find_largest_steps(request(two_mass(3, 40, 0.02, ", damping: -0.3"), {{"explicit", "lin-2-3-opt"}}));
    EXPECT_GT(found.growth, 5);
    EXPECT_EQ(found.found[0].outcome, largest_step::kind::limit);
    EXPECT_GT(found.found[0].largest, 0.1);
    EXPECT_THAT(to_table(found), HasSubstr("grows by itself"));
}

TEST(largest_step, tells_why_nothing_can_be_run) {
    const std::string loop = R"(time: {end: 1, step: 1e-2}
subsystems:
  a: {ode: {states: {x: 1}, inputs: {u: 0}, equations: {x: -x}, outputs: {y: x - 2*u}}}
  b: {ode: {states: {x: 0}, inputs: {u: 0}, equations: {x: u - x}, outputs: {y: u + x}}}
connections: {}
signals: [a.y -> b.u, b.y -> a.u]
)";
    try {
        find_largest_steps(request(loop, {{"explicit", ""}}));
        FAIL();
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("system.yaml:6:11: signal to 'b.u': algebraic loop"));
    }
}

TEST(largest_step, refuses_names_that_do_not_exist_and_tells_what_a_choice_needs) {
    const std::string text = two_mass(1, 1, 0.01);
    EXPECT_THROW(find_largest_steps(request(text, {{"explicitt", ""}})), user_error);
    EXPECT_THROW(find_largest_steps(request(text, {{"explicit", "lin-2-3-op"}})), user_error);
    EXPECT_THROW(find_largest_steps(request(text, {{"index-1", ""}})), user_error);
    // Of several, one that cannot be used is told beside the others.
    const auto found = find_largest_steps(request(text, {{"index-1", ""}, {"explicit", ""}}));
    EXPECT_EQ(found.found[0].outcome, largest_step::kind::refused);
    EXPECT_THAT(to_table(found), HasSubstr("index-1: test: method 'index-1' holds joints"));
    EXPECT_NE(found.found[1].outcome, largest_step::kind::refused);
}

TEST(largest_step, tells_who_keeps_an_extrapolation) {
    std::string text = two_mass(1, 5, 0.01);
    text.replace(text.rfind('}'), 1, ", extrapolation: poly-3}");
    const auto found = find_largest_steps(request(text, {{"explicit", "lin-2-3-opt"}, {"explicit", "quad-2-4"}}));
    EXPECT_EQ(found.own_extrapolation, std::vector<std::string>{"spring"});
    EXPECT_EQ(found.found[0].largest, found.found[1].largest);
    EXPECT_THAT(to_table(found), HasSubstr("whatever a line says: spring"));
}

}  // namespace
}  // namespace mdpcosim
