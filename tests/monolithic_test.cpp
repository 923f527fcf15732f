// `run --monolithic` through the whole engine: the reference against exact solutions and against each example's own
// monolithic.yaml, and co-simulations that converge to it. The tests print the numbers they find.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "api/mdpcosim.hpp"
#include "core/error.hpp"
#include "coupling/law.hpp"
#include "monolithic_fixture.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::column;
using test::difference;
using test::examples;
using test::monolithic;
using test::settings;
using test::shown;
using testing::HasSubstr;

// ---- the examples ---------------------------------------------------------------------------------------------------

/// x = 5 mm (cos w1 t +- cos w2 t), w1^2 = c/m, w2^2 = (c + 2 c_c)/m.
TEST_F(monolithic, two_mass_is_exact) {
    const result_table t = run("two", examples / "two-mass/scenario.yaml", true);
    ASSERT_EQ(t.rows(), 201u);
    const double w1 = 10, w2 = std::sqrt(2100.0);
    double position = 0, velocity = 0, force = 0;
    for (std::size_t row = 0; row < t.rows(); ++row) {
        const double s = t.time[row];
        const auto at = [&](const char* name) { return t.value(row, column(t, name)); };
        for (const auto& [object, sign] : {std::pair("A", 1.0), std::pair("B", -1.0)}) {
            const std::string port = fmt::format("{}.mass.", object);
            position = std::max(position, std::abs(at((port + "position").c_str()) -
                                                   0.005 * (std::cos(w1 * s) + sign * std::cos(w2 * s))));
            velocity = std::max(velocity, std::abs(at((port + "velocity").c_str()) +
                                                   0.005 * (w1 * std::sin(w1 * s) + sign * w2 * std::sin(w2 * s))));
        }
        force = std::max(force, std::abs(at("spring.u") - 1000 * 0.01 * std::cos(w2 * s)));
    }
    EXPECT_LT(shown("two-mass: position [m]", position), 1e-12);
    EXPECT_LT(shown("two-mass: velocity [m/s]", velocity), 1e-10);
    EXPECT_LT(shown("two-mass: force [N]", force), 1e-8);
}

TEST_F(monolithic, two_mass_nonlinear_equals_its_equations_in_one_file) {
    const result_table whole = run("whole", examples / "two-mass-nonlinear/scenario.yaml", true);
    const result_table by_hand = run("hand", examples / "two-mass-nonlinear/monolithic.yaml", false);
    for (const auto& [a, b] : {std::pair("A.mass.position", "both.xA"), std::pair("A.mass.velocity", "both.vA"),
                               std::pair("B.mass.position", "both.xB"), std::pair("B.mass.velocity", "both.vB")})
        EXPECT_LT(shown(fmt::format("two-mass-nonlinear: {}", a), difference(whole, a, by_hand, b)), 1e-9);
}

/// The recorded torque has corners, where the solver must stop.
TEST_F(monolithic, driven_shaft_equals_its_equations_in_one_file) {
    const result_table whole = run("whole", examples / "driven-shaft/scenario.yaml", true);
    const result_table by_hand = run("hand", examples / "driven-shaft/monolithic.yaml", false,
                                     {{"both.solver.rtol", "1e-13"}, {"both.solver.atol", "1e-15"}});
    for (const auto& [a, b] : {std::pair("motor.shaft.angle", "both.phi1"), std::pair("motor.shaft.speed", "both.w1"),
                               std::pair("load.shaft.angle", "both.phi2"), std::pair("load.shaft.speed", "both.w2"),
                               std::pair("cycle.torque", "cycle.torque")})
        EXPECT_LT(shown(fmt::format("driven-shaft: {}", a), difference(whole, a, by_hand, b)), 1e-9);
}

/// 3 subsystems of 10 masses are 30 masses.
TEST_F(monolithic, oscillator_chain_does_not_depend_on_its_cuts) {
    const settings everything{{"record.only", "'*'"}};
    const result_table cut = run("cut", examples / "oscillator-chain/scenario.yaml", true, everything);
    const result_table one = run("one", examples / "oscillator-chain/monolithic.yaml", true, everything);
    double worst = 0;
    for (int i = 0; i < 30; ++i)
        for (const char* what : {"x", "v"})
            worst = std::max(worst, difference(cut, fmt::format("part{}.{}[{}]", i / 10 + 1, what, i % 10), one,
                                               fmt::format("part1.{}[{}]", what, i)));
    EXPECT_LT(shown("oscillator-chain: cut or whole", worst), 1e-11);
    // A looser solver of its own is as far away as its tolerance says.
    const result_table own = run("own", examples / "oscillator-chain/monolithic.yaml", false, everything);
    EXPECT_LT(shown("oscillator-chain: own solver, rtol 1e-9", difference(own, "part1.x[15]", one, "part1.x[15]")),
              1e-8);
}

/// The energy of both pendulums and the spring, 20 s long.
TEST_F(monolithic, pendulums_keep_their_energy) {
    const result_table t = run("p", examples / "pendulum-ode/scenario.yaml", true);
    double drift = 0;
    const auto energy = [&](std::size_t row) {
        const double twist = t.value(row, column(t, "left.phi")) - t.value(row, column(t, "right.phi"));
        return t.value(row, column(t, "left.energy")) + t.value(row, column(t, "right.energy")) +
               0.5 * 2 * twist * twist;
    };
    for (std::size_t row = 1; row < t.rows(); ++row) drift = std::max(drift, std::abs(energy(row) - energy(0)));
    EXPECT_LT(shown("pendulum-ode: energy [J]", drift), 1e-11);
}

/// Each hit takes 1 - 0.8^2 of the energy; between the hits it is constant.
TEST_F(monolithic, a_wall_is_hit_at_state_events) {
    const result_table t = run("w", examples / "pendulum-ode/wall.yaml", true, {{"record.every", "5 s"}});
    const double e0 = 9.81 * (1 - std::cos(std::numbers::pi / 3));
    ASSERT_EQ(t.rows(), 2u);
    const double e = t.value(1, column(t, "pendulum.energy"));
    EXPECT_LT(shown("pendulum-ode/wall: energy after 5 hits", std::abs(e - e0 * std::pow(0.64, 5))), 1e-10);
}

// ---- convergence ----------------------------------------------------------------------------------------------------

/// The slope of the error over the macro step is the global order of the extrapolation: 3 for lin-2-3-opt, 2 for poly-2.
TEST_F(monolithic, co_simulation_converges_to_it) {
    const fs::path file = examples / "two-mass-nonlinear/scenario.yaml";
    for (const auto& [rule, order] : {std::pair("lin-2-3-opt", 3.0), std::pair("poly-2", 2.0)}) {
        std::vector<double> errors;
        for (const char* step : {"0.5 ms", "0.25 ms", "0.125 ms"}) {
            const settings list{{"extrapolation", rule}, {"time.step", step}};
            run("reference", file, true, list);
            run("coupled", file, false, list);
            const comparison c = compare_results(folder / "coupled", folder / "reference", {"A.mass.position"});
            EXPECT_EQ(c.times, comparison::grid::equal);
            errors.push_back(c.errors.front().relative);
        }
        for (std::size_t i = 0; i + 1 < errors.size(); ++i) {
            const double slope = std::log2(errors[i] / errors[i + 1]);
            std::printf("%s: error %.2e -> %.2e, order %.3f\n", rule, errors[i], errors[i + 1], slope);
            EXPECT_NEAR(slope, order, 0.15) << rule;
        }
    }
}

// ---- parts of a scenario --------------------------------------------------------------------------------------------

/// A node whose pressure is volume over capacity; its port gives the flow only.
struct capacity final : law {
    explicit capacity(double C) : c(1 / C) {}
    law_value evaluate(double q, double v) const override { return {c * q, c * v}; }
    bool remembers() const override { return false; }
    double c;
};
const law_registration registered_capacity{
    {"test-capacity",
     "for this test",
     {port_kind::hydraulic},
     {{"capacity", "m3/Pa", "", 0, parameter_info::range::positive, true, false, {}}},
     [](const parameter_values& p) { return std::make_unique<capacity>(p["capacity"]); },
     {},
     law_join::node}};

constexpr const char* pipes = R"(
time: {end: 1 s, step: 1 ms}
subsystems:
  pipe:
    ode: {states: {Q: 1 m3/s}, inputs: {p: 0 Pa}, equations: {Q: -p/0.5}}
    ports: {end: {kind: hydraulic, flow: Q, pressure: p}}
  other:
    ode: {states: {Q: 0 m3/s}, inputs: {p: 0 Pa}, equations: {Q: -p/0.5}}
    ports: {end: {kind: hydraulic, flow: Q, pressure: p}}
connections:
  node: {law: test-capacity, between: [pipe.end, other.end], capacity: 0.01 m3/Pa}
record: {every: 100 ms}
)";

/// With S = Q1 + Q2: S'' = -2/(L C) S, so that w = 20 and p = sin(w t) / (w C); Q1 - Q2 stays.
TEST_F(monolithic, integrated_flows_are_states) {
    const result_table t = run_text("pipes", pipes, true);
    double worst = 0;
    for (std::size_t row = 0; row < t.rows(); ++row) {
        const double s = t.time[row], p = std::sin(20 * s) / 0.2;
        worst = std::max({worst, std::abs(t.value(row, column(t, "node.u")) - p),
                          std::abs(t.value(row, column(t, "pipe.Q")) - 0.5 * (1 + std::cos(20 * s))),
                          std::abs(t.value(row, column(t, "other.Q")) - 0.5 * (std::cos(20 * s) - 1))});
    }
    EXPECT_LT(shown("integrated flows", worst), 1e-9);
    const result_table coupled = run_text("coupled", pipes, false);
    EXPECT_LT(shown("integrated flows: co-simulation", difference(coupled, "node.u", t, "node.u")), 0.02);
}

/// Signals through feed-through, rows of a file that jump, a lag: x' = (2 u(t) + 1 - x) / T with u = 0, then 3 from 1/3 s on.
TEST_F(monolithic, signals_and_recorded_jumps_are_exact) {
    std::ofstream(folder / "u.csv") << "time,u\n0,0\n0.3333333333333333,0\n0.3333333333333333,3\n2,3\n";
    const std::string text = fmt::format(R"(
time: {{end: 1 s, step: 10 ms}}
subsystems:
  sink: {{ode: {{states: {{x: 0}}, inputs: {{u: 0}}, equations: {{x: (u - x)/0.1}}}}}}
  gain: {{ode: {{states: {{z: 0}}, inputs: {{u: 0}}, equations: {{z: 1}}, outputs: {{y: 2*u + 1}}}}}}
  source: {{file: {}, interpolation: linear}}
signals: [gain.y -> sink.u, source.u -> gain.u]
)",
                                         (folder / "u.csv").string());
    const result_table t = run_text("signals", text, true);
    double worst = 0;
    for (std::size_t row = 0; row < t.rows(); ++row) {
        const double s = t.time[row], jump = 1.0 / 3;
        double exact = 1 - std::exp(-s / 0.1);
        if (s > jump) exact += 6 * (1 - std::exp(-(s - jump) / 0.1));
        worst = std::max(worst, std::abs(t.value(row, column(t, "sink.x")) - exact));
    }
    EXPECT_LT(shown("signals and jumps", worst), 1e-11);
}

/// Stiff: a gram on a damper of 100 N.s/m. The implicit solver agrees with the default at a hundredth of the micro steps.
TEST_F(monolithic, a_stiff_system_takes_another_solver) {
    const auto text = [](const char* reference) {
        return fmt::format(R"(
time: {{end: 0.2 s, step: 10 ms}}
subsystems:
  body: {{model: mass-spring-damper, set: {{mass: 1 kg, stiffness: 10 N/m, x0: 0.1 m}}}}
  valve: {{model: mass-spring-damper, set: {{mass: 1 g}}}}
connections:
  oil: {{law: spring-damper, between: [body.mass, valve.mass], stiffness: 1 kN/m, damping: 100 N.s/m}}
{})",
                           reference);
    };
    const result_table plain = run_text("plain", text(""), true);
    const run_summary implicit = run_into(
        "implicit", read_scenario_text(text("reference: {solver: {name: cvode-bdf, rtol: 1e-10, atol: 1e-13}}"), "s"),
        true);
    EXPECT_EQ(implicit.subsystems.at(0).solver, "cvode-bdf");
    EXPECT_LT(implicit.subsystems.at(0).micro_steps, 1000);
    EXPECT_GE(implicit.subsystems.at(0).newton_iterations, implicit.subsystems.at(0).micro_steps);
    EXPECT_GT(implicit.subsystems.at(0).factorisations, 10);
    const comparison c = compare_results(folder / "implicit", folder / "plain", {"*.position", "*.velocity"});
    EXPECT_LT(shown("stiff: " + c.errors.front().name, c.errors.front().relative), 1e-6);
}

/// z = 2 x is algebraic: x' = y - z, y' = z - y, so that x = (1 + 2 exp(-3t))/3. Only ida takes it.
TEST_F(monolithic, algebraic_states_need_ida) {
    const auto text = [](const char* reference) {
        return fmt::format(R"(
time: {{end: 1 s, step: 10 ms}}
subsystems:
  a:
    ode: {{states: {{x: 1}}, algebraic: {{z: 1}}, inputs: {{u: 0}}, equations: {{x: u - z, z: z - 2*x}}}}
    solver: ida
  b: {{ode: {{states: {{y: 0}}, inputs: {{u: 0}}, equations: {{y: u - y}}}}}}
signals: [a.z -> b.u, b.y -> a.u]
{})",
                           reference);
    };
    try {
        run_text("refused", text(""), true);
        FAIL() << "accepted";
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(),
                    HasSubstr("reference: solver erk-6 cannot integrate subsystem 'a': the model has algebraic"));
    }
    EXPECT_FALSE(fs::exists(folder / "refused"));
    const result_table t = run_text("dae", text("reference: {solver: {name: ida, rtol: 1e-10}}"), true);
    double worst = 0;
    for (std::size_t row = 0; row < t.rows(); ++row) {
        const double x = (1 + 2 * std::exp(-3 * t.time[row])) / 3;
        worst = std::max(
            {worst, std::abs(t.value(row, column(t, "a.x")) - x), std::abs(t.value(row, column(t, "a.z")) - 2 * x)});
    }
    EXPECT_LT(shown("algebraic states", worst), 1e-7);
}

TEST_F(monolithic, writes_the_files_of_a_run) {
    const scenario s =
        read_scenario(examples / "two-mass/scenario.yaml", overrides({{"reference.solver.rtol", "1e-9"}}));
    const run_summary summary = run_into("files", s, true);
    std::ifstream in(folder / "files/summary.json");
    const auto j = nlohmann::json::parse(in);
    EXPECT_EQ(j["method"], "monolithic");
    EXPECT_EQ(j["transport"], "none");
    EXPECT_EQ(j["status"], "done");
    EXPECT_EQ(j["macro_steps"], 0);
    EXPECT_EQ(j["rows"], 201);
    ASSERT_EQ(j["subsystems"].size(), 1u);
    EXPECT_EQ(j["subsystems"][0]["type"], "2 subsystems as one, 4 states");
    EXPECT_EQ(j["subsystems"][0]["solver"], "erk-6");
    EXPECT_GT(j["subsystems"][0]["micro_steps"], 100);
    EXPECT_GT(j["subsystems"][0]["evaluations"], 1000);
    EXPECT_EQ(j["connections"][0]["extrapolation"], "none");
    EXPECT_NEAR(j["connections"][0]["u_max"].get<double>(), 10, 1e-9);
    EXPECT_NEAR(j["connections"][0]["u_end"].get<double>(), 10 * std::cos(2 * std::sqrt(2100.0)), 1e-6);
    EXPECT_THAT(to_table(summary), HasSubstr("done: reference to t = 2 s"));

    // The same columns as the co-simulation, and its resolved scenario repeats it bit for bit.
    run("coupled", examples / "two-mass/scenario.yaml", false);
    const comparison c = compare_results(folder / "files", folder / "coupled");
    EXPECT_TRUE(c.only_a.empty() && c.only_b.empty());
    run("again", folder / "files/scenario.yaml", true);
    for (const auto& e : compare_results(folder / "files", folder / "again").errors)
        EXPECT_EQ(e.max_error, 0) << e.name;
}

TEST_F(monolithic, a_failure_keeps_the_rows_before_it) {
    const run_summary summary = run_into("fails",
                                         read_scenario_text(R"(
time: {end: 2 s, step: 90 ms}
subsystems:
  a: {ode: {states: {x: 1}, equations: {x: x^2}}}
  b: {ode: {states: {x: 1}, equations: {x: -x}}}
)",
                                                            "s"),
                                         true);
    EXPECT_EQ(summary.status, "failed");
    EXPECT_THAT(summary.message, HasSubstr("reference: erk-6 at t = "));
    EXPECT_NEAR(summary.reached, 0.99, 1e-15);  // x = 1/(1 - t) ends at 1
    const result_table t = read_results(folder / "fails", [](std::string_view) { return true; });
    ASSERT_EQ(t.rows(), 12u);
    EXPECT_NEAR(t.value(11, column(t, "a.x")), 100, 1e-6);
    EXPECT_TRUE(fs::exists(folder / "fails/summary.json"));
}

TEST_F(monolithic, an_interrupt_keeps_the_rows_before_it) {
    std::atomic<bool> interrupt{true};
    run_options options;
    options.out = folder / "stopped";
    options.monolithic = true;
    options.interrupt = &interrupt;
    const run_summary summary = mdpcosim::run(read_scenario(examples / "two-mass/scenario.yaml"), options);
    EXPECT_EQ(summary.status, "interrupted");
    EXPECT_EQ(summary.rows, 1);
    EXPECT_EQ(summary.reached, 0);
}

// ---- the scenario's key ---------------------------------------------------------------------------------------------

std::string refusal(const std::string& reference) {
    try {
        check(read_scenario_text(
            "time: {end: 1, step: 0.1}\nsubsystems: {a: {model: mass-spring-damper, set: {mass: 1}}}\n" + reference,
            "s.yaml"));
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

TEST(reference_key, mistakes_have_their_place) {
    EXPECT_EQ(refusal("reference: {solver: {name: dirk-5, rtol: 1e-8}}"), "accepted");
    EXPECT_EQ(refusal("reference: {solver: erk-5}"), "accepted");
    EXPECT_THAT(refusal("reference: {solvers: erk-5}"), HasSubstr("s.yaml:3:13: "));
    EXPECT_THAT(refusal("reference: {solver: erk5}"),
                HasSubstr("s.yaml:3:21: reference: solver 'erk5' does not exist."));
    EXPECT_THAT(refusal("reference: {solver: erk5}"), HasSubstr("Did you mean 'erk-5'?"));
    EXPECT_THAT(refusal("reference: {solver: {name: erk-5, rtl: 1}}"),
                HasSubstr("s.yaml:3:35: reference: solver erk-5: parameter 'rtl'"));
    EXPECT_THAT(refusal("reference: {solver: {rtol: -1}}"), HasSubstr("must be greater than zero"));
}

TEST(reference_key, is_shown_and_written) {
    const scenario s = read_scenario(examples / "two-mass/scenario.yaml", {{"reference.solver.name", "dirk-5", "--set"},
                                                                           {"reference.solver.atol", "1e-9", "--set"}});
    EXPECT_THAT(check(s),
                HasSubstr("reference (--monolithic): dirk-5 (atol = 1e-9, rtol = 1e-12, max-steps = 10000000"));
    const scenario again = read_scenario_text(write_scenario(s), "again");
    EXPECT_EQ(again.reference.solver.name.value, "dirk-5");
    ASSERT_EQ(again.reference.solver.options.size(), 1u);
    EXPECT_EQ(again.reference.solver.options[0].values[0].value, "1e-9");
}

/// A subsystem of that name keeps its address.
TEST(reference_key, does_not_hide_a_subsystem) {
    const scenario s = read_scenario_text(
        "time: {end: 1, step: 0.1}\nsubsystems: {reference: {model: mass-spring-damper, set: {mass: 1}}}", "s.yaml", {},
        {{"reference.mass", "2", "--set"}});
    EXPECT_EQ(s.subsystems[0].set[0].values[0].value, "2");
}

}  // namespace
}  // namespace mdpcosim
