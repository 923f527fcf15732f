// What joins the nodes of the model hydraulics: closed forms, references written here; networks that begin at rest.
#include <algorithm>

#include "hydraulics_network.hpp"

namespace mdpcosim::test {
namespace {

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

TEST(hydraulics, only_equations_begin_at_rest) {
    for (const char* model : {"contact-bodies, parts: {b: {kind: body, mass: 1 kg}}", "pid-sampled, sample: 10 ms"}) {
        try {
            make_subsystem(
                read_scenario_text(
                    fmt::format("time: {{end: 1, step: 1e-3}}\nsubsystems:\n  a: {{model: {}, initial: equilibrium}}\n",
                                model),
                    "s.yaml")
                    .subsystems.at(0));
            ADD_FAILURE() << model;
        } catch (const user_error& problem) {
            EXPECT_THAT(problem.what(), AllOf(HasSubstr("s.yaml:3:"), HasSubstr("needs equations, and model '"),
                                              HasSubstr("Leave 'initial' out")));
        }
    }
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

}  // namespace
}  // namespace mdpcosim::test
