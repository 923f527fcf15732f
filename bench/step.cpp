// Cost of one macro step: trivially cheap subsystems (free masses, explicit Euler) in a chain of springs, lin-2-3-opt, recording
// every 100th step. See docs/performance.md.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "engine/assembly.hpp"
#include "engine/engine.hpp"
#include "engine/trust.hpp"
#include "master/macro_loop.hpp"
#include "results/csv.hpp"

namespace {

using namespace mdpcosim;

constexpr double step = 1e-3;

std::string chain_scenario(int subsystems, const std::string& model) {
    std::string text = fmt::format("time: {{end: 1 s, step: {} s}}\nextrapolation: lin-2-3-opt\nsubsystems:\n", step);
    for (int i = 0; i < subsystems; ++i)
        text += fmt::format("  m{}: {{model: {}, x0: {} m}}}}\n", i, model, 1e-3 * (i % 7));
    if (subsystems > 1) text += "connections:\n";
    for (int i = 0; i + 1 < subsystems; ++i)
        text += fmt::format("  c{}: {{law: spring, between: [m{}.mass, m{}.mass], stiffness: 100 N/m}}\n", i, i, i + 1);
    return text;
}

/// A chain ready to run, with a recorder into a temporary file.
class running_chain {
   public:
    running_chain(int subsystems, int workers, const std::string& model)
        : scenario_(read_scenario_text(chain_scenario(subsystems, model), "chain")),
          assembly_(assemble(scenario_, workers)),
          method_(make_method(scenario_)),
          file_(std::filesystem::temp_directory_path() / fmt::format("mdpcosim_bench_{}.csv", ::getpid())),
          rows_(assembly_.columns, make_csv_sink(file_, assembly_.columns)) {
        assembly_.system.initialise(0);
        run(200);
    }
    ~running_chain() { std::filesystem::remove(file_); }

    void run(int steps) {
        loop_result result;
        const double begin = time_;
        time_ = begin + steps * step;
        run_macro_loop(assembly_.system, *method_, time_grid(begin, time_, step),
                       {&rows_, 100 * step, nullptr, &watch_, nullptr}, result);
        if (result.steps != steps) std::abort();
    }

    transport& subsystems() { return *assembly_.system.subsystems; }

   private:
    scenario scenario_;
    assembly assembly_;
    std::unique_ptr<method> method_;
    std::filesystem::path file_;
    recorder rows_;
    coupling_monitor monitor_ = make_monitor(assembly_);
    coupling_watch watch_ = make_watch(assembly_, monitor_, scenario_.monitor);
    double time_ = 0;
};

void report(benchmark::State& state, double steps_per_iteration) {
    state.counters["per_step"] = benchmark::Counter(
        steps_per_iteration, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

const std::string trivial = "mass-spring-damper, solver: euler, set: {mass: 1 kg";
const std::string working = "busy, solver: euler, set: {work: 30000";

void macro_step_trivial(benchmark::State& state) {
    const int n = static_cast<int>(state.range(0));
    running_chain chain(n, static_cast<int>(state.range(1)), trivial);
    const int steps = std::max(200, 200000 / n);
    for (auto _ : state) chain.run(steps);
    report(state, steps);
    state.counters["per_step_and_subsystem"] = benchmark::Counter(
        static_cast<double>(steps) * n, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(macro_step_trivial)
    ->ArgNames({"subsystems", "workers"})
    ->Args({2, 1})
    ->Args({10, 1})
    ->Args({100, 1})
    ->Args({1000, 1})
    ->Args({10000, 1})
    ->Args({2, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// 100 subsystems of about 50 us work each.
void macro_step_working(benchmark::State& state) {
    running_chain chain(100, static_cast<int>(state.range(0)), working);
    for (auto _ : state) chain.run(40);
    report(state, 40);
    state.counters["subsystem_us"] = 1e6 * chain.subsystems().cost(subsystem_index(0)).seconds_per_step;
}
BENCHMARK(macro_step_working)->ArgName("workers")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

/// A scenario of 10000 subsystems and 9999 connections, read and checked; memory per subsystem of the assembled system.
void read_and_check_10000(benchmark::State& state) {
    const std::string text = chain_scenario(10000, trivial);
    for (auto _ : state) benchmark::DoNotOptimize(check(read_scenario_text(text, "chain")));
}
BENCHMARK(read_and_check_10000)->Unit(benchmark::kMillisecond)->UseRealTime();

long resident_kib() {
    std::ifstream status("/proc/self/statm");
    long total = 0, resident = 0;
    status >> total >> resident;
    return resident * ::sysconf(_SC_PAGESIZE) / 1024;
}

void memory_per_subsystem(benchmark::State& state) {
    for (auto _ : state) {
        ::malloc_trim(0);
        const long before = resident_kib();
        running_chain chain(10000, 1, trivial);
        ::malloc_trim(0);
        state.counters["KiB_per_subsystem"] = static_cast<double>(resident_kib() - before) / 10000;
    }
}
BENCHMARK(memory_per_subsystem)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
