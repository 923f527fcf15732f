// One scenario, one result: results.csv is the same to the last bit for any number of workers, in repeated runs, and from
// the resolved scenario that a run leaves behind.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "scenario/read.hpp"
#include "scenarios.hpp"
#include "simulation/check.hpp"
#include "simulation/run.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using test::content;
using test::temporary_folder;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
const std::string span = "{end: 0.05 s, step: 1 ms}";
const std::vector<int> group_counts{1};
#else
const std::string span = "{end: 0.3 s, step: 1 ms}";
const std::vector<int> group_counts{1, 4};
#endif

struct outcome {
    std::string csv;
    run_summary summary;
};

outcome run_in(const std::filesystem::path& out, const scenario& s, int workers,
               const std::string& transport = "threads") {
    const run_summary summary = run(s, {.out = out, .workers = workers, .transport = transport});
    EXPECT_EQ(summary.status, "done") << summary.message;
    return {content(out / "results.csv"), summary};
}

/// `parallel`: the work is enough for parallel steps whenever there is more than one worker.
void expect_equal_for_all_workers(const std::string& text, std::size_t subsystems, bool parallel) {
    const temporary_folder folder;
    const scenario s = read_scenario_text(text, "test.yaml");
    ASSERT_EQ(s.subsystems.size(), subsystems);
    const outcome serial = run_in(folder / "1", s, 1);
    EXPECT_EQ(serial.summary.parallel_steps, 0);
    EXPECT_GT(serial.csv.size(), 1000u);
    for (const int workers : {1, 2, 3, 4, 7}) {
        const outcome again = run_in(folder / "again", s, workers);
        // No comparison by EXPECT_EQ: nobody wants to read two such texts.
        EXPECT_TRUE(again.csv == serial.csv) << workers << " workers";
        EXPECT_EQ(again.summary.workers, std::min(workers, static_cast<int>(subsystems)));
        if (parallel) {
            EXPECT_EQ(again.summary.parallel_steps > 0, workers > 1) << workers << " workers";
        }
    }
}

TEST(workers, two_light_subsystems) { expect_equal_for_all_workers(test::two_subsystems(1), 2, false); }
TEST(workers, two_heavy_subsystems) { expect_equal_for_all_workers(test::two_subsystems(5000), 2, true); }
TEST(workers, ten_light_subsystems) { expect_equal_for_all_workers(test::mixed(1, 1, span), 10, false); }
TEST(workers, ten_heavy_subsystems) { expect_equal_for_all_workers(test::mixed(1, 5000, span), 10, true); }
TEST(workers, a_hundred_light_subsystems) { expect_equal_for_all_workers(test::mixed(10, 1, span), 100, false); }
TEST(workers, a_hundred_heavy_subsystems) { expect_equal_for_all_workers(test::mixed(10, 1000, span), 100, true); }

class other_processes : public testing::TestWithParam<std::string> {};

TEST_P(other_processes, give_the_same_bits) {
    const temporary_folder folder;
    for (const int groups : group_counts) {
        const scenario s = read_scenario_text(test::mixed(groups, 1, span), "test.yaml");
        const outcome threads = run_in(folder / "threads", s, 1);
        for (const int workers : {0, 1, 2, 3}) {
            const outcome again = run_in(folder / "processes", s, workers, GetParam());
            EXPECT_TRUE(again.csv == threads.csv) << workers << " processes";
            EXPECT_EQ(again.summary.transport, GetParam());
            EXPECT_EQ(again.summary.workers, workers == 0 ? 10 * groups : workers);
            EXPECT_EQ(again.summary.subsystems[1].evaluations, threads.summary.subsystems[1].evaluations);
        }
    }
}

TEST_P(other_processes, give_the_same_bits_with_the_method_one_pass) {
    const temporary_folder folder;
    const scenario s = read_scenario_text("method: one-pass\n" + test::mixed(2, 1, span), "test.yaml", {},
                                          {{"ij0.stiffness", "1e6", ""}, {"bc1.stiffness", "1e7", ""}});
    const outcome threads = run_in(folder / "threads", s, 1);
    EXPECT_TRUE(run_in(folder / "threads", s, 3).csv == threads.csv);
    EXPECT_TRUE(run_in(folder / "processes", s, 3, GetParam()).csv == threads.csv);
}

/// Signals lead through subsystems whose outputs follow at once, within a process and between them; in some networks around a loop, in others
/// with steps of their own.
std::string network_by_chance(unsigned seed) {
    std::mt19937 chance(seed);
    const auto below = [&](unsigned n) { return static_cast<unsigned>(chance() % n); };
    const auto weight = [&] { return fmt::format("{:.3f}", -1 + 0.002 * below(1000)); };
    const unsigned count = 4 + below(9);
    const bool loop = below(5) < 2, own_steps = !loop && below(3) == 0;
    std::string text = "time: {end: 0.02 s, step: 1 ms}\n";
    if (loop) text += "iteration: {tolerance: 1e-10}\n";
    if (own_steps) text += "method: multirate\n";
    text += "subsystems:\n";
    enum kind : unsigned { follows, follows_too, delays, both };
    std::vector<unsigned> kinds;
    for (unsigned i = 0; i < count; ++i) {
        kinds.push_back(below(4));
        const std::string step = own_steps && kinds[i] > follows_too ? ", step: 2 ms" : "";
        const char* solver = std::array{"erk-5", "rk4", "erk-8", "dirk-4"}[below(4)];
        text += fmt::format("  m{}: {{ode: {{inputs: {{u: 0, v: 0}}, ", i);
        if (kinds[i] <= follows_too)
            text += fmt::format("outputs: {{y: {}*u + sin(u*v) + {}, z: 0.3*u}}}}}}\n", weight(), weight());
        else if (kinds[i] == delays)
            text += fmt::format(
                "states: {{x: {}}}, equations: {{x: u - 3*x*v}}, outputs: {{y: x, z: x^2}}}}, "
                "solver: {}{}}}\n",
                weight(), solver, step);
        else
            text += fmt::format(
                "states: {{x: {}}}, equations: {{x: u - x}}, outputs: {{y: x + 0.4*tanh(v), z: x}}}}, "
                "solver: {}{}}}\n",
                weight(), solver, step);
    }
    text += "signals:\n  - m0.y -> m1.u\n";
    for (unsigned to = 1; to < count; ++to)
        for (const char input : {'u', 'v'}) {
            if (below(4) == 0 || (to == 1 && input == 'u')) continue;
            unsigned from = below(to);  // back only what is delayed, or around a loop
            if (const unsigned later = below(count); later != to && (kinds[later] == delays || (loop && below(6) == 0)))
                from = later;
            text += fmt::format("  - 0.5*m{}.{} -> m{}.{}\n", from, below(2) == 0 ? 'y' : 'z', to, input);
        }
    return text;
}

TEST_P(other_processes, give_the_same_bits_of_networks_by_chance) {
    const temporary_folder folder;
    for (unsigned seed = 1; seed <= 12; ++seed) {
        const std::string text = network_by_chance(seed);
        const scenario s = read_scenario_text(text, "test.yaml");
        const outcome threads = run_in(folder / "threads", s, 1);
        EXPECT_GT(threads.csv.size(), 200u);
        EXPECT_TRUE(run_in(folder / "threads", s, 2).csv == threads.csv) << text;
        EXPECT_TRUE(run_in(folder / "processes", s, 2, GetParam()).csv == threads.csv) << text;
    }
}

INSTANTIATE_TEST_SUITE_P(all, other_processes, testing::Values("processes", "tcp"),
                         [](const auto& kind) { return kind.param; });

/// Methods that repeat steps, and steps that follow the error, with everything that trial steps can meet: feed-through, laws without
/// rates, hermite extrapolations.
void expect_equal_everywhere(const std::string& further, const std::string& first = test::mixed(2, 1, span)) {
    const temporary_folder folder;
    const std::string text = first + further;
    const scenario s = read_scenario_text(text, "test.yaml");
    const outcome serial = run_in(folder / "1", s, 1);
    EXPECT_GT(serial.summary.integrations, serial.summary.steps);
    for (const auto& [transport, workers] : {std::pair{"threads", 3}, {"processes", 2}, {"tcp", 2}}) {
        const outcome again = run_in(folder / "again", s, workers, transport);
        EXPECT_TRUE(again.csv == serial.csv) << transport;
        EXPECT_EQ(again.summary.integrations, serial.summary.integrations);
    }
    const outcome replicas = run_in(folder / "replicas", read_scenario_text(text + "replicas: 2\n", "test.yaml"), 2);
    EXPECT_TRUE(replicas.csv == serial.csv) << "with replicas";
}

TEST(methods, semi_implicit_gives_the_same_bits_everywhere) { expect_equal_everywhere("method: semi-implicit\n"); }
TEST(methods, iterated_gives_the_same_bits_everywhere) {
    expect_equal_everywhere("method: {name: iterated, points: 3}\n");
}
TEST(methods, algebraic_loops_give_the_same_bits_everywhere) {
    const std::string loop =
        "  - 0.5*g0.y + 3*g1.y -> p0.T\n  - h.y -> k.u\n  - -4*k.y + 0.1*s0.y -> h.u\niteration: {solver: "
        "iqn-ils}\nmethod: "
        "{name: iterated, points: 2}\n";
    const std::string more =
        "  h: {ode: {states: {x: 0}, inputs: {u: 0}, equations: {x: u - x}, outputs: {y: u + x}}}\n"
        "  k: {ode: {inputs: {u: 0}, outputs: {y: u + 0.1*u^3}}}\n";
    std::string text = test::mixed(2, 1, span);
    text.insert(text.find("connections:"), more);
    expect_equal_everywhere(loop, text);
}
TEST(methods, controlled_explicit_steps_give_the_same_bits_everywhere) {
    expect_equal_everywhere("step-control: {rtol: 1e-3, atol: 1e-5}\n");
}
TEST(methods, controlled_one_pass_steps_give_the_same_bits_everywhere) {
    expect_equal_everywhere("method: one-pass\nstep-control: {rtol: 1e-3, atol: 1e-5}\n");
}
TEST(methods, controlled_semi_implicit_steps_give_the_same_bits_everywhere) {
    expect_equal_everywhere("method: semi-implicit\nstep-control: {rtol: 1e-3, atol: 1e-5}\n");
}

/// A ball that bounces and rests, tied to a block that slides under another one.
const std::string contacts = R"(mdpcosim: 1
time: {end: 0.2 s, step: 1 ms}
subsystems:
  ball:
    ode:
      states: {h: 1 cm, v: 0 m/s}
      inputs: {F: 0 N}
      equations: {h: v, v: F/2 - 9.81}
      contacts: {floor: {gap: h, impulse: {v: 1/2}, restitution: 0.3, rest-speed: 1e-3}}
    ports: {top: {kind: translation, position: h, velocity: v, force: F}}
  blocks:
    model: contact-bodies
    parts:
      lower: {kind: body, mass: 2 kg, vx: 0.1 m/s}
      upper: {kind: body, mass: 1 kg, y: 12 cm}
      ground: {kind: contact, of: lower, friction: 0.05}
      joint: {kind: contact, of: upper, on: lower, distance: 0.1 m, restitution: 0.4, friction: 0.1}
connections:
  tie: {law: spring, between: [ball.top, blocks.lower.x], stiffness: 200 N/m}
)";
TEST(methods, contacts_give_the_same_bits_everywhere) { expect_equal_everywhere("method: semi-implicit\n", contacts); }

// Two drives, one with springs as contacts and one with rigid ones, joined by a shaft.
const std::string chains = R"(mdpcosim: 1
time: {end: 0.4 ms, step: 20 us}
subsystems:
  a:
    model: chain-drive
    parts:
      chain: {kind: chain, links: 40}
      crank: {kind: sprocket, teeth: 20, drive: prescribed, speed: 200}
      wheel: {kind: sprocket, teeth: 20, y: 80.1 mm, inertia: 1e-4, mass: 0.5, bearing-stiffness: 2e8}
    solver: {name: erk-3, rtol: 1e-5, atol: 1e-6}
  b:
    model: chain-drive
    set: {contacts: rigid}
    parts:
      chain: {kind: chain, links: 40}
      wheel: {kind: sprocket, teeth: 20, speed: 200, inertia: 1e-4, friction: 0.08}
      cam: {kind: sprocket, teeth: 20, y: 80.1 mm, inertia: 5e-4, load: 2, friction: 0.08}
connections:
  shaft: {law: spring, between: [a.wheel.shaft, b.wheel.shaft], stiffness: 2e4}
)";
TEST(methods, chain_drives_give_the_same_bits_everywhere) {
    expect_equal_everywhere("method: semi-implicit\n", chains);
}

/// A network that is cut at a node, and a mass on its piston.
const std::string oil = R"(mdpcosim: 1
time: {end: 1 ms, step: 20 us}
subsystems:
  pump:
    model: hydraulics
    parts:
      supply: {kind: source, pressure: 20 bar, ripple: 2 bar, frequency: 500 Hz}
      feed: {kind: line, from: supply, to: end, length: 0.5 m}
      end: {kind: port}
  ram:
    model: hydraulics
    set: {fluid: pressure-dependent, air: 0.01}
    parts:
      end: {kind: port}
      hose: {kind: line, from: end, to: room, length: 0.2 m}
      room: {kind: node, volume: 30 cm3, pressure: 10 bar}
      ball: {kind: check-valve, from: room, to: tank, diameter: 6 mm, stroke: 0.5 mm, mass: 0.5 g, preload: 25 N}
      tank: {kind: tank}
      piston: {kind: piston, head: room, mass: 0.2 kg, head-area: 2 cm2}
  load: {model: mass-spring-damper, set: {mass: 1 kg, stiffness: 1e4, damping: 50}}
connections:
  node: {law: node, between: [pump.end, ram.end], volume: 50 cm3, modulus: 1.4 GPa, pressure: 10 bar}
  rod: {law: spring, between: [ram.piston, load.mass], stiffness: 1e6}
)";
TEST(methods, hydraulics_give_the_same_bits_everywhere) { expect_equal_everywhere("method: semi-implicit\n", oil); }

/// A controller with samples, a delay and rules, and what it drives.
const std::string diagram = R"y(mdpcosim: 1
time: {end: 0.5 s, step: 5 ms}
subsystems:
  engine:
    model: blocks
    solver: {name: rk4, step: 0.5 ms}
    parts:
      shaft: {kind: rotation, angle: angle, speed: speed}
      demand: {kind: input}
      speed: {kind: integrator, of: 4*torque + shaft, start: 5}
      angle: {kind: integrator, of: speed}
      torque: {kind: map, of: speed, by: demand, x: [0, 10, 20], y: [-5, 5], values: [-2, 8, -3, 9, -4, 6]}
  control:
    model: blocks
    solver: {name: erk-5, max-step: 1 ms}
    parts:
      speed: {kind: input}
      gear: {kind: memory, start: 1, parts: {up: {kind: rule, when: "if(gear < 3, speed - 6*gear, -1)", to: gear + 1}}}
      late: {kind: delay, of: speed, time: 20 ms}
      demand: {kind: pid, of: 4 + 4*gear - late, kp: 1, ki: 4, lower: -4, upper: 4}
      set: {kind: sample, of: demand, time: 10 ms}
  load: {model: inertia, set: {inertia: 0.3}}
connections:
  shaft: {law: spring, between: [engine.shaft, load.shaft], stiffness: 200}
signals:
  - engine.speed -> control.speed
  - control.set -> engine.demand
)y";
TEST(methods, block_diagrams_give_the_same_bits_everywhere) {
    expect_equal_everywhere("method: semi-implicit\n", diagram);
}

/// Two links of a pendulum in space, one with a loop, and a shaft on it.
const std::string mechanism = R"y(mdpcosim: 1
time: {end: 20 ms, step: 1 ms}
subsystems:
  a:
    model: multibody
    parts:
      link: {kind: body, mass: 2, inertia: [0.01, 0.1, 0.1], centre: [0.2, 0, 0]}
      stay: {kind: body, mass: 1, inertia: 0.02, centre: [0.1, 0, 0]}
      top: {kind: pin, child: link, axis: [0, 1, 0], start: 0.3, speed: 1}
      foot: {kind: ball, child: stay, at: [0.3, 0, 0.2]}
      loop: {kind: rod-closure, first: link, first-at: [0.3, 0, 0], second: stay, second-at: [0.2, 0, 0], length: 0.1}
      end: {kind: frame, body: link, at: [0.4, 0, 0]}
  b:
    model: multibody
    parts:
      link: {kind: body, mass: 1, inertia: 0.02, centre: [0.15, 0, 0]}
      all: {kind: free, child: link, start: [0, 0.3, 0, 0.38213459564, 0, -0.11820808266], speed: [0, 0, 0, -0.11820808266, 0, -0.38213459564]}
      end: {kind: frame, body: link}
connections:
  ball: {joint: spherical, between: [a.end, b.end]}
)y";
TEST(methods, multibody_systems_give_the_same_bits_everywhere) {
    if (!std::filesystem::exists(std::filesystem::path(MDPCOSIM_BINARY_DIR) / "mdpcosim-multibody.so"))
        GTEST_SKIP() << "this build has no module for multibody systems";
    expect_equal_everywhere("method: index-1\n", mechanism);
}

TEST(processes, a_transport_that_does_not_exist_is_told) {
    const scenario s = read_scenario_text(test::two_subsystems(1), "test.yaml");
    EXPECT_THROW(run(s, {.out = "never", .transport = "pigeons"}), user_error);
}

TEST(workers, repeated_runs_are_equal) {
    const temporary_folder folder;
    const scenario s = read_scenario_text(test::mixed(2, 2000, span), "test.yaml");
    const outcome first = run_in(folder / "a", s, 2);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(run_in(folder / "a", s, 2).csv == first.csv) << "run " << i;
}

// ---- the resolved scenario ------------------------------------------------------------------------------------------

void expect_equal_from_resolved(const scenario& s) {
    const temporary_folder folder;
    const outcome first = run_in(folder / "first", s, 1);
    const scenario full = read_scenario(folder / "first/scenario.yaml");
    const outcome second = run_in(folder / "second", full, 2);
    EXPECT_TRUE(second.csv == first.csv);
    // Resolving what is resolved changes nothing.
    EXPECT_EQ(content(folder / "second/scenario.yaml"), content(folder / "first/scenario.yaml"));
}

TEST(resolved_scenario, of_the_mixed_system) {
    expect_equal_from_resolved(read_scenario_text(test::mixed(2, 1, span), "test.yaml"));
}

TEST(resolved_scenario, with_overrides) {
    expect_equal_from_resolved(read_scenario_text(test::two_subsystems(1), "test.yaml", {},
                                                  {{"time.step", "0.7 ms", "--step 0.7 ms"},
                                                   {"rod.stiffness", "0.3 kN/m", "--set rod.stiffness=0.3 kN/m"},
                                                   {"a.x0", "3 mm", "--set a.x0=3 mm"}}));
}

TEST(resolved_scenario, with_controlled_steps) {
    expect_equal_from_resolved(read_scenario_text(
        test::two_subsystems(1) + "step-control: {rtol: 1e-3, atol: 1e-6, largest: 5 ms, estimate: jump}\n",
        "test.yaml"));
}

TEST(resolved_scenario, with_chains) { expect_equal_from_resolved(read_scenario_text(chains, "test.yaml")); }
TEST(resolved_scenario, with_contacts) { expect_equal_from_resolved(read_scenario_text(contacts, "test.yaml")); }

/// Units, `let`, own coefficients, recorded data, limited inputs, a record grid.
TEST(resolved_scenario, with_everything_else) {
    const temporary_folder folder;
    test::write_file(folder / "load.csv", "time,torque\n0,0\n0.1,3\n0.25,-1\n1,2\n");
    const std::string text = R"(mdpcosim: 1
let: {c: 6.3 kN.m/rad, H: 250 us}
time: {start: 10 ms, end: 0.21 s, step: $H}
extrapolation: lin-2-4
subsystems:
  load: {file: load.csv, units: {torque: kN.m}, interpolation: cubic}
  motor: {model: inertia, set: {inertia: 120 kg.cm2, w0: 300 rpm}, solver: {name: rk4, step: 100 us}, input-degree: 0, limit: 60 s}
  brake: {model: inertia, set: {inertia: 0.4 kg.m2}, solver: rk4}
connections:
  shaft: {law: spring, between: [motor.end, brake.shaft], stiffness: $c, extrapolation: {degree: 1, a: [1.2, -0.2], b: [0.3, 0]}}
  belt: {law: spring-damper, between: [motor.shaft, brake.end], stiffness: 10 N.m/rad, damping: 0.1 N.m.s/rad}
signals:
  - 1e-3*load.torque + 0.5 N.m -> brake.torque
record: {every: 1 ms, only: [brake.*, motor.end.*, "*.u"]}
)";
    expect_equal_from_resolved(read_scenario_text(text, "test.yaml", folder.path()));
}

}  // namespace
}  // namespace mdpcosim
