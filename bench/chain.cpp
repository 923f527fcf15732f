// The oscillator chain of Kraft, Meyer, Schweizer with 7750 masses: one subsystem with all of them against 47 subsystems on 1
// and 2 workers, solver ida with KLU, all in one run. Then the dense and the sparse Newton matrix for small chains. See
// docs/performance-chain.md.
//   bench_chain [END_s [STEP_s [ROUNDS]]]
//   bench_chain methods [END_s]     all methods at the same error, both parameter sets, 2 workers
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "master/error_constants.hpp"
#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

namespace {

using namespace mdpcosim;

struct setup {
    std::string name;
    int masses = 7750, parts = 47, workers = 1;
    std::string solver;
    double end = 1e-3, step = 1e-5;
    bool impacts = false;      // parameter set 2
    std::string further = {};  // keys of the scenario
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
            "x-amplitude: 0.1 m, v-amplitude: 100 m/s{}}}}}\n",
            p, s.solver, last - first + 1, first, p == 1 ? "fixed" : "free", p == s.parts ? "fixed" : "free", element,
            s.impacts
                ? fmt::format(", impact-share: 0.05, impact-force: 1e6, impact-duration: 1e-4, impact-time-max: {}",
                              s.end)
                : "");
        first = last + 1;
    }
    if (s.parts > 1) text += "connections:\n";
    for (int p = 1; p < s.parts; ++p)
        text += fmt::format("  joint{}: {{law: cubic-spring-damper, between: [part{}.right, part{}.left], {}}}\n", p, p,
                            p + 1, element);
    return text + "record: {only: [\"part1.energy\"]}\n" + s.further;
}

struct measured {
    double wall = 0;     // s, of the macro loop
    double cpu = 0;      // s, of all threads in the macro loop
    double working = 0;  // s, of all subsystems, from sampled steps
    subsystem_statistics sum;
    std::int64_t steps = 0, integrations = 0, rejected = 0;
    // Macro points, and the positions and velocities at all cuts there.
    std::vector<double> t, motion;
};

/// Remembers the motion at the cuts at every macro point.
class watched final : public observer {
   public:
    explicit watched(measured& into) : into_(into) {}
    void started(const simulation& of) override {
        const auto levels = output_levels(of.parts().system);
        for (std::size_t slot = 0; slot < levels.size(); ++slot)
            if (levels[slot] != output_level::none) slots_.push_back(slot);
    }
    void committed(const simulation& of, const macro_step& step) override {
        into_.t.push_back(step.end);
        for (const std::size_t slot : slots_) into_.motion.push_back(of.outputs()[slot]);
    }

   private:
    measured& into_;
    std::vector<std::size_t> slots_;
};

double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

measured run(const setup& s) {
    scenario read = read_scenario_text(scenario_of(s), "chain");
    read.time.end = s.end;
    read.time.step = s.step;
    simulation all(read, {.workers = s.workers, .watch = false, .writable = false});
    measured m;
    watched looks_on(m);
    all.add(looks_on);
    all.initialise();
    const double cpu_before = cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    all.advance_to(s.end);
    m.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    m.cpu = cpu_seconds() - cpu_before;
    m.steps = all.steps();
    const coupled_system& system = all.parts().system;
    m.integrations = system.integrations;
    if (const auto control = all.finish().control) m.rejected = control->rejected;
    for (std::size_t i = 0; i < system.subsystems->size(); ++i) {
        const subsystem_index at(static_cast<int>(i));
        m.sum += system.subsystems->statistics(at);
        m.working += system.subsystems->cost(at).seconds_per_step * static_cast<double>(m.steps);
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

/// Of the positions and the velocities at the cuts: root mean square of the error over the whole run, relative to the motion's.
/// Between the macro points of the reference, all at one distance, stand cubics.
double error_of(const measured& m, const measured& reference) {
    const std::size_t width = m.motion.size() / m.t.size();
    const double h = reference.t[1] - reference.t[0];
    double sum[2]{}, size[2]{}, before = 0;
    for (std::size_t n = 0; n < m.t.size(); ++n) {
        const double weight = m.t[n] - before;
        before = m.t[n];
        const auto first = static_cast<std::size_t>(
            std::clamp(std::floor(m.t[n] / h) - 2, 0.0, static_cast<double>(reference.t.size()) - 4));
        std::array<double, 4> at{1, 1, 1, 1};
        for (std::size_t a = 0; a < 4; ++a)
            for (std::size_t b = 0; b < 4; ++b)
                if (a != b)
                    at[a] *= (m.t[n] - reference.t[first + b]) / (reference.t[first + a] - reference.t[first + b]);
        for (std::size_t k = 0; k < width; ++k) {
            double value = 0;
            for (std::size_t a = 0; a < 4; ++a) value += at[a] * reference.motion[(first + a) * width + k];
            sum[k % 2] += weight * std::pow(m.motion[n * width + k] - value, 2);
            size[k % 2] += weight * value * value;
        }
    }
    return std::sqrt((sum[0] / size[0] + sum[1] / size[1]) / 2);
}

/// The explicit method with constant steps of 10 us sets the error; the others take the step or the tolerance that comes to
/// 0.85 to 1 of it.
void compare_methods(double end) {
    const std::string solver = "name: erk-5, rtol: 1e-9, atol: 1e-10";
    struct candidate {
        std::string name, further;
        bool controlled;
        double step, order;  // power of the step or tolerance that the error grows with
        double rtol = 0;
    };
    const std::vector<candidate> candidates{
        {"explicit poly-3", "extrapolation: poly-3\n", false, 1e-5, 3},
        {"explicit poly-3, controlled", "extrapolation: poly-3\n", true, 2e-6, 0.75, 1e-4},
        {"semi-implicit poly-3", "method: semi-implicit\nextrapolation: poly-3\n", false, 2e-5, 3},
        {"semi-implicit poly-3, controlled", "method: semi-implicit\nextrapolation: poly-3\n", true, 2e-6, 0.75, 1e-4},
        {"explicit lin-3-3-b0 (default)", "", false, 1e-5, 2},
        {"one-pass", "method: one-pass\n", false, 1e-5, 2},
    };
    for (const bool impacts : {false, true}) {
        // The uncut chain has no cuts to look at: the finest co-simulation stands for it.
        const measured reference = run(
            {"", 7750, 47, 2, "name: erk-8, rtol: 1e-12, atol: 1e-13", end, 2e-6, impacts, "extrapolation: poly-5\n"});
        fmt::print("parameter set {}, {} s, 47 subsystems, erk-5, 2 workers\n\n", impacts ? 2 : 1, end);
        fmt::print(
            "| run | step or rtol | macro steps | rejected | integrations | error | wall s | ratio "
            "|\n|---|---|---|---|---|---|---|---|\n");
        double wanted = 0, unit = 0;
        for (const auto& c : candidates) {
            double size = c.controlled ? c.rtol : c.step;
            for (int attempt = 0; attempt < 12; ++attempt) {
                setup s{c.name, 7750, 47, 2, solver, end, c.controlled ? c.step : size, impacts, c.further};
                if (c.controlled)
                    s.further += fmt::format("step-control: {{rtol: {0}, atol: {1}, atol-rate: {2}}}\n", size,
                                             size * 0.1, size * 100);
                double error = std::numeric_limits<double>::quiet_NaN();
                measured found;
                try {
                    found = run(s);
                    error = error_of(found, reference);
                } catch (const run_error&) {
                }
                if (wanted == 0) wanted = error, unit = found.wall;
                if (std::isnan(wanted)) throw std::runtime_error("the explicit method fails");
                if (error > 0.85 * wanted && error <= wanted) {
                    fmt::print("| {} | {:.3g} | {} | {} | {} | {:.1e} | {:.3f} | {:.2f} |\n", c.name, size, found.steps,
                               found.rejected, found.integrations, error, found.wall, found.wall / unit);
                    break;
                }
                if (attempt == 11) fmt::print("| {} | the error was not met | | | | | | |\n", c.name);
                size *= std::isfinite(error) ? std::clamp(std::pow(0.93 * wanted / error, 1 / c.order), 0.2, 5.0) : 0.5;
            }
            std::fflush(stdout);
        }
        const measured whole = run({"", 7750, 1, 1, "name: ida, rtol: 1e-6, atol: 1e-6", end, end, impacts, ""});
        fmt::print("| one subsystem, ida, rtol 1e-6 | | | | | | {:.3f} | {:.2f} |\n\n", whole.wall, whole.wall / unit);
    }
}

}  // namespace

int main(int count, char** arguments) {
    const bool methods = count > 1 && std::string_view(arguments[1]) == "methods";
    if (methods) --count, ++arguments;
    const double end = count > 1 ? std::atof(arguments[1]) : 1e-3;
    const double step = count > 2 ? std::atof(arguments[2]) : 1e-5;
    const int rounds = count > 3 ? std::atoi(arguments[3]) : 3;
    if (!(end > 0 && step > 0 && rounds > 0)) {
        fmt::print(stderr, "usage: bench_chain [END_s [STEP_s [ROUNDS]]]\n       bench_chain methods [END_s]\n");
        return 2;
    }
    try {
        if (methods) {
            compare_methods(end);
            return 0;
        }
        compare_large(end, step, rounds);
        compare_matrices(end);
    } catch (const std::exception& problem) {
        fmt::print(stderr, "bench_chain: {}\n", problem.what());
        return 1;
    }
    return 0;
}
