// FMI 2.0 co-simulation, recording off: macro steps of mdpcosim beside a bare C loop over the same FMUs' functions. A decay's
// output goes into a feed-through FMU, or into a chain of them. See docs/performance.md.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "engine/assembly.hpp"
#include "engine/engine.hpp"
#include "fmi/fmi2_functions.h"
#include "master/macro_loop.hpp"

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

void chain_in_mdpcosim(benchmark::State& state) {
    std::string text = fmt::format("time: {{end: 1 s, step: {} s}}\nsubsystems:\n  f0: {{fmu: '{}'}}\n", H,
                                   (folder / "decay-2.fmu").string());
    std::string signals = "signals:\n  - f0.x -> f1.u\n";
    for (int i = 1; i <= state.range(0); ++i) {
        text += fmt::format("  f{}: {{fmu: '{}'}}\n", i, (folder / "feedthrough-2.fmu").string());
        if (i > 1) signals += fmt::format("  - f{}.y -> f{}.u\n", i - 1, i);
    }
    const scenario s = read_scenario_text(text + signals + "record: {only: [f0.x]}\n", "chain");
    assembly a = assemble(s, static_cast<int>(state.range(1)));
    const auto how = make_method(s);
    a.system.initialise(0);
    loop_result result;
    constexpr int steps = 1000;
    double begin = 0;
    for (auto _ : state) {
        run_macro_loop(a.system, *how, time_grid(begin, begin + steps * H, H), {}, result);
        begin += steps * H;
    }
    state.counters["per_step"] =
        benchmark::Counter(steps, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

BENCHMARK(chain_in_a_bare_loop)->Arg(1)->Arg(100)->Arg(1000);
BENCHMARK(chain_in_mdpcosim)->Args({1, 1})->Args({100, 1})->Args({1000, 1})->Args({1, 2});

}  // namespace

BENCHMARK_MAIN();
