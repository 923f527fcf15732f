// The model hydraulics: its nodes in closed form, invariants, the Jacobian, the contract of subsystems, users' mistakes.
#include <cstdio>
#include <fstream>
#include <random>

#include "hydraulics_network.hpp"
#include "subsystem/model.hpp"
#include "support/subsystem_contract.hpp"

namespace mdpcosim::test {
namespace {

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

/// Stepped moduli follow the macro step, which the contract's other cases vary; what they remember is saved.
TEST(hydraulics, stepped_moduli_are_saved) {
    const auto make = [] {
        auto s = make_subsystem(entry(everything, "{fluid: stepped, air: 0.01}", "dirk-4"));
        s->initialise(0);
        return s;
    };
    const auto a = make(), b = make();
    std::vector<polynomial> inputs(static_cast<std::size_t>(a->describe().input_count()));
    std::vector<double> y(static_cast<std::size_t>(a->describe().output_count())), again = y, elsewhere = y;
    const auto step = [&](subsystem& s, int n, std::vector<double>& into) {
        s.advance({1e-4 * n, 1e-4 * (n + 1), n}, inputs, into);
    };
    for (int n = 0; n < 5; ++n) step(*a, n, y);
    const auto saved = a->make_snapshot(), copied = b->make_snapshot();
    a->save(*saved);
    for (int n = 5; n < 9; ++n) step(*a, n, y);
    a->restore(*saved);
    from_bytes(*copied, to_bytes(*saved));
    b->restore(*copied);
    for (int n = 5; n < 9; ++n) {
        step(*a, n, again);
        step(*b, n, elsewhere);
    }
    EXPECT_EQ(y, again);
    EXPECT_EQ(y, elsewhere);
}

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
