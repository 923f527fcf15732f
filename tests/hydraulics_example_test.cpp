// The model hydraulics in coupled systems: a network cut at a node, examples/hydraulic-tensioner; the numbers are those of their READMEs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "monolithic_fixture.hpp"

namespace mdpcosim {
namespace {

class hydraulics_coupled : public test::monolithic {};

const char* const head =
    "time: {end: 10 ms, step: 10 us}\nreference: {solver: {name: dirk-5, rtol: 1e-10, atol: 1e-12}}\nrecord: {every: "
    "50 "
    "us}\nsubsystems:\n";

/// A supply, two lines and a chamber with a hole, whole and cut where the lines meet.
std::string whole(const std::string& fluid) {
    return fmt::format(R"({}  all:
    model: hydraulics
    set: {{{}}}
    solver: {{name: dirk-5, rtol: 1e-10, atol: 1e-12}}
    parts:
      supply: {{kind: source, pressure: 20 bar, ripple: 8 bar, frequency: 150 Hz}}
      feed: {{kind: line, from: supply, to: middle, length: 0.5 m, area: 1 cm2, linear-loss: 1e9 Pa.s/m3}}
      middle: {{kind: node, volume: 100 cm3, pressure: 10 bar}}
      away: {{kind: line, from: middle, to: chamber, length: 0.4 m, area: 1 cm2, quadratic-loss: 1e12 Pa.s2/m6}}
      chamber: {{kind: node, volume: 30 cm3, pressure: 10 bar}}
      hole: {{kind: orifice, from: chamber, to: tank, area: 5 mm2}}
      tank: {{kind: tank}}
)",
                       head, fluid);
}

std::string cut(const std::string& fluid, const std::string& law) {
    return fmt::format(R"({}  left:
    model: hydraulics
    set: {{{}}}
    solver: {{name: dirk-5, rtol: 1e-10, atol: 1e-12}}
    parts:
      supply: {{kind: source, pressure: 20 bar, ripple: 8 bar, frequency: 150 Hz}}
      feed: {{kind: line, from: supply, to: end, length: 0.5 m, area: 1 cm2, linear-loss: 1e9 Pa.s/m3}}
      end: {{kind: port}}
  right:
    model: hydraulics
    set: {{{}}}
    solver: {{name: dirk-5, rtol: 1e-10, atol: 1e-12}}
    parts:
      end: {{kind: port}}
      away: {{kind: line, from: end, to: chamber, length: 0.4 m, area: 1 cm2, quadratic-loss: 1e12 Pa.s2/m6}}
      chamber: {{kind: node, volume: 30 cm3, pressure: 10 bar}}
      hole: {{kind: orifice, from: chamber, to: tank, area: 5 mm2}}
      tank: {{kind: tank}}
connections:
  middle: {{law: node, between: [left.end, right.end], volume: 100 cm3, pressure: 10 bar, modulus: 1.4 GPa{}}}
)",
                       head, fluid, fluid, law);
}

TEST_F(hydraulics_coupled, a_network_may_be_cut_at_a_node) {
    const std::pair<std::string, std::string> fluids[] = {
        {"", ""}, {"fluid: pressure-dependent, air: 0.01", ", model: pressure-dependent, air: 0.01"}};
    for (const auto& [fluid, law] : fluids) {
        const result_table one = run_text("one", whole(fluid), false),
                           reference = run_text("reference", cut(fluid, law), true),
                           coupled = run_text("coupled", cut(fluid, law), false);
        EXPECT_LT(test::shown("law as one system, " + fluid,
                              test::difference(reference, "middle.u", one, "all.middle.pressure")),
                  1e-8);
        EXPECT_LT(test::difference(reference, "right.hole.flow", one, "all.hole.flow"), 1e-8);
        EXPECT_LT(
            test::shown("co-simulated, " + fluid, test::difference(coupled, "middle.u", one, "all.middle.pressure")),
            4e-6);
    }
}

TEST_F(hydraulics_coupled, a_tensioner_against_one_system) {
    const std::filesystem::path file = test::examples / "hydraulic-tensioner/scenario.yaml";
    const result_table reference = run("reference", file, true);
    double before = 0;
    for (const char* step : {"10 us", "5 us"}) {
        const result_table t = run("coupled", file, false, {{"time.step", step}});
        double worst = 0;
        for (const char* name :
             {"contact.u", "tensioner.chamber.pressure", "tensioner.piston.position", "tensioner.valve.lift"})
            worst = std::max(
                worst, test::shown(fmt::format("{} at {}", name, step), test::difference(t, name, reference, name)));
        EXPECT_LT(worst, 2e-3);
        if (before > 0) {
            EXPECT_GT(before / worst, 6);  // third order: 8
        }
        before = worst;
        double lowest = INFINITY, highest = 0;
        for (std::size_t row = 0; row < t.rows(); ++row) {
            const double p = t.value(row, test::column(t, "tensioner.chamber.pressure"));
            lowest = std::min(lowest, p);
            highest = std::max(highest, p);
        }
        EXPECT_NEAR(highest, 46.7e5, 0.1e5);
        EXPECT_NEAR(lowest, 2.97e5, 0.01e5);
    }
}

}  // namespace
}  // namespace mdpcosim
