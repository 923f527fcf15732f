// A ball comes to rest on the law 'stop' and in a contact of an 'ode': coupled, and as one system. Neither is events without end.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "results/result_table.hpp"
#include "scenario/read.hpp"
#include "simulation/run.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

constexpr double g = 9.81, m = 0.5;

/// The last row of a run that must end.
double last(const std::string& text, bool monolithic, std::string_view column) {
    const test::temporary_folder folder;
    const auto summary =
        run(read_scenario_text(text, "s.yaml"), {.out = folder.path(), .workers = 1, .monolithic = monolithic});
    EXPECT_EQ(summary.status, "done") << summary.message;
    const result_table t = read_results(folder.path(), [&](std::string_view name) { return name == column; });
    EXPECT_EQ(t.columns(), 1U) << column;
    return t.value(t.rows() - 1, 0);
}

std::string ball(const std::string& contacts, const std::string& rest) {
    return fmt::format(R"(time: {{end: 5 s, step: 0.1 ms}}
subsystems:
  ball:
    ode:
      parameters: {{m: 0.5 kg}}
      states: {{x: 1 m, v: 0 m/s}}
      inputs: {{F: 0 N}}
      equations: {{x: v, v: -9.81 + F/m}}
{}    ports: {{body: {{kind: translation, position: x, force: F}}}}
{}record: {{every: 10 ms}}
)",
                       contacts, rest);
}

TEST(rest, of_a_ball_on_a_stop) {
    for (const double damping : {100, 1400}) {
        const std::string text = ball(
            "", fmt::format(R"(  ground: {{model: mass-spring-damper, set: {{mass: 1e3, stiffness: 1e9, damping: 1e5}}}}
connections:
  stop: {{law: stop, between: [ball.body, ground.mass], stiffness: 1e6, damping: {}, lower: 0}}
)",
                            damping));
        for (const bool monolithic : {false, true}) {
            EXPECT_NEAR(last(text, monolithic, "ball.x"), -m * g / 1e6 - m * g / 1e9, 1e-9) << damping << monolithic;
            EXPECT_NEAR(last(text, monolithic, "stop.u"), -m * g, 1e-3) << damping << monolithic;
        }
    }
}

TEST(rest, of_a_ball_in_a_contact) {
    const std::string text =
        ball("      contacts: {floor: {gap: x, impulse: {v: 1/m}, restitution: 0.8, rest-speed: 1e-3}}\n",
             "  mass: {model: mass-spring-damper, set: {mass: 1, stiffness: 1e3}}\n"
             "connections:\n  k: {law: spring, between: [ball.body, mass.mass], stiffness: 0.1}\n");
    for (const bool monolithic : {false, true}) {
        EXPECT_NEAR(last(text, monolithic, "ball.x"), 0, 1e-6) << monolithic;
        EXPECT_NEAR(last(text, monolithic, "ball.floor"), m * g, 1e-3) << monolithic;
    }
}

}  // namespace
}  // namespace mdpcosim
