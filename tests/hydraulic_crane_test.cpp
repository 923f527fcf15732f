// Law `cylinder` through the whole engine: exact solutions, every method, transports, and the example examples/hydraulic-crane against its
// reference and the published one (the numbers of its README; the tests print them).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/error.hpp"
#include "monolithic_fixture.hpp"

namespace mdpcosim {
namespace {

using test::column;
using test::settings;
using testing::AllOf;
using testing::HasSubstr;

const std::filesystem::path crane = test::examples / "hydraulic-crane/scenario.yaml",
                            lines = test::examples / "hydraulic-crane/lines.yaml";

run_summary run_with(scenario s, const run_options& options) { return run(std::move(s), options); }

class cylinder_runs : public test::monolithic {
   protected:
    static double largest(const result_table& a, const std::string& name_a, const result_table& b,
                          const std::string& name_b) {
        double found = 0;
        EXPECT_EQ(a.rows(), b.rows());
        for (std::size_t i = 0; i < std::min(a.rows(), b.rows()); ++i)
            found = std::max(found, std::abs(a.value(i, column(a, name_a)) - b.value(i, column(b, name_b))));
        return found;
    }
    static double at(const result_table& r, const std::string& name, double t) {
        for (std::size_t i = 0; i < r.rows(); ++i)
            if (std::abs(r.time[i] - t) < 1e-9) return r.value(i, column(r, name));
        throw std::runtime_error("no such time");
    }
};

constexpr double A = 2e-3, V = 4e-4, B = 1.4e9, m = 50;

/// A mass on oil that cannot leave; the weight keeps the balance of the pressure at the start.
std::string trapped(const std::string& x0, const std::string& step, const std::string& extra) {
    return fmt::format(R"(
time: {{end: 40 ms, step: {}}}
{}
subsystems:
  load: {{model: mass-spring-damper, set: {{mass: 50 kg, stiffness: 0, damping: 0, x0: {}}},
         solver: {{name: erk-8, rtol: 1e-12, atol: 1e-18}}}}
connections:
  oil: {{law: cylinder, between: [load.mass], area: 20 cm2, volume: 400 cm3, modulus: 1.4 GPa, pressure: 50 bar}}
signals:
  - {} N -> load.mass.force
record: {{every: 1 ms}}
)",
                       step, extra, x0, -5e6 * A);
}

TEST_F(cylinder_runs, a_mass_on_trapped_oil_swings_with_its_frequency) {
    // Small swings: omega = A sqrt(B/(V m)). The volume at the start is that of the mass at x0, so that the pressure there is balanced:
    // the mass stays; a velocity makes it swing.
    const double omega = A * std::sqrt(B / (V * m)), v0 = 1e-6 * omega * V / A;
    double error[2];
    for (const int k : {0, 1}) {
        const result_table r = run_text(
            fmt::format("swing{}", k),
            trapped(fmt::format("0, v0: {}", v0), k == 0 ? "0.5 ms" : "0.25 ms", "extrapolation: hermite-3"), false);
        error[k] = 0;
        for (std::size_t i = 0; i < r.rows(); ++i)
            error[k] = std::max(error[k], std::abs(r.value(i, column(r, "load.mass.position")) * omega / v0 -
                                                   std::sin(omega * r.time[i])));
    }
    fmt::print("mass on trapped oil, omega = {:.5g} rad/s, error at 0.5 and 0.25 ms: {:.3g} {:.3g}\n", omega, error[0],
               error[1]);
    EXPECT_LT(error[1], 2e-6) << "the volume changes by 1e-6";
    EXPECT_GT(std::log2(error[0] / error[1]), 5.5) << "of the rule, but for what the volume changes by";
}

TEST_F(cylinder_runs, large_swings_keep_their_energy) {
    // m v^2/2 + U, dU/dx = -A B ln(V/(V + A x)): U = B (V_x (ln(V_x/V) - 1) + V), V_x = V + A x.
    const double v0 = 20;
    const auto worst = [&](const result_table& r) {
        double found = 0;
        for (std::size_t i = 0; i < r.rows(); ++i) {
            const double volume = V + A * r.value(i, column(r, "load.mass.position"));
            const double v = r.value(i, column(r, "load.mass.velocity"));
            const double energy = m * v * v / 2 + B * (volume * (std::log(volume / V) - 1) + V);
            found = std::max(found, std::abs(energy / (m * v0 * v0 / 2) - 1));
        }
        return found;
    };
    const std::string start = fmt::format("0, v0: {}", v0);
    const result_table whole = run_text("whole", trapped(start, "0.1 ms", ""), true);
    EXPECT_LT(worst(whole), 1e-9);
    double swing = 0;
    for (std::size_t i = 0; i < whole.rows(); ++i)
        swing = std::max(swing, std::abs(whole.value(i, column(whole, "load.mass.position"))) * A / V);
    EXPECT_GT(swing, 0.1) << "of the volume";
    for (const auto& [method, step, bound] : {std::tuple{"method: explicit\nextrapolation: hermite-3", "0.1 ms", 1e-8},
                                              {"method: explicit", "0.1 ms", 6e-4},
                                              {"method: semi-implicit", "0.1 ms", 6e-4},
                                              {"method: one-pass", "0.1 ms", 6e-4},
                                              {"method: iterated", "0.1 ms", 3e-7},
                                              {"method: multirate", "0.1 ms", 0.01}}) {
        const result_table r = run_text("large", trapped(start, step, method), false);
        fmt::print("{:<45} energy {:.2g}, position {:.2g} m\n", method, worst(r),
                   largest(r, "load.mass.position", whole, "load.mass.position"));
        EXPECT_LT(worst(r), bound) << method;
    }
}

TEST_F(cylinder_runs, two_pistons_and_a_flow_alone_in_oil_with_air) {
    // The pump gives its flow only, which is integrated; two pistons move the chamber; the air makes the oil up to 40 times softer.
    const auto text = [](const char* step) {
        return fmt::format(R"(
time: {{end: 60 ms, step: {}}}
subsystems:
  pump:
    ode:
      states: {{Q: 0 m3/s}}
      inputs: {{p: 20 bar}}
      equations: {{Q: (2e6 + 1e6*sin(100*t) - p - 5e9*Q)*1e-4/850}}
    ports: {{end: {{kind: hydraulic, flow: Q, pressure: p}}}}
    solver: &exact {{name: erk-8, rtol: 1e-12, atol: 1e-18}}
  left: {{model: mass-spring-damper, set: {{mass: 10 kg, stiffness: 500 kN/m, damping: 300}}, solver: *exact}}
  right: {{model: mass-spring-damper, set: {{mass: 20 kg, stiffness: 800 kN/m, damping: 300}}, solver: *exact}}
connections:
  chamber: {{law: cylinder, between: [left.mass, right.mass, pump.end], area: 20 cm2, volume: 200 cm3, modulus: 0.8 GPa, pressure: 20 bar,
            model: pressure-dependent, air: 0.01}}
record: {{every: 1 ms}}
)",
                           step);
    };
    const result_table whole = run_text("whole", text("0.1 ms"), true);
    double error[2];
    for (const int k : {0, 1})
        error[k] =
            largest(run_text("parts", text(k == 0 ? "0.05 ms" : "0.025 ms"), false), "chamber.u", whole, "chamber.u");
    fmt::print("two pistons and a flow alone, error at 50 and 25 us: {:.3g} {:.3g} Pa\n", error[0], error[1]);
    EXPECT_LT(error[0], 500);
    EXPECT_NEAR(std::log2(error[0] / error[1]), 3, 0.15);
}

TEST_F(cylinder_runs, crane_follows_the_published_reference) {
    // Actuator length and pressures of the published reference, integrated with 0.05 ms by Euler's method.
    struct row {
        double t, s, rod, head;
    };
    const result_table whole = run("whole", crane, true), r = run("parts", crane, false);
    for (const auto& [t, s, rod, head] :
         {row{2.1, 0.5013038, 3049453.5, 4650546.5}, row{4, 0.53918989, 3061370.4, 4638630.1},
          row{6, 0.59603536, 3075063.8, 4624937.4}, row{8, 0.56266526, 3435953.1, 4264046.1},
          row{10, 0.51536899, 3422258.8, 4277740.9}})
        for (const auto* results : {&whole, &r}) {
            EXPECT_NEAR(at(*results, "crane.s", t), s, 2e-6);
            EXPECT_NEAR(at(*results, "rod.u", t), rod, 6);
            EXPECT_NEAR(at(*results, "head.u", t), head, 6);
        }
    EXPECT_LT(largest(r, "crane.s", whole, "crane.s"), 1e-9);
    EXPECT_LT(largest(r, "rod.u", whole, "rod.u"), 6);
}

TEST_F(cylinder_runs, crane_is_solved_in_large_steps_by_iteration) {
    const settings until{{"time.end", "2.5 s"}};
    const result_table whole = run("whole", crane, true, until);
    const result_table r = run("parts", crane, false, {{"time.end", "2.5 s"}, {"time.step", "10 ms"}});
    EXPECT_LT(largest(r, "crane.s", whole, "crane.s"), 5e-6);
}

TEST_F(cylinder_runs, every_method_comes_to_the_reference_of_the_crane_with_lines) {
    const settings until{{"time.end", "2.1 s"}};
    const result_table whole = run("whole", lines, true, until);
    struct row {
        const char *method, *step;
        double s, rod;
    };
    for (const auto& [method, step, s, rod] :
         {row{"explicit", "0.4 ms", 4e-9, 1.5e3}, row{"explicit", "0.1 ms", 1e-10, 30},
          row{"one-pass", "0.4 ms", 4e-9, 1.5e3}, row{"one-pass", "0.1 ms", 1e-10, 30},
          row{"semi-implicit", "0.4 ms", 4e-9, 2.5e3}, row{"semi-implicit", "0.1 ms", 3e-10, 200},
          row{"iterated", "0.5 ms", 1e-10, 60}}) {
        const result_table r =
            run("parts", lines, false, {{"time.end", "2.1 s"}, {"method", method}, {"time.step", step}});
        const double in_s = largest(r, "crane.s", whole, "crane.s"), in_rod = largest(r, "rod.u", whole, "rod.u");
        fmt::print("{:<14} {:<7} s {:.2g} m, rod {:.2g} Pa\n", method, step, in_s, in_rod);
        EXPECT_LT(in_s, s) << method << " " << step;
        EXPECT_LT(in_rod, rod) << method << " " << step;
    }
}

TEST_F(cylinder_runs, are_the_same_on_threads_and_processes) {
    const auto results_on = [&](const std::string& transport, int workers) {
        run_options options;
        options.out = folder / (transport + std::to_string(workers));
        options.transport = transport;
        options.workers = workers;
        const run_summary summary =
            run_with(read_scenario(crane, overrides({{"time.start", "1.95 s"}, {"time.end", "2.05 s"}})), options);
        EXPECT_EQ(summary.status, "done") << summary.message;
        return read_results(options.out, [](std::string_view) { return true; });
    };
    const result_table one = results_on("threads", 1);
    EXPECT_EQ(results_on("threads", 2).values, one.values);
    EXPECT_EQ(results_on("processes", 2).values, one.values);
}

TEST_F(cylinder_runs, mistakes_are_told) {
    const auto refusal = [](const std::string& connection) -> std::string {
        try {
            check(read_scenario_text(R"(
time: {end: 1 ms, step: 0.1 ms}
subsystems:
  load: {model: mass-spring-damper}
  wheel: {model: inertia}
  line: {model: hydraulic-line}
  second: {model: hydraulic-line}
connections:
  jack: {law: cylinder, )" + connection + "}\n",
                                     "test.yaml"));
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "not refused";
    };
    EXPECT_EQ(refusal("between: [load.mass, line.left], area: 20 cm2, volume: 1 l, modulus: 1 GPa"), "not refused");
    EXPECT_THAT(refusal("between: [load.mass, line.left], area: -20 cm2, volume: 1 l, modulus: 1 GPa"),
                AllOf(HasSubstr("test.yaml:9:"), HasSubstr("connection 'jack'"), HasSubstr("'area'"),
                      HasSubstr("'-20 cm2' must be greater than zero")));
    EXPECT_THAT(refusal("between: [load.mass, line.left], area: 20 cm2, volume: 0 l, modulus: 1 GPa"),
                AllOf(HasSubstr("connection 'jack'"), HasSubstr("'volume'")));
    EXPECT_THAT(refusal("between: [load.mass, line.left], area: 20 cm2, modulus: 1 GPa"), HasSubstr("'volume'"));
    EXPECT_THAT(refusal("between: [line.left, second.left], area: 20 cm2, volume: 1 l, modulus: 1 GPa"),
                AllOf(HasSubstr("none of the ports in 'between' is a piston, a port of kind translation"),
                      HasSubstr("law: node")));
    EXPECT_THAT(
        refusal("between: [wheel.shaft, line.left], area: 20 cm2, volume: 1 l, modulus: 1 GPa"),
        HasSubstr("port 'wheel.shaft' is of kind rotation, but law 'cylinder' joins ports of kind hydraulic, and its "
                  "pistons are of kind translation"));
    EXPECT_THAT(refusal("between: [load.mass, line.left], side: left, area: 20 cm2, volume: 1 l, modulus: 1 GPa"),
                AllOf(HasSubstr("head"), HasSubstr("rod")));
    const std::string text = check(read_scenario(crane));
    EXPECT_THAT(text, HasSubstr("crane.jack receives -0.0065*u (degree 1), valve.rod receives +u"));
    EXPECT_THAT(text, HasSubstr("crane.jack receives 0.0065*u (degree 1), valve.head receives +u"));
}

TEST_F(cylinder_runs, a_piston_that_leaves_its_chamber_ends_the_run) {
    const run_summary summary = run_into("left",
                                         read_scenario_text(R"(
time: {end: 1 s, step: 1 ms}
subsystems:
  rod: {ode: {inputs: {F: 0 N}, outputs: {x: {value: -0.3*t, unit: m}}}, ports: {end: {kind: translation, position: x, force: F}}}
connections:
  chamber: {law: cylinder, between: [rod.end], area: 20 cm2, volume: 100 cm3, modulus: 1 GPa}
)",
                                                            "test.yaml"),
                                         false);
    EXPECT_EQ(summary.status, "failed");
    EXPECT_THAT(summary.message,
                AllOf(HasSubstr("connection 'chamber' at t = 0.16"),
                      HasSubstr("the piston has left the chamber: its volume, 0.0001 m3 at the start")));
}

}  // namespace
}  // namespace mdpcosim
