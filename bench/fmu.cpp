// FMI 2.0 co-simulation, recording off: macro steps of mdpcosim beside a bare C loop over the same FMUs' functions. A decay's
// output goes into a feed-through FMU, a chain of them, or one with 1000 inputs; a ring of busy oscillators; loading. The same without a
// build of one's own: mdpcosim bench fmu. See docs/performance.md.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <filesystem>
#include <vector>

#include "benchmark/bare_fmu.hpp"
#include "benchmark/fmu.hpp"
#include "scenario/read.hpp"
#include "simulation/check.hpp"
#include "simulation/simulation.hpp"

namespace {

using namespace mdpcosim;
namespace fs = std::filesystem;

constexpr double H = fmu_step;
const fs::path folder = fs::path(MDPCOSIM_BINARY_DIR) / "fmus";

bare_chain bare_chain_of(int length) {
    std::vector<bare_fmu> others;
    for (int i = 0; i < length; ++i) others.emplace_back(folder / "feedthrough-2.fmu", 2, 3);
    return {bare_fmu(folder / "decay-2.fmu", 0, 2), std::move(others)};
}

void chain_in_a_bare_loop(benchmark::State& state) {
    bare_chain chain = bare_chain_of(static_cast<int>(state.range(0)));
    std::int64_t n = 0;
    for (auto _ : state) benchmark::DoNotOptimize(chain.step(static_cast<double>(n++) * H, H));
}

void chain_with_all_calls(benchmark::State& state) {
    bare_chain chain = bare_chain_of(static_cast<int>(state.range(0)));
    std::int64_t n = 0;
    for (auto _ : state) benchmark::DoNotOptimize(chain.step_with_all_calls(static_cast<double>(n++) * H, H));
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
    run_scenario(state, fmu_chain(folder, static_cast<int>(state.range(0))), static_cast<int>(state.range(1)));
}

void busy_ring(benchmark::State& state) {
    run_scenario(state, fmu_ring(folder, 50, ring_work), static_cast<int>(state.range(0)));
}

constexpr int width = 1000;

void wide_in_a_bare_loop(benchmark::State& state) {
    const bare_fmu decay(folder / "decay-2.fmu", 0, 2), wide(folder / "wide-2.fmu", 0, 0);
    std::vector<unsigned> inputs, outputs;
    for (unsigned i = 1; i <= width; ++i) inputs.push_back(i), outputs.push_back(width + i);
    std::vector<double> u(width), y(width);
    std::int64_t n = 0;
    for (auto _ : state) {
        const double t = static_cast<double>(n++) * H;
        u[0] = decay.get();
        decay.step(t, H);
        wide.set_real(wide.instance, inputs.data(), width, u.data());
        wide.step(t, H);
        wide.get_real(wide.instance, outputs.data(), width, y.data());
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
BENCHMARK(wide_in_a_bare_loop);
BENCHMARK(wide_in_mdpcosim);
BENCHMARK(busy_ring)->Arg(1)->Arg(2)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
