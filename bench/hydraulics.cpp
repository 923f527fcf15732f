// What a hydraulic network costs as it grows: lines from node to node, an orifice at every fifth, a check valve and an accumulator at every
// tenth. Processor time per micro step and node, for the sparse and the dense Newton matrix. See models/hydraulics/README.md.
//   bench_hydraulics [ROUNDS]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "scenario/read.hpp"
#include "subsystem/factory.hpp"

namespace {

using namespace mdpcosim;

std::string network_of(int nodes, const std::string& solver) {
    std::string text = "time: {end: 1, step: 0.1}\nsubsystems:\n  a:\n    model: hydraulics\n    solver: " + solver +
                       "\n    parts:\n      n0: {kind: source, pressure: 20 bar, ripple: 5 bar, frequency: 200 Hz}\n   "
                       "   tank: {kind: tank}\n";
    for (int i = 1; i <= nodes; ++i) {
        text += fmt::format(
            "      n{0}: {{kind: node, volume: 20 cm3, pressure: 10 bar}}\n      l{0}: {{kind: line, from: n{1}, to: "
            "n{0}, "
            "length: 0.3 m, linear-loss: 1e9 Pa.s/m3}}\n",
            i, i - 1);
        if (i % 5 == 0) text += fmt::format("      o{0}: {{kind: orifice, from: n{0}, to: tank, area: 0.5 mm2}}\n", i);
        if (i % 10 == 0)
            text += fmt::format(
                "      s{0}: {{kind: accumulator, volume: 20 cm3, charge: 8 bar, pressure: 9 bar}}\n      v{0}: "
                "{{kind: "
                "check-valve, from: n{0}, to: s{0}, diameter: 6 mm, stroke: 0.5 mm, mass: 1 g, stiffness: 500 N/m, "
                "damping: 1 "
                "N.s/m, contact-damping: 10 s/m}}\n",
                i);
    }
    return text;
}

struct costs {
    int states = 0;
    double steps = 0, newton = 0, per_step = 1e9;
};

costs measured(int nodes, const std::string& solver, int rounds) {
    costs found;
    const subsystem_spec spec = read_scenario_text(network_of(nodes, solver), "bench.yaml").subsystems.at(0);
    found.states = make_equations(spec)->state_count();
    for (int round = 0; round < rounds; ++round) {
        const auto s = make_subsystem(spec);
        std::vector<polynomial> inputs(static_cast<std::size_t>(s->describe().input_count()));
        std::vector<double> y(static_cast<std::size_t>(s->describe().output_count()));
        s->initialise(0);
        const std::clock_t begin = std::clock();
        constexpr int macro_steps = 20;
        constexpr double H = 1e-4;
        for (int n = 0; n < macro_steps; ++n) s->advance({n * H, (n + 1) * H, n}, inputs, y);
        const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        const subsystem_statistics all = s->statistics();
        found.steps = static_cast<double>(all.micro_steps);
        found.newton = static_cast<double>(all.newton_iterations) / found.steps;
        found.per_step = std::min(found.per_step, seconds / found.steps);
    }
    return found;
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
    fmt::print("{:>6} {:>7} {:>12} {:>12} {:>12} {:>14} {:>12}\n", "nodes", "states", "micro steps", "iterations",
               "us per step", "us per node", "dense, us");
    for (const int nodes : {10, 30, 100, 300, 1000}) {
        const costs sparse = measured(nodes, "{name: dirk-4, linear-solver: sparse}", rounds);
        const std::string dense =
            nodes > 100
                ? "-"
                : fmt::format("{:.1f}", 1e6 * measured(nodes, "{name: dirk-4, linear-solver: dense}", rounds).per_step);
        fmt::print("{:>6} {:>7} {:>12} {:>12.1f} {:>12.1f} {:>14.3f} {:>12}\n", nodes, sparse.states, sparse.steps,
                   sparse.newton, 1e6 * sparse.per_step, 1e6 * sparse.per_step / nodes, dense);
    }
}
