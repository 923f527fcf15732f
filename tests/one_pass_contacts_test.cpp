// Contacts under method one-pass, against the coupled system as one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "api/mdpcosim.hpp"
#include "simulation/simulation.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using test::temporary_folder;

/// Largest error of all positions over their range, against the system as one.
double error_of(const std::string& text) {
    const temporary_folder folder;
    const scenario s = read_scenario_text(text, "s.yaml");
    try {
        run(s, {.out = folder / "run", .workers = 1});
    } catch (const run_error&) {
        return 1e9;
    }
    run(s, {.out = folder / "reference", .workers = 1, .monolithic = true});
    double largest = 0;
    for (const auto& e : compare_results(folder / "run", folder / "reference").errors)
        if (e.name.ends_with("position") || e.name == "ball.x") largest = std::max(largest, e.relative);
    return largest;
}

/// A connection `k` that never pulls; `second` says the sign of the forces on its second port.
struct contact_case {
    std::string name, subsystems, connections;
    double second;  ///< 1: never negative, -1: never positive, 0: both flanks
};

std::string body(const std::string& set) {
    return "{model: mass-spring-damper, solver: {name: erk-5, rtol: 1e-9, atol: 1e-12}, set: {" + set + "}}";
}

const std::vector<contact_case> contacts{
    {"gap",
     "  a: " + body("mass: 1, stiffness: 100, x0: 0.015, v0: 1") + "\n  b: " + body("mass: 3, stiffness: 300") + "\n",
     "  k: {law: stop, between: [a.mass, b.mass], stiffness: 1e6, upper: 0.02}\n", 1},
    {"between two damped stops",
     "  a: " + body("mass: 1, stiffness: 100, x0: 0.015, v0: 1") +
         "\n  b: " + body("mass: 3, stiffness: 300, damping: 0.1") + "\n",
     "  k: {law: stop, between: [a.mass, b.mass], stiffness: 1e5, damping: 300, lower: -0.03, upper: 0.02}\n", 0},
    {"a ball on something heavy",
     "  ball: {ode: {states: {x: 1 m, v: 0 m/s}, inputs: {F: 0 N}, equations: {x: v, v: F/0.5 - 9.81}}, ports: {p: "
     "{kind: "
     "translation, position: x, velocity: v, force: F}}}\n  b: " +
         body("mass: 1e4, stiffness: 1e8, damping: 1e5") + "\n",
     "  k: {law: stop, between: [ball.p, b.mass], stiffness: 1e6, damping: 200, lower: 0}\n", -1},
    {"a ball on the ground",
     "  ball: {ode: {states: {x: 1 m, v: 0 m/s}, inputs: {F: 0 N}, equations: {x: v, v: F/0.5 - 9.81}}, ports: {p: "
     "{kind: "
     "translation, position: x, velocity: v, force: F}}}\n"
     "  b: {ode: {inputs: {F: 0 N}, outputs: {x: {value: 0*t, unit: m}}}, ports: {mass: {kind: translation, position: "
     "x, force: F}}}\n",
     "  k: {law: stop, between: [ball.p, b.mass], stiffness: 1e6, damping: 200, lower: 0}\n", -1},
    {"pressed together",
     "  a: " +
         body("mass: 1, stiffness: 100, damping: 0.5, x0: 0.05, excitation: step, amplitude: 30, step-time: 0.3") +
         "\n  b: " + body("mass: 2, stiffness: 1e3, damping: 5") + "\n",
     "  k: {law: stop, between: [a.mass, b.mass], stiffness: 1e5, damping: 30, upper: 0.02}\n", 1},
    {"beside a stiff spring",
     "  a: " + body("mass: 1, stiffness: 100, x0: 0.05") + "\n  b: " + body("mass: 2, stiffness: 1e3, damping: 5") +
         "\n  c: " + body("mass: 0.5, stiffness: 500, damping: 1") + "\n",
     "  k: {law: stop, between: [a.mass, b.mass], stiffness: 2e5, damping: 50, upper: 0.02}\n"
     "  s: {law: spring, between: [b.mass, c.mass], stiffness: 1e6}\n",
     1},
    {"flanks of a gear",
     "  a: " + body("mass: 1, stiffness: 500, damping: 1, excitation: harmonic, amplitude: 50 N, frequency: 3 Hz") +
         "\n  b: " + body("mass: 2, stiffness: 300, damping: 10") + "\n",
     "  k: {law: gear, between: [a.mass, b.mass], ratio: 1.5, backlash: 5 mm, stiffness: 1e5, damping: 20}\n", 0},
};

std::string scenario_of(const contact_case& c, double step, const std::string& method) {
    return fmt::format(
        "time: {{end: 1 s, step: {} s}}\nrecord: {{every: 2 ms}}\nmethod: {}\nsubsystems:\n{}connections:\n{}", step,
        method, c.subsystems, c.connections);
}

/// The most that the forces on subsystem `b`, all over every step, and the recorded u pull.
class pull final : public observer {
   public:
    explicit pull(double second) : second_(second) {}
    bool wants_inputs() const override { return true; }
    void committed(const simulation& of, const macro_step&) override {
        const input_journal& inputs = of.inputs();
        const subsystem_index b(1);
        for (std::size_t k = 0; k < inputs.steps(b); ++k) {
            const auto [step, polynomials] = inputs.at(b, k);
            for (const double part : {0.0, 0.25, 0.5, 0.75, 1.0})
                add(polynomials.front()(part * (step.end - step.begin)));
        }
        add(of.value("k.u"));
    }
    double most = 0;

   private:
    void add(double force) { most = std::max(most, -second_ * force); }
    double second_;
};

TEST(one_pass_contacts, never_pull) {
    for (const contact_case& c : contacts) {
        if (c.second == 0 || c.name == "beside a stiff spring") continue;  // other forces on the same input
        for (const double step : {4e-3, 2e-3, 1e-3, 5e-4, 1e-4}) {
            simulation of(read_scenario_text(scenario_of(c, step, "one-pass"), "s.yaml"), {.workers = 1});
            pull seen(c.second);
            of.add(seen);
            of.initialise();
            while (!of.done()) of.step();
            EXPECT_EQ(seen.most, 0) << c.name << ' ' << step;
        }
    }
}

/// Before, contacts that the step does not resolve were solved for as springs that stay: off by up to ten times as much as explicit is.
TEST(one_pass_contacts, are_no_worse_than_explicit_at_the_same_step) {
    for (const contact_case& c : contacts)
        for (const double step : {2e-3, 5e-4}) {
            const double here = error_of(scenario_of(c, step, "one-pass"));
            const double there = error_of(scenario_of(c, step, "explicit"));
            fmt::print("{} | {} ms | explicit {:.2g} | one-pass {:.2g}\n", c.name, step * 1e3, there, here);
            EXPECT_LT(here, 1.5 * there) << c.name << ' ' << step;
            EXPECT_LT(here, 0.5) << c.name << ' ' << step;
        }
}

/// The steps cross corners anywhere: an error that falls with the square of the step, over impacts, is all that constant forces allow.
TEST(one_pass_contacts, converge_with_the_square_of_the_step) {
    for (const std::size_t k : {0, 1, 2}) {
        const double coarse = error_of(scenario_of(contacts[k], 4e-4, "one-pass"));
        const double fine = error_of(scenario_of(contacts[k], 5e-5, "one-pass"));
        EXPECT_NEAR(std::log2(coarse / fine) / 3, 2, 0.35) << contacts[k].name << ' ' << coarse << ' ' << fine;
    }
}

/// However stiff: the energy of an elastic impact comes back, which takes far less than a step.
TEST(one_pass_contacts, keep_the_energy_of_elastic_impacts) {
    for (const double stiffness : {1e5, 1e7, 1e9, 1e11}) {
        const contact_case c{
            "", "  a: " + body("mass: 0.5, x0: 0.3, v0: -1") + "\n  b: " + body("mass: 2, x0: 0, v0: 0") + "\n",
            fmt::format("  k: {{law: stop, between: [a.mass, b.mass], stiffness: {}, lower: 0}}\n", stiffness), -1};
        simulation of(read_scenario_text(scenario_of(c, 1e-3, "one-pass"), "s.yaml"), {.workers = 1});
        of.initialise();
        while (!of.done()) of.step();
        const double va = of.value("a.mass.velocity"), vb = of.value("b.mass.velocity");
        EXPECT_NEAR(va, 0.6, 1e-6) << stiffness;
        EXPECT_NEAR(vb, -0.4, 1e-6) << stiffness;
    }
}

}  // namespace
}  // namespace mdpcosim
