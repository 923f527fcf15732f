// The iterated method on hydraulics that are much faster than its steps: known solutions with every solver, and steps that must be
// divided to have one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "coupled_run.hpp"
#include "monolithic_fixture.hpp"

namespace mdpcosim {
namespace {

using test::coupled_run;

constexpr double p_0 = 10e6, p_s = 5e6, B = 1.2e9, volume = 6e-4;

/// A supply fills a chamber with the pressure p_s through an orifice.
std::string filled(const std::string& flow, const std::string& solver, double step, double end) {
    return fmt::format(R"(
time: {{end: {} s, step: {} s}}
method: {{name: iterated, solver: {}, tolerance: 1e-8}}
subsystems:
  orifice:
    ode:
      parameters: {{p0: 10 MPa}}
      states: {{V: 0 m3}}
      inputs: {{p: 5 MPa}}
      equations: {{V: Q}}
      outputs: {{Q: {{value: "{}", unit: m3/s}}}}
    ports: {{end: {{kind: hydraulic, volume: V, flow: Q, pressure: p}}}}
    solver: {{name: erk-8, rtol: 1e-13, atol: 1e-18}}
connections:
  chamber: {{law: node, between: [orifice.end], volume: 600 cm3, modulus: 1.2 GPa, pressure: 5 MPa}}
)",
                       end, step, solver, flow);
}

/// A linear orifice is a lag T = R C. With z = -H/T a step of two points multiplies p - p0 by (1 + z/2 + z^2/12)/(1 - z/2 + z^2/12), that of the
/// collocation at begin, middle and end (Lobatto IIIA): 0.74 for z = -40, where a fixed point's iterates grow 40 times.
TEST(stiff_hydraulics, every_solver_finds_the_solution_of_the_points) {
    const double T = 2.5e-4, C = volume / B;
    for (const double z : {-4.0, -40.0, -400.0})
        for (const char* solver : {"newton", "iqn-ils", "anderson"}) {
            const double H = -z * T, factor = (1 + z / 2 + z * z / 12) / (1 - z / 2 + z * z / 12);
            coupled_run run(read_scenario_text(filled(fmt::format("(p0 - p)/{}", T / C), solver, H, 10 * H), "s.yaml"));
            run.watch("chamber.u");
            double left = p_s - p_0;
            for (const auto& row : run.rows()) {
                EXPECT_NEAR(row[0] - p_0, left, 1e-6 * p_0) << solver << ' ' << z;
                left *= factor;
            }
        }
}

/// Q = k sqrt(p0 - p): sqrt(p0 - p) falls with the time by k/(2 C), and the chamber is full after 2 sqrt(p0 - p_s) C/k.
TEST(stiff_hydraulics, filling_through_a_square_root) {
    const double k = 2e-6, C = volume / B, full = 2 * std::sqrt(p_0 - p_s) * C / k, H = full / 8;
    for (const char* solver : {"newton", "iqn-ils"}) {
        coupled_run run(read_scenario_text(filled("2e-6*sqrt(max(p0 - p, 0))", solver, H, 7 * H), "s.yaml"));
        run.watch("chamber.u");
        int n = 0;
        for (const auto& row : run.rows()) {
            const double root = std::sqrt(p_0 - p_s) * (1 - n++ / 8.0);
            EXPECT_NEAR(row[0], p_0 - root * root, 1e-6 * p_0) << solver << ' ' << n;
        }
    }
}

/// A crane whose valve is open from the start: with the pressures held, as the first iterate has them, more oil flows in 10 ms than the chambers
/// bear. Before, that was the end of the run in its first step.
class stiff_crane : public test::monolithic {
   protected:
    void expect_it_runs(const std::string& method, const std::string& step, double most) {
        const auto text = [&](const char* name) {
            return read_scenario(test::examples / "hydraulic-crane/scenario.yaml", {{"method", name, "test"},
                                                                                    {"valve.k0", "0.40", "test"},
                                                                                    {"time.end", "0.5 s", "test"},
                                                                                    {"time.step", step, "test"},
                                                                                    {"record.every", "20 ms", "test"}});
        };
        ASSERT_EQ(run_into("whole", text("iterated"), true).status, "done");
        const run_summary s = run_into("run", text(method.c_str()), false);
        EXPECT_EQ(s.status, "done") << method << ' ' << step << ": " << s.message;
        for (const auto& e : compare_results(folder / "run", folder / "whole").errors)
            if (e.name == "crane.s") {
                EXPECT_LT(e.relative, most) << method << ' ' << step;
            }
    }
};

TEST_F(stiff_crane, runs_where_a_step_as_a_whole_has_no_first_iterate) {
    for (const char* solver : {"newton", "iqn-ils", "anderson"})
        for (const auto& [step, most] : {std::pair{"10 ms", 1e-3}, {"20 ms", 5e-3}})
            expect_it_runs(fmt::format("{{name: iterated, solver: {}}}", solver), step, most);
}

/// At rest the residuals that the tolerance leaves are the largest there were, window after window; the switch behind them is no divergence.
TEST_F(stiff_crane, the_switch_after_a_rest_is_no_divergence) {
    for (const char* solver : {"newton", "iqn-ils"})
        for (const char* step : {"5 ms", "10 ms"}) {
            const run_summary s =
                run_into("run",
                         read_scenario(test::examples / "hydraulic-crane/scenario.yaml",
                                       {{"method", fmt::format("{{name: iterated, solver: {}}}", solver), "test"},
                                        {"time.step", step, "test"}}),
                         false);
            EXPECT_EQ(s.status, "done") << solver << ' ' << step << ": " << s.message;
        }
}

}  // namespace
}  // namespace mdpcosim
