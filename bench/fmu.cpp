// FMI 2.0 co-simulation, recording off: macro steps of mdpcosim beside a bare C loop over the same FMUs' functions. A decay's
// output goes into a feed-through FMU, a chain of them, or one with 1000 inputs; a ring of busy oscillators; loading. See docs/performance.md.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "fmi/fmi2_functions.h"
#include "scenario/read.hpp"
#include "simulation/check.hpp"
#include "simulation/simulation.hpp"

namespace {

using namespace mdpcosim;
namespace fs = std::filesystem;

constexpr double H = 1e-3;
const fs::path folder = fs::path(MDPCOSIM_BINARY_DIR) / "fmus";

extern "C" void silent(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...) {}

/// An FMU used as in a textbook: no checks, no names, no types.
struct bare_fmu {
    bare_fmu(const std::string& name, unsigned input_reference, unsigned output_reference)
        : input(input_reference), output(output_reference) {
        void* library = ::dlopen((folder / (name + "-2") / "binaries" / "linux64" / (name + ".so")).c_str(), RTLD_NOW);
        if (library == nullptr) std::abort();
        const auto load = [&](const char* function, auto& into) {
            into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(library, function));
        };
        fmi2InstantiateTYPE* instantiate = nullptr;
        fmi2EnterInitializationModeTYPE* enter = nullptr;
        fmi2ExitInitializationModeTYPE* leave = nullptr;
        fmi2SetupExperimentTYPE* set_up = nullptr;
        load("fmi2Instantiate", instantiate);
        load("fmi2SetupExperiment", set_up);
        load("fmi2EnterInitializationMode", enter);
        load("fmi2ExitInitializationMode", leave);
        load("fmi2SetReal", set);
        load("fmi2GetReal", get);
        load("fmi2DoStep", step);
        static const fmi2CallbackFunctions callbacks{silent, std::calloc, std::free, nullptr, nullptr};
        instance = instantiate("bare", fmi2CoSimulation, ("{mdpcosim-" + name + "}").c_str(), "", &callbacks, 0, 0);
        if (instance == nullptr) std::abort();
        set_up(instance, 0, 0, 0, 0, 0);
        enter(instance);
        leave(instance);
    }

    unsigned input, output;
    fmi2Component instance = nullptr;
    fmi2SetRealTYPE* set = nullptr;
    fmi2GetRealTYPE* get = nullptr;
    fmi2DoStepTYPE* step = nullptr;
};

void chain_in_a_bare_loop(benchmark::State& state) {
    const bare_fmu decay("decay", 0, 2);
    std::vector<bare_fmu> chain;
    for (int i = 0; i < state.range(0); ++i) chain.emplace_back("feedthrough", 2, 3);
    std::int64_t n = 0;
    for (auto _ : state) {
        const double t = static_cast<double>(n++) * H;
        double value = 0;
        decay.get(decay.instance, &decay.output, 1, &value);
        decay.step(decay.instance, t, H, fmi2True);
        for (const bare_fmu& f : chain) {
            f.set(f.instance, &f.input, 1, &value);
            f.step(f.instance, t, H, fmi2True);
            f.get(f.instance, &f.output, 1, &value);
        }
        benchmark::DoNotOptimize(value);
    }
}

/// The calls that mdpcosim makes of every feed-through FMU: the mean of the extrapolated input over the step, the step, the input at its
/// end, the output.
void chain_with_all_calls(benchmark::State& state) {
    const bare_fmu decay("decay", 0, 2);
    std::vector<bare_fmu> chain;
    for (int i = 0; i < state.range(0); ++i) chain.emplace_back("feedthrough", 2, 3);
    std::vector<double> last(chain.size()), before(chain.size());
    std::int64_t n = 0;
    for (auto _ : state) {
        const double t = static_cast<double>(n++) * H;
        double value = 0;
        decay.step(decay.instance, t, H, fmi2True);
        decay.get(decay.instance, &decay.output, 1, &value);
        for (std::size_t i = 0; i < chain.size(); ++i) {
            const bare_fmu& f = chain[i];
            const double mean = last[i] + (last[i] - before[i]) / 2;
            f.set(f.instance, &f.input, 1, &mean);
            f.step(f.instance, t, H, fmi2True);
            f.set(f.instance, &f.input, 1, &value);
            before[i] = last[i];
            last[i] = value;
            f.get(f.instance, &f.output, 1, &value);
        }
        benchmark::DoNotOptimize(value);
    }
}

/// Two masses, each with a force that the other's velocity gives.
void pair_in_a_bare_loop(benchmark::State& state) {
    const bare_fmu a("mover", 1, 7), b("mover", 1, 7);
    std::int64_t n = 0;
    double of_a = 0, of_b = 0;
    for (auto _ : state) {
        const double t = static_cast<double>(n++) * H;
        a.set(a.instance, &a.input, 1, &of_b);
        b.set(b.instance, &b.input, 1, &of_a);
        a.step(a.instance, t, H, fmi2True);
        b.step(b.instance, t, H, fmi2True);
        a.get(a.instance, &a.output, 1, &of_a);
        b.get(b.instance, &b.output, 1, &of_b);
        benchmark::DoNotOptimize(of_a + of_b);
    }
}

/// Macro steps of a scenario, a thousand per iteration.
void run_scenario(benchmark::State& state, const std::string& text, int workers) {
    scenario s = read_scenario_text(text, "bench");
    s.time.end = 1e9 * H;  // as many steps as are asked for
    simulation all(s, {.workers = workers, .watch = false, .writable = false});
    all.initialise();
    constexpr int steps = 1000;
    for (auto _ : state)
        for (int n = 0; n < steps; ++n) all.step();
    state.counters["per_step"] =
        benchmark::Counter(steps, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void chain_in_mdpcosim(benchmark::State& state) {
    std::string text = fmt::format("time: {{end: 1 s, step: {} s}}\nsubsystems:\n  f0: {{fmu: '{}'}}\n", H,
                                   (folder / "decay-2.fmu").string());
    std::string signals = "signals:\n  - f0.x -> f1.u\n";
    for (int i = 1; i <= state.range(0); ++i) {
        text += fmt::format("  f{}: {{fmu: '{}'}}\n", i, (folder / "feedthrough-2.fmu").string());
        if (i > 1) signals += fmt::format("  - f{}.y -> f{}.u\n", i - 1, i);
    }
    run_scenario(state, text + signals + "record: {only: [f0.x]}\n", static_cast<int>(state.range(1)));
}

void pair_in_mdpcosim(benchmark::State& state) {
    std::string text = fmt::format("time: {{end: 1 s, step: {} s}}\nsubsystems:\n", H);
    for (const char* name : {"a", "b"})
        text += fmt::format("  {}: {{fmu: '{}', set: {{x0: 1}}}}\n", name, (folder / "mover-2.fmu").string());
    run_scenario(state,
                 text +
                     "signals:\n  - -1 N.s/m*a.velocity -> b.force\n  - -1 N.s/m*b.velocity -> a.force\n"
                     "record: {only: [a.velocity]}\n",
                 1);
}

/// 50 oscillators in a ring, each driving the next, about 2 us of work in each.
void busy_ring(benchmark::State& state) {
    std::string text = fmt::format("time: {{end: 1 s, step: {} s}}\nsubsystems:\n", H), signals = "signals:\n";
    for (int i = 0; i < 50; ++i) {
        text += fmt::format("  o{}: {{fmu: '{}', set: {{work: 900, x0: 0.01}}}}\n", i,
                            (folder / "busy-oscillator-2.fmu").string());
        signals += fmt::format("  - 1 N/m*o{}.position -> o{}.force\n", i, (i + 1) % 50);
    }
    run_scenario(state, text + signals + "record: {only: [o0.position]}\n", static_cast<int>(state.range(0)));
}

constexpr int width = 1000;

void wide_in_a_bare_loop(benchmark::State& state) {
    const bare_fmu decay("decay", 0, 2), wide("wide", 0, 0);
    std::vector<unsigned> inputs, outputs;
    for (unsigned i = 1; i <= width; ++i) inputs.push_back(i), outputs.push_back(width + i);
    std::vector<double> u(width), y(width);
    std::int64_t n = 0;
    for (auto _ : state) {
        const double t = static_cast<double>(n++) * H;
        decay.get(decay.instance, &decay.output, 1, &u[0]);
        decay.step(decay.instance, t, H, fmi2True);
        wide.set(wide.instance, inputs.data(), width, u.data());
        wide.step(wide.instance, t, H, fmi2True);
        wide.get(wide.instance, outputs.data(), width, y.data());
        benchmark::DoNotOptimize(y.data());
    }
}

/// All outputs are recorded and so read, in one call.
void wide_in_mdpcosim(benchmark::State& state) {
    run_scenario(state,
                 fmt::format("time: {{end: 1 s, step: {} s}}\nsubsystems:\n  f0: {{fmu: '{}'}}\n  w: {{fmu: '{}'}}\n"
                             "signals:\n  - f0.x -> w.u[1]\n",
                             H, (folder / "decay-2.fmu").string(), (folder / "wide-2.fmu").string()),
                 1);
}

/// An FMU with 100000 variables, from the archive to the report of `check`; peak_MiB is that of the whole process so far.
void huge_is_checked(benchmark::State& state) {
    for (auto _ : state) {
        const std::string shown =
            check(read_scenario_text(fmt::format("time: {{end: 1 s, step: 1 ms}}\nsubsystems:\n  h: {{fmu: '{}'}}\n",
                                                 (folder / "huge-2.fmu").string()),
                                     "huge"));
        benchmark::DoNotOptimize(shown.data());
    }
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    state.counters["peak_MiB"] = static_cast<double>(used.ru_maxrss) / 1024;
}

BENCHMARK(huge_is_checked)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(chain_in_a_bare_loop)->Arg(1)->Arg(100)->Arg(1000);
BENCHMARK(chain_with_all_calls)->Arg(100)->Arg(300)->Arg(1000);
BENCHMARK(chain_in_mdpcosim)->Args({1, 1})->Args({100, 1})->Args({300, 1})->Args({1000, 1})->Args({1, 2});
BENCHMARK(pair_in_a_bare_loop);
BENCHMARK(pair_in_mdpcosim);
BENCHMARK(wide_in_a_bare_loop);
BENCHMARK(wide_in_mdpcosim);
BENCHMARK(busy_ring)->Arg(1)->Arg(2)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
