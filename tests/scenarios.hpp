#pragma once

#include <fmt/format.h>

#include <string>

/// Scenarios of several sizes that use most of what there is.
namespace mdpcosim::test {

/// Two masses of the model busy with a spring between them.
inline std::string two_subsystems(int work) {
    return fmt::format(R"(mdpcosim: 1
time: {{end: 0.4 s, step: 1 ms}}
subsystems:
  a: {{model: busy, set: {{work: {0}, x0: 10 mm}}, solver: rk4}}
  b: {{model: busy, set: {{work: {0}, mass: 2 kg}}, solver: rk4}}
connections:
  rod: {{law: spring, between: [a.mass, b.mass], stiffness: 400 N/m}}
)",
                       work);
}

/// Two rods with a joint between them, without a method.
inline std::string double_pendulum() {
    return R"(time: {end: 0.1 s, step: 1 ms}
subsystems:
  upper: {model: planar-link, set: {support: hinged, mass: 1 kg, length: 1 m, angle: 45 deg}}
  lower: {model: planar-link, set: {mass: 1 kg, length: 1 m, angle: -45 deg, position: [0.7071067811865476, 0.7071067811865476]}}
connections:
  elbow: {joint: planar-revolute, between: [upper.second, lower.first]}
)";
}

/// `groups` times ten subsystems: masses, a chain, two busy masses, a source, a gain without a state, a lag, two rotors with a
/// gear and a pendulum, joined within and between the groups by laws with and without rates, and by signals.
inline std::string mixed(int groups, int work, const std::string& time = "{end: 0.3 s, step: 1 ms}") {
    std::string subsystems, connections, signals;
    for (int g = 0; g < groups; ++g) {
        subsystems += fmt::format(R"(
  m{0}: {{model: mass-spring-damper, set: {{mass: 2 kg, stiffness: 800 N/m, damping: 4 N.s/m, excitation: harmonic, amplitude: 10 N, frequency: 3 Hz, x0: {1} mm}}, solver: rk4}}
  k{0}: {{model: chain, set: {{n: 5, stiffness: 2 kN/m, damping: 1 N.s/m, cubic-stiffness: 1e5 N/m3, x-amplitude: 10 mm, seed: {2}}}, solver: {{name: rk4, step: 500 us}}}}
  b{0}: {{model: busy, set: {{work: {3}, v0: 0.1 m/s}}, solver: rk4}}
  c{0}: {{model: busy, set: {{work: {3}}}, solver: rk4}}
  s{0}: {{model: source, set: {{kind: sine, frequency: {4} Hz, amplitude: 3}}, solver: rk4}}
  g{0}: {{ode: {{inputs: {{u: 0}}, outputs: {{y: 1.5*u}}}}, solver: rk4}}
  l{0}: {{model: lag-1, set: {{time-constant: 20 ms}}, solver: rk4}}
  i{0}: {{model: inertia, set: {{inertia: 0.02 kg.m2}}, solver: rk4}}
  j{0}: {{model: inertia, set: {{inertia: 0.5 kg.m2, damping: 0.8 N.m.s/rad}}, solver: trapezoidal}}
  p{0}:
    ode:
      parameters: {{m: 1 kg, L: 1 m, g: 9.81 m/s2}}
      states: {{phi: 60 deg, w: 0 rad/s}}
      inputs: {{T: 0 N.m}}
      equations: {{phi: w, w: -g/L*sin(phi) + T/(m*L^2)}}
      outputs: {{energy: {{value: m*L^2*w^2/2 + m*g*L*(1 - cos(phi)), unit: J}}}}
    ports:
      shaft: {{kind: rotation, angle: phi, torque: T}}
    solver: rk4)",
                                  g, g + 1, g + 1, work, 1 + 0.5 * g);
        connections += fmt::format(R"(
  mk{0}: {{law: cubic-spring-damper, between: [m{0}.mass, k{0}.left], stiffness: 1 kN/m, damping: 2 N.s/m, cubic-stiffness: 1e4 N/m3}}
  kb{0}: {{law: spring, between: [k{0}.right, b{0}.mass], stiffness: 500 N/m, extrapolation: quad-2-4}}
  bc{0}: {{law: spring-damper, between: [b{0}.mass, c{0}.mass], stiffness: 300 N/m, damping: 1 N.s/m}}
  ij{0}: {{law: gear, between: [i{0}.shaft, j{0}.shaft], ratio: 4, stiffness: 200 N.m/rad}}
  jp{0}: {{law: spring, between: [j{0}.end, p{0}.shaft], stiffness: 5 N.m/rad, extrapolation: hermite-2}})",
                                   g);
        if (g > 0)
            connections += fmt::format(
                "\n  cm{0}: {{law: spring, between: [c{1}.mass, m{0}.mass], stiffness: 200 N/m}}", g, g - 1);
        signals += fmt::format("\n  - s{0}.y -> g{0}.u\n  - g{0}.y + 0.25 -> l{0}.u\n  - 2*l{0}.y -> i{0}.torque", g);
    }
    return fmt::format("mdpcosim: 1\ntime: {}\nsubsystems:{}\nconnections:{}\nsignals:{}\n", time, subsystems,
                       connections, signals);
}

/// Method multirate with steps that never meet and one that an integrator chooses, parts that are not coupled, laws, signals, feed-through, a
/// sampled controller and a delay.
inline std::string multirate(const std::string& scheme) {
    return fmt::format(R"(mdpcosim: 1
time: {{end: 0.2 s, step: 10 ms}}
method: {{name: multirate, scheme: {}, slow-order: 2, fast-order: 3}}
subsystems:
  m: {{model: mass-spring-damper, set: {{mass: 2 kg, stiffness: 800 N/m, damping: 4 N.s/m, x0: 10 mm}}, solver: rk4, step: 0.7 ms}}
  k: {{model: chain, set: {{n: 5, stiffness: 2 kN/m, damping: 1 N.s/m, x-amplitude: 10 mm, seed: 3}}, solver: {{name: rk4, step: 500 us}}, step: 3 ms}}
  b: {{model: mass-spring-damper, set: {{mass: 5 kg, stiffness: 50 N/m}}, solver: erk-5, step: solver}}
  s: {{model: source, set: {{kind: sine, frequency: 4 Hz, amplitude: 3}}, solver: rk4, step: 2.3 ms}}
  g: {{ode: {{inputs: {{u: 0}}, outputs: {{y: 1.5*u}}}}, solver: rk4, step: 1 ms}}
  l: {{model: lag-1, set: {{time-constant: 20 ms}}, solver: rk4, step: 1 ms}}
  c: {{model: pid-sampled, set: {{kp: 0.4, ki: 8}}, sample: {{time: 10 ms}}, step: 5 ms}}
  i: {{model: inertia, set: {{inertia: 0.02 kg.m2}}, solver: rk4, step: 1.9 ms}}
  j: {{model: inertia, set: {{inertia: 0.5 kg.m2, damping: 0.8 N.m.s/rad}}, solver: trapezoidal, step: 4.3 ms}}
connections:
  mk: {{law: spring-damper, between: [m.mass, k.left], stiffness: 1 kN/m, damping: 2 N.s/m}}
  kb: {{law: spring, between: [k.right, b.mass], stiffness: 500 N/m}}
  ij: {{law: gear, between: [i.shaft, j.shaft], ratio: 4, stiffness: 20 N.m/rad}}
signals:
  - s.y -> g.u
  - g.y -> c.setpoint
  - c.y -> l.u
  - {{connect: l.y -> c.measurement, delay: 2 ms}}
  - 2*m.mass.position -> i.torque
)",
                       scheme);
}

}  // namespace mdpcosim::test
