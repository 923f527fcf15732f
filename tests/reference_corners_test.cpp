// The reference at corners of laws, against exact solutions of motions that are put together from arcs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "monolithic_fixture.hpp"

namespace mdpcosim {
namespace {

using test::column;

class reference_at_corners : public test::monolithic {
   protected:
    /// The position of a mass of 1 kg that starts at `x` with `v`, against something that hardly moves, at the end of `end` s.
    double position(const std::string& law, double x, double v, double end, const std::string& gravity = "0",
                    const std::string& solver = {}) {
        const auto body = [](double m, double x0, double v0, const std::string& g) {
            return fmt::format(
                "{{ode: {{states: {{x: {}, v: {}}}, inputs: {{F: 0}}, equations: {{x: v, v: F/{} - {}}}}}, ports: {{p: "
                "{{kind: "
                "translation, position: x, velocity: v, force: F}}}}}}",
                x0, v0, m, g);
        };
        const result_table t = run_text(
            "r",
            fmt::format(
                "time: {{end: {} s, step: {} s}}\n{}subsystems:\n  a: {}\n  b: {}\nconnections:\n  c: {{between: "
                "[a.p, b.p], {}}}\n",
                end, end / 50, solver.empty() ? "" : "reference: {solver: " + solver + "}\n", body(1, x, v, gravity),
                body(1e14, 0, 0, "0"), law),
            true);
        return t.value(t.rows() - 1, column(t, "a.x"));
    }
};

/// Free fall, and an arc of a harmonic motion about -g/k below the floor, again and again.
double elastic_bounce(double h, double g, double k, double t) {
    const double omega = std::sqrt(k), v = std::sqrt(2 * g * h), fall = std::sqrt(2 * h / g);
    const double contact = 2 * (std::numbers::pi - std::atan(v * omega / g)) / omega;
    const double s = std::fmod(t, 2 * fall + contact);
    if (s < fall) return h - g * s * s / 2;
    if (s < fall + contact) {
        const double w = omega * (s - fall);
        return -v / omega * std::sin(w) + g / k * (std::cos(w) - 1);
    }
    const double up = s - fall - contact;
    return v * up - g * up * up / 2;
}

TEST_F(reference_at_corners, an_elastic_stop) {
    for (const double k : {1e3, 1e5, 1e7})
        for (const double end : {3.0, 10.0, 30.1})
            EXPECT_NEAR(position(fmt::format("law: stop, stiffness: {}, lower: 0", k), 1, 0, end, "9.81"),
                        elastic_bounce(1, 9.81, k, end), 1e-8 * end)
                << k << " " << end;
}

/// One impact: a damped arc, which ends where the contact would pull.
TEST_F(reference_at_corners, a_damped_stop) {
    for (const double d : {1.0, 30.0, 150.0}) {
        const double k = 1e4, v = 2, decay = d / 2, omega = std::sqrt(k - decay * decay);
        const double contact = (std::numbers::pi - std::atan2(d * omega, k - d * decay)) / omega;
        const double w = omega * contact, fade = v / omega * std::exp(-decay * contact);
        const double x = -fade * std::sin(w), out = -fade * (omega * std::cos(w) - decay * std::sin(w));
        const double end = 1.3, touch = 0.5;
        EXPECT_NEAR(position(fmt::format("law: stop, stiffness: {}, damping: {}, lower: 0", k, d), 1, -v, end),
                    x + out * (end - touch - contact), 1e-9)
            << d;
    }
}

/// To and fro between two flanks.
TEST_F(reference_at_corners, backlash) {
    const double k = 4e4, b = 0.01, v = 0.7, turn = std::numbers::pi / std::sqrt(k), cross = 2 * b / v;
    for (const double end : {0.5, 2.2}) {
        double s = std::fmod(end + cross / 2, 2 * (cross + turn));
        const double side = s < cross + turn ? 1 : -1;
        if (side < 0) s -= cross + turn;
        const double exact =
            side * (s < cross ? -b + v * s : b + v / std::sqrt(k) * std::sin(std::sqrt(k) * (s - cross)));
        EXPECT_NEAR(position(fmt::format("law: gear, ratio: 1, stiffness: {}, backlash: {}", k, b), 0, v, end), exact,
                    1e-9)
            << end;
    }
}

TEST_F(reference_at_corners, every_solver_with_an_estimate_finds_them) {
    for (const char* solver : {"erk-5", "erk-6", "erk-8", "dirk-5"})
        EXPECT_NEAR(position("law: stop, stiffness: 1e5, lower: 0", 1, 0, 10, "9.81", solver),
                    elastic_bounce(1, 9.81, 1e5, 10), 1e-7)
            << solver;
    const run_summary told = run_into("note",
                                      read_scenario_text("time: {end: 1 s, step: 0.1 s}\n"
                                                         "reference: {solver: rk4}\nsubsystems:\n"
                                                         "  a: {model: mass-spring-damper, set: {mass: 1, x0: 1}}\n"
                                                         "  b: {model: mass-spring-damper, set: {mass: 1}}\n"
                                                         "connections:\n  c: {law: stop, between: [a.mass, b.mass], "
                                                         "stiffness: 100, lower: 0}\n",
                                                         "note.yaml"),
                                      true);
    EXPECT_THAT(told.notes, testing::Contains(testing::HasSubstr("rk4 has no error estimate")));
}

}  // namespace
}  // namespace mdpcosim
