// Step control with FMUs that offer nothing: no macro step can be undone, and what that costs is told.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "api/mdpcosim.hpp"
#include "simulation/simulation.hpp"

namespace mdpcosim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Two plain FMUs, bodies that the connection alone joins.
std::string two_bodies(const std::string& connection, const std::string& control) {
    const auto file = (std::filesystem::path(MDPCOSIM_BINARY_DIR) / "fmus" / "plain-oscillator-2.fmu").string();
    const auto body = [&](const std::string& set) {
        return fmt::format(
            "{{fmu: '{}', set: {{m: 1 kg, c: 0 N/m, {}}}, ports: {{mass: {{kind: translation, position: position, "
            "velocity: velocity, force: force}}}}}}",
            file, set);
    };
    return fmt::format(
        "time: {{end: 2 s, step: 10 ms}}\n{}subsystems:\n  A: {}\n  B: {}\nconnections:\n  c: {{between: "
        "[A.mass, B.mass], {}}}\n",
        control, body("x0: 10 mm, v0: 0.1 m/s"), body("x0: 0 m, v0: 0 m/s"), connection);
}

run_summary finished(const std::string& text, double& position) {
    simulation of(read_scenario_text(text, "s.yaml"), {.workers = 1});
    of.initialise();
    while (!of.done()) of.step();
    position = of.value("A.mass.position");
    return of.finish();
}

const std::string spring = "law: spring, stiffness: 200 N/m";

TEST(plain_step_control, trial_steps_are_refused_with_the_way_that_needs_less) {
    const auto text = two_bodies(spring, "step-control: {rtol: 1e-3}\n");
    try {
        simulation(read_scenario_text(text, "s.yaml"), {.workers = 1}).initialise();
        FAIL() << "trial steps need subsystems that go back";
    } catch (const user_error& e) {
        EXPECT_THAT(e.what(), AllOf(HasSubstr("A: fmu plain-oscillator-2.fmu"), HasSubstr("'estimate: jump'")));
    }
}

TEST(plain_step_control, errors_fall_with_the_tolerance) {
    const double omega = std::sqrt(400.0), t = 2;
    const double exact = (0.01 + 0.1 * t) / 2 + (0.01 * std::cos(omega * t) + 0.1 / omega * std::sin(omega * t)) / 2;
    for (const char* estimate : {"jump", "energy"}) {
        double before = 0;
        std::int64_t steps_before = 0;
        for (const double rtol : {1e-2, 1e-3, 1e-4}) {
            SCOPED_TRACE(fmt::format("{}, rtol {}", estimate, rtol));
            double position = 0;
            const run_summary s =
                finished(two_bodies(spring, fmt::format("step-control: {{rtol: {}, atol: {}, estimate: {}}}\n", rtol,
                                                        1e-3 * rtol, estimate)),
                         position);
            ASSERT_TRUE(s.control);
            EXPECT_EQ(s.control->rejected, 0);
            const double error = std::abs(position - exact);
            std::printf("%s %g: %lld steps, error %.3g\n", estimate, rtol, static_cast<long long>(s.steps), error);
            if (before > 0) {
                EXPECT_LT(error, before / 2);
                EXPECT_GT(s.steps, steps_before);
            }
            before = error;
            steps_before = s.steps;
        }
    }
}

/// Nobody can take the first step back: over it the spring changes by what the tolerance allows, also beside a damper, whose rate nobody knows.
TEST(plain_step_control, the_first_step_is_short_enough) {
    for (const char* law :
         {"law: spring, stiffness: 1e6 N/m", "law: spring-damper, stiffness: 1e6 N/m, damping: 20 N.s/m"})
        for (const char* estimate : {"jump", "energy"}) {
            SCOPED_TRACE(fmt::format("{}, {}", law, estimate));
            std::string text =
                two_bodies(law, fmt::format("step-control: {{rtol: 1e-3, atol: 1e-6, estimate: {}}}\n", estimate));
            text.replace(text.find("10 ms}"), 5, "1 s");
            simulation of(read_scenario_text(text, "s.yaml"), {.workers = 1});
            of.initialise();
            of.step();
            EXPECT_NEAR(of.time(), (1e-3 * 1e4 + 1e-6 * 1e6) / (1e6 * 0.1), 1e-7);
        }
}

/// A contact in the middle of a long step cannot be undone: the run says how far it was off, when, and is not called good.
TEST(plain_step_control, a_contact_that_cannot_be_undone_makes_the_run_doubtful) {
    double position = 0;
    const run_summary s = finished(two_bodies("law: stop, stiffness: 1e5 N/m, upper: 0.1 m",
                                              "step-control: {rtol: 1e-4, atol: 1e-7, estimate: jump}\n"),
                                   position);
    ASSERT_TRUE(s.control);
    EXPECT_GT(s.control->above, 0);
    EXPECT_GT(s.control->most_above, 3);
    ASSERT_TRUE(s.judged);
    EXPECT_NE(s.judged->level, trust::good) << to_text(*s.judged);
    EXPECT_NEAR(s.control->above_at, 0.9, 0.2);
}

}  // namespace
}  // namespace mdpcosim
