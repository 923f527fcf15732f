#pragma once

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

/// Systems with something new inside macro steps: contacts, events of subsystems, jumps of signals, held signals; and smooth ones beside them.
/// What a seed decides are their numbers.
namespace mdpcosim::test {

struct controlled_system {
    std::string name;
    std::string text;   ///< without `time`, `method` and `step-control`
    double end;         ///< s
    bool ports = true;  ///< connections between ports, which one-pass solves for
};

inline std::vector<controlled_system> controlled_systems(unsigned seed) {
    std::mt19937 random(seed);
    const auto in = [&](double low, double high) {
        return low * std::pow(high / low, static_cast<double>(random()) / static_cast<double>(std::mt19937::max()));
    };
    const std::string solver = "solver: {name: erk-5, rtol: 1e-11, atol: 1e-13}";
    const auto mass = [&](const char* name, const std::string& set) {
        return fmt::format("  {}: {{model: mass-spring-damper, set: {{{}}}, {}}}\n", name, set, solver);
    };
    const auto pair = [&](const std::string& a, const std::string& b, const std::string& law) {
        return "subsystems:\n" + mass("a", a) + mass("b", b) + "connections:\n  c: {between: [a.mass, b.mass], " + law +
               "}\n";
    };
    std::vector<controlled_system> all;

    // Bodies that fly, meet a stop and fly back.
    all.push_back({"flight into a stop",
                   pair(fmt::format("mass: {:.4g}, v0: 1", in(0.5, 2)), fmt::format("mass: {:.4g}", in(2, 5)),
                        fmt::format("law: stop, stiffness: {:.4g}, upper: {:.4g}", in(2e3, 2e4), in(0.3, 0.6))),
                   1.5});
    all.push_back({"flight into a damped stop",
                   pair(fmt::format("mass: {:.4g}, v0: 1", in(0.5, 2)),
                        fmt::format("mass: {:.4g}, stiffness: {:.4g}", in(2, 5), in(50, 200)),
                        fmt::format("law: stop, stiffness: {:.4g}, damping: {:.4g}, upper: {:.4g}", in(2e3, 2e4),
                                    in(1, 20), in(0.3, 0.6))),
                   2});
    all.push_back({"between two stops",
                   pair(fmt::format("mass: {:.4g}, v0: 1", in(0.5, 2)),
                        fmt::format("mass: {:.4g}, stiffness: {:.4g}", in(5, 9), in(50, 200)),
                        fmt::format("law: stop, stiffness: {:.4g}, lower: {:.4g}, upper: {:.4g}", in(500, 3e3),
                                    -in(0.2, 0.4), in(0.2, 0.4))),
                   2});
    all.push_back({"oscillator with a stop",
                   pair(fmt::format("mass: 1, stiffness: {:.4g}, x0: 0.1", in(30, 60)),
                        fmt::format("mass: 3, stiffness: {:.4g}", in(100, 300)),
                        fmt::format("law: stop, stiffness: {:.4g}, damping: {:.4g}, lower: {:.4g}", in(300, 2e3),
                                    in(0.5, 3), -in(0.02, 0.06))),
                   3});
    all.push_back(
        {"stop at rest, late push",
         pair(fmt::format("mass: 1, excitation: step, amplitude: {:.4g}, step-time: {:.4g}", in(1, 3), in(0.6, 1.2)),
              fmt::format("mass: 2, stiffness: {:.4g}", in(100, 300)),
              fmt::format("law: stop, stiffness: {:.4g}, upper: {:.4g}", in(1e3, 1e4), in(0.05, 0.2))),
         2.5});
    all.push_back({"backlash",
                   fmt::format("subsystems:\n  a: {{model: inertia, set: {{inertia: {:.4g}, w0: 2}}, {}}}\n  b: "
                               "{{model: inertia, set: {{inertia: "
                               "{:.4g}, damping: {:.4g}}}, {}}}\nconnections:\n  g: {{law: gear, between: [a.shaft, "
                               "b.shaft], ratio: {:.4g}, "
                               "stiffness: {:.4g}, damping: {:.4g}, backlash: {:.4g}}}\n",
                               in(0.1, 0.3), solver, in(0.5, 1), in(0.05, 0.2), solver, in(1.5, 3), in(50, 200),
                               in(0.05, 0.3), in(0.05, 0.15)),
                   2});

    // Smooth ones.
    all.push_back({"two oscillators",
                   pair(fmt::format("mass: 1, stiffness: {:.4g}, x0: 1", in(1, 10)),
                        fmt::format("mass: {:.4g}, stiffness: {:.4g}", in(1, 3), in(5, 20)),
                        fmt::format("law: spring, stiffness: {:.4g}", in(2, 20))),
                   6});
    all.push_back(
        {"cubic spring and damper",
         pair(fmt::format("mass: 1, stiffness: {:.4g}, x0: 0.5", in(1, 10)),
              fmt::format("mass: {:.4g}, stiffness: {:.4g}", in(1, 3), in(5, 20)),
              fmt::format("law: cubic-spring-damper, stiffness: {:.4g}, damping: {:.4g}, cubic-stiffness: {:.4g}",
                          in(2, 20), in(0.1, 1), in(10, 60))),
         5});
    all.push_back(
        {"strut with a forced wheel",
         pair(fmt::format(
                  "mass: 40, stiffness: 2e5, damping: {:.4g}, excitation: harmonic, amplitude: 2000, frequency: {:.4g}",
                  in(50, 400), in(1, 3)),
              "mass: 400",
              fmt::format("law: spring-damper, stiffness: {:.4g}, damping: {:.4g}", in(1e4, 3e4), in(800, 2e3))),
         1.5});
    all.push_back({"heat",
                   fmt::format("subsystems:\n  a: {{ode: {{states: {{T: 350 K}}, inputs: {{q: 0 W}}, equations: {{T: "
                               "(q + {:.4g}*sin(3*t))/2}}}}, ports: {{p: {{kind: thermal, temperature: T, "
                               "heat-flow: q}}}}, {}}}\n  b: {{ode: {{states: {{T: 300 K}}, inputs: {{q: 0 W}}, "
                               "equations: {{T: (q - {:.4g}*(T - 290))/3}}}}, ports: {{p: {{kind: "
                               "thermal, temperature: T, heat-flow: q}}}}, {}}}\nconnections:\n  c: {{law: conductor, "
                               "between: [a.p, b.p], conductance: {:.4g}}}\n",
                               in(20, 60), solver, in(0.5, 2), solver, in(1, 4)),
                   4});

    // Events of subsystems: jumps of a velocity, of a force, of a mode.
    const auto body = [&](const char* name, const std::string& parameters, const std::string& force,
                          const std::string& states, const std::string& equations, const std::string& events) {
        return fmt::format(
            "  {}:\n    ode:\n      parameters: {{{}}}\n      states: {{x: 0 m, v: 0 m/s{}}}\n      inputs: {{F: 0 "
            "N}}\n      equations: {{x: v, v: \"({} + F)/m\"{}}}\n"
            "      events:\n        - {}\n    ports: {{p: {{kind: translation, position: x, velocity: v, force: "
            "F}}}}\n    {}\n",
            name, parameters, states, force, equations, events, solver);
    };
    all.push_back({"late kick",
                   "subsystems:\n" +
                       body("a", "m: 1 kg", "-20*x", "", "",
                            fmt::format("{{when: \"t - {:.6g}\", set: {{v: v + {:.4g}}}}}", in(0.7, 1.2), in(0.5, 1))) +
                       mass("b", fmt::format("mass: 2, stiffness: {:.4g}", in(20, 80))) +
                       fmt::format("connections:\n  c: {{law: spring, between: [a.p, b.mass], stiffness: {:.4g}}}\n",
                                   in(20, 100)),
                   2.5});
    all.push_back({"late kick, damped",
                   "subsystems:\n" +
                       body("a", "m: 1 kg", "-20*x", "", "",
                            fmt::format("{{when: \"t - {:.6g}\", set: {{v: v + {:.4g}}}}}", in(0.7, 1.2), in(0.5, 1))) +
                       mass("b", fmt::format("mass: 2, stiffness: {:.4g}", in(20, 80))) +
                       fmt::format("connections:\n  c: {{law: spring-damper, between: [a.p, b.mass], stiffness: "
                                   "{:.4g}, damping: {:.4g}}}\n",
                                   in(20, 100), in(0.5, 3)),
                   2.5});
    all.push_back(
        {"bounces inside a subsystem",
         "subsystems:\n" +
             body("a", "m: 1 kg", "-2 - 5*x", "", "",
                  fmt::format("{{when: \"x + {:.4g}\", direction: falling, set: {{v: -0.8*v}}}}", in(0.1, 0.2))) +
             mass("b", fmt::format("mass: 2, stiffness: {:.4g}, x0: 0.3", in(20, 80))) +
             fmt::format("connections:\n  c: {{law: spring, between: [a.p, b.mass], stiffness: {:.4g}}}\n", in(5, 20)),
         1.2});
    all.push_back({"switched force",
                   "subsystems:\n" +
                       body("a", "m: 1 kg", "3*s - 4*x - 0.2*v", ", s: 1", ", s: 0",
                            fmt::format("{{when: \"x - {:.4g}\", direction: rising, set: {{s: -1}}}}", in(0.1, 0.3))) +
                       mass("b", fmt::format("mass: 2, stiffness: {:.4g}", in(20, 80))) +
                       fmt::format("connections:\n  c: {{law: spring-damper, between: [a.p, b.mass], stiffness: "
                                   "{:.4g}, damping: {:.4g}}}\n",
                                   in(5, 30), in(0.1, 1)),
                   2.5});

    // Signals: forced, held, in loops.
    const auto plant = [&](const std::string& equation) {
        return fmt::format(
            "  plant: {{ode: {{states: {{x: 0, v: 0}}, inputs: {{u: 0}}, equations: {{x: v, v: \"{}\"}}}}, {}}}\n",
            equation, solver);
    };
    for (const bool held : {false, true}) {
        const std::string rule = held ? ", extrapolation: poly-1" : "";
        all.push_back(
            {held ? "held controller" : "controller",
             "subsystems:\n" + plant(fmt::format("u - {:.4g}*x - {:.4g}*v", in(1, 3), in(0.5, 1))) +
                 fmt::format("  control: {{ode: {{states: {{i: 0}}, inputs: {{y: 0}}, equations: {{i: 1 - y}}, "
                             "outputs: {{u: \"{:.4g}*i\"}}}}, {}}}\n",
                             in(0.5, 1.5), solver) +
                 fmt::format(
                     "signals:\n  - {{connect: control.u -> plant.u{0}}}\n  - {{connect: plant.x -> control.y{0}}}\n",
                     rule),
             held ? 2.0 : 6.0, false});
        all.push_back({held ? "held sine" : "sine",
                       "subsystems:\n" + plant(fmt::format("u - {:.4g}*x - {:.4g}*v", in(1, 9), in(0.5, 1))) +
                           fmt::format("  source: {{ode: {{outputs: {{y: \"sin({:.4g}*t)\"}}}}, {}}}\nsignals:\n  - "
                                       "{{connect: source.y -> plant.u{}}}\n",
                                       in(2, 5), solver, rule),
                       held ? 2.0 : 5.0, false});
    }
    all.push_back({"ramp after a rest",
                   "subsystems:\n" + plant(fmt::format("u - {:.4g}*x - {:.4g}*v", in(10, 30), in(0.5, 1))) +
                       fmt::format("  source: {{ode: {{outputs: {{y: \"if(t < {:.5g}, 0, t - {:.5g})\"}}}}, "
                                   "{}}}\nsignals:\n  - {{connect: source.y -> plant.u, extrapolation: poly-2}}\n",
                                   1.23, 1.23, solver),
                   2.5, false});
    all.push_back(
        {"thermostat",
         fmt::format("subsystems:\n  room: {{ode: {{states: {{T: 18}}, inputs: {{on: 0}}, equations: {{T: \"{:.4g}*on "
                     "- 0.3*(T - 10)\"}}}}, {}}}\n"
                     "  switch: {{ode: {{states: {{m: 1, f: 18}}, inputs: {{T: 18}}, equations: {{m: 0, f: \"10*(T - "
                     "f)\"}}, outputs: {{on: m}}, events: [{{when: f - 21, direction: rising, set: {{m: 0}}}}, "
                     "{{when: f - 19.5, direction: falling, set: {{m: 1}}}}]}}, {}}}\nsignals:\n  - {{connect: "
                     "switch.on -> room.on, extrapolation: poly-1}}\n  - room.T -> switch.T\n",
                     in(5, 8), solver, solver),
         4, false});
    all.push_back({"sampled controller and backlash",
                   fmt::format("subsystems:\n  a: {{model: inertia, set: {{inertia: {:.4g}, w0: 2}}, {}}}\n  b: "
                               "{{model: inertia, set: {{inertia: "
                               "{:.4g}, damping: {:.4g}}}, {}}}\n  pid: {{model: pid-sampled, set: {{kp: {:.4g}}}, "
                               "sample: {{time: 80 ms}}}}\nconnections:\n  g: {{law: gear, between: [a.shaft, "
                               "b.shaft], ratio: {:.4g}, stiffness: {:.4g}, damping: {:.4g}, backlash: "
                               "{:.4g}}}\nsignals:\n  - b.end.angle -> pid.measurement\n  - pid.y -> a.torque\n",
                               in(0.1, 0.3), solver, in(0.5, 1), in(0.05, 0.2), solver, in(0.3, 1), in(1.5, 3),
                               in(50, 200), in(0.05, 0.3), in(0.05, 0.15)),
                   2});
    return all;
}

}  // namespace mdpcosim::test
