// The library's core in a program of its own: a scenario in SI units, stepped, written to, saved and loaded, with no signal handler touched.
#include <csignal>
#include <cstdio>
#include <sstream>

#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

int main() {
    using namespace mdpcosim;
    const scenario s = read_scenario_text(R"(time: {end: 1, step: 0.01}
subsystems:
  wheel: {model: mass-spring-damper, set: {mass: 40, stiffness: 2e5}}
  body: {model: mass-spring-damper, set: {mass: 400 kg, x0: 0.02 m}}
  lag: {ode: {parameters: {T: 0.1 s, k: 1 m/rad}, states: {y: 0 N.m/rad}, inputs: {u: 0 N}, equations: {y: (k*u - y)/T}}}
connections:
  strut: {law: spring-damper, between: [wheel.mass, body.mass], stiffness: 20000, damping: 1500 N.s/m}
)",
                                          "core");
    simulation one(s), other(s);
    one.initialise();
    one.advance_to(0.5);
    one.set("lag.u", 2);
    std::stringstream file;
    one.save(file);
    other.load(file);
    one.advance_to(1);
    other.advance_to(1);
    for (const int number : {SIGSEGV, SIGINT, SIGTERM, SIGPIPE, SIGFPE, SIGCHLD}) {
        struct sigaction now {};
        sigaction(number, nullptr, &now);
        if (now.sa_handler != SIG_DFL) return std::printf("a handler of signal %d\n", number), 1;
    }
    const double a = one.value("body.mass.position"), b = other.value("body.mass.position");
    std::printf("%.17g %.17g\n", a, b);
    return a == b && one.done() && other.done() ? 0 : 1;
}
