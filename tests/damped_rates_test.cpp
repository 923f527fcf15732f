// Rates of damped laws, found with the accelerations of their ports, and runs from a cold start.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "api/mdpcosim.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using test::temporary_folder;
using testing::HasSubstr;

/// Largest error of all positions over their range, against the system as one.
double error_of(const std::string& text) {
    const temporary_folder folder;
    const scenario s = read_scenario_text(text, "s.yaml");
    EXPECT_EQ(run(s, {.out = folder / "run", .workers = 1}).status, "done");
    run(s, {.out = folder / "reference", .workers = 1, .monolithic = true});
    double largest = 0;
    for (const auto& e : compare_results(folder / "run", folder / "reference").errors)
        if (e.name.ends_with("position")) largest = std::max(largest, e.relative);
    return largest;
}

std::string quarter_car(int steps, const std::string& more = {}) {
    return fmt::format(
        "time: {{end: 2 s, step: {} s}}\nrecord: {{every: 20 ms}}\n{}subsystems:\n"
        "  wheel: {{model: mass-spring-damper, solver: {{name: erk-5, rtol: 1e-10, atol: 1e-12}}, set: {{mass: 40 kg, "
        "stiffness: 200 kN/m}}}}\n"
        "  body: {{model: mass-spring-damper, solver: {{name: erk-5, rtol: 1e-10, atol: 1e-12}}, set: {{mass: 400 kg, "
        "x0: 20 mm}}}}\nconnections:\n"
        "  strut: {{law: spring-damper, between: [wheel.mass, body.mass], stiffness: 20 kN/m, damping: 1500 N.s/m}}\n",
        2.0 / steps, more);
}

/// What the default takes away of the error of constant inputs, at one integration per step. The best published way at this cost, rebuilt
/// (energy-conserving correction with step control), takes away 93 % and 98 %.
TEST(damped_rates, a_quarter_car_loses_most_of_its_error) {
    for (const auto& [steps, least] : {std::pair{400, 0.96}, {1600, 0.995}}) {
        const double constant = error_of(quarter_car(steps, "extrapolation: poly-1\n"));
        const double without = error_of(quarter_car(steps, "extrapolation: lin-3-3-b0\n"));
        const double by_default = error_of(quarter_car(steps));
        fmt::print("{} steps: constant {:.3g}, without rates {:.3g}, default {:.3g}, reduced by {:.2f} %\n", steps,
                   constant, without, by_default, 100 * (1 - by_default / constant));
        EXPECT_GT(1 - by_default / constant, least);
        EXPECT_LT(by_default, without);
    }
}

/// Two pairs and three bodies in a ring, moving at the start, so that the first step has something to lose.
struct moving {
    const char *name, *subsystems, *connections;
    bool has_rate = true;
    double longer = 1;  ///< steps, where rounding is seen early
};
constexpr const char* masses =
    "  A: {model: mass-spring-damper, solver: &s {name: erk-8, rtol: 1e-13, atol: 1e-15}, set: {mass: 1, stiffness: "
    "20, x0: 0.1, v0: 0.4}}\n"
    "  B: {model: mass-spring-damper, solver: *s, set: {mass: 2, stiffness: 30, damping: 1, v0: -0.3}}\n"
    "  C: {model: mass-spring-damper, solver: *s, set: {mass: 1, stiffness: 5, x0: 0.05, v0: 0.2}}\n";
constexpr const char* rotors =
    "  A: {ode: {states: {position: 0.3, w: 1}, inputs: {T: 0}, equations: {position: w, w: T - 20*position}, outputs: "
    "{a: T - 20*position}}, ports: {p: {kind: rotation, angle: position, speed: w, acceleration: a, torque: T}}, "
    "solver: &s {name: erk-8, rtol: 1e-13, atol: 1e-15}}\n"
    "  B: {ode: {states: {position: 0, w: -0.5}, inputs: {T: 0}, equations: {position: w, w: (T - 30*sin(position) - "
    "w)/2}, outputs: {a: (T - 30*sin(position) - w)/2}}, ports: {p: {kind: rotation, angle: position, speed: w, "
    "acceleration: a, torque: T}}, solver: *s}\n";
constexpr const char* rooms =
    "  A: {ode: {states: {position: 400}, inputs: {q: 0}, equations: {position: q/5 - 0.5*(position - 300) + "
    "20*sin(3*t)}}, ports: {p: {kind: thermal, temperature: position, heat-flow: q}}, solver: &s {name: erk-8, rtol: "
    "1e-13, atol: 1e-15}}\n"
    "  B: {ode: {states: {position: 300}, inputs: {q: 0}, equations: {position: q/8 - 1e-5*(position^2 - 9e4)}}, "
    "ports: {p: {kind: thermal, temperature: position, heat-flow: q}}, solver: *s}\n";
constexpr moving all_moving[] = {
    {"springs", masses,
     "  c: {law: spring, between: [A.mass, B.mass], stiffness: 10}\n"
     "  d: {law: spring, between: [B.mass, C.mass], stiffness: 10}\n"},
    {"ring of spring-dampers", masses,
     "  c: {law: cubic-spring-damper, between: [A.mass, B.mass], stiffness: 10, cubic-stiffness: 50, damping: 1, "
     "cubic-damping: 0.5}\n"
     "  d: {law: spring-damper, between: [B.mass, C.mass], stiffness: 10, damping: 2}\n"
     "  e: {law: spring-damper, between: [C.mass, A.mass], stiffness: 0, damping: 1}\n"},
    {"gear", rotors, "  c: {law: gear, between: [A.p, B.p], ratio: -2, stiffness: 8, damping: 1}\n"},
    {"heat", rooms, "  c: {law: conductor, between: [A.p, B.p], conductance: 10}\n", false, 4.0 / 3}};

struct rule_of_order {
    const char* name;
    double order;
    bool rates = false;
};
/// Of lin-4-4-b0 and others of degree 1 positions have the order 3, whatever the mean has.
constexpr rule_of_order rules[] = {{"poly-1", 1},
                                   {"poly-2", 2},
                                   {"poly-3", 3},
                                   {"poly-4", 4},
                                   {"poly-5", 5},
                                   {"poly-6", 6},
                                   {"poly-7", 7},
                                   {"const-3-3-b0", 2},
                                   {"lin-3-3-b0", 3},
                                   {"hermite-1", 2, true},
                                   {"hermite-2", 4, true},
                                   {"hermite-3", 6, true},
                                   {"const-2-2-opt", 2, true},
                                   {"const-2-3-opt", 2, true},
                                   {"lin-2-2-opt", 2, true},
                                   {"lin-2-3-opt", 3, true},
                                   {"quad-2-4", 4, true}};

/// By steps so short that the leading order is seen, and so long that rounding is not.
double steps_for(double order) { return order > 4 ? 80 : order > 2 ? 160 : order > 1 ? 320 : 640; }

TEST(damped_rates, give_every_rule_its_order_from_a_cold_start) {
    for (const moving& of : all_moving) {
        const auto text = [&](const rule_of_order& rule, double steps) {
            return fmt::format(
                "time: {{end: 1 s, step: {} s}}\nrecord: {{every: 50 ms}}\nextrapolation: {}\nsubsystems:\n{}"
                "connections:\n{}",
                1 / steps, rule.name, of.subsystems, of.connections);
        };
        for (const rule_of_order& rule : rules) {
            if (rule.rates && !of.has_rate) continue;
            const double n = steps_for(rule.order) / of.longer;
            const double coarse = error_of(text(rule, n)), fine = error_of(text(rule, 2 * n));
            fmt::print("{:<24} {:<14} {:.3g} {:.3g} order {:.2f}\n", of.name, rule.name, coarse, fine,
                       std::log2(coarse / fine));
            // Of hermite-3 the next term of the error is still seen.
            EXPECT_GT(std::log2(coarse / fine), rule.order - 0.2) << of.name << ' ' << rule.name;
            EXPECT_LT(std::log2(coarse / fine), rule.order + 0.3) << of.name << ' ' << rule.name;
        }
    }
}

/// The limits that `stability --coupling-damping` shows are those of runs: m = c0 = 1, F = 10, a tenth of the critical damping.
TEST(damped_rates, are_stable_as_far_as_the_analysis_says) {
    const auto largest = [](const char* rule, double H) {
        const temporary_folder folder;
        const double d = 2 * 0.1 * std::sqrt(10.0 / 2);
        const scenario s = read_scenario_text(
            fmt::format(
                "time: {{end: {} s, step: {} s}}\nextrapolation: {}\nmonitor: {{divergence: note}}\nsubsystems:\n"
                "  A: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 1, x0: 1}}}}\n"
                "  B: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 1}}}}\nconnections:\n"
                "  c: {{law: spring-damper, between: [A.mass, B.mass], stiffness: 10, damping: {}}}\n",
                2000 * H, H, rule, d),
            "s.yaml");
        const run_summary done = run(s, {.out = folder / "out", .workers = 1});
        return std::max(std::abs(done.connections[0].u_min), std::abs(done.connections[0].u_max));
    };
    for (const auto& [rule, limit] : {std::pair{"lin-2-3-opt", 0.35316}, {"hermite-2", 0.30914}}) {
        EXPECT_LT(largest(rule, 0.98 * limit), 100) << rule;
        EXPECT_GT(largest(rule, 1.02 * limit), 1e6) << rule;
    }
}

TEST(damped_rates, check_says_why_there_are_none) {
    const auto told = [](const std::string& method, const std::string& law) {
        return check(read_scenario_text(
            "time: {end: 1 s, step: 1 ms}\nmethod: " + method + "\nsubsystems:\n  A: {model: mass-spring-damper}\n" +
                "  B: {ode: {states: {x: 0, v: 0}, inputs: {F: 0}, equations: {x: v, v: F}}, "
                "ports: {p: {kind: translation, position: x, velocity: v, force: F}}}\n"
                "connections:\n  c: {between: [A.mass, B.p], stiffness: 1, damping: 1, " +
                law + "}\n",
            "s.yaml"));
    };
    EXPECT_THAT(told("explicit", "law: spring-damper"), HasSubstr("extrapolation lin-2-3-opt (default)"));
    EXPECT_THAT(told("explicit", "law: stop, upper: 1"),
                HasSubstr("lin-3-3-b0 (default, because the rate of law 'stop' jumps at its corners)"));
    EXPECT_THAT(told("semi-implicit", "law: spring-damper"),
                HasSubstr("needs accelerations, which method 'semi-implicit' does not evaluate"));
}

TEST(first_step, is_divided_where_extrapolations_need_several_values) {
    const auto micro_steps = [](const std::string& rule, double step) {
        const temporary_folder folder;
        const run_summary s =
            run(read_scenario_text(
                    fmt::format("time: {{end: 1 s, step: {} s}}\n{}\nsubsystems:\n"
                                "  A: {{model: mass-spring-damper, solver: rk4, set: {{stiffness: 20, x0: 0.1}}}}\n"
                                "  B: {{model: mass-spring-damper, solver: rk4}}\nconnections:\n"
                                "  c: {{law: spring, between: [A.mass, B.mass], stiffness: 10}}\n",
                                step, rule),
                    "s.yaml"),
                {.out = folder / "out", .workers = 1});
        EXPECT_EQ(s.integrations, s.steps);
        EXPECT_EQ(s.rows, s.steps + 1);
        return s.subsystems[0].micro_steps - s.steps;
    };
    EXPECT_EQ(micro_steps("extrapolation: lin-2-3-opt", 0.01), 9);
    EXPECT_EQ(micro_steps("extrapolation: hermite-3", 0.01), 31);
    EXPECT_EQ(micro_steps("extrapolation: hermite-1", 0.01), 0);
    EXPECT_EQ(micro_steps("extrapolation: lin-2-3-opt", 0.25), 0);  // too few steps for anything
    EXPECT_EQ(micro_steps("method: one-pass", 0.01), 0);
}

/// An FMU with a step of its own may not move at all over a part of a macro step, which extrapolations would take for a standstill.
TEST(first_step, of_fmus_is_done_as_a_whole) {
    const temporary_folder folder;
    const auto body = [](const char* name) {
        return fmt::format(
            "  {}: {{fmu: {}/fmus/plain-oscillator-2.fmu, set: {{c: 10, x0: 0.1}}, ports: {{mass: {{kind: translation, "
            "position: position, velocity: velocity, force: force}}}}}}\n",
            name, MDPCOSIM_BINARY_DIR);
    };
    const run_summary s =
        run(read_scenario_text("time: {end: 1 s, step: 10 ms}\nextrapolation: hermite-3\nsubsystems:\n" + body("a") +
                                   body("b") +
                                   "connections:\n  c: {law: spring, between: [a.mass, b.mass], stiffness: 1}\n",
                               "s.yaml"),
            {.out = folder / "out", .workers = 1});
    EXPECT_EQ(s.subsystems[0].micro_steps, 100);
}

}  // namespace
}  // namespace mdpcosim
