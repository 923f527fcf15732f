#include "benchmark/loops.hpp"

#include <fmt/format.h>

#include <array>

#include "core/json.hpp"
#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

namespace mdpcosim {

namespace {

constexpr std::array solvers{"fixed-point", "anderson", "iqn-ils", "newton"};

/// The current follows the voltage at once, the voltage the current: a loop with the gain R0/Rc.
std::string battery(double gain, const std::string& solver) {
    return fmt::format(R"(time: {{end: 20 ms, step: 20 us}}
iteration: {{solver: {}}}
subsystems:
  battery:
    ode: {{states: {{v1: 0}}, inputs: {{i: 0}}, equations: {{v1: (i - v1/0.1)/0.02}}, outputs: {{v: 400 - v1 - {}*i}}}}
  load:
    ode: {{states: {{vc: 350}}, inputs: {{v: 400}}, equations: {{vc: ((v - vc)/0.05 - 20*sin(300*t)^2)/0.005}},
          outputs: {{i: (v - vc)/0.05 + 2000/v}}}}
signals: [battery.v -> load.v, load.i -> battery.i]
)",
                       solver, 0.05 * gain);
}

/// Masses on springs to the ground, coupled by springs that are `stiffness` times as stiff, over steps of a 60th of a free period.
std::string masses(int count, double stiffness, const std::string& solver) {
    std::string text =
        fmt::format("time: {{end: 10, step: 0.1}}\nmethod: {{name: iterated, solver: {}}}\nsubsystems:\n", solver);
    for (int k = 0; k < count; ++k)
        text += fmt::format(
            "  m{}: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 1, damping: 0.01, x0: {}}}, solver: "
            "{{name: "
            "erk-5, rtol: 1e-10, atol: 1e-12}}}}\n",
            k, k == 0 ? 0.1 : 0);
    text += "connections:\n";
    for (int k = 0; k + 1 < count; ++k)
        text += fmt::format("  c{0}: {{law: spring, between: [m{0}.mass, m{1}.mass], stiffness: {2}}}\n", k, k + 1,
                            stiffness);
    return text;
}

std::optional<iteration_counts> iterations_of(const std::string& text) {
    const scenario s = read_scenario_text(text, "bench");
    simulation all(s, {.workers = 1, .watch = false, .writable = false});
    try {
        all.initialise();
        all.advance_to(all.end());
    } catch (const run_error&) {
        return std::nullopt;
    }
    const assembly& a = all.parts();
    return a.system.loops.empty() ? *a.chosen_method->iterations() : a.system.loops.front().so_far();
}

}  // namespace

std::vector<loop_bench_result> bench_loops() {
    std::vector<loop_bench_result> results;
    const auto add = [&](const char* system, double gain, const auto& text) {
        for (const char* solver : solvers) results.push_back({system, gain, solver, iterations_of(text(solver))});
    };
    for (const double gain : {0.5, 4.0, 20.0, 100.0})
        add("algebraic loop", gain, [&](const char* solver) { return battery(gain, solver); });
    for (const int count : {2, 10})
        for (const double stiffness : {10.0, 100.0, 1e3, 1e4})
            add(count == 2 ? "macro steps of 2 masses" : "macro steps of 10 masses", stiffness,
                [&](const char* solver) { return masses(count, stiffness, solver); });
    return results;
}

std::string to_table(const std::vector<loop_bench_result>& results) {
    std::string out = fmt::format("{:<26} {:>8}  {:<12} {:>10} {:>8} {:>12}\n", "loop", "gain", "solver", "iterations",
                                  "at most", "evaluations");
    for (const auto& r : results) {
        out += fmt::format("{:<26} {:>8}  {:<12} ", r.system, r.gain, r.solver);
        if (!r.counts) {
            out += fmt::format("{:>10}\n", "fails");
            continue;
        }
        const auto n = static_cast<double>(r.counts->solutions);
        out += fmt::format("{:>10.2f} {:>8} {:>12.2f}\n", static_cast<double>(r.counts->iterations) / n,
                           r.counts->largest, static_cast<double>(r.counts->evaluations) / n);
    }
    return out;
}

std::string to_json(const std::vector<loop_bench_result>& results) {
    auto all = json::array();
    for (const auto& r : results) {
        all.push_back(
            {{"system", r.system}, {"gain", r.gain}, {"solver", r.solver}, {"converged", r.counts.has_value()}});
        if (!r.counts) continue;
        const auto n = static_cast<double>(r.counts->solutions);
        all.back()["iterations_mean"] = static_cast<double>(r.counts->iterations) / n;
        all.back()["iterations_largest"] = r.counts->largest;
        all.back()["evaluations_mean"] = static_cast<double>(r.counts->evaluations) / n;
    }
    return all.dump(2) + "\n";
}

}  // namespace mdpcosim
