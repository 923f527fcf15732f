// The hydraulic, thermal, electric and magnetic domains through the whole engine: the examples against exact solutions or
// their monolithic references (the numbers of their READMEs; the tests print them), failures, and what is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "api/mdpcosim.hpp"
#include "core/error.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::temporary_folder;
using testing::AllOf;
using testing::HasSubstr;

const fs::path examples = fs::path(MDPCOSIM_SOURCE_DIR) / "examples";

using column = std::vector<double>;
using results = std::map<std::string, column>;
using settings = std::vector<std::pair<std::string, std::string>>;

results read_results(const fs::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    results columns;
    std::vector<column*> order;
    std::stringstream header(line);
    for (std::string name; std::getline(header, name, ',');) order.push_back(&columns[name]);
    while (std::getline(in, line)) {
        const char* at = line.data();
        for (column* c : order) {
            double value = NAN;
            at = std::from_chars(at, line.data() + line.size(), value).ptr + 1;
            c->push_back(value);
        }
    }
    return columns;
}

results finished(scenario s) {
    const temporary_folder out;
    const run_summary summary = run(std::move(s), {out.path() / "out", 1});
    EXPECT_EQ(summary.status, "done") << summary.message;
    return read_results(out.path() / "out" / "results.csv");
}

results run_example(const std::string& name, const settings& changes = {}) {
    std::vector<scenario_override> overrides;
    for (const auto& [address, value] : changes)
        overrides.push_back({address, value, "--set " + address + "=" + value});
    return finished(read_scenario(examples / name, overrides));
}

results run_text(const std::string& text) { return finished(read_scenario_text(text, "test.yaml")); }

/// The message with which the scenario is refused.
std::string refusal(const std::string& text) {
    try {
        check(read_scenario_text(text, "test.yaml"));
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "not refused";
}

double largest_difference(const column& a, const column& b) {
    EXPECT_EQ(a.size(), b.size());
    double largest = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

/// The number that a README states, within a factor of 1.5 both ways.
void expect_stated(const std::string& what, double measured, double stated) {
    fmt::print("{:<48} {:.3g}\n", what, measured);
    EXPECT_LT(measured, 1.5 * stated) << what;
    EXPECT_GT(measured, stated / 1.5) << what;
}

void expect_order(const std::string& what, double coarse, double fine, double stated) {
    const double order = std::log2(coarse / fine);
    fmt::print("{:<48} {:.2f}\n", what, order);
    EXPECT_NEAR(order, stated, 0.1) << what;
}

// ---- hydraulic ------------------------------------------------------------------------------------------------------

TEST(hydraulic_node, three_moduli_against_the_integrated_node) {
    const results with_air = run_example("hydraulic-node/monolithic.yaml"),
                  airless = run_example("hydraulic-node/monolithic.yaml", {{"all.nu", "0"}});
    struct row {
        const char* model;
        const results& reference;
        double stated[3];
        double order;
    };
    for (const auto& [model, reference, stated, order] :
         {row{"constant", airless, {0.50, 0.0624, 0.00780}, 3}, row{"stepped", with_air, {1.97e5, 9.84e4, 4.92e4}, 1},
          row{"pressure-dependent", with_air, {3.08, 0.384, 0.0479}, 3}}) {
        const char* const steps[] = {"20 us", "10 us", "5 us"};
        double error[3];
        for (int k = 0; k < 3; ++k) {
            const results r =
                run_example("hydraulic-node/scenario.yaml", {{"node.model", model}, {"time.step", steps[k]}});
            error[k] = largest_difference(r.at("node.u"), reference.at("all.p"));
            expect_stated(fmt::format("{} at {} [Pa]", model, steps[k]), error[k], stated[k]);
        }
        expect_order(fmt::format("{}, order 20 to 10 us", model), error[0], error[1], order);
        expect_order(fmt::format("{}, order 10 to 5 us", model), error[1], error[2], order);
    }
    EXPECT_NEAR(with_air.at("all.p").back(), 35.889e5, 500);
    EXPECT_NEAR(*std::max_element(with_air.at("all.p").begin(), with_air.at("all.p").end()), 78.66e5, 5000);
}

TEST(hydraulic_node, what_flows_into_the_node_compresses_it) {
    const results r = run_example("hydraulic-node/scenario.yaml", {{"node.model", "constant"}});
    for (std::size_t i = 0; i < r.at("time").size(); ++i) {
        const double inflow =
            r.at("feed.right.volume")[i] + r.at("wide.left.volume")[i] + r.at("narrow.left.volume")[i];
        EXPECT_NEAR(r.at("node.u")[i], 1e5 + 8.21e8 / 2e-4 * inflow, 1e-3);
    }
}

/// A line written as equations; its port gives volume and flow, or the flow alone.
std::string two_lines(const char* port, const char* step) {
    return fmt::format(R"(
time: {{end: 20 ms, step: {}}}
subsystems:
  pump:
    ode:
      states: {{V: 0 m3, Q: 0 m3/s}}
      inputs: {{p: 1 bar}}
      equations: {{V: Q, Q: (1e5 + 2e6*sin(300*t)^2 - p - 2e9*Q)*1e-4/850}}
    ports: {{end: {{kind: hydraulic, {}pressure: p}}}}
    solver: {{name: erk-8, rtol: 1e-12, atol: 1e-17}}
  line: {{model: hydraulic-line, set: {{linear-loss: 2e9}}, solver: {{name: erk-8, rtol: 1e-12, atol: 1e-17}}}}
connections:
  node: {{law: node, between: [pump.end, line.left], volume: 300 cm3, modulus: 8.21e8}}
signals:
  - 1 bar -> line.right.pressure
record: {{every: 1 ms}}
)",
                       step, port);
}

TEST(hydraulic_node, integrates_a_flow_with_third_order) {
    double error[3];
    const char* const steps[] = {"100 us", "50 us", "25 us"};
    for (int k = 0; k < 3; ++k)
        error[k] = largest_difference(run_text(two_lines("flow: Q, ", steps[k])).at("node.u"),
                                      run_text(two_lines("volume: V, flow: Q, ", steps[k])).at("node.u"));
    fmt::print("flow alone against volume and flow: {:.3g} {:.3g} {:.3g} Pa\n", error[0], error[1], error[2]);
    expect_order("order 100 to 50 us", error[0], error[1], 3);
    expect_order("order 50 to 25 us", error[1], error[2], 3);
    const std::string text = check(read_scenario_text(two_lines("flow: Q, ", "100 us"), "test.yaml"));
    EXPECT_THAT(text, HasSubstr("at a node u = law(sum)"));
    EXPECT_THAT(text,
                HasSubstr("pump.end receives +u (degree 1, its flow is integrated), line.left receives +u (degree 1)"));
    EXPECT_THAT(text, HasSubstr("extrapolation lin-2-3-opt (default)"));
}

/// A pump that draws fluid out of a node, more and more.
std::string emptied_node(const char* law, const char* step) {
    return fmt::format(R"(
time: {{end: 100 ms, step: {}}}
subsystems:
  pump:
    ode:
      states: {{V: 0 m3, Q: 0 m3/s}}
      inputs: {{p: 1 bar}}
      equations: {{V: Q, Q: -2e-4}}
    ports: {{end: {{kind: hydraulic, volume: V, pressure: p}}}}
connections:
  low: {{law: node, between: [pump.end], volume: 200 cm3, modulus: 8.21e8, {}}}
)",
                       step, law);
}

TEST(hydraulic_node, without_pressure_ends_the_run_and_keeps_the_rows) {
    // V = -1e-4 m3/s2 t^2: without air the pressure reaches zero at 15.6 ms; with a stepped modulus in the step in which the
    // old modulus is too stiff.
    for (const auto& [law, step, reason, rows] :
         {std::tuple{"model: pressure-dependent, air: 0", "1 ms",
                     "connection 'low' at t = 0.016 s: no pressure above zero fits the fluid", 16u},
          {"model: stepped, air: 1e-5", "10 ms",
           "connection 'low' at t = 0.02 s: the stepped modulus takes the pressure from", 2u}}) {
        const temporary_folder out;
        const std::string text = emptied_node(law, step);
        const run_summary summary = run(read_scenario_text(text, "test.yaml"), {out.path() / "out", 1});
        EXPECT_EQ(summary.status, "failed");
        EXPECT_THAT(summary.message, HasSubstr(reason));
        const results r = read_results(out.path() / "out" / "results.csv");
        EXPECT_EQ(r.at("time").size(), rows);
        EXPECT_EQ(r.at("low.u")[0], 1e5);
        EXPECT_TRUE(fs::exists(out.path() / "out" / "summary.json"));

        // The same from the command line.
        const fs::path file = out.path() / "empty.yaml";
        std::ofstream(file) << text;
        const std::string command =
            fmt::format("'{}' run '{}' --quiet --out '{}' 2> '{}'", MDPCOSIM_PROGRAM, file.string(),
                        (out.path() / "cli").string(), (out.path() / "err").string());
        const int status = std::system(command.c_str());
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
        std::ifstream err(out.path() / "err");
        const std::string message(std::istreambuf_iterator<char>(err), {});
        EXPECT_THAT(message, HasSubstr(reason));
        EXPECT_EQ(read_results(out.path() / "cli" / "results.csv").at("low.u"), r.at("low.u"));
    }
}

TEST(hydraulic_node, with_air_can_be_emptied) {
    const results r = run_text(emptied_node("model: pressure-dependent, air: 0.08", "1 ms"));
    EXPECT_NEAR(r.at("pump.V").back(), -1e-6, 1e-15);
    EXPECT_GT(r.at("low.u").back(), 0.8e5);
    EXPECT_LT(r.at("low.u").back(), 1e5);
}

TEST(hydraulic_node, piston_lifts_its_load) {
    // The pressure balances the spring: (p - p_a) A = c x, and the fluid swept is that which flowed in.
    const results r = run_text(R"(
time: {end: 800 ms, step: 50 us}
subsystems:
  feed: {model: hydraulic-line, set: {linear-loss: 1e9}}
  jack: {model: piston, set: {mass: 5 kg, head-area: 20 cm2, damping: 2 kN.s/m}}
  load: {model: mass-spring-damper, set: {mass: 50 kg, stiffness: 200 kN/m, damping: 4 kN.s/m}}
connections:
  chamber: {law: node, between: [feed.right, jack.head], volume: 300 cm3, modulus: 8.21e8, model: pressure-dependent, air: 0.02}
  rod: {law: spring, between: [jack.rod, load.mass], stiffness: 5 MN/m}
signals:
  - 51 bar -> feed.left.pressure
record: {every: 1 ms}
)");
    EXPECT_NEAR(r.at("chamber.u").back(), 51e5, 1e3);
    EXPECT_NEAR(r.at("load.mass.position").back(), 50e5 * 20e-4 / 200e3, 2e-5);
    EXPECT_NEAR(r.at("rod.u").back(), 1e4, 5);
    EXPECT_NEAR(r.at("jack.head.volume").back(), -20e-4 * r.at("jack.rod.position").back(), 1e-12);
}

// ---- thermal --------------------------------------------------------------------------------------------------------

double thermal_error(const settings& changes) {
    const results r = run_example("thermal-bodies/scenario.yaml", changes);
    column A, B, C;
    for (const double t : r.at("time")) {
        const double slow = 55 * std::exp(-t / 100), fast = 15 * std::exp(-3 * t / 100);
        A.push_back(330 + slow + fast);
        B.push_back(330 - 2 * fast);
        C.push_back(330 - slow + fast);
    }
    return std::max({largest_difference(r.at("A.body.temperature"), A),
                     largest_difference(r.at("B.body.temperature"), B),
                     largest_difference(r.at("C.body.temperature"), C)});
}

TEST(thermal_bodies, follow_the_exact_solution) {
    const double e1 = thermal_error({{"time.step", "2 s"}}), e2 = thermal_error({{"time.step", "1 s"}}),
                 e4 = thermal_error({{"time.step", "0.5 s"}});
    expect_stated("error at 2 s [K]", e1, 8.53e-4);
    expect_stated("error at 1 s [K]", e2, 1.08e-4);
    expect_stated("error at 0.5 s [K]", e4, 1.37e-5);
    expect_order("order 2 to 1 s", e1, e2, 3);
    expect_order("order 1 to 0.5 s", e2, e4, 3);
}

TEST(thermal_bodies, keep_their_heat_and_use_an_extrapolation_without_rates) {
    const results r = run_example("thermal-bodies/scenario.yaml");
    for (std::size_t i = 0; i < r.at("time").size(); ++i)
        EXPECT_NEAR(r.at("A.body.temperature")[i] + r.at("B.body.temperature")[i] + r.at("C.body.temperature")[i], 990,
                    1e-9);
    const std::string text = check(read_scenario(examples / "thermal-bodies/scenario.yaml"));
    EXPECT_THAT(text, HasSubstr("AB             conductor (conductance = 5 W/K), u in W"));
    EXPECT_THAT(text, HasSubstr("A.body receives -u (degree 1), B.body receives +u (degree 1)"));
    EXPECT_THAT(
        text, HasSubstr("extrapolation lin-3-3-b0 (default, because the rate of law 'conductor' would need the rate of "
                        "the temperature, which depends on the inputs)"));
    try {
        check(read_scenario(examples / "thermal-bodies/scenario.yaml", {{"AB.extrapolation", "lin-2-3-opt", "--set"}}));
        ADD_FAILURE() << "an extrapolation with rates is not refused";
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(HasSubstr("'lin-2-3-opt' uses rates"), HasSubstr("'lin-3-3-b0'")));
    }
}

// ---- electric and magnetic ------------------------------------------------------------------------------------------

TEST(electric_circuit, both_cuts_against_the_whole) {
    const results whole = run_example("electric-circuit/monolithic.yaml");
    struct row {
        const char* file;
        const char* column;
        double stated[3];
    };
    for (const auto& [file, name, stated] : {row{"scenario.yaml", "left.u1", {8.12e-5, 1.04e-5, 1.30e-6}},
                                             row{"at-capacitor.yaml", "capacitor.u", {1.10e-4, 1.40e-5, 1.76e-6}}}) {
        const char* const steps[] = {"5 us", "2.5 us", "1.25 us"};
        double error[3];
        for (int k = 0; k < 3; ++k) {
            const results r = run_example(fmt::format("electric-circuit/{}", file), {{"time.step", steps[k]}});
            error[k] = largest_difference(r.at(name), whole.at("circuit.u1"));
            expect_stated(fmt::format("{} at {} [V]", file, steps[k]), error[k], stated[k]);
            EXPECT_LT(largest_difference(r.at("right.u2"), whole.at("circuit.u2")), 2.5 * error[k]);
        }
        expect_order(fmt::format("{}, order 5 to 2.5 us", file), error[0], error[1], 3);
        expect_order(fmt::format("{}, order 2.5 to 1.25 us", file), error[1], error[2], 3);
    }
    EXPECT_NEAR(whole.at("circuit.u1").back(), 8.83167, 5e-6);
}

TEST(electric_circuit, currents_alone_are_integrated) {
    const auto branches = [](const char* charge, const char* step) {
        return fmt::format(R"(
time: {{end: 4 ms, step: {}}}
subsystems:
  feed:
    ode:
      states: {{i: 0 A, q: 0 C}}
      inputs: {{u: 0 V}}
      equations: {{i: (10*sin(2000*t) - u - 2*i)/1e-3, q: i}}
    ports: {{end: {{kind: electric, causality: takes-motion, potential: u, current: i{}}}}}
    solver: {{name: erk-8, rtol: 1e-12, atol: 1e-15}}
  load: {{model: rl-branch, set: {{inductance: 2 mH, resistance: 10 Ohm}}, solver: {{name: erk-8, rtol: 1e-12, atol: 1e-15}}}}
connections:
  filter: {{law: capacitance, between: [feed.end, load.left], capacitance: 20 uF, potential: 1 V}}
record: {{every: 0.1 ms}}
)",
                           step, charge);
    };
    double error[3];
    const char* const steps[] = {"20 us", "10 us", "5 us"};
    for (int k = 0; k < 3; ++k)
        error[k] = largest_difference(run_text(branches("", steps[k])).at("filter.u"),
                                      run_text(branches(", charge: q", steps[k])).at("filter.u"));
    fmt::print("current alone against charge and current: {:.3g} {:.3g} {:.3g} V\n", error[0], error[1], error[2]);
    expect_order("order 10 to 5 us", error[1], error[2], 3);
    const std::string text = check(read_scenario_text(branches(", charge: q", "20 us"), "test.yaml"));
    EXPECT_THAT(text, HasSubstr("gives charge [C] = q, current [A] = i, takes potential [V] = u"));
    EXPECT_THAT(text, HasSubstr("extrapolation lin-2-3-opt (default)"));
    EXPECT_EQ(run_text(branches(", charge: q", "20 us")).at("filter.u")[0], 1);
}

TEST(electric_circuit, motor_on_a_buffered_supply) {
    // At rest of the network: u = e - R_s i, and the motor's known speed at that voltage.
    const results r = run_text(R"(
time: {end: 2 s, step: 50 us}
subsystems:
  line: {model: rl-branch, set: {inductance: 1 mH, resistance: 0.1 Ohm}}
  motor: {model: dc-motor, set: {resistance: 0.4 Ohm, constant: 0.1 N.m/A, inertia: 2e-4 kg.m2, damping: 1e-3}}
  fan: {model: inertia, set: {inertia: 1e-3 kg.m2, damping: 1e-3}}
connections:
  buffer: {law: capacitance, between: [line.right, motor.supply], capacitance: 1 mF}
  shaft: {law: spring-damper, between: [motor.shaft, fan.shaft], stiffness: 50 N.m/rad, damping: 0.01}
signals:
  - 12 V -> line.voltage
record: {every: 10 ms}
)");
    const double R = 0.5, k = 0.1, d = 2e-3, w = k * 12 / (k * k + R * d), i = (12 - k * w) / R;
    EXPECT_NEAR(r.at("fan.shaft.speed").back(), w, 1e-3);
    EXPECT_NEAR(r.at("motor.supply.current").back(), -i, 1e-4);
    EXPECT_NEAR(r.at("buffer.u").back(), 12 - 0.1 * i, 1e-4);
}

TEST(magnetic, permeance_joins_two_potentials) {
    // Two potentials that follow the flux with C = 2 H, a permeance G between them: u = G 2 A exp(-2 G t / C).
    const results r = run_text(R"(
time: {end: 2 s, step: 1 ms}
subsystems:
  a:
    ode: {parameters: {C: 2}, states: {psi: 3 A}, inputs: {flux: 0 Wb}, equations: {psi: flux/C}}
    ports: {pole: {kind: magnetic, potential: psi, flux: flux}}
  b:
    ode: {parameters: {C: 2}, states: {psi: 1 A}, inputs: {flux: 0 Wb}, equations: {psi: flux/C}}
    ports: {pole: {kind: magnetic, potential: psi, flux: flux}}
connections:
  gap: {law: conductor, between: [a.pole, b.pole], conductance: 500 mH}
record: {every: 0.1 s}
)");
    column exact;
    for (const double t : r.at("time")) exact.push_back(0.5 * 2 * std::exp(-2 * 0.5 * t / 2));
    EXPECT_LT(largest_difference(r.at("gap.u"), exact), 2e-6);
}

// ---- what is refused ------------------------------------------------------------------------------------------------

const char* const parts = R"(
time: {end: 1 ms, step: 10 us}
subsystems:
  line: {model: hydraulic-line}
  other: {model: hydraulic-line}
  branch: {model: rl-branch}
  pin: {model: capacitor}
  body: {model: thermal-mass}
  orifice:
    ode:
      inputs: {p: 1 bar}
      outputs: {Q: {value: -1e-9*p, unit: m3/s}}
    ports: {end: {kind: hydraulic, flow: Q, pressure: p}}
connections:
)";

TEST(refused, ports_that_do_not_fit_a_law) {
    const auto refused = [](const std::string& connections) { return refusal(parts + connections); };
    const std::string node = "volume: 1 L, modulus: 1 GPa}\n";
    EXPECT_THAT(refused("  n: {law: node, between: [line.right, other.left], " + node +
                        "  m: {law: node, between: [other.right, line.right], " + node),
                AllOf(HasSubstr("connection 'm': port 'line.right' belongs to connection 'n' already"),
                      HasSubstr("the pressure of a port comes from one node")));
    EXPECT_THAT(refused("  n: {law: node, between: [line.right, line.right], " + node), HasSubstr("joined to itself"));
    EXPECT_THAT(refused("  n: {law: node, between: [line.right, body.body], " + node),
                HasSubstr("port 'body.body' is of kind thermal, but law 'node' joins ports of kind hydraulic."));
    EXPECT_THAT(refused("  n: {law: node, between: [], " + node), HasSubstr("between"));
    EXPECT_THAT(
        refused("  c: {law: capacitance, between: [pin.pin], capacitance: 1 uF}\n"),
        HasSubstr("port 'pin.pin' takes current and gives potential, but law 'capacitance' needs a port that gives "
                  "current and takes potential."));
    EXPECT_THAT(
        refused("  c: {law: conductor, between: [pin.pin, branch.left], conductance: 1}\n"),
        HasSubstr("port 'branch.left' takes potential and gives current, but law 'conductor' needs a port that gives "
                  "potential and takes current."));
    EXPECT_THAT(refused("  c: {law: conductor, between: [pin.pin, body.body], conductance: 1}\n"),
                HasSubstr("all must be of one kind"));
    EXPECT_THAT(refused("  c: {law: conductor, between: [pin.pin, line.left], conductance: 1}\n"),
                HasSubstr("law 'conductor' joins ports of kind thermal, electric, magnetic."));
    EXPECT_THAT(refused("  n: {law: node, between: [line.right, orifice.end], " + node),
                AllOf(HasSubstr("the flow of port 'orifice.end' depends on its pressure without a state between"),
                      HasSubstr("Give the port its volume, too: a state whose rate is the flow.")));
    EXPECT_THAT(
        refused("  n: {law: node, between: [line.right], " + node + "signals:\n  - 1 bar -> line.right.pressure\n"),
        HasSubstr("the input gets its value from connection 'n'"));
}

TEST(refused, parameters_that_do_not_fit) {
    const auto refused = [](const std::string& parameters) {
        return refusal(fmt::format("{}  n: {{law: node, between: [line.right], {}}}\n", parts, parameters));
    };
    EXPECT_THAT(refused("modulus: 1 GPa"), HasSubstr("'volume'"));
    EXPECT_THAT(refused("volume: 1 L, modulus: 1 GPa, model: steped"), HasSubstr("Did you mean 'stepped'?"));
    EXPECT_THAT(refused("volume: 1 L, modulus: 1 GPa, model: stepped"), HasSubstr("needs 'air'"));
    EXPECT_THAT(refused("volume: 1 L, modulus: 1 GPa, model: stepped, air: 0.1, pressure: 0"), HasSubstr("above zero"));
    EXPECT_THAT(refused("volume: 0, modulus: 1 GPa"), HasSubstr("greater than zero"));
    EXPECT_EQ(refused("volume: 1 L, modulus: 1 GPa"), "not refused");
}

TEST(refused, charge_of_a_port_that_takes_current) {
    EXPECT_THAT(refusal(R"(
time: {end: 1 ms, step: 10 us}
subsystems:
  c:
    ode: {states: {u: 0 V, q: 0 C}, inputs: {i: 0 A}, equations: {u: i, q: i}}
    ports: {pin: {kind: electric, potential: u, current: i, charge: q}}
)"),
                AllOf(HasSubstr("port 'pin'"), HasSubstr("only a port with 'causality: takes-motion' has one")));
}

TEST(domains, resolved_scenarios_run_again) {
    for (const char* name :
         {"hydraulic-node/scenario.yaml", "thermal-bodies/scenario.yaml", "electric-circuit/at-capacitor.yaml"}) {
        const temporary_folder out;
        run(read_scenario(examples / name), {out.path() / "a", 1});
        run(read_scenario(out.path() / "a" / "scenario.yaml"), {out.path() / "b", 2});
        EXPECT_EQ(read_results(out.path() / "a" / "results.csv"), read_results(out.path() / "b" / "results.csv"))
            << name;
    }
}

}  // namespace
}  // namespace mdpcosim
