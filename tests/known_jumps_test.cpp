// Extrapolations do not run across jumps that somebody knows of: samples, rows of a file, events.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "api/mdpcosim.hpp"
#include "simulation/simulation.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using test::temporary_folder;

constexpr const char* exact = "solver: {name: erk-8, rtol: 1e-12, atol: 1e-14}";

/// What jumps acts on a mass through a subsystem without states, together with the motion of the mass.
std::string through_algebra(const std::string& source, const std::string& signals, const std::string& rule,
                            double step) {
    return fmt::format(
        "time: {{end: 1 s, step: {} s}}\nrecord: {{every: 50 ms}}\nsubsystems:\n"
        "  plant: {{model: mass-spring-damper, {}, set: {{mass: 1, stiffness: 40, damping: 0.5, x0: 0.2}}}}\n"
        "  mix: {{ode: {{inputs: {{c: 0, x: 0 m, v: 0 m/s}}, outputs: {{F: {{value: c*(1 + x^2) - 3*v, unit: "
        "N}}}}}}}}\n{}"
        "signals:\n{}  - plant.mass.position -> mix.x\n  - plant.mass.velocity -> mix.v\n"
        "  - {{name: force, connect: mix.F -> plant.mass.force, extrapolation: {}}}\n",
        step, exact, source, signals, rule);
}

std::string controlled(const std::string& rule, double step) {
    return through_algebra("  controller: {model: pid-sampled, set: {kp: 20, ki: 30}, sample: 50 ms}\n",
                           "  - 1 -> controller.setpoint\n  - 1 m-1*plant.mass.position -> controller.measurement\n"
                           "  - controller.y -> mix.c\n",
                           rule, step);
}

double error_of(const std::string& text) {
    const temporary_folder folder;
    const scenario s = read_scenario_text(text, "s.yaml");
    run(s, {.out = folder / "run", .workers = 1});
    run(s, {.out = folder / "reference", .workers = 1, .monolithic = true});
    for (const auto& e : compare_results(folder / "run", folder / "reference").errors)
        if (e.name == "plant.mass.position") return e.relative;
    return 1e9;
}

/// Before, the order was 1 whatever the rule: every sample was extrapolated across.
TEST(known_jumps, a_sampled_controller_through_algebra_has_the_order_of_the_rule) {
    for (const auto& [rule, order] :
         {std::pair{"poly-2", 2.0}, {"poly-3", 3.0}, {"lin-3-3-b0", 3.0}, {"poly-4", 4.0}}) {
        const double coarse = error_of(controlled(rule, 2e-3)), fine = error_of(controlled(rule, 1e-3));
        EXPECT_NEAR(std::log2(coarse / fine), order, 0.2) << rule << ' ' << coarse << ' ' << fine;
    }
    EXPECT_LT(error_of(controlled("poly-2", 2e-3)), 1e-4);
}

TEST(known_jumps, rows_of_a_file_through_algebra_leave_the_order_of_the_rule) {
    const temporary_folder folder;
    test::write_file(folder / "a.csv", "time,a\n0,0\n0.2,1\n0.2,3\n0.5,2\n0.7,-1\n0.7,0.5\n1,0.5\n");
    const auto recorded = [&](const std::string& rule, double step) {
        return through_algebra(fmt::format("  f: {{file: {}}}\n", (folder / "a.csv").string()), "  - f.a -> mix.c\n",
                               rule, step);
    };
    for (const auto& [rule, order] : {std::pair{"poly-2", 2.0}, {"poly-3", 3.0}, {"poly-4", 4.0}}) {
        const double coarse = error_of(recorded(rule, 2e-3)), fine = error_of(recorded(rule, 1e-3));
        EXPECT_NEAR(std::log2(coarse / fine), order, 0.2) << rule << ' ' << coarse << ' ' << fine;
    }
}

/// Behind a sample, a row or a time event on a macro point a step's end is known from one side only. Before, the order was 1.
TEST(known_jumps, iterated_steps_keep_their_order) {
    const temporary_folder folder;
    test::write_file(folder / "a.csv", "time,a\n0,0\n0.2,1\n0.2,3\n0.5,2\n0.7,-1\n0.7,0.5\n1,0.5\n");
    const std::string recorded = fmt::format("  f: {{file: {}}}\n", (folder / "a.csv").string());
    const std::string timed = "  f: {ode: {inputs: {u: 0}, outputs: {y: 'if(t >= 0.3, 2 - t, t)'}}}\n";
    struct tried {
        int points;
        double step, order;
    };
    const auto expect = [](const char* what, const auto& text, const tried& t) {
        const auto error = [&](double step) {
            return error_of(
                fmt::format("method: {{name: iterated, points: {}, tolerance: 1e-11}}\n{}", t.points, text(step)));
        };
        const double coarse = error(t.step), fine = error(t.step / 2), order = std::log2(coarse / fine);
        fmt::print("{}, {} points: {:.3g} at {} s, {:.3g} at half of it, order {:.2f}\n", what, t.points, coarse,
                   t.step, fine, order);
        EXPECT_GT(order, t.order - 0.2) << what << ", points " << t.points << ": " << coarse << ' ' << fine;
    };
    for (const tried& t : {tried{1, 5e-3, 2}, {2, 10e-3, 4}, {3, 25e-3, 4}}) {
        expect(
            "samples", [](double step) { return controlled("poly-2", step); }, t);
        expect(
            "rows", [&](double step) { return through_algebra(recorded, "  - f.a -> mix.c\n", "poly-2", step); }, t);
        expect(
            "time events", [&](double step) { return through_algebra(timed, "  - f.y -> mix.c\n", "poly-2", step); },
            t);
    }
}

/// Within a step nobody sees it before its end: what is left is the rest of that step, and nothing overshoots behind it.
TEST(known_jumps, events_within_a_step_are_left_behind) {
    const std::string source = fmt::format(
        "  f: {{ode: {{states: {{z: 0, w: 3}}, equations: {{z: w, w: -4*z}}, events: [{{when: z - 0.7371, set: {{w: "
        "-0.8*w, z: "
        "0.5*z}}}}], outputs: {{y: z + w}}}}, {}}}\n",
        exact);
    for (const char* rule : {"poly-2", "poly-3", "poly-4"})
        EXPECT_LT(error_of(through_algebra(source, "  - f.y -> mix.c\n", rule, 1e-3)), 3e-4) << rule;
}

/// Time events of models lie on macro points here.
TEST(known_jumps, time_events_of_a_model) {
    const std::string source = "  f: {ode: {inputs: {u: 0}, outputs: {y: 'if(t >= 0.3, 2 - t, t)'}}}\n";
    for (const auto& [rule, order] : {std::pair{"poly-2", 2.0}, {"poly-3", 3.0}}) {
        const auto text = [&, name = rule](double step) {
            return through_algebra(source, "  - f.y -> mix.c\n", name, step);
        };
        EXPECT_NEAR(std::log2(error_of(text(2e-3)) / error_of(text(1e-3))), order, 0.25) << rule;
    }
}

/// The same bits from a state that was saved in the middle, at a sample and beside it, and in other processes.
TEST(known_jumps, saved_and_elsewhere_the_same_bits) {
    const scenario s = read_scenario_text(controlled("poly-4", 2e-3), "s.yaml");
    simulation one(s, {.workers = 1});
    one.initialise();
    std::vector<double> first;
    std::vector<std::string> states;
    while (!one.done()) {
        if (one.steps() % 25 < 3) {
            std::ostringstream to;
            one.save(to);
            states.push_back(to.str());
        }
        one.step();
        first.push_back(one.value("plant.mass.position"));
    }
    for (std::size_t k = 0; k < states.size(); k += 5) {
        simulation other(s, {.workers = 1});
        std::istringstream from(states[k]);
        other.initialise();
        other.load(from);
        while (!other.done()) other.step();
        EXPECT_EQ(other.value("plant.mass.position"), first.back()) << k;
    }
    simulation elsewhere(s, {.workers = 2, .transport = transport_kind::processes});
    elsewhere.initialise();
    while (!elsewhere.done()) elsewhere.step();
    EXPECT_EQ(elsewhere.value("plant.mass.position"), first.back());
}

}  // namespace
}  // namespace mdpcosim
