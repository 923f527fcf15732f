// The model hydraulics: closed forms, references written here, invariants, the Jacobian, the contract of subsystems, users' mistakes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <numbers>
#include <random>

#include "core/error.hpp"
#include "scenario/read.hpp"
#include "subsystem/factory.hpp"
#include "subsystem/model.hpp"
#include "support/subsystem_contract.hpp"

namespace mdpcosim::test {
namespace {

using std::numbers::pi;
using testing::AllOf;
using testing::HasSubstr;

constexpr double E = 1.4e9, rho = 850, bar = 1e5;

subsystem_spec entry(const std::string& parts, const std::string& set = "{}", const std::string& solver = "") {
    const std::string text = "time: {end: 1, step: 0.1}\nsubsystems:\n  a:\n    model: hydraulics\n    set: " + set +
                             "\n" + (solver.empty() ? "" : "    solver: " + solver + "\n") + "    parts:\n" + parts;
    return read_scenario_text(text, "s.yaml").subsystems.at(0);
}

/// Runs alone with constant inputs.
class network {
   public:
    explicit network(const std::string& parts, const std::string& set = "{}",
                     const std::string& solver = "{name: dirk-5, rtol: 1e-10, atol: 1e-12}")
        : subsystem_(make_subsystem(entry(parts, set, solver))) {
        inputs_.resize(static_cast<std::size_t>(subsystem_->describe().input_count()));
        y_.resize(static_cast<std::size_t>(subsystem_->describe().output_count()));
        for (const auto& o : subsystem_->describe().outputs) slots_[o.name] = static_cast<std::size_t>(o.slot);
        for (const auto& u : subsystem_->describe().inputs) inputs_[static_cast<std::size_t>(u.slot)].c[0] = u.start;
        subsystem_->initialise(0);
        std::vector<double> u;
        for (const auto& p : inputs_) u.push_back(p.c[0]);
        subsystem_->outputs(u, y_);
    }
    void set(const std::string& name, double value) {
        for (const auto& u : subsystem_->describe().inputs)
            if (u.name == name) return void(inputs_[static_cast<std::size_t>(u.slot)].c[0] = value);
        throw std::logic_error(name);
    }
    /// In `steps` macro steps.
    void to(double end, int steps = 1) {
        const double begin = time_, H = (end - begin) / steps;
        for (int n = 0; n < steps; ++n) {
            const double next = n + 1 == steps ? end : begin + (n + 1) * H;
            subsystem_->advance({time_, next, step_++}, inputs_, y_);
            time_ = next;
        }
    }
    double operator[](const std::string& name) const { return y_[slots_.at(name)]; }

   private:
    std::unique_ptr<subsystem> subsystem_;
    std::vector<polynomial> inputs_;
    std::vector<double> y_;
    std::map<std::string, std::size_t> slots_;
    double time_ = 0;
    int step_ = 0;
};

const std::string everything =
    "      supply: {kind: source, pressure: 8 bar, per-speed: 2000, most: 9 bar, ripple: 0.5 bar, frequency: 80 Hz}\n"
    "      tank: {kind: tank}\n"
    "      out: {kind: port, pressure: 2 bar}\n"
    "      one: {kind: node, volume: 20 cm3, pressure: 6 bar}\n"
    "      two: {kind: node, volume: 30 cm3, pressure: 3 bar}\n"
    "      a: {kind: node, volume: 8 cm3, pressure: 4 bar}\n"
    "      b: {kind: node, volume: 9 cm3, pressure: 5 bar}\n"
    "      store: {kind: accumulator, volume: 50 cm3, charge: 4 bar, pressure: 5 bar}\n"
    "      feed: {kind: line, from: supply, to: one, length: 0.4 m, area: 50 mm2, quadratic-loss: 1e13 Pa.s2/m6}\n"
    "      away: {kind: line, from: two, to: out, length: 0.6 m, linear-loss: 5e9 Pa.s/m3}\n"
    "      hole: {kind: orifice, from: one, to: two, area: 1.5 mm2}\n"
    "      slit: {kind: gap, from: two, to: tank, diameter: 12 mm, height: 40 um, length: 2 cm}\n"
    "      wheel: {kind: pump, from: tank, to: two, displacement: 3 cm3, leak: 1e-12, speed: 100 rad/s}\n"
    "      drip: {kind: flow-source, from: two, to: one, flow: 0.001 l/s}\n"
    "      ball: {kind: check-valve, from: one, to: store, diameter: 6 mm, stroke: 1 mm, mass: 0.5 g, stiffness: 500 "
    "N/m, preload: 1 N, damping: 0.3 N.s/m, contact-stiffness: 1e6 N/m, lift0: 0.1 mm}\n"
    "      relief: {kind: relief-valve, from: store, to: tank, opening: 3 bar, full: 9 bar, area: 4 mm2}\n"
    "      ram: {kind: piston, head: two, rod: one, mass: 0.2 kg, head-area: 2 cm2, rod-area: 1.2 cm2, preload: -20 N, "
    "stiffness: 3000 N/m, damping: 40 N.s/m, low: -5 mm, high: 6 mm, x0: 1 mm, v0: 0.1 m/s}\n"
    "      valve: {kind: spool-valve, p: one, t: tank, a: a, b: b, area: 3 mm2, overlap: 0.05, leak-area: 0.01 mm2, "
    "spool: 0.7}\n"
    "      vanes: {kind: phaser, a: a, b: b, volume-per-angle: 9 cm3, rotor-inertia: 1e-3, stator-inertia: 2e-3, "
    "limit: "
    "20 deg, damping: 0.1, leak: 2e-12, theta0: 3 deg, speed0: 50 rad/s, stop-stiffness: 1e4}\n";

/// Lines at nodes that are not compressed, of both kinds.
const std::string rigid =
    "      supply: {kind: source, pressure: 8 bar, ripple: 1 bar, frequency: 30 Hz}\n"
    "      feed: {kind: line, from: supply, to: fork, length: 0.4 m}\n"
    "      fork: {kind: rigid-node, pressure: 8 bar}\n"
    "      left: {kind: line, from: fork, to: end, length: 0.5 m}\n"
    "      right: {kind: line, from: fork, to: tank, length: 2 m, linear-loss: 1e10 Pa.s/m3}\n"
    "      end: {kind: rigid-node, pressure: 8 bar}\n"
    "      hole: {kind: orifice, from: end, to: tank, area: 2 mm2}\n"
    "      tank: {kind: tank}\n";

subsystem_case contract_case(const std::string& name, const std::string& parts, const std::string& set,
                             const std::string& solver) {
    return {
        .name = name, .make = [=] { return make_subsystem(entry(parts, set, solver)); }, .H = 2e-4, .tolerance = 1e-3};
}

INSTANTIATE_TEST_SUITE_P(hydraulics, subsystem_contract,
                         testing::Values(contract_case("everything", everything, "{}", "{name: dirk-4, rtol: 1e-9}"),
                                         contract_case("air", everything, "{fluid: pressure-dependent, air: 0.01}",
                                                       "{name: dirk-4, rtol: 1e-9}"),
                                         contract_case("rigid", rigid, "{}", "{name: ida, rtol: 1e-9, restart: yes}")),
                         case_name);

// ---------------------------------------------------------------------------------------------------------------------

class differences : public testing::TestWithParam<std::pair<std::string, std::string>> {};
INSTANTIATE_TEST_SUITE_P(hydraulics, differences,
                         testing::Values(std::pair{everything, "{}"},
                                         std::pair{everything, "{fluid: pressure-dependent, air: 0.01}"},
                                         std::pair{everything, "{fluid: stepped, air: 0.01}"}, std::pair{rigid, "{}"}));

/// At states around the start, some of them with voids and closed valves: every entry, and nothing outside the structures.
TEST_P(differences, give_jacobian_and_structures) {
    const auto model = make_equations(entry(GetParam().first, GetParam().second));
    const auto n = static_cast<std::size_t>(model->state_count());
    const auto& d = model->describe();
    const auto inputs = static_cast<std::size_t>(d.input_count()), outputs = static_cast<std::size_t>(d.output_count());
    std::mt19937 dice(3);
    std::uniform_real_distribution<double> any(-1, 1);
    const auto dense = [](const sparsity& s, std::size_t columns, std::size_t rows) {
        std::vector<bool> there(columns * rows);
        for (std::size_t j = 0; j < columns; ++j)
            for (int k = s.start[j]; k < s.start[j + 1]; ++k)
                there[static_cast<std::size_t>(s.rows[static_cast<std::size_t>(k)]) + j * rows] = true;
        return there;
    };
    const auto rates_on = dense(*model->structure(), n, n),
               rates_on_inputs = dense(*model->input_structure(), inputs, n),
               outputs_on = dense(*model->output_structure(), n, outputs);
    for (int trial = 0; trial < 20; ++trial) {
        std::vector<double> x(n), u(inputs), J(n * n), up(n), down(n), y_up(outputs), y_down(outputs);
        model->initial_state(0, x.data());
        for (std::size_t i = 0; i < n; ++i) x[i] += 3 * model->nominal(static_cast<int>(i)) * any(dice);
        for (const auto& input : d.inputs)
            u[static_cast<std::size_t>(input.slot)] = input.start * (1 + 0.1 * any(dice));
        const double t = 0.01 * trial;
        ASSERT_TRUE(model->jacobian(t, x.data(), u.data(), J.data()));
        const auto both = [&](std::vector<double>& moved, std::size_t j, double h) {
            const double before = moved[j];
            moved[j] = before + h;
            model->derivatives(t, x.data(), u.data(), up.data());
            model->outputs(t, x.data(), u.data(), y_up.data());
            moved[j] = before - h;
            model->derivatives(t, x.data(), u.data(), down.data());
            model->outputs(t, x.data(), u.data(), y_down.data());
            moved[j] = before;
        };
        for (std::size_t j = 0; j < n; ++j) {
            const double h = 1e-6 * model->nominal(static_cast<int>(j));
            both(x, j, h);
            for (std::size_t i = 0; i < n; ++i) {
                const double by_difference = (up[i] - down[i]) / (2 * h), rounding = 1e-15 * std::fabs(up[i]) / h;
                EXPECT_NEAR(J[i + j * n], by_difference, 1e-5 * std::fabs(by_difference) + 100 * rounding + 1e-30)
                    << model->state_name(static_cast<int>(i)) << " by " << model->state_name(static_cast<int>(j))
                    << " in trial " << trial;
                if (!rates_on[i + j * n]) {
                    EXPECT_EQ(up[i], down[i]);
                }
            }
            for (std::size_t i = 0; i < outputs; ++i)
                if (!outputs_on[i + j * outputs]) {
                    EXPECT_EQ(y_up[i], y_down[i])
                        << d.outputs[i].name << " by " << model->state_name(static_cast<int>(j));
                }
        }
        for (std::size_t j = 0; j < inputs; ++j) {
            both(u, j, 1e-3 * (1 + std::fabs(u[j])));
            for (std::size_t i = 0; i < n; ++i)
                if (!rates_on_inputs[i + j * n]) {
                    EXPECT_EQ(up[i], down[i]);
                }
            for (const auto& o : d.outputs) {
                const auto i = static_cast<std::size_t>(o.slot);
                if (std::ranges::find(o.direct, static_cast<int>(j)) == o.direct.end()) {
                    EXPECT_EQ(y_up[i], y_down[i]) << o.name;
                }
            }
        }
    }
}

/// The structure grows with the network, and so does Newton's work per step: no entry is far from the diagonal's band.
TEST(hydraulics, structure_is_linear_in_the_nodes) {
    std::map<int, std::size_t> entries;
    for (const int n : {10, 100, 1000}) {
        std::string parts = "      n0: {kind: source, pressure: 10 bar}\n";
        for (int i = 1; i <= n; ++i)
            parts += fmt::format(
                "      n{0}: {{kind: node, volume: 10 cm3}}\n      l{0}: {{kind: line, from: n{1}, to: n{0}}}\n", i,
                i - 1);
        entries[n] = make_equations(entry(parts))->structure()->entries();
    }
    // A node by two lines; a line by two nodes and itself.
    EXPECT_EQ(entries[100] - entries[10], 90 * 5);
    EXPECT_EQ(entries[1000] - entries[100], 900 * 5);
}

// ---------------------------------------------------------------------------------------------------------------------
// Nodes.

TEST(hydraulics, constant_modulus_is_e_over_v_times_the_flow) {
    network a(
        "      n: {kind: node, volume: 20 cm3, pressure: 2 bar}\n      q: {kind: flow-source, from: t, to: n, flow: "
        "1e-5}\n      t: {kind: tank}\n");
    a.to(1e-3);
    EXPECT_NEAR(a["n.pressure"], 2 * bar + E / 20e-6 * 1e-5 * 1e-3, 1);
    EXPECT_NEAR(a["t.volume"], -1e-8, 1e-18);
}

/// dp/dt = E(p)/V Q by small steps of Runge-Kutta, with E as written in Friedrich (2011), (2.94).
double after_filling(double p, double air, double filled, bool stepped, int steps) {
    const double kappa = 1.4;
    const auto modulus = [&](double at) {
        return E * (1 + air) / (1 + E * air / kappa * std::pow(bar, 1 / kappa) * std::pow(at, -(1 + 1 / kappa)));
    };
    const double h = filled / steps;
    for (int n = 0; n < steps; ++n) {
        const double k1 = modulus(p), k2 = modulus(p + h / 2 * k1), k3 = modulus(p + h / 2 * k2),
                     k4 = modulus(p + h * k3);
        p += stepped ? h * k1 : h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return p;
}

TEST(hydraulics, moduli_that_depend_on_the_pressure) {
    const std::string parts =
        "      n: {kind: node, volume: 20 cm3, pressure: 2 bar}\n      q: {kind: flow-source, from: t, to: n, flow: "
        "4e-5}\n      t: {kind: tank}\n";
    network smooth(parts, "{fluid: pressure-dependent, air: 0.02}");
    smooth.to(0.02, 50);
    const double expected = after_filling(2 * bar, 0.02, 0.04, false, 100000);
    EXPECT_GT(expected, 20 * bar);
    EXPECT_NEAR(smooth["n.pressure"], expected, 1e-7 * expected);
    network stepped(parts, "{fluid: stepped, air: 0.02}");
    stepped.to(0.02, 50);
    EXPECT_NEAR(stepped["n.pressure"], after_filling(2 * bar, 0.02, 0.04, true, 50), 1e-6 * expected);
}

TEST(hydraulics, accumulator_is_polytropic) {
    network a(
        "      s: {kind: accumulator, volume: 50 cm3, charge: 4 bar, exponent: 1.3, dead-volume: 2 cm3, pressure: 1 "
        "bar}\n      q: {kind: flow-source, from: t, to: s, flow: 1e-5}\n      t: {kind: tank}\n");
    const double empty = 3 * bar / E * 2e-6;  // until the bag opens
    a.to(0.5 * empty / 1e-5);
    EXPECT_NEAR(a["s.pressure"], 2.5 * bar, 1);
    a.to(1);
    EXPECT_NEAR(a["s.pressure"], 4 * bar * std::pow(50e-6 / (50e-6 - 1e-5 + empty), 1.3), 1);
}

/// Water hammer in a line that is stopped, with a void: p' and Q' in closed form, piece by piece.
TEST(hydraulics, column_separates_and_comes_back) {
    const double L = 2, A = 1e-4, V = 40e-6, p_0 = 3 * bar, p_v = 1000, Q_0 = 2e-4;
    const double inertia = rho * L / A, Z = std::sqrt(E / V * inertia), omega = std::sqrt(E / (V * inertia));
    ASSERT_GT(Z * Q_0, 3 * (p_0 - p_v));
    const double t_1 = std::asin((p_0 - p_v) / (Z * Q_0)) / omega, Q_1 = Q_0 * std::cos(omega * t_1);
    const double a = (p_0 - p_v) / inertia, t_2 = t_1 + 2 * Q_1 / a;
    network n(
        "      n: {kind: node, volume: 40 cm3, pressure: 3 bar}\n      l: {kind: line, from: n, to: t, length: 2 m, "
        "area: 1 cm2, flow0: 2e-4}\n      t: {kind: tank, pressure: 3 bar}\n");
    n.to(t_1 / 2);
    EXPECT_NEAR(n["n.pressure"], p_0 - Z * Q_0 * std::sin(omega * t_1 / 2), 1e-6 * p_0);
    EXPECT_EQ(n["n.void"], 0);
    n.to((t_1 + t_2) / 2);
    EXPECT_EQ(n["n.pressure"], p_v);
    EXPECT_NEAR(n["n.void"], Q_1 * Q_1 / (2 * a), 1e-6 * Q_1 * Q_1 / (2 * a));
    EXPECT_NEAR(n["l.flow"], 0, 1e-6 * Q_0);
    n.to(t_2 + t_1 + pi / 2 / omega);
    EXPECT_NEAR(n["n.pressure"], p_0 + Z * Q_0, 1e-6 * Z * Q_0);
    n.to(t_2 + t_1 + pi / omega);
    EXPECT_NEAR(n["l.flow"], Q_0, 1e-5 * Q_0);
}

/// Everything that flows, with a piston that is pulled until there are voids: the fluid is where it was, to rounding.
TEST(hydraulics, fluid_is_kept_to_rounding) {
    for (const char* fluid : {"constant", "pressure-dependent", "stepped"}) {
        const std::string set = fmt::format("{{fluid: {}, air: 0.01, vapour-pressure: 0.2 bar}}", fluid);
        network a(everything, set, "dirk-4");
        const auto all = [&] {
            double sum = a["supply.volume"] + a["tank.volume"] + a["out.volume"] + a["store.fluid"];
            for (const char* node : {"one", "two", "a", "b"}) sum += a[node + std::string(".fluid")];
            return sum;
        };
        const double before = all();
        a.set("wheel.speed", 0);
        double most_void = 0, least_pressure = INFINITY;
        for (int k = 0; k < 40; ++k) {
            a.set("ram.force", 400 * std::sin(0.7 * k));
            a.set("valve.spool", 0.5 + 0.4 * std::sin(0.3 * k));
            a.to(1e-3 * (k + 1), 5);
            most_void = std::max(most_void, a["one.void"] + a["two.void"]);
            least_pressure = std::min({least_pressure, a["one.pressure"], a["two.pressure"]});
        }
        EXPECT_GT(most_void, 1e-9) << set;
        EXPECT_EQ(least_pressure, 0.2 * bar) << set;
        EXPECT_NEAR(all(), before, 1e-18) << set;  // volumes of some 1e-4 m3 round to 1e-20, some thousand times
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// What joins them.

TEST(hydraulics, pressure_drops) {
    const double Q = 1e-4;
    const auto drop = [&](const std::string& part) {
        network a(
            "      n: {kind: node, volume: 5 cm3}\n      q: {kind: flow-source, from: t, to: n, flow: 1e-4}\n      t: "
            "{kind: tank}\n      r: " +
            part + "\n");
        a.to(3, 30);
        EXPECT_NEAR(a["r.flow"], Q, 1e-10);
        return a["n.pressure"] - bar;
    };
    const double k = Q / (0.8 * 5e-6 * std::sqrt(2 / rho)), dp = (k * k + std::sqrt(k * k * (k * k + 4 * 2000))) / 2;
    EXPECT_NEAR(dp, rho / 2 * std::pow(Q / (0.8 * 5e-6), 2), 2100);  // but for the laminar part, of a root of dp_0
    EXPECT_NEAR(drop("{kind: orifice, from: n, to: t, area: 5 mm2, discharge: 0.8}"), dp, 1e-6 * dp);
    const double gap = 12 * 0.01 * 0.02 * Q / (pi * 0.012 * std::pow(60e-6, 3));
    EXPECT_NEAR(drop("{kind: gap, from: n, to: t, diameter: 12 mm, height: 60 um, length: 2 cm}"), gap, 1e-6 * gap);
    EXPECT_NEAR(drop("{kind: line, from: n, to: t, linear-loss: 2e9 Pa.s/m3, quadratic-loss: 3e13 Pa.s2/m6}"),
                2e9 * Q + 3e13 * Q * Q, 1);
}

TEST(hydraulics, pump_source_and_relief_valve) {
    network a(
        "      t: {kind: tank}\n      n: {kind: node, volume: 20 cm3}\n      p: {kind: pump, from: t, to: n, "
        "displacement: 2 cm3, leak: 3e-12}\n      r: {kind: relief-valve, from: n, to: t, opening: 20 bar, full: 30 "
        "bar, area: 20 mm2, time-constant: 5 ms}\n      s: {kind: source, pressure: 2 bar, per-speed: 1000, most: 4 "
        "bar}\n      g: {kind: gap, from: s, to: t, diameter: 1 cm, height: 10 um, length: 1 cm}\n");
    a.set("p.speed", 300);
    a.set("s.speed", 100);
    a.to(2, 20);
    const double dp = a["n.pressure"] - bar, opening = (dp - 20 * bar) / (10 * bar);
    EXPECT_GT(opening, 0.01);
    EXPECT_NEAR(a["r.opening"], opening, 1e-8);
    EXPECT_NEAR(a["p.flow"], 2e-6 * 300 / (2 * pi) - 3e-12 * dp, 1e-13);
    EXPECT_NEAR(a["r.flow"], 0.7 * 20e-6 * opening * dp * std::sqrt(2 / rho / (dp + 2000)), 1e-11);
    EXPECT_NEAR(a["r.flow"], a["p.flow"], 1e-9);
    EXPECT_NEAR(a["s.pressure"], 3 * bar, 1e-6);
    a.set("s.speed", 500);
    a.to(2.1);
    EXPECT_NEAR(a["s.pressure"], 4 * bar, 1e-6);
    // Without pressure the valve closes by its time constant.
    a.set("p.speed", 0);
    a.to(2.2, 10);
    const double left = a["r.opening"];
    a.to(2.205, 10);
    EXPECT_NEAR(a["r.opening"] / left, std::exp(-1), 1e-5);
}

/// A ball between two pressures, one with a ripple, by many steps of Runge-Kutta.
TEST(hydraulics, check_valve_against_a_fine_reference) {
    const double m = 5e-4, d = 6e-3, c = 500, F_0 = 1, damping = 0.3, k = 1e6, lambda = 1, stroke = 4e-4, end = 8e-3;
    const double area = pi / 4 * d * d;
    const auto drop = [](double t) { return 0.6 * bar * std::sin(2 * pi * 300 * t); };
    const auto force = [&](double t, double y, double v) {
        double f = area * drop(t) - c * y - F_0 - damping * v;
        if (y < 0) f += -k * y * std::max(0.0, 1 - lambda * v);
        if (y > stroke) f -= k * (y - stroke) * std::max(0.0, 1 + lambda * v);
        return f / m;
    };
    const auto flow = [&](double t, double y) {
        return 0.7 * pi * d * std::sqrt(0.5) * std::max(y, 0.0) * drop(t) *
               std::sqrt(2 / rho / (std::fabs(drop(t)) + 2000));
    };
    double y = 0, v = 0, volume = 0, most = 0;
    const int steps = 800000;
    const double h = end / steps;
    for (int n = 0; n < steps; ++n) {
        const double t = n * h;
        const double v1 = v, a1 = force(t, y, v), v2 = v + h / 2 * a1, a2 = force(t + h / 2, y + h / 2 * v1, v2);
        const double v3 = v + h / 2 * a2, a3 = force(t + h / 2, y + h / 2 * v2, v3), v4 = v + h * a3;
        const double a4 = force(t + h, y + h * v3, v4);
        const double middle = y + h / 2 * v + h * h / 8 * a1, next = y + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
        volume += h / 6 * (flow(t, y) + 4 * flow(t + h / 2, middle) + flow(t + h, next));
        v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
        y = next;
        most = std::max(most, y);
    }
    EXPECT_GT(most, stroke);  // it meets the stop, and the seat again and again
    network n(
        "      s: {kind: source, pressure: 2 bar, ripple: 0.6 bar, frequency: 300 Hz}\n      t: {kind: tank, pressure: "
        "2 bar}\n      v: {kind: check-valve, from: s, to: t, diameter: 6 mm, stroke: 0.4 mm, mass: 0.5 g, stiffness: "
        "500, preload: 1 N, damping: 0.3, contact-stiffness: 1e6}\n");
    n.to(end, 8);
    EXPECT_NEAR(n["v.lift"], y, 1e-5 * stroke);
    EXPECT_NEAR(n["v.velocity"], v, 1e-4);
    EXPECT_NEAR(n["t.volume"], volume, 1e-6 * volume);
}

TEST(hydraulics, spool_valve_characteristic) {
    network n(
        "      p: {kind: tank, pressure: 50 bar}\n      t: {kind: tank}\n      a: {kind: tank, pressure: 20 bar}\n     "
        " "
        "b: {kind: tank, pressure: 15 bar}\n      v: {kind: spool-valve, p: p, t: t, a: a, b: b, area: 4 mm2, overlap: "
        "0.1}\n");
    const auto flow = [](double opening, double dp) {
        return 0.7 * 4e-6 * std::clamp(opening, 0.0, 1.0) * dp * std::sqrt(2 / rho / (std::fabs(dp) + 2000));
    };
    double t = 0;
    for (const double spool : {0.0, 0.2, 0.44, 0.46, 0.5, 0.54, 0.56, 0.8, 1.0}) {
        n.set("v.spool", spool);
        n.to(t += 1e-3);
        const double xi = 2 * spool - 1, forward = (xi - 0.1) / 0.9, back = (-xi - 0.1) / 0.9;
        const double pa = flow(forward, 30 * bar), bt = flow(forward, 14 * bar), pb = flow(back, 35 * bar),
                     at = flow(back, 19 * bar);
        EXPECT_NEAR(n["v.flow-p"], pa + pb, 1e-18) << spool;
        EXPECT_NEAR(n["v.flow-t"], at + bt, 1e-18) << spool;
        EXPECT_NEAR(n["v.flow-a"], pa - at, 1e-18) << spool;
        EXPECT_NEAR(n["v.flow-b"], pb - bt, 1e-18) << spool;
        EXPECT_EQ(n["v.flow-p"] == 0, std::fabs(xi) <= 0.1);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Pistons and phasers.

/// x'' = -(E A^2/(V m)) x for small motion; a line with a node: Q'' = -(E A/(V rho L)) Q.
TEST(hydraulics, eigenfrequencies) {
    const double m = 0.3, A = 2e-4, V = 50e-6, omega = std::sqrt(E * A * A / (V * m));
    network piston(
        "      n: {kind: node, volume: 50 cm3}\n      m: {kind: piston, head: n, mass: 0.3 kg, head-area: 2 cm2, "
        "v0: 1 mm/s}\n");
    const double line_omega = std::sqrt(E * A / (V * rho * 1.5));
    network line(
        "      n: {kind: node, volume: 50 cm3}\n      l: {kind: line, from: t, to: n, length: 1.5 m, area: 2 cm2, "
        "flow0: 1e-7}\n      t: {kind: tank}\n");
    for (const double periods : {0.25, 3.1, 10.0}) {
        piston.to(periods * 2 * pi / omega);
        EXPECT_NEAR(piston["m.position"] * omega / 1e-3, std::sin(2 * pi * periods), 1e-4) << periods;
        EXPECT_NEAR(piston["n.pressure"] - bar, -m * omega * 1e-3 * std::sin(2 * pi * periods) / A, 1e-1) << periods;
        line.to(periods * 2 * pi / line_omega);
        EXPECT_NEAR(line["l.flow"] / 1e-7, std::cos(2 * pi * periods), 1e-6) << periods;
    }
}

TEST(hydraulics, piston_comes_to_rest) {
    const std::string parts =
        "      h: {kind: tank, pressure: 11 bar}\n      r: {kind: tank, pressure: 3 bar}\n      m: {kind: piston, "
        "head: h, rod: "
        "r, mass: 0.1 kg, head-area: 2 cm2, rod-area: 1 cm2, preload: 15 N, stiffness: 4e4 N/m, damping: 60 N.s/m, "
        "low: 0 "
        "mm, high: 2 cm}\n";
    const double force = 11 * bar * 2e-4 - 3 * bar * 1e-4 - bar * 1e-4 + 15;  // 195 N
    network free(parts);
    free.to(0.5, 10);
    EXPECT_NEAR(free["m.position"], force / 4e4, 1e-9);
    EXPECT_NEAR(free["h.volume"], -2e-4 * force / 4e4, 1e-12);
    EXPECT_NEAR(free["r.volume"], 1e-4 * force / 4e4, 1e-12);
    network stopped(parts);
    stopped.set("m.force", 5000);
    stopped.to(0.5, 10);  // c x + k (x - 0.02) = F
    EXPECT_NEAR(stopped["m.position"], (5000 + force + 1e7 * 0.02) / (1e7 + 4e4), 1e-9);
}

/// Both chambers closed: a spring of D^2 E (1/V_a + 1/V_b) between the inertias, whose momentum only torques change.
TEST(hydraulics, phaser_swings_on_its_chambers) {
    const double D = 9e-6, V_a = 8e-6, V_b = 12e-6, J_r = 1e-3, J_s = 2e-3, w_0 = 50;
    const double omega = std::sqrt(D * D * E * (1 / V_a + 1 / V_b) * (1 / J_r + 1 / J_s));
    network n(
        "      a: {kind: node, volume: 8 cm3, pressure: 2 bar}\n      b: {kind: node, volume: 12 cm3, pressure: 2 "
        "bar}\n      v: {kind: phaser, a: a, b: b, volume-per-angle: 9 cm3, rotor-inertia: 1e-3, stator-inertia: 2e-3, "
        "limit: 20 deg, speed0: 50 rad/s}\n");
    n.set("v.rotor.torque", 0.3);
    double t = 0;
    for (int k = 0; k < 8; ++k) {
        t += 0.37 * pi / omega;
        n.to(t);
        const double theta = 0.3 / J_r / (omega * omega) * (1 - std::cos(omega * t));
        EXPECT_NEAR(n["v.theta"], theta, 2e-3 * 0.6 / J_r / (omega * omega));  // V follows theta, and p the density
        EXPECT_NEAR(J_r * n["v.rotor.speed"] + J_s * n["v.stator.speed"], (J_r + J_s) * w_0 + 0.3 * t, 1e-9);
        EXPECT_NEAR(n["v.rotor.angle"] - n["v.stator.angle"], n["v.theta"], 1e-12);
        EXPECT_NEAR(J_r * n["v.rotor.acceleration"], D * (n["a.pressure"] - n["b.pressure"]) + 0.3, 1e-6);
        EXPECT_NEAR(J_s * n["v.stator.acceleration"], -D * (n["a.pressure"] - n["b.pressure"]), 1e-6);
        EXPECT_NEAR(n["a.fluid"], 8e-6 * (1 + bar / E), 1e-19);  // nothing got out
    }
}

/// A valve at its end turns the phaser against a torque: theta' = Q/D with the flow through both edges, and stops.
TEST(hydraulics, phaser_is_turned_by_its_valve) {
    network n(
        "      p: {kind: tank, pressure: 20 bar}\n      t: {kind: tank}\n      a: {kind: node, volume: 8 cm3, "
        "pressure: 9 "
        "bar}\n      b: {kind: node, volume: 8 cm3, pressure: 9 bar}\n      v: {kind: spool-valve, p: p, t: t, a: a, "
        "b: b, area: "
        "1 mm2, spool: 1}\n      f: {kind: phaser, a: a, b: b, volume-per-angle: 9 cm3, rotor-inertia: 1e-3, "
        "stator-inertia: "
        "1, limit: 20 deg, damping: 0.1}\n");
    n.set("f.rotor.torque", -3);
    n.set("f.stator.torque", 3);
    n.to(0.03, 30);
    const double rate = n["f.rotor.speed"] - n["f.stator.speed"], load = (3 + 0.1 * rate) / 9e-6;
    // Both edges take half of what the load leaves.
    const double dp = (19 * bar - load) / 2, Q = 0.7 * 1e-6 * dp * std::sqrt(2 / rho / (dp + 2000));
    EXPECT_NEAR(n["v.flow-a"], Q, 1e-3 * Q);
    EXPECT_NEAR(rate, Q / 9e-6, 3e-3 * rate);
    n.to(0.5, 100);
    const double stop = 20 * bar - bar, held = (9e-6 * stop - 3) / 1e5;
    EXPECT_NEAR(n["f.theta"], 20 * pi / 180 + held, 1e-6);
}

/// A fork of rigid nodes: what flows in flows out, at once, and the pressure of each is that which makes it so.
TEST(hydraulics, rigid_nodes_keep_the_sum_of_flows) {
    network n(rigid, "{}", "{name: ida, rtol: 1e-9, atol: 1e-10}");
    for (int k = 1; k <= 20; ++k) {
        n.to(3e-3 * k);
        EXPECT_NEAR(n["feed.flow"], n["left.flow"] + n["right.flow"], 1e-12);
        EXPECT_NEAR(n["left.flow"], n["hole.flow"], 1e-12);
        const double dp = n["end.pressure"] - bar;
        EXPECT_NEAR(n["hole.flow"], 0.7 * 2e-6 * dp * std::sqrt(2 / rho / (dp + 2000)), 1e-12);
    }
    // One line between tanks, cut by a rigid node: Q = dp/R (1 - exp(-R t A/(rho L))).
    network cut(
        "      s: {kind: tank, pressure: 11 bar}\n      t: {kind: tank}\n      m: {kind: rigid-node}\n      l: {kind: "
        "line, "
        "from: s, to: m, length: 0.5 m, linear-loss: 1e9 Pa.s/m3}\n      r: {kind: line, from: m, to: t, length: 1.5 "
        "m, "
        "linear-loss: 3e9 Pa.s/m3}\n",
        "{}", "{name: ida, rtol: 1e-9, atol: 1e-10}");
    cut.to(1e-3);
    const double expected = 10 * bar / 4e9 * (1 - std::exp(-4e9 * 1e-3 * 1e-4 / (rho * 2)));
    EXPECT_NEAR(cut["l.flow"], expected, 1e-7 * expected);
    EXPECT_NEAR(cut["m.pressure"], 8.5 * bar, 1);  // losses and inertias have the same ratio
}

// ---------------------------------------------------------------------------------------------------------------------

/// The inlet of a pump behind an orifice, as the supply falls.
TEST(hydraulics, rigid_node_that_would_cavitate_ends_the_run) {
    const double Q = 1e-6 * 146 / (2 * pi), k = Q / (0.7 * 2e-6 * std::sqrt(2 / rho));
    const double dp = (k * k + std::sqrt(k * k * (k * k + 4 * 2000))) / 2;
    const double t = 0.01 + std::asin((1.5 * bar - dp - 1000) / (0.4 * bar)) / (2 * pi * 50);
    network n(
        "      s: {kind: source, pressure: 1.5 bar, ripple: 0.4 bar, frequency: 50 Hz}\n      m: {kind: rigid-node}\n  "
        "    t: "
        "{kind: tank}\n      h: {kind: orifice, from: s, to: m, area: 2 mm2}\n      p: {kind: pump, from: m, to: t, "
        "displacement: 1 "
        "cm3, speed: 146 rad/s}\n",
        "{}", "{name: ida, rtol: 1e-8, atol: 1e-9}");
    n.to(0.99 * t, 10);
    EXPECT_NEAR(n["m.pressure"], 1.5 * bar + 0.4 * bar * std::sin(2 * pi * 50 * 0.99 * t) - dp, 1e-2);
    try {
        n.to(1.1 * t);
        ADD_FAILURE() << n["m.pressure"];
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(HasSubstr("rigid-node 'm'"), HasSubstr("would cavitate")));
        double told = 0;
        ASSERT_EQ(std::sscanf(problem.what(), "at t = %lf", &told), 1);
        EXPECT_NEAR(told, t, 1e-7);
    }
}

/// `initial: equilibrium`, and then left alone.
class resting : public network {
   public:
    explicit resting(const std::string& parts)
        : network(parts, "{}", "{name: dirk-5, rtol: 1e-10, atol: 1e-12}\n    initial: equilibrium") {}
};

/// A tensioner under a load: pressures of the way from the supply to the sump, the ball, the piston on its spring.
TEST(hydraulics, begins_at_rest) {
    resting n(
        "      supply: {kind: source, pressure: 6 bar}\n      inlet: {kind: node, volume: 0.03 cm3}\n      chamber: "
        "{kind: node, "
        "volume: 2 cm3}\n      sump: {kind: tank}\n      feed: {kind: orifice, from: supply, to: inlet, area: 0.5 "
        "mm2}\n      ball: "
        "{kind: check-valve, from: inlet, to: chamber, diameter: 6 mm, stroke: 0.5 mm, mass: 0.2 g, stiffness: 300 "
        "N/m, "
        "preload: 0.2 N, damping: 0.1}\n      leak: {kind: gap, from: chamber, to: sump, diameter: 12 mm, height: 60 "
        "um, length: 20 "
        "mm}\n      piston: {kind: piston, head: chamber, mass: 40 g, head-area: 113 mm2, preload: 20 N, stiffness: "
        "2e4 N/m}\n      "
        "store: {kind: accumulator, volume: 10 cm3, charge: 3 bar, pressure: 3 bar}\n      neck: {kind: line, from: "
        "inlet, to: store, "
        "linear-loss: 1e9 Pa.s/m3}\n");
    const std::vector<std::string> moving{"inlet.pressure", "chamber.pressure", "ball.lift", "piston.position",
                                          "store.pressure"};
    std::map<std::string, double> before;
    for (const auto& name : moving) before[name] = n[name];
    EXPECT_NEAR(n["piston.position"], ((n["chamber.pressure"] - bar) * 113e-6 + 20) / 2e4, 1e-9);
    EXPECT_NEAR(n["store.pressure"], n["inlet.pressure"], 1);
    EXPECT_NEAR(300 * n["ball.lift"] + 0.2, (n["inlet.pressure"] - n["chamber.pressure"]) * pi / 4 * 36e-6, 1e-6);
    EXPECT_NEAR(n["leak.flow"], n["feed.flow"], 1e-6 * n["feed.flow"]);
    EXPECT_GT(n["leak.flow"], 1e-6);
    EXPECT_EQ(n["sump.volume"], 0);
    n.to(0.05, 10);
    for (const auto& name : moving) EXPECT_NEAR(n[name], before[name], 2e-6 * std::fabs(before[name])) << name;
    // What is shut in stays: a piston between closed chambers finds its place, with the fluid that was there.
    resting closed(
        "      a: {kind: node, volume: 8 cm3, pressure: 9 bar}\n      b: {kind: node, volume: 9 cm3, pressure: 2 "
        "bar}\n      m: "
        "{kind: piston, head: a, rod: b, mass: 1 kg, head-area: 2 cm2, rod-area: 2 cm2}\n");
    EXPECT_NEAR(closed["a.pressure"], closed["b.pressure"], 1e-3);
    EXPECT_NEAR(closed["a.fluid"], 8e-6 * (1 + 8 * bar / E), 1e-18);
    EXPECT_NEAR(closed["b.fluid"], 9e-6 * (1 + 1 * bar / E), 1e-18);
    EXPECT_GT(closed["m.position"], 0);
}

TEST(hydraulics, tells_what_finds_no_rest) {
    try {
        resting n(
            "      t: {kind: tank}\n      n: {kind: tank, pressure: 3 bar}\n      m: {kind: piston, head: n, mass: 1 "
            "kg, head-area: 2 "
            "cm2}\n      h: {kind: orifice, from: n, to: t, area: 1 mm2}\n");
        ADD_FAILURE() << "found";
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(),
                    AllOf(HasSubstr("no equilibrium was found"), HasSubstr("of piston 'm'"), HasSubstr("'initial'")));
    }
}

std::string refusal(const std::string& parts, const std::string& set = "{}", const std::string& solver = "") {
    try {
        make_subsystem(entry(parts, set, solver));
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

/// As models_test.cpp demands it of a model's parameters.
TEST(hydraulics, parts_are_described_by_the_readme) {
    std::ifstream file(std::string(MDPCOSIM_SOURCE_DIR) + "/models/hydraulics/README.md");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (const part_info& kind : model_registry::instance().find("hydraulics")->parts) {
        const std::size_t at = text.find(fmt::format("Parts of kind `{}`: {}\n", kind.kind, kind.summary));
        ASSERT_NE(at, std::string::npos) << kind.kind;
        const std::string own = text.substr(at, text.find("\nParts of kind", at + 1) - at);
        for (const auto& r : kind.references)
            EXPECT_THAT(own, HasSubstr(fmt::format("| `{}` | | {} | a node | {} |\n", r.name,
                                                   r.required ? "needed" : "the ambient", r.description)));
        for (const auto& p : kind.parameters) {
            EXPECT_THAT(own, HasSubstr(fmt::format("| `{}` | {} | ", p.name, p.unit)));
            EXPECT_THAT(own, HasSubstr(fmt::format(" | {} |\n", p.description)));
        }
    }
}

TEST(hydraulics, prefers_solvers_that_can) {
    EXPECT_EQ(with_defaults(entry(everything)).solver.name.value, "dirk-4");
    EXPECT_EQ(with_defaults(entry(rigid)).solver.name.value, "ida");
    EXPECT_THAT(refusal(rigid, "{}", "dirk-4"), HasSubstr("ida"));
}

TEST(hydraulics, mistakes_have_their_place) {
    const std::string tanks = "      s: {kind: tank, pressure: 5 bar}\n      t: {kind: tank}\n";
    const std::string hole = "      h: {kind: orifice, from: s, to: t, area: 1 mm2}\n";
    EXPECT_THAT(refusal(tanks + hole + "      n: {kind: node, volume: 0 m3}\n"),
                AllOf(HasSubstr("s.yaml:10:"), HasSubstr("'volume'")));
    EXPECT_THAT(refusal(tanks + hole + "      n: {kind: node}\n"), HasSubstr("'volume'"));
    EXPECT_THAT(refusal(tanks + hole + "      n: {kind: node, volume: 1 cm3}\n"),
                AllOf(HasSubstr("s.yaml:10:7: "), HasSubstr("node 'n' is joined to nothing")));
    EXPECT_THAT(refusal(tanks + "      h: {kind: orifice, from: s, to: t, area: -1 mm2}\n"), HasSubstr("'area'"));
    EXPECT_THAT(refusal(tanks + hole + "      l: {kind: line, from: s, to: s}\n"),
                HasSubstr("line 'l' is joined twice to 's'. Its ends need different nodes."));
    EXPECT_THAT(refusal(tanks + hole + "      l: {kind: line, from: s}\n"),
                HasSubstr("'to' (the node where it ends) is missing"));
    EXPECT_THAT(refusal(tanks + hole + "      l: {kind: line, from: s, to: h}\n"), HasSubstr("'h' is a orifice"));
    EXPECT_THAT(refusal(tanks + hole + "      p: {kind: piston, mass: 1 kg}\n"),
                HasSubstr("piston 'p' is joined to no node"));
    EXPECT_THAT(refusal(tanks + hole + "      p: {kind: piston, mass: 1 kg, head: s}\n"),
                HasSubstr("no area at 'head', but is joined to node 's' there. Give 'head-area'"));
    EXPECT_THAT(refusal(tanks + hole +
                        "      p: {kind: piston, mass: 1 kg, head: s, head-area: 1 cm2, high: 1 mm, x0: 2 mm}\n"),
                HasSubstr("'x0' = 0.002 m, is beyond its stops (-inf m to 0.001 m)"));
    EXPECT_THAT(
        refusal(tanks +
                "      n: {kind: node, volume: 1 cm3}\n      h: {kind: orifice, from: s, to: n, area: 1 mm2}\n      "
                "p: {kind: piston, mass: 1 kg, head: n, head-area: 1 cm2, low: -2 cm, high: 1 cm}\n" +
                "      i: {kind: orifice, from: n, to: t, area: 1 mm2}\n"),
        AllOf(
            HasSubstr("s.yaml:9:7"),
            HasSubstr("node 'n': its volume, 1e-06 m3 while p stand at zero, is 1e-06 m3 at the start and -1e-06 m3")));
    const std::string chambers = "      a: {kind: node, volume: 8 cm3}\n      b: {kind: node, volume: 8 cm3}\n";
    EXPECT_THAT(
        refusal(chambers +
                "      f: {kind: phaser, a: a, b: b, volume-per-angle: 9 cm3, rotor-inertia: 1, stator-inertia: "
                "1, limit: 0.3, theta0: 0.4}\n"),
        HasSubstr(
            "phaser 'f' is beyond its stop at the start: 'theta0' is 0.4 rad, the stops ('limit') are at -0.3 and "
            "0.3 rad"));
    EXPECT_THAT(
        refusal(tanks + "      r: {kind: rigid-node}\n      q: {kind: flow-source, from: s, to: r}\n      v: {kind: "
                        "check-valve, from: r, to: t, diameter: 6 mm, stroke: 1 mm, mass: 1 g}\n"),
        AllOf(
            HasSubstr("s.yaml:9:7"),
            HasSubstr("rigid-node 'r' shuts in a volume that cannot be compressed: q (flow-source), v (check-valve)")));
    EXPECT_THAT(
        refusal(tanks + hole +
                "      r: {kind: rigid-node}\n      i: {kind: rigid-node}\n      j: {kind: orifice, from: r, to: "
                "i, area: 1 mm2}\n"),
        HasSubstr("it reaches other rigid nodes only"));
    EXPECT_THAT(
        refusal(tanks +
                "      r: {kind: rigid-node}\n      l: {kind: line, from: s, to: r, flow0: 1e-4}\n      m: {kind: "
                "line, from: r, to: t}\n"),
        HasSubstr("0.0001 m3/s more flow in than out at the start"));
    EXPECT_THAT(refusal(hole), HasSubstr("'s'"));
    EXPECT_THAT(refusal(hole + "      t: {kind: tank}\n      s: {kind: source, pressure: 2 bar, ripple: 3 bar}\n"),
                HasSubstr("source 's': its pressure would fall to -100000 Pa, below the vapour pressure of 1000 Pa"));
    EXPECT_THAT(refusal(tanks), HasSubstr("node 's' is joined to nothing"));
    EXPECT_THAT(
        refusal(tanks + "      v: {kind: relief-valve, from: s, to: t, opening: 5 bar, full: 4 bar, area: 1 mm2}\n"),
        HasSubstr("Raise 'full'"));
    EXPECT_THAT(refusal(tanks + hole, "{fluid: stepped}"), HasSubstr("needs 'air'"));
}

}  // namespace
}  // namespace mdpcosim::test
