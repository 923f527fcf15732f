// What a macro step with FMUs costs (FMI 2.0 co-simulation, nothing recorded), beside a loop of bare C calls over the same FMUs in
// the same run. See docs/performance.md.
//   bench_fmu [ROUNDS]
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>

#include "../tests/fmus/bare.hpp"
#include "engine/assembly.hpp"
#include "engine/engine.hpp"
#include "master/macro_loop.hpp"

namespace {

using namespace mdpcosim;
using test::bare_fmi2;

constexpr double H = 1e-3;

std::string fmu(const char* name) { return fmt::format("'{}/fmus/{}-2.fmu'", MDPCOSIM_BINARY_DIR, name); }

/// A scenario ready to run; round after round it goes on where it was.
class running {
   public:
    running(const std::string& subsystems, const std::string& signals, int workers)
        : scenario_(read_scenario_text(
              fmt::format("time: {{end: 1 s, step: {} s}}\nsubsystems:\n{}signals:\n{}", H, subsystems, signals),
              "bench")),
          assembly_(assemble(scenario_, workers)),
          method_(make_method(scenario_)) {
        assembly_.system.initialise(0);
    }

    void run(int steps) {
        loop_result result;
        const double begin = time_;
        time_ = begin + steps * H;
        run_macro_loop(assembly_.system, *method_, time_grid(begin, time_, H),
                       {nullptr, std::nullopt, nullptr, nullptr, nullptr}, result);
        if (result.steps != steps) std::abort();
    }

   private:
    scenario scenario_;
    assembly assembly_;
    std::unique_ptr<method> method_;
    double time_ = 0;
};

/// The least time of one macro step, in us, of each, in turns, so that all meet the same machine.
std::vector<double> least(const std::vector<std::function<void(int)>>& runs, int steps, int rounds) {
    std::vector<double> best(runs.size(), 1e300);
    for (int round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < runs.size(); ++i) {
            const auto begin = std::chrono::steady_clock::now();
            runs[i](steps);
            const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            best[i] = std::min(best[i], 1e6 * seconds / steps);
        }
    return best;
}

/// A decay and n FMUs that pass its output on, by their C functions: set, step, get, one after the other.
class bare_chain {
   public:
    bare_chain(const char* link, unsigned input, unsigned output, int n) : input_(input), output_(output) {
        source_.initialise();
        for (int i = 0; i < n; ++i) links_.push_back(std::make_unique<bare_fmi2>(link));
        for (auto& each : links_) each->initialise();
    }

    void run(int steps) {
        constexpr unsigned x = 2;
        for (int k = 0; k < steps; ++k) {
            const double t = static_cast<double>(n_++) * H;
            source_.step(t, H);
            double value = source_.get(x);
            for (auto& each : links_) {
                each->set(input_, value);
                each->step(t, H);
                value = each->get(output_);
            }
        }
    }

   private:
    bare_fmi2 source_{"decay"};
    std::vector<std::unique_ptr<bare_fmi2>> links_;
    unsigned input_, output_;
    std::int64_t n_ = 0;
};

std::unique_ptr<running> chain(const char* link, const char* input, const char* output, int n, int workers) {
    std::string subsystems = fmt::format("  source: {{fmu: {}}}\n", fmu("decay")), signals;
    for (int i = 0; i < n; ++i) {
        subsystems += fmt::format("  f{}: {{fmu: {}}}\n", i, fmu(link));
        signals += i == 0 ? fmt::format("  - source.x -> f0.{}\n", input)
                          : fmt::format("  - f{}.{} -> f{}.{}\n", i - 1, output, i, input);
    }
    return std::make_unique<running>(subsystems, signals, workers);
}

void print(const std::string& system, double ours, double bare) {
    fmt::print("| {} | {:.3f} | {:.3f} | {:.2f} |\n", system, ours, bare, ours / bare);
    std::fflush(stdout);
}

void compare_chains(int rounds) {
    fmt::print("| system, one worker | ours us | bare us | ratio |\n|---|---|---|---|\n");
    for (const int n : {1, 10, 100, 1000}) {
        const auto ours = chain("relay", "u[1]", "y[1]", n, 1);
        bare_chain bare("relay", 1, 2, n);
        const auto us = least({[&](int steps) { ours->run(steps); }, [&](int steps) { bare.run(steps); }},
                              std::max(200, 100000 / n), rounds);
        print(n == 1 ? "pair: decay -> relay" : fmt::format("chain of {} relays", n), us[0], us[1]);
    }
    const auto ours = chain("feedthrough", "u", "y", 1, 1);
    bare_chain bare("feedthrough", 2, 3, 1);
    const auto us = least({[&](int steps) { ours->run(steps); }, [&](int steps) { bare.run(steps); }}, 100000, rounds);
    print("pair: decay -> feedthrough of four types", us[0], us[1]);
}

void compare_wide(int rounds) {
    running ours(fmt::format("  source: {{fmu: {}}}\n  w: {{fmu: {}}}\n", fmu("decay"), fmu("wide")),
                 "  - source.x -> w.u[1]\n", 1);
    constexpr int n = 1000;
    bare_fmi2 source("decay"), wide("wide");
    source.initialise();
    wide.initialise();
    std::vector<unsigned> inputs, outputs;
    for (unsigned i = 1; i <= n; ++i) inputs.push_back(i), outputs.push_back(n + i);
    std::vector<double> u(n), y(n);
    std::int64_t k = 0;
    const auto bare = [&](int steps) {
        for (int i = 0; i < steps; ++i) {
            const double t = static_cast<double>(k++) * H;
            source.step(t, H);
            u[0] = source.get(2);
            wide.call.SetReal(wide.instance, inputs.data(), n, u.data());
            wide.step(t, H);
            wide.call.GetReal(wide.instance, outputs.data(), n, y.data());
        }
    };
    const auto us = least({[&](int steps) { ours.run(steps); }, bare}, 2000, rounds);
    print("wide: 1000 inputs and outputs", us[0], us[1]);
}

void compare_workers(int rounds) {
    fmt::print("\n| system | 1 worker us | 2 workers us | ratio |\n|---|---|---|---|\n");
    const auto oscillators = [](int workers) {
        std::string subsystems, signals;
        for (int i = 0; i < 50; ++i) {
            subsystems += fmt::format("  o{}: {{fmu: {}, set: {{work: 400}}}}\n", i, fmu("busy-oscillator"));
            signals += fmt::format("  - 1 N/m*o{}.position -> o{}.force\n", i, (i + 1) % 50);
        }
        return std::make_unique<running>(subsystems, signals, workers);
    };
    const auto one = oscillators(1), two = oscillators(2);
    const auto us = least({[&](int steps) { one->run(steps); }, [&](int steps) { two->run(steps); }}, 2000, rounds);
    fmt::print("| 50 busy oscillators in a ring | {:.1f} | {:.1f} | {:.2f} |\n", us[0], us[1], us[1] / us[0]);
    const auto alone = chain("relay", "u[1]", "y[1]", 1, 1), shared = chain("relay", "u[1]", "y[1]", 1, 2);
    const auto pair =
        least({[&](int steps) { alone->run(steps); }, [&](int steps) { shared->run(steps); }}, 100000, rounds);
    fmt::print("| pair: decay -> relay | {:.3f} | {:.3f} | {:.2f} |\n", pair[0], pair[1], pair[1] / pair[0]);
}

void load_huge() {
    const auto begin = std::chrono::steady_clock::now();
    check(read_scenario_text(
        fmt::format("time: {{end: 1 s, step: 1 ms}}\nsubsystems:\n  h: {{fmu: {}}}\n", fmu("huge")), "bench"));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    fmt::print("huge: 100000 variables loaded and checked in {:.2f} s, at most {:.0f} MiB in use\n\n", seconds,
               static_cast<double>(used.ru_maxrss) / 1024);
}

}  // namespace

int main(int count, char** arguments) {
    const int rounds = count > 1 ? std::atoi(arguments[1]) : 10;
    if (rounds < 1) {
        fmt::print(stderr, "usage: bench_fmu [ROUNDS]\n");
        return 2;
    }
    try {
        load_huge();  // first: memory is measured by its peak
        compare_chains(rounds);
        compare_wide(rounds);
        compare_workers(rounds);
    } catch (const std::exception& problem) {
        fmt::print(stderr, "bench_fmu: {}\n", problem.what());
        return 1;
    }
    return 0;
}
