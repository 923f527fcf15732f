#include "benchmark/trust_systems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "benchmark/dice.hpp"

namespace mdpcosim {

namespace {

/// What a kind of systems says of one of them.
struct draft {
    std::string subsystems, connections, signals;
    double sample = 0;     ///< s, which the macro step divides
    double omega = 1;      ///< upper bound of the fastest coupled motion
    std::string what;      ///< in words
    std::string method;    ///< empty: any
    double longest = 1e9;  ///< s
    bool chaotic = false;
    std::string reference_subsystems;
};

std::string ode_mass(const std::string& states, const std::string& load, double c, double d, double m) {
    return fmt::format(
        "{{ode: {{states: {{{}}}, inputs: {{F: 0}}, equations: {{x: v, v: (F - {}*x - {}*v{})/{}}}}}, ports: {{mass: "
        "{{kind: translation, position: x, velocity: v, force: F}}}}}}",
        states, c, d, load, m);
}

struct oscillators {
    std::vector<double> m, c, d, k, x, v;
    double omega = 0;
};

oscillators random_masses(dice& roll, int n, bool at_rest = false) {
    oscillators all;
    const double zeta = roll.pick({0.0, 0.0, 0.01, 0.05, 0.2});
    for (int i = 0; i < n; ++i) {
        all.m.push_back(roll.power(-0.5, 1));
        all.c.push_back(i == 0 || roll.chance(0.6) ? roll.power(1, 3) : 0);
        all.k.push_back(i + 1 < n ? roll.power(1, 4) : 0);
        all.d.push_back(2 * zeta * std::sqrt(all.c.back() * all.m.back()));
        all.x.push_back(at_rest ? 0 : roll.uniform(-0.1, 0.1));
        all.v.push_back(at_rest ? 0 : roll.uniform(-1, 1));
    }
    for (std::size_t i = 0; i < all.m.size(); ++i)
        all.omega = std::max(all.omega, 1.2 * std::sqrt((all.c[i] + all.k[i] + (i > 0 ? all.k[i - 1] : 0)) / all.m[i]));
    return all;
}

std::string start_of(const oscillators& all, std::size_t i) { return fmt::format("x: {}, v: {}", all.x[i], all.v[i]); }

/// Masses on springs against the ground, joined by `law` of their stiffness; `load` acts on the first.
void add_chain(draft& made, const oscillators& all, const std::function<std::string(std::size_t)>& law,
               const std::string& load = {}) {
    for (std::size_t i = 0; i < all.m.size(); ++i) {
        const std::string own = fmt::format("s{}", i);
        const bool native = load.empty() && i % 2 == 1 && all.d[i] >= 0;
        made.subsystems += fmt::format(
            "  {}: {}\n", own,
            native ? fmt::format("{{model: mass-spring-damper, set: {{mass: {}, stiffness: {}, damping: {}, "
                                 "x0: {}, v0: {}}}}}",
                                 all.m[i], all.c[i], all.d[i], all.x[i], all.v[i])
                   : ode_mass(start_of(all, i), i == 0 ? load : "", all.c[i], all.d[i], all.m[i]));
        if (i > 0)
            made.connections += fmt::format("  c{}: {{between: [s{}.mass, s{}.mass], {}}}\n", i, i - 1, i, law(i - 1));
    }
    made.omega = all.omega;
}

draft make_chain(dice& roll) {
    draft made;
    const int n = roll.pick({2, 2, 3, 5, 10, 20});
    const oscillators all = random_masses(roll, n);
    const std::string law = roll.pick<const char*>({"spring", "spring-damper", "cubic-spring-damper"});
    const double zeta = roll.pick({0.02, 0.1, 0.4});
    add_chain(made, all, [&](std::size_t i) {
        std::string text = fmt::format("law: {}, stiffness: {}", law, all.k[i]);
        if (law == "spring-damper")
            text += fmt::format(", damping: {}", 2 * zeta * std::sqrt(all.k[i] * std::min(all.m[i], all.m[i + 1])));
        if (law == "cubic-spring-damper") text += fmt::format(", cubic-stiffness: {}", 20 * all.k[i]);
        return text;
    });
    made.what = fmt::format("{} masses, {}", n, law);
    return made;
}

/// The right neighbour has the spring and tells its force.
draft make_signals(dice& roll) {
    draft made;
    const int n = roll.pick({2, 2, 3, 5, 10});
    const oscillators all = random_masses(roll, n);
    for (std::size_t i = 0; i < all.m.size(); ++i) {
        const std::string left = i > 0 ? fmt::format("{}*(x - xl)", all.k[i - 1]) : "0";
        made.subsystems += fmt::format(
            "  s{}: {{ode: {{states: {{{}}}, inputs: {{{}fr: 0}}, outputs: {{fl: {}}}, equations: {{x: v, v: (fr - "
            "{}*x - {}*v - {})/{}}}}}}}\n",
            i, start_of(all, i), i > 0 ? "xl: 0, " : "", left, all.c[i], all.d[i], left, all.m[i]);
        if (i > 0) made.signals += fmt::format("  - s{0}.x -> s{1}.xl\n  - s{1}.fl -> s{0}.fr\n", i - 1, i);
    }
    made.omega = all.omega;
    made.what = fmt::format("{} masses by signals", n);
    made.method = roll.chance(0.7) ? "explicit" : "iterated";
    return made;
}

draft make_stops(dice& roll) {
    draft made;
    const int n = roll.pick({2, 2, 3, 5});
    const oscillators all = random_masses(roll, n);
    const bool damped = roll.chance(0.4);
    add_chain(made, all, [&](std::size_t i) {
        return fmt::format("law: stop, stiffness: {}, upper: 0.02, lower: -0.02{}", 3 * all.k[i],
                           damped ? fmt::format(", damping: {}", 0.1 * std::sqrt(all.k[i])) : "");
    });
    made.omega *= std::sqrt(3.0);
    made.what = fmt::format("{} masses, {}stops", n, damped ? "damped " : "");
    return made;
}

draft make_forced(dice& roll) {
    draft made;
    const int n = roll.pick({2, 2, 3, 5, 10});
    const oscillators all = random_masses(roll, n, true);
    const bool square = roll.chance(0.5);
    const std::string wave = fmt::format("sin({}*t)", all.omega * roll.uniform(0.05, 0.4));
    const std::string load = fmt::format(" + {}*{}", roll.power(0, 1), square ? fmt::format("sign({})", wave) : wave);
    add_chain(
        made, all, [&](std::size_t i) { return fmt::format("law: spring, stiffness: {}", all.k[i]); }, load);
    made.what = fmt::format("{} masses, {} load", n, square ? "square" : "sine");
    return made;
}

draft make_growing(dice& roll) {
    draft made;
    const int n = roll.pick({2, 2, 3, 5});
    oscillators all = random_masses(roll, n);
    all.d[0] = -roll.pick({0.05, 0.3}) * std::sqrt(all.c[0] * all.m[0]);
    add_chain(made, all, [&](std::size_t i) { return fmt::format("law: spring, stiffness: {}", all.k[i]); });
    made.longest = 40 * all.m[0] / -all.d[0];
    made.what = fmt::format("{} masses, the first with negative damping", n);
    return made;
}

/// A ball that bounces on its own floor hangs on a spring.
draft make_events(dice& roll) {
    draft made;
    oscillators all = random_masses(roll, 2);
    all.x[0] = roll.uniform(0.05, 0.2);
    made.subsystems = fmt::format(
        "  s0: {{ode: {{states: {{x: {}, v: 0}}, inputs: {{F: 0}}, equations: {{x: v, v: F/{} - 9.81}}, events: "
        "[{{when: "
        "x, direction: falling, set: {{v: -{}*v}}}}]}}, ports: {{mass: {{kind: translation, position: x, velocity: v, "
        "force: F}}}}}}\n  s1: {}\n",
        all.x[0], all.m[0], roll.uniform(0.9, 1), ode_mass(start_of(all, 1), "", all.c[0], all.d[0], all.m[1]));
    made.connections = fmt::format("  c1: {{between: [s0.mass, s1.mass], law: spring, stiffness: {}}}\n", all.k[0]);
    made.omega = 1.2 * std::sqrt((all.c[0] + all.k[0]) / std::min(all.m[0], all.m[1]));
    made.longest = 3;
    made.what = "a bouncing mass on a spring";
    return made;
}

/// A sampled controller holds the position of a mass that carries another; the macro step divides its sample time.
draft make_sampled(dice& roll) {
    draft made;
    oscillators all = random_masses(roll, 2);
    const double T = roll.uniform(0.05, 0.3) / std::sqrt(all.c[0] / all.m[0]);
    made.subsystems = fmt::format(
        "  demand: {{model: source, set: {{kind: step, amplitude: 0.1, start: {}}}}}\n"
        "  controller: {{model: pid-sampled, set: {{kp: {}, ki: {}}}, sample: {{time: {} s}}}}\n"
        "  s0: {{ode: {{states: {{x: 0, v: 0}}, inputs: {{F: 0, f: 0}}, equations: {{x: v, v: (F + f - {}*x - "
        "{}*v)/{}}}}}, "
        "ports: {{mass: {{kind: translation, position: x, velocity: v, force: F}}}}}}\n  s1: {}\n",
        2 * T, 0.5 * all.c[0], 0.2 * all.c[0] * std::sqrt(all.c[0] / all.m[0]), T, all.c[0],
        0.4 * std::sqrt(all.c[0] * all.m[0]), all.m[0], ode_mass("x: 0, v: 0", "", all.c[1], all.d[1], all.m[1]));
    made.connections = fmt::format("  c1: {{between: [s0.mass, s1.mass], law: spring, stiffness: {}}}\n", all.k[0]);
    made.signals =
        "  - demand.y -> controller.setpoint\n  - s0.x -> controller.measurement\n  - controller.y -> s0.f\n";
    made.omega = all.omega;
    made.sample = T;
    made.method = roll.pick<const char*>({"explicit", "explicit", "one-pass"});
    made.what = "two masses, sampled controller";
    return made;
}

/// Lorenz's equations, cut into two, or two double wells on a spring.
draft make_chaotic(dice& roll) {
    draft made;
    made.chaotic = true;
    if (roll.chance(0.5)) {
        made.subsystems = fmt::format(
            "  s0: {{ode: {{states: {{x: {}}}, inputs: {{y: 1}}, equations: {{x: 10*(y - x)}}}}}}\n"
            "  s1: {{ode: {{states: {{y: {}, z: {}}}, inputs: {{x: 1}}, equations: {{y: x*({} - z) - y, z: x*y - "
            "8/3*z}}}}}}\n",
            roll.uniform(-5, 5), roll.uniform(1, 8), roll.uniform(15, 30), roll.uniform(26, 32));
        made.signals = "  - s0.x -> s1.x\n  - s1.y -> s0.y\n";
        made.omega = 15;
        made.method = roll.chance(0.7) ? "explicit" : "iterated";
        made.what = "Lorenz by signals";
        return made;
    }
    for (int i = 0; i < 2; ++i)
        made.subsystems += fmt::format(
            "  s{}: {{ode: {{states: {{x: {}, v: {}}}, inputs: {{F: 0}}, equations: {{x: v, v: F + {}*x - "
            "{}*x*x*x}}}}, "
            "ports: {{mass: {{kind: translation, position: x, velocity: v, force: F}}}}}}\n",
            i, roll.uniform(0.2, 1.2), roll.uniform(-1, 1), roll.uniform(0.8, 1.2), roll.uniform(0.8, 1.2));
    made.connections =
        fmt::format("  c1: {{between: [s0.mass, s1.mass], law: spring, stiffness: {}}}\n", roll.power(-1, 1));
    made.omega = 5;
    made.what = "two double wells on a spring";
    return made;
}

/// Oscillators held together, or a pendulum of two or three rods.
draft make_joints(dice& roll) {
    draft made;
    made.method = fmt::format("{{name: index-1, degree: {}}}", roll.pick({2, 3}));
    if (roll.chance(0.5)) {
        const oscillators all = random_masses(roll, 2);
        for (int i = 0; i < 2; ++i)
            made.subsystems += fmt::format(
                "  s{}: {{model: mass-spring-damper, set: {{mass: {}, stiffness: {}, damping: {}, x0: {}, v0: {}}}}}\n",
                i, all.m[static_cast<std::size_t>(i)], all.c[0] * (i + 1), all.d[0], all.x[0], all.v[0]);
        made.connections = "  j: {joint: rigid, between: [s0.mass, s1.mass]}\n";
        made.omega = 1.2 * std::sqrt(2 * all.c[0] / std::min(all.m[0], all.m[1]));
        made.what = "two oscillators joined rigidly";
        return made;
    }
    const double first = roll.uniform(-60, 60), second = roll.uniform(-60, 60), to_rad = std::acos(-1.0) / 180;
    made.subsystems = fmt::format(
        "  s0: {{model: planar-link, set: {{support: hinged, mass: {}, length: 1, angle: {} deg}}}}\n"
        "  s1: {{model: planar-link, set: {{mass: {}, length: 0.8, angle: {} deg, position: [{}, {}]}}}}\n",
        roll.power(-0.5, 0.5), first, roll.power(-0.5, 0.5), second, std::cos(first * to_rad),
        std::sin(first * to_rad));
    made.connections = "  j: {joint: planar-revolute, between: [s0.second, s1.first]}\n";
    made.omega = 12;
    made.longest = 3;
    made.what = "double pendulum";
    return made;
}

draft make_gears(dice& roll) {
    draft made;
    const int n = roll.pick({2, 3, 5});
    const oscillators all = random_masses(roll, n);
    double fastest = 0;
    std::vector<double> ratio;
    for (int i = 0; i + 1 < n; ++i) ratio.push_back(roll.pick({-1, 1}) * roll.power(-0.5, 0.5));
    const bool backlash = roll.chance(0.3);
    for (std::size_t i = 0; i < all.m.size(); ++i) {
        const double right = i < ratio.size() ? all.k[i] : 0;
        const double left = i > 0 ? all.k[i - 1] * ratio[i - 1] * ratio[i - 1] : 0;
        fastest = std::max(fastest, 1.2 * std::sqrt((right + left + all.c[i]) / all.m[i]));
        made.subsystems += fmt::format(
            "  s{}: {{ode: {{states: {{phi: {}, w: {}}}, inputs: {{T: 0}}, equations: {{phi: w, w: (T - {}*phi - "
            "{}*w)/{}}}}}, "
            "ports: {{shaft: {{kind: rotation, angle: phi, speed: w, torque: T}}}}}}\n",
            i, all.x[i], all.v[i], all.c[i], all.d[i], all.m[i]);
        if (i > 0)
            made.connections += fmt::format(
                "  c{}: {{between: [s{}.shaft, s{}.shaft], law: gear, ratio: {}, stiffness: {}, damping: {}{}}}\n", i,
                i - 1, i, ratio[i - 1], all.k[i - 1],
                roll.chance(0.5) ? 0 : 0.1 * std::sqrt(all.k[i - 1] * std::min(all.m[i], all.m[i - 1])),
                backlash ? ", backlash: 0.01" : "");
    }
    made.omega = fastest;
    made.what = fmt::format("{} rotors, gears{}", n, backlash ? " with backlash" : "");
    return made;
}

/// Branches with inductances meet at a capacitor.
draft make_nodes(dice& roll) {
    draft made;
    const int n = roll.pick({2, 3, 5});
    const double C = roll.power(-5, -4);
    double inverse = 0;
    std::string ends;
    for (int i = 0; i < n; ++i) {
        const double L = roll.power(-3, -2);
        inverse += 1 / L;
        const std::string voltage =
            i == 0 ? (roll.chance(0.5) ? "10" : fmt::format("10*sin({}*t)", roll.power(1, 3))) : "0";
        made.subsystems += fmt::format(
            "  s{0}: {{ode: {{states: {{i: 0}}, inputs: {{u: 0}}, equations: {{i: ({1} - u - {2}*i)/{3}}}}}, ports: "
            "{{pin: {{kind: electric, causality: takes-motion, current: i, potential: u}}}}}}\n",
            i, voltage, roll.power(-0.5, 1), L);
        ends += fmt::format("{}s{}.pin", i > 0 ? ", " : "", i);
    }
    made.connections = fmt::format("  c1: {{between: [{}], law: capacitance, capacitance: {}}}\n", ends, C);
    made.omega = std::sqrt(inverse / C);
    made.what = fmt::format("{} branches at a capacitor", n);
    return made;
}

draft make_fmus(dice& roll, const std::filesystem::path& folder) {
    draft made;
    const int n = roll.pick({2, 2, 3, 5});
    const oscillators all = random_masses(roll, n);
    const bool plain = roll.chance(0.6);
    const std::string file =
        plain ? "plain-oscillator-2.fmu" : roll.pick<const char*>({"oscillator-2.fmu", "oscillator-3.fmu"});
    const double zeta = roll.pick({0.0, 0.1});
    for (std::size_t i = 0; i < all.m.size(); ++i) {
        made.subsystems += fmt::format(
            "  s{}: {{fmu: {}, set: {{m: {}, c: {}, d: {}, x0: {}, v0: {}}}, ports: {{mass: {{kind: translation, "
            "position: "
            "position, velocity: velocity, force: force}}}}}}\n",
            i, (folder / file).string(), all.m[i], all.c[i], all.d[i], all.x[i], all.v[i]);
        made.reference_subsystems += fmt::format(
            "  s{}: {{model: mass-spring-damper, set: {{mass: {}, stiffness: {}, damping: {}, x0: {}, v0: {}}}}}\n", i,
            all.m[i], all.c[i], all.d[i], all.x[i], all.v[i]);
        if (i > 0)
            made.connections += fmt::format(
                "  c{}: {{between: [s{}.mass, s{}.mass], law: spring-damper, stiffness: {}, damping: {}}}\n", i, i - 1,
                i, all.k[i - 1], 2 * zeta * std::sqrt(all.k[i - 1] * std::min(all.m[i], all.m[i - 1])));
    }
    made.omega = all.omega;
    made.method = plain ? "explicit" : roll.pick<const char*>({"explicit", "semi-implicit", "iterated", "one-pass"});
    made.what = fmt::format("{} masses as FMUs ({})", n, file);
    return made;
}

using maker = draft (*)(dice&);
constexpr std::pair<const char*, maker> makers[] = {
    {"chain", make_chain},     {"signals", make_signals}, {"stops", make_stops},     {"forced", make_forced},
    {"growing", make_growing}, {"events", make_events},   {"sampled", make_sampled}, {"chaotic", make_chaotic},
    {"joints", make_joints},   {"gears", make_gears},     {"nodes", make_nodes}};

}  // namespace

std::vector<std::string> trust_kinds() {
    std::vector<std::string> names;
    for (const auto& [name, make] : makers) names.emplace_back(name);
    names.emplace_back("fmus");
    return names;
}

bool held_out(const std::string& kind) { return kind == "gears" || kind == "nodes" || kind == "fmus"; }

trust_system make_trust_system(const std::string& kind, unsigned seed, const std::filesystem::path& fmus) {
    unsigned mixed = seed;
    for (const char letter : kind) mixed = mixed * 31 + static_cast<unsigned char>(letter);
    dice roll(mixed);
    const auto found = std::ranges::find_if(makers, [&](const auto& m) { return kind == m.first; });
    const draft made = found == std::end(makers) ? make_fmus(roll, fmus) : found->second(roll);

    std::string method = made.method;
    if (method.empty())
        method = roll.pick<const char*>({"explicit", "explicit", "explicit", "one-pass", "semi-implicit", "iterated"});
    double H = roll.power(-2.2, 0.3) / made.omega;
    if (made.sample > 0) H = made.sample / std::ceil(made.sample / H);
    double steps = roll.pick({20.0, 60.0, 200.0, 1000.0, 3000.0});
    steps = std::max(20.0, std::floor(std::min(steps, made.longest / H)));

    trust_system s;
    s.kind = kind;
    s.number = seed;
    s.about =
        fmt::format("{} {}: {}, {}, {} steps, omega H = {:.2g}", kind, seed, made.what, method, steps, made.omega * H);
    s.step = H;
    s.end = steps * H;
    s.chaotic = made.chaotic;
    const auto write = [&](const std::string& subsystems) {
        std::string text = fmt::format("time: {{end: {} s, step: {} s}}\nmethod: {}\nsubsystems:\n{}", s.end, s.step,
                                       method, subsystems);
        if (!made.connections.empty()) text += "connections:\n" + made.connections;
        if (!made.signals.empty()) text += "signals:\n" + made.signals;
        return text;
    };
    s.scenario = write(made.subsystems);
    s.reference = made.reference_subsystems.empty() ? s.scenario : write(made.reference_subsystems);
    return s;
}

}  // namespace mdpcosim
