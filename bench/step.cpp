// Cost of one macro step: trivially cheap subsystems (free masses, explicit Euler) in a chain of springs, lin-2-3-opt, recording
// every 100th step. What solvers add to that, beside plain loops. See docs/performance.md.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "results/csv.hpp"
#include "scenario/read.hpp"
#include "simulation/check.hpp"
#include "simulation/row_recorder.hpp"
#include "subsystem/factory.hpp"
#include "subsystem/model.hpp"
#include "subsystem/solvers/erk_pairs.hpp"
#include "transport/threads.hpp"

namespace {

using namespace mdpcosim;

constexpr double step = 1e-3;

struct coupled_by {
    std::string method = "explicit", law = "spring, stiffness: 100 N/m", extrapolation = "lin-2-3-opt";
    double displacement = 1e-3;  ///< at the start, of every seventh mass
};

std::string chain_scenario(int subsystems, const std::string& model, const coupled_by& how = {}) {
    std::string text = fmt::format("time: {{end: 1 s, step: {} s}}\nmethod: {}\nextrapolation: {}\nsubsystems:\n", step,
                                   how.method, how.extrapolation);
    for (int i = 0; i < subsystems; ++i)
        text += fmt::format("  m{}: {{model: {}, x0: {} m}}}}\n", i, model, how.displacement * (i % 7));
    if (subsystems > 1) text += "connections:\n";
    for (int i = 0; i + 1 < subsystems; ++i)
        text += fmt::format("  c{}: {{law: {}, between: [m{}.mass, m{}.mass]}}\n", i, how.law, i, i + 1);
    return text;
}

/// A chain ready to run, with a recorder into a temporary file.
class running_chain {
   public:
    enum looked_at { by_nobody, by_monitors, by_all };

    running_chain(int subsystems, int workers, const std::string& model, const coupled_by& how = {})
        : file_(std::filesystem::temp_directory_path() / fmt::format("mdpcosim_bench_{}.csv", ::getpid())) {
        scenario s = read_scenario_text(chain_scenario(subsystems, model, how), "chain");
        s.time.end = 1e9 * step;  // as many steps as are asked for
        for (const looked_at by : {by_nobody, by_monitors, by_all}) {
            simulation& made = runs_.emplace_back(
                s, simulation_options{.workers = workers, .watch = by != by_nobody, .writable = false});
            if (by == by_all) {
                rows_.emplace(made.parts().columns, make_csv_sink(file_, made.parts().columns));
                recorded_.emplace(*rows_, time_grid(0, s.time.end, step), 100 * step);
                made.add(*recorded_);
            }
            made.initialise();
            run(200, by);
        }
    }
    ~running_chain() { std::filesystem::remove(file_); }

    void run(int steps, looked_at by = by_all) {
        simulation& all = runs_[by];
        for (int n = 0; n < steps; ++n) all.step();
    }

    const transport& subsystems() { return *runs_[by_all].parts().system.subsystems; }

   private:
    std::filesystem::path file_;
    std::vector<simulation> runs_;
    std::optional<recorder> rows_;
    std::optional<row_recorder> recorded_;
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
    ->Unit(benchmark::kMillisecond);
BENCHMARK(macro_step_trivial)
    ->ArgNames({"subsystems", "workers"})
    ->Args({2, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// CPU time of several, taken in turns; the smallest of each counts.
template <class... Work>
std::array<double, sizeof...(Work)> in_turns(benchmark::State& state, const Work&... work) {
    std::array<double, sizeof...(Work)> least;
    least.fill(1e9);
    for (auto _ : state) {
        std::size_t k = 0;
        const auto measure = [&](const auto& one) {
            const double begin = cpu_seconds();
            one();
            least[k] = std::min(least[k], cpu_seconds() - begin);
            ++k;
        };
        (measure(work), ...);
    }
    return least;
}

/// What monitors and recorder (a row each 100 macro steps) cost per trivial subsystem and macro step.
void looking_on(benchmark::State& state) {
    const int n = static_cast<int>(state.range(0)), steps = std::max(200, 200000 / n);
    running_chain chain(n, 1, trivial);
    const auto [nobody, monitors, all] = in_turns(
        state, [&] { chain.run(steps, running_chain::by_nobody); },
        [&] { chain.run(steps, running_chain::by_monitors); }, [&] { chain.run(steps, running_chain::by_all); });
    const double per = 1e9 / (static_cast<double>(steps) * n);
    state.counters["without_ns"] = nobody * per;
    state.counters["monitors_ns"] = (monitors - nobody) * per;
    state.counters["recorder_ns"] = (all - monitors) * per;
}
BENCHMARK(looking_on)->ArgName("subsystems")->Arg(100)->Arg(1000)->Arg(10000)->Iterations(100);

/// What the method one-pass costs per macro step, over the explicit method; all couplings are too stiff for the step. The
/// masses are at rest: Euler's method over a whole macro step is too coarse to move on stiff springs.
void one_pass(benchmark::State& state) {
    const int n = static_cast<int>(state.range(0)), steps = std::max(200, 200000 / n);
    running_chain implicit(n, 1, trivial,
                           {.method = "one-pass", .law = "spring, stiffness: 1e6 N/m", .displacement = 0}),
        plain(n, 1, trivial, {.displacement = 0});
    const auto [with, without] = in_turns(
        state, [&] { implicit.run(steps); }, [&] { plain.run(steps); });
    const double per = 1e9 / (static_cast<double>(steps) * n);
    state.counters["one_pass_ns"] = with * per;
    state.counters["explicit_ns"] = without * per;
    state.counters["ratio"] = with / without;
}
BENCHMARK(one_pass)->ArgName("subsystems")->Arg(2)->Arg(10)->Arg(100)->Arg(1000)->Iterations(100);

/// What rates of a damped law, from accelerations, cost per macro step of the explicit method, over a rule of as many points without.
void rates_of_dampers(benchmark::State& state) {
    const int n = static_cast<int>(state.range(0)), steps = std::max(200, 200000 / n);
    const std::string law = "spring-damper, stiffness: 100 N/m, damping: 1 N.s/m";
    running_chain rates(n, 1, trivial, {.law = law}), plain(n, 1, trivial, {.law = law, .extrapolation = "poly-2"});
    const auto [with, without] = in_turns(
        state, [&] { rates.run(steps); }, [&] { plain.run(steps); });
    const double per = 1e9 / (static_cast<double>(steps) * n);
    state.counters["with_ns"] = with * per;
    state.counters["without_ns"] = without * per;
    state.counters["ratio"] = with / without;
}
BENCHMARK(rates_of_dampers)->ArgName("subsystems")->Arg(2)->Arg(100)->Arg(1000)->Iterations(100);

constexpr std::array solvers{"euler", "rk4",    "erk-2",  "erk-3",       "erk-4",     "erk-5", "erk-6",
                             "erk-8", "dirk-2", "dirk-4", "cvode-adams", "cvode-bdf", "ida"};

/// Chain of 100 mass-spring-dampers, one micro step per macro step.
void two_states(benchmark::State& state) {
    const std::string name = solvers[static_cast<std::size_t>(state.range(0))];
    running_chain chain(100, 1, "mass-spring-damper, solver: " + name + ", set: {mass: 1 kg, stiffness: 100 N/m");
    const auto [all] = in_turns(state, [&] { chain.run(500, running_chain::by_nobody); });
    state.SetLabel(name);
    state.counters["ns"] = all * 1e9 / (500.0 * 100);
}
BENCHMARK(two_states)->ArgName("solver")->DenseRange(0, solvers.size() - 1)->Iterations(20);

/// Dormand and Prince as anybody would write it down, without error estimate, step control and events.
class plain_loop {
   public:
    explicit plain_loop(const equations& model)
        : model_(model),
          n_(static_cast<std::size_t>(model.state_count())),
          x_(n_),
          z_(n_),
          k_(7, std::vector<double>(n_)) {
        model.initial_state(0, x_.data());
    }
    void step(double t, double h, const double* u) {
        constexpr auto& a = dormand_prince.a;
        const double *x = x_.data(), *k0 = k_[0].data(), *k1 = k_[1].data(), *k2 = k_[2].data(), *k3 = k_[3].data(),
                     *k4 = k_[4].data(), *k5 = k_[5].data();
        double* z = z_.data();
        const auto stage = [&](std::size_t s, const auto& increment) {
            for (std::size_t i = 0; i < n_; ++i) z[i] = x[i] + h * increment(i);
            model_.derivatives(t + dormand_prince.c[s] * h, z, u, k_[s].data());
        };
        model_.derivatives(t, x, u, k_[0].data());
        stage(1, [&](std::size_t i) { return a[1][0] * k0[i]; });
        stage(2, [&](std::size_t i) { return a[2][0] * k0[i] + a[2][1] * k1[i]; });
        stage(3, [&](std::size_t i) { return a[3][0] * k0[i] + a[3][1] * k1[i] + a[3][2] * k2[i]; });
        stage(4, [&](std::size_t i) { return a[4][0] * k0[i] + a[4][1] * k1[i] + a[4][2] * k2[i] + a[4][3] * k3[i]; });
        stage(5, [&](std::size_t i) {
            return a[5][0] * k0[i] + a[5][1] * k1[i] + a[5][2] * k2[i] + a[5][3] * k3[i] + a[5][4] * k4[i];
        });
        stage(6, [&](std::size_t i) {
            return a[6][0] * k0[i] + a[6][2] * k2[i] + a[6][3] * k3[i] + a[6][4] * k4[i] + a[6][5] * k5[i];
        });
        std::swap(x_, z_);
    }

   private:
    const equations& model_;
    std::size_t n_;
    std::vector<double> x_, z_;
    std::vector<std::vector<double>> k_;
};

/// erk-5 on a chain of masses against that loop, and against the evaluations alone: micro seconds per evaluation of the right-hand side.
void many_states(benchmark::State& state) {
    const int n = static_cast<int>(state.range(0)) / 2;
    const model_info* chain = model_registry::instance().find("chain");
    parameter_values values(chain->parameters);
    values.set("n", {static_cast<double>(n)});
    values.set("v-amplitude", {0.1});
    const auto model = chain->make(values), same = chain->make(values);
    const auto integrator = solver_registry::instance().find("erk-5")->make(
        parameter_values(solver_registry::instance().find("erk-5")->options));
    std::vector<double> x(static_cast<std::size_t>(2 * n)), dx(x.size());
    model->initial_state(0, x.data());
    integrator->initialise(*model, 0, x);
    plain_loop plain(*same);
    const std::array<polynomial, 2> inputs{};
    const std::array<double, 2> u{};
    const int steps = std::max(10, 20000 / n);
    const double h = 1e-3;
    int at = 0, plain_at = 0;
    const auto [with, without, bare] = in_turns(
        state,
        [&] {
            for (int i = 0; i < steps; ++i, ++at) integrator->integrate(at * h, (at + 1) * h, inputs, x);
        },
        [&] {
            for (int i = 0; i < steps; ++i, ++plain_at) plain.step(plain_at * h, h, u.data());
        },
        [&] {
            for (int i = 0; i < 7 * steps; ++i) {
                same->derivatives(0, x.data(), u.data(), dx.data());
                benchmark::DoNotOptimize(dx.data());
            }
        });
    const auto statistics = integrator->statistics();
    const double micro_steps = static_cast<double>(statistics.micro_steps) / at;
    const double per = 1e6 / (7.0 * steps);
    state.counters["micro_steps"] = micro_steps;
    state.counters["erk5_us"] = with * per;
    state.counters["loop_us"] = without * per;
    state.counters["model_us"] = bare * per;
    state.counters["ratio"] = with / without;
}
BENCHMARK(many_states)->ArgName("states")->Arg(2)->Arg(10)->Arg(100)->Arg(618)->Arg(15500)->Iterations(50);

/// What the sampled times behind profile.json cost: the same subsystems advanced with and without them.
void profile(benchmark::State& state) {
    const int n = static_cast<int>(state.range(0)), steps = 1000000 / n;
    const scenario s = read_scenario_text(chain_scenario(n, trivial), "chain");
    const auto make = [&](bool timed) {
        std::vector<named_subsystem> subsystems;
        for (const auto& spec : s.subsystems) subsystems.push_back({spec.name, make_subsystem(spec)});
        auto made = make_thread_transport(std::move(subsystems), 1, timed);
        made->initialise(0);
        return made;
    };
    const auto plain = make(false), timed = make(true);
    std::int64_t at = 0;
    const auto advance = [&](transport& t) {
        for (std::int64_t k = at; k < at + steps; ++k)
            t.advance({static_cast<double>(k) * step, static_cast<double>(k + 1) * step, k});
    };
    const auto [with, without] = in_turns(
        state, [&] { advance(*timed); },
        [&] {
            advance(*plain);
            at += steps;
        });
    state.counters["with_ns"] = with * 1e9 / (static_cast<double>(steps) * n);
    state.counters["without_ns"] = without * 1e9 / (static_cast<double>(steps) * n);
    state.counters["share_percent"] = 100 * (with - without) / without;
}
BENCHMARK(profile)->ArgName("subsystems")->Arg(2)->Iterations(100);

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
