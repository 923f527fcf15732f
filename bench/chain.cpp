// The oscillator chain of Kraft, Meyer, Schweizer with 7750 masses: one subsystem with all of them against 47 subsystems on 1
// and 2 workers, solver ida with KLU, all in one run. Then the dense and the sparse Newton matrix for small chains. See
// docs/performance-chain.md.
//   bench_chain [END_s [STEP_s [ROUNDS]]]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>

#include "engine/assembly.hpp"
#include "engine/engine.hpp"
#include "master/macro_loop.hpp"

namespace {

using namespace mdpcosim;

struct setup {
    std::string name;
    int masses = 7750, parts = 47, workers = 1;
    std::string solver;
    double end = 1e-3, step = 1e-5;
};

std::string scenario_of(const setup& s) {
    std::string text = fmt::format(
        "let: {{c: 1e7 N/m, d: 1 N.s/m, c3: 1e9 N/m3, d3: 0.01 N.s3/m3}}\n"
        "time: {{end: {} s, step: {} s}}\nsubsystems:\n",
        s.end, s.step);
    const std::string element = "stiffness: $c, damping: $d, cubic-stiffness: $c3, cubic-damping: $d3";
    int first = 1;
    for (int p = 1; p <= s.parts; ++p) {
        const int last = static_cast<int>(static_cast<double>(s.masses) * p / s.parts + 0.5);
        text += fmt::format(
            "  part{}: {{model: chain, solver: {{{}}}, set: {{n: {}, first: {}, left: {}, right: {}, {}, "
            "x-amplitude: 0.1 m, v-amplitude: 100 m/s}}}}\n",
            p, s.solver, last - first + 1, first, p == 1 ? "fixed" : "free", p == s.parts ? "fixed" : "free", element);
        first = last + 1;
    }
    if (s.parts > 1) text += "connections:\n";
    for (int p = 1; p < s.parts; ++p)
        text += fmt::format("  joint{}: {{law: cubic-spring-damper, between: [part{}.right, part{}.left], {}}}\n", p, p,
                            p + 1, element);
    return text + "record: {only: [\"part1.energy\"]}\n";
}

struct measured {
    double wall = 0;     // s, of the macro loop
    double cpu = 0;      // s, of all threads in the macro loop
    double working = 0;  // s, of all subsystems, from sampled steps
    subsystem_statistics sum;
    std::int64_t steps = 0;
};

double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

measured run(const setup& s) {
    const scenario read = read_scenario_text(scenario_of(s), "chain");
    assembly made = assemble(read, {.workers = s.workers});
    const auto method = make_method(read);
    made.system.initialise(0);
    loop_result result;
    const double cpu_before = cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    run_macro_loop(made.system, *method, time_grid(0, s.end, s.step), {nullptr, s.end, nullptr, nullptr, nullptr},
                   result);
    measured m;
    m.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    m.cpu = cpu_seconds() - cpu_before;
    m.steps = result.steps;
    for (std::size_t i = 0; i < made.system.subsystems->size(); ++i) {
        const subsystem_index at(static_cast<int>(i));
        m.sum += made.system.subsystems->statistics(at);
        m.working += made.system.subsystems->cost(at).seconds_per_step * static_cast<double>(result.steps);
    }
    return m;
}

void compare_large(double end, double step, int rounds) {
    const std::string tolerance = "name: ida, rtol: 1e-6, atol: 1e-6";
    const std::vector<setup> setups{
        {"one subsystem", 7750, 1, 1, tolerance, end, end},
        {"47, exact, 1 worker", 7750, 47, 1, tolerance, end, step},
        {"47, exact, 2 workers", 7750, 47, 2, tolerance, end, step},
        {"47, over, 1 worker", 7750, 47, 1, tolerance + ", stop: over", end, step},
        {"47, over, 2 workers", 7750, 47, 2, tolerance + ", stop: over", end, step},
    };
    fmt::print("oscillator chain, 7750 masses, ida with KLU, rtol = atol = 1e-6, {} s in steps of {} s, best of {}\n\n",
               end, step, rounds);
    std::vector<measured> best(setups.size());
    for (int round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < setups.size(); ++i) {
            const measured m = run(setups[i]);
            if (round == 0 || m.wall < best[i].wall) best[i] = m;
        }
    fmt::print(
        "| run | wall s | speed-up | CPU s | micro steps | per macro step | Newton iterations | factorisations | "
        "rejected | waiting |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n");
    for (std::size_t i = 0; i < setups.size(); ++i) {
        const auto& m = best[i];
        const double parts = setups[i].parts;
        const std::string waiting =
            parts == 1 ? "-"
                       : fmt::format("{:.0f} %", 100 * std::max(0.0, 1 - m.working / (setups[i].workers * m.wall)));
        fmt::print("| {} | {:.3f} | {:.2f} | {:.3f} | {:.0f} | {:.2f} | {:.0f} | {:.0f} | {:.1f} | {} |\n",
                   setups[i].name, m.wall, best[0].wall / m.wall, m.cpu, static_cast<double>(m.sum.micro_steps) / parts,
                   static_cast<double>(m.sum.micro_steps) / parts / static_cast<double>(m.steps),
                   static_cast<double>(m.sum.newton_iterations) / parts,
                   static_cast<double>(m.sum.factorisations) / parts, static_cast<double>(m.sum.rejected) / parts,
                   waiting);
    }
    fmt::print(
        "\nCounts are means over the subsystems; waiting is the share of the workers' time outside of subsystems.\n\n");
}

void compare_matrices(double end) {
    fmt::print("| states | dense us per micro step | sparse us per micro step |\n|---|---|---|\n");
    for (const int masses : {5, 10, 15, 20, 30, 50, 100, 200}) {
        double us[2];
        for (const bool sparse : {false, true}) {
            const std::string solver =
                fmt::format("name: ida, rtol: 1e-6, atol: 1e-6, linear-solver: {}", sparse ? "sparse" : "dense");
            double least = 1e300;
            for (int round = 0; round < 5; ++round) {
                const measured m = run({"", masses, 1, 1, solver, end, end});
                least = std::min(least, 1e6 * m.wall / static_cast<double>(m.sum.micro_steps));
            }
            us[sparse] = least;
        }
        fmt::print("| {} | {:.1f} | {:.1f} |\n", 2 * masses, us[0], us[1]);
    }
}

}  // namespace

int main(int count, char** arguments) {
    const double end = count > 1 ? std::atof(arguments[1]) : 1e-3;
    const double step = count > 2 ? std::atof(arguments[2]) : 1e-5;
    const int rounds = count > 3 ? std::atoi(arguments[3]) : 3;
    if (!(end > 0 && step > 0 && rounds > 0)) {
        fmt::print(stderr, "usage: bench_chain [END_s [STEP_s [ROUNDS]]]\n");
        return 2;
    }
    try {
        compare_large(end, step, rounds);
        compare_matrices(end);
    } catch (const std::exception& problem) {
        fmt::print(stderr, "bench_chain: {}\n", problem.what());
        return 1;
    }
    return 0;
}
