// One macro step with one trivial subsystem elsewhere, beside the bare ping-pong of the same medium, in turn in one run: what the
// transport adds; and an external program beside the same in a process of ours. A medium more is a line in media(). See docs/transports.md
// and docs/programs.md.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <vector>

#include "echo.hpp"
#include "remote/host_program.hpp"
#include "remote/program_group.hpp"
#include "transport/affinity.hpp"
#include "transport/ping_pong.hpp"
#include "transport/processes.hpp"
#include "transport/tcp.hpp"
#include "transport/threads.hpp"

namespace {

using namespace mdpcosim;
using clock = std::chrono::steady_clock;

rounds macro_steps(std::shared_ptr<transport> t) {
    t->initialise(0);
    t->evaluate(subsystem_index(0), std::vector<double>{0});
    return [t, n = std::int64_t{0}](int count) mutable {
        for (int i = 0; i < count; ++i, ++n) {
            t->inputs()[0].degree = 1;
            t->inputs()[0].c = {static_cast<double>(n), 1};
            t->advance({static_cast<double>(n), static_cast<double>(n + 1), n});
            if (t->outputs()[0] != static_cast<double>(n)) std::abort();
        }
    };
}

const maker_registration echo_maker{{"echo", [](const std::string&) { return std::make_unique<bench::echo>(); }}};

std::vector<subsystem_recipe> one_echo() { return {{"echo", {"echo", {}}}}; }

/// The same as a program that the master starts.
std::vector<subsystem_recipe> one_program() {
    subsystem_spec spec;
    spec.name = "echo";
    spec.kind = subsystem_spec::source_kind::program;
    spec.program = {{ECHO_PROGRAM}, "."};
    subsystem_recipe recipe{"echo", {}};
    recipe.program = std::make_shared<program_launcher>(spec);
    return {recipe};
}

struct medium {
    std::string name;
    std::vector<std::pair<std::string, std::function<rounds()>>> bare;  ///< ways to wait
    std::function<std::unique_ptr<transport>()> make;
};

std::vector<medium> media() {
    return {{"processes", {{"mailboxes", memory_ping_pong}}, [] { return make_process_transport(one_echo()); }},
            {"tcp",
             {{"looking", [] { return tcp_ping_pong(true); }}, {"sleeping", [] { return tcp_ping_pong(false); }}},
             [] { return make_tcp_transport(one_echo()); }},
            {"program",
             {{"a host", [] { return macro_steps(make_process_transport(one_echo())); }}},
             [] { return make_process_transport(one_program()); }},
            {"program/tcp", {{"a host", [] { return macro_steps(make_tcp_transport(one_echo())); }}}, [] {
                 return make_tcp_transport(one_program());
             }}};
}

double seconds_per_round(const rounds& what, int count) {
    const auto begin = clock::now();
    what(count);
    return std::chrono::duration<double>(clock::now() - begin).count() / count;
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

void measure(const medium& m, const std::string& way, const rounds& bare, const rounds& steps) {
    constexpr double block = 0.02;  // s
    constexpr int blocks = 51;
    const auto fitting = [](const rounds& what) {
        return std::max(10, static_cast<int>(block / seconds_per_round(what, 200)));
    };
    const int bare_count = fitting(bare), step_count = fitting(steps);
    std::vector<double> bare_times, step_times, ratios;
    for (int i = 0; i < blocks; ++i) {
        bare_times.push_back(seconds_per_round(bare, bare_count));
        step_times.push_back(seconds_per_round(steps, step_count));
        ratios.push_back(step_times.back() / bare_times.back());
    }
    fmt::print("{:<12} {:<12} {:>12.2f} {:>12.2f} {:>8.2f}\n", m.name, way, 1e6 * median(bare_times),
               1e6 * median(step_times), median(ratios));
}

/// Work as a number of operations: cores that are shared must take longer.
class busy final : public subsystem {
   public:
    explicit busy(int turns) : turns_(turns) {
        description_.type = "busy";
        output_variable y;
        y.name = "y";
        description_.outputs.push_back(y);
    }
    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override { return {}; }
    void initialise(double) override {}
    void outputs(std::span<const double>, std::span<double> y) override { y[0] = value_; }
    void advance(const macro_step&, std::span<const polynomial>, std::span<double> y) override {
        for (int i = 0; i < turns_; ++i) value_ = 0.5 * value_ + 1;
        y[0] = value_;
    }

   private:
    subsystem_description description_;
    int turns_;
    volatile double value_ = 1;
};

/// Operations that take so long on a core of its own.
int turns_of(double seconds) {
    constexpr int some = 1'000'000;
    std::vector<double> y(1), times;
    busy model(some);
    for (int i = 0; i < 9; ++i) times.push_back(seconds_per_round([&](int) { model.advance({}, {}, y); }, 1));
    return static_cast<int>(some * seconds / median(times));
}

const maker_registration busy_maker{
    {"busy", [](const std::string& turns) { return std::make_unique<busy>(std::stoi(turns)); }}};

std::vector<subsystem_recipe> many_busy(int count, int turns) {
    std::vector<subsystem_recipe> all;
    for (int i = 0; i < count; ++i) all.push_back({"s" + std::to_string(i), {"busy", std::to_string(turns)}});
    return all;
}

rounds plain_steps(std::shared_ptr<transport> t) {
    t->initialise(0);
    return [t, n = std::int64_t{0}](int count) mutable {
        for (int i = 0; i < count; ++i, ++n) t->advance({static_cast<double>(n), static_cast<double>(n + 1), n});
    };
}

void measure_processes() {
    const auto begin = clock::now();
    { const auto started = make_process_transport(many_busy(100, 0)); }
    fmt::print("\nstart and end of 100 processes: {:.0f} ms\n",
               1e3 * std::chrono::duration<double>(clock::now() - begin).count());
    for (const bool bind : {false, true}) {
        const auto steps = plain_steps(make_process_transport(many_busy(2, 0), {}, {.automatic = bind}));
        std::vector<double> two;
        for (int i = 0; i < 2001; ++i) two.push_back(seconds_per_round(steps, 20));
        fmt::print("master and two trivial processes, {}: {:.2f} us per macro step, best of {} batches {:.2f} us\n",
                   bind ? "bound" : "free", 1e6 * median(two), two.size(), 1e6 * *std::ranges::min_element(two));
    }
    std::vector<double> one_core, all_cores, free, ratios, gains;
    const int turns = turns_of(50e-6);
    for (int i = 0; i < 5; ++i) {
        {
            const bound_thread here(processing_units()[0]);
            one_core.push_back(seconds_per_round(plain_steps(make_process_transport(many_busy(100, turns))), 50));
        }
        all_cores.push_back(
            seconds_per_round(plain_steps(make_process_transport(many_busy(100, turns), {}, {.automatic = true})), 50));
        free.push_back(seconds_per_round(plain_steps(make_process_transport(many_busy(100, turns))), 50));
        ratios.push_back(one_core.back() / all_cores.back());
        gains.push_back(free.back() / all_cores.back());
    }
    fmt::print("100 processes of 50 us: {:.2f} ms on one core, {:.2f} ms on {}: {:.2f} times as fast\n",
               1e3 * median(one_core), 1e3 * median(all_cores), available_cores(), median(ratios));
    fmt::print("  left to the system: {:.2f} ms; binding by cost makes it {:.2f} times as fast\n", 1e3 * median(free),
               median(gains));
}

/// Threads that are bound beside threads that are not, in turn.
void measure_threads() {
    const int turns = turns_of(50e-6);
    const auto made = [&](bool bind) {
        std::vector<named_subsystem> all;
        for (int i = 0; i < 100; ++i) all.push_back({"s" + std::to_string(i), std::make_unique<busy>(turns)});
        return seconds_per_round(plain_steps(make_thread_transport(std::move(all), 0, true, {.automatic = bind})), 50);
    };
    std::vector<double> bound, free, gains;
    for (int i = 0; i < 11; ++i) {
        bound.push_back(made(true));
        free.push_back(made(false));
        gains.push_back(free.back() / bound.back());
    }
    fmt::print(
        "100 subsystems of 50 us on threads: bound {:.2f} ms, free {:.2f} ms; binding makes it {:.2f} times as fast\n",
        1e3 * median(bound), 1e3 * median(free), median(gains));
}

}  // namespace

int main(int count, char** arguments) {
    live_as_host(count, arguments);  // of its own subsystems
    use_host_program("/proc/self/exe");
    fmt::print("{:<12} {:<12} {:>12} {:>12} {:>8}\n", "transport", "bare waits", "bare [us]", "step [us]", "ratio");
    for (const auto& m : media())
        for (const auto& [way, make] : m.bare) {
            const rounds bare = make();
            const rounds steps = macro_steps(m.make());
            measure(m, way, bare, steps);
        }
    measure_processes();
    measure_threads();
}
