#include "benchmark/transport.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "core/json.hpp"
#include "remote/child_process.hpp"
#include "simulation/run.hpp"
#include "transport/affinity.hpp"
#include "transport/mpi/launch.hpp"
#include "transport/mpi/library.hpp"
#include "transport/mpi/ranks.hpp"
#include "transport/ping_pong.hpp"

namespace mdpcosim {

namespace {

namespace fs = std::filesystem;

/// A folder for the runs, gone in the end.
class scratch {
   public:
    scratch() {
        std::string name = (fs::temp_directory_path() / "mdpcosim-bench-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw run_error("no temporary folder for the runs of a benchmark");
        path_ = name;
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    const fs::path& path() const { return path_; }

   private:
    fs::path path_;
};

/// The two-mass oscillator; micro steps of 1 us make a large macro step work and a small one communication.
constexpr const char* two_mass = R"(time: {{end: {} s, step: {} s}}
subsystems:
  A: {{model: mass-spring-damper, solver: {{name: rk4, step: 1 us}}, set: {{mass: 1 kg, stiffness: 100 N/m, damping: 0 N.s/m, x0: 10 mm}}}}
  B: {{model: mass-spring-damper, solver: {{name: rk4, step: 1 us}}, set: {{mass: 1 kg, stiffness: 100 N/m, damping: 0 N.s/m}}}}
connections:
  spring: {{law: spring, between: [A.mass, B.mass], stiffness: 1 kN/m}}
record: {{every: {} s, only: [spring.u]}}
)";

constexpr int chain_length = 100;

std::string chain_scenario() {
    std::string text = "time: {end: 2 s, step: 1 ms}\nsubsystems:\n";
    std::string signals = "signals:\n";
    text += "  s0: {model: source, set: {kind: sine, frequency: 1 Hz, amplitude: 0.9}}\n";
    for (int i = 1; i <= chain_length; ++i) {
        text += fmt::format("  s{}: {{model: saturation}}\n", i);
        signals += fmt::format("  - s{}.y -> s{}.u\n", i - 1, i);
    }
    return text + signals + "record: {only: [s0.y]}\n";
}

/// What a run tells; nothing where it is not possible here.
std::optional<json> summary_of_run(const std::string& program, const fs::path& folder, const std::string& transport,
                                   const std::vector<std::string>& more) {
    std::vector<std::string> command{program,   "run",   (folder / "s.yaml").string(), "--transport",
                                     transport, "--out", (folder / "out").string(),    "--quiet"};
    if (transport == "mpi") command.insert(command.end(), {"--hosts", "localhost:2"});
    command.insert(command.end(), more.begin(), more.end());
    child_process run({command, {}, {}, {}});
    run.wait();
    std::ifstream file(folder / "out" / "summary.json");
    if (!run.succeeded() || !file) return {};
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return json::parse_if_valid(text);
}

double seconds_per_step(const json& summary) {
    return summary.at("wall_seconds").get<double>() / summary.at("macro_steps").get<double>();
}

/// Seconds of one macro step.
std::optional<double> run_once(const std::string& program, const fs::path& folder, const std::string& transport,
                               int cpus) {
    // What is started inherits the binding.
    const bound_thread one(cpus == 1 ? processing_units()[0] : -1);
    const auto summary = summary_of_run(program, folder, transport, {});
    return summary ? std::optional(seconds_per_step(*summary)) : std::nullopt;
}

std::vector<chain_timing> bench_chain(const std::string& program, const fs::path& folder, int runs,
                                      const std::function<void(const std::string&)>& told) {
    std::ofstream(folder / "s.yaml") << chain_scenario();
    std::vector<chain_timing> all;
    for (const char* transport : {"threads", "processes", "tcp"})
        for (const int workers : {1, 2}) {
            told(fmt::format("{}: chain of {}, {} worker{}", transport, chain_length, workers, workers > 1 ? "s" : ""));
            chain_timing best{transport, workers, 0, 0};
            for (int i = 0; i < runs; ++i) {
                const auto summary = summary_of_run(program, folder, transport, {"--workers", std::to_string(workers)});
                if (!summary) break;
                const double step = seconds_per_step(*summary), start = summary->at("setup_seconds").get<double>();
                best.step = best.step == 0 ? step : std::min(best.step, step);
                best.start = best.start == 0 ? start : std::min(best.start, start);
            }
            if (best.step > 0) all.push_back(best);
        }
    return all;
}

/// The best of some runs: the one that others disturbed least.
std::optional<double> best_run(const std::string& program, const fs::path& folder, const std::string& transport,
                               int cpus, int runs) {
    std::optional<double> best;
    for (int i = 0; i < runs; ++i) {
        const auto found = run_once(program, folder, transport, cpus);
        if (!found) return best;
        best = std::min(best.value_or(*found), *found);
    }
    return best;
}

double best_round(const rounds& trip) {
    using clock = std::chrono::steady_clock;
    double best = 0;
    for (int block = 0; block < 20; ++block) {
        constexpr int count = 500;
        const auto begin = clock::now();
        trip(count);
        const double seconds = std::chrono::duration<double>(clock::now() - begin).count() / count;
        best = block == 0 ? seconds : std::min(best, seconds);
    }
    return best;
}

bool has_mpi() {
    return std::ranges::any_of(mpi_implementations(), [](const auto& each) { return !mpi_module_file(each).empty(); });
}

std::optional<double> bare_round(const std::string& program, const fs::path& folder, const std::string& transport) {
    if (transport == "processes") return best_round(memory_ping_pong());
    if (transport == "tcp") return best_round(tcp_ping_pong(available_cores() > 1));
    if (transport != "mpi") return {};
    const std::atomic<int> interrupts{0};
    const fs::path file = folder / "round";
    double seconds = 0;
    if (launch_ranks({{program, "bench", "mpi-ping-pong", file.string()}, {}, {"a", "b"}}, interrupts) != 0) return {};
    return std::ifstream(file) >> seconds ? std::optional(seconds) : std::nullopt;
}

std::string cell(const std::optional<double>& seconds) { return seconds ? fmt::format("{:.2f}", 1e6 * *seconds) : "-"; }

}  // namespace

transport_timings bench_transports(const std::string& program, int runs,
                                   const std::function<void(const std::string&)>& told) {
    const scratch folder;
    std::vector<transport_timing> timings;
    for (const auto& name : transport_names()) {
        if (name == "mpi" && !has_mpi()) continue;
        timings.push_back({.transport = name});
        told(fmt::format("{}: round trip", name));
        timings.back().bare = bare_round(program, folder.path(), name);
    }
    const auto series = [&](const char* size, double end, double step, auto&& into) {
        std::ofstream(folder.path() / "s.yaml") << fmt::format(two_mass, end, step, end);
        for (auto& t : timings)
            for (int cpus = 1; cpus <= std::min(2, static_cast<int>(processing_units().size())); ++cpus) {
                told(fmt::format("{}: {} macro step, {} CPU{}", t.transport, size, cpus, cpus > 1 ? "s" : ""));
                into(t)[cpus - 1] = best_run(program, folder.path(), t.transport, cpus, runs);
            }
    };
    series("large", 1, 2e-3, [](transport_timing& t) { return t.large; });
    series("small", 0.02, 2e-6, [](transport_timing& t) { return t.small; });
    return {timings, bench_chain(program, folder.path(), runs, told)};
}

namespace {

std::string chain_table(const std::vector<chain_timing>& chain) {
    std::string out =
        fmt::format("\nChain of {} subsystems whose outputs follow their inputs at once\n\n", chain_length);
    out += fmt::format("  {:<10} {:>10} {:>16} {:>14}\n", "transport", "workers", "macro step [us]", "start [ms]");
    for (const chain_timing& c : chain)
        out +=
            fmt::format("  {:<10} {:>10} {:>16.2f} {:>14.1f}\n", c.transport, c.workers, 1e6 * c.step, 1e3 * c.start);
    return out;
}

}  // namespace

std::string to_table(const transport_timings& measured) {
    const std::vector<transport_timing>& timings = measured.two_masses;
    const auto reference = std::ranges::find(timings, "tcp", &transport_timing::transport);
    std::string out = "Two-mass system, time of one macro step [us] and speed-up against tcp on one CPU\n\n";
    out += fmt::format("  {:<10} {:>10}   {:>24}   {:>24}\n", "", "bare", "large (H = 2 ms)", "small (H = 2 us)");
    out += fmt::format("  {:<10} {:>10}   {:>12}{:>12}   {:>12}{:>12}\n", "transport", "round trip", "1 CPU", "2 CPUs",
                       "1 CPU", "2 CPUs");
    for (const auto& t : timings)
        out += fmt::format("  {:<10} {:>10}   {:>12}{:>12}   {:>12}{:>12}\n", t.transport, cell(t.bare),
                           cell(t.large[0]), cell(t.large[1]), cell(t.small[0]), cell(t.small[1]));
    if (reference == timings.end()) return out + chain_table(measured.chain);
    const auto times = [](const std::optional<double>& reference_time, const std::optional<double>& time) {
        return reference_time && time ? fmt::format("{:.2f}", *reference_time / *time) : std::string("-");
    };
    out += "\n  speed-up\n";
    for (const auto& t : timings)
        out += fmt::format("  {:<10} {:>10}   {:>12}{:>12}   {:>12}{:>12}\n", t.transport, "",
                           times(reference->large[0], t.large[0]), times(reference->large[0], t.large[1]),
                           times(reference->small[0], t.small[0]), times(reference->small[0], t.small[1]));
    return out + chain_table(measured.chain);
}

std::string to_json(const transport_timings& timings) {
    const auto number = [](const std::optional<double>& x) { return x ? json(*x) : json(nullptr); };
    json all = json::array();
    for (const auto& t : timings.two_masses)
        all.push_back({{"transport", t.transport},
                       {"bare_round_trip_seconds", number(t.bare)},
                       {"large_step_seconds", {number(t.large[0]), number(t.large[1])}},
                       {"small_step_seconds", {number(t.small[0]), number(t.small[1])}}});
    json chain = json::array();
    for (const chain_timing& c : timings.chain)
        chain.push_back(
            {{"transport", c.transport}, {"workers", c.workers}, {"step_seconds", c.step}, {"start_seconds", c.start}});
    return json{{"cpus", {1, 2}}, {"transports", all}, {"chain", chain}}.dump(2) + "\n";
}

int mpi_ping_pong(const std::string& file) {
    const auto told = told_by_launcher();
    if (!told) throw user_error("'bench mpi-ping-pong' is what 'bench transport' starts under mpiexec");
    const std::atomic<bool> hurry{false};
    mpi_ranks ranks(*told, hurry);
    double best = 0;
    constexpr int batches = 200, count = 50, there = 65, back = 12;
    for (int b = 0; b < batches; ++b) {
        double seconds = 0;
        if (ranks.module().ping_pong(count, there, back, &seconds) != 0) return 1;
        best = b == 0 ? seconds / count : std::min(best, seconds / count);
    }
    if (ranks.rank() == 0) {
        std::ofstream(file) << best;
        tell_launcher(0);
    }
    return 0;
}

}  // namespace mdpcosim
