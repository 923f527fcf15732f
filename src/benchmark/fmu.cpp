#include "benchmark/fmu.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>

#include "benchmark/bare_fmu.hpp"
#include "core/cpu_time.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/shared_library.hpp"
#include "core/text_table.hpp"
#include "fmi/archive.hpp"
#include "scenario/read.hpp"
#include "simulation/simulation.hpp"
#include "transport/affinity.hpp"

namespace mdpcosim {

namespace {

namespace fs = std::filesystem;
using bench_clock = std::chrono::steady_clock;

extern "C" void say_nothing(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...) {}

/// One that is measured: a macro step.
using one_step = std::function<void()>;

/// One worker's time is its processor time, which other programs hardly disturb.
double seconds_of(int workers) {
    if (workers == 1) return process_cpu_seconds();
    return std::chrono::duration<double>(bench_clock::now().time_since_epoch()).count();
}

/// Seconds per call, over about a tenth of a second.
double seconds_per_step(const one_step& step, int workers) {
    constexpr double wanted = 0.1;
    for (std::int64_t count = 16;; count *= 4) {
        const double begin = seconds_of(workers);
        for (std::int64_t n = 0; n < count; ++n) step();
        const double seconds = seconds_of(workers) - begin;
        if (seconds >= wanted) return seconds / static_cast<double>(count);
    }
}

fmu_timing::range range_of(std::vector<double> values) {
    std::ranges::sort(values);
    return {values.front(), values[values.size() / 2], values.back()};
}

/// A macro step of the scenario.
one_step coupled(const std::string& text, int workers) {
    scenario s = read_scenario_text(text, "bench fmu");
    s.time.end = 1e9 * fmu_step;  // as many steps as are asked for
    const auto all =
        std::make_shared<simulation>(s, simulation_options{.workers = workers, .watch = false, .writable = false});
    all->initialise();
    return [all] { all->step(); };
}

template <class Loop>
one_step bare(Loop loop, double (Loop::*step)(double, double)) {
    const auto all = std::make_shared<Loop>(std::move(loop));
    return [all, step, n = std::int64_t{0}]() mutable {
        ((*all).*step)(static_cast<double>(n) * fmu_step, fmu_step);
        ++n;
    };
}

bare_chain bare_chain_of(const fs::path& fmus, int length) {
    std::vector<bare_fmu> others;
    for (int i = 0; i < length; ++i) others.emplace_back(fmus / "feedthrough-2.fmu", 2, 3);
    return {bare_fmu(fmus / "decay-2.fmu", 0, 2), std::move(others)};
}

bare_ring bare_ring_of(const fs::path& fmus, int count, int work) {
    constexpr unsigned force = 1, x0 = 5, position = 7, work_reference = 10;
    const bare_starts starts{{{x0, 0.01}}, {{work_reference, work}}};
    std::vector<bare_fmu> all;
    for (int i = 0; i < count; ++i) all.emplace_back(fmus / "busy-oscillator-2.fmu", force, position, starts);
    return bare_ring(std::move(all));
}

std::string range_text(const fmu_timing::range& r, double unit, int digits) {
    return fmt::format("{:.{}g} to {:.{}g}", r.least * unit, digits, r.most * unit, digits);
}

json range_json(const fmu_timing::range& r) { return {{"least", r.least}, {"median", r.middle}, {"most", r.most}}; }

}  // namespace

bare_fmu::bare_fmu(const fs::path& archive, unsigned input_reference, unsigned output_reference,
                   const bare_starts& starts)
    : input(input_reference), output(output_reference) {
    // All instances of an FMU share its library, as they do in mdpcosim: code of a hundred copies would not fit the caches.
    static std::vector<std::shared_ptr<const fmi::fmu_files>> kept;
    const auto& files = kept.emplace_back(fmi::open_fmu(archive));
    const auto& about = files->description();
    if (!about.co_simulation) throw user_error(fmt::format("{}: the FMU has no co-simulation", archive.string()));
    void* library = ::dlopen(files->library(about.co_simulation->model_identifier).c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto load = [&](const char* function, auto& into) {
        into = library == nullptr
                   ? nullptr
                   : reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(library, function));
        if (into == nullptr) throw user_error(fmt::format("{}: {} cannot be loaded", archive.string(), function));
    };
    fmi2InstantiateTYPE* instantiate = nullptr;
    fmi2EnterInitializationModeTYPE* enter = nullptr;
    fmi2ExitInitializationModeTYPE* leave = nullptr;
    fmi2SetupExperimentTYPE* set_up = nullptr;
    fmi2SetIntegerTYPE* set_integer = nullptr;
    load("fmi2Instantiate", instantiate);
    load("fmi2SetupExperiment", set_up);
    load("fmi2EnterInitializationMode", enter);
    load("fmi2ExitInitializationMode", leave);
    load("fmi2SetInteger", set_integer);
    load("fmi2SetReal", set_real);
    load("fmi2GetReal", get_real);
    load("fmi2DoStep", do_step);
    static const fmi2CallbackFunctions callbacks{say_nothing, std::calloc, std::free, nullptr, nullptr};
    instance = instantiate("bare", fmi2CoSimulation, about.token.c_str(), "", &callbacks, 0, 0);
    if (instance == nullptr) throw user_error(fmt::format("{}: the FMU gives no instance", archive.string()));
    for (const auto& [reference, value] : starts.reals) set_real(instance, &reference, 1, &value);
    for (const auto& [reference, value] : starts.integers) set_integer(instance, &reference, 1, &value);
    set_up(instance, 0, 0, 0, 0, 0);
    enter(instance);
    leave(instance);
}

std::string fmu_chain(const fs::path& fmus, int length) {
    std::string text = fmt::format("time: {{end: 1 s, step: {} s}}\nsubsystems:\n  f0: {{fmu: '{}'}}\n", fmu_step,
                                   (fmus / "decay-2.fmu").string());
    std::string signals = "signals:\n  - f0.x -> f1.u\n";
    for (int i = 1; i <= length; ++i) {
        text += fmt::format("  f{}: {{fmu: '{}'}}\n", i, (fmus / "feedthrough-2.fmu").string());
        if (i > 1) signals += fmt::format("  - f{}.y -> f{}.u\n", i - 1, i);
    }
    return text + signals + "record: {only: [f0.x]}\n";
}

std::string fmu_ring(const fs::path& fmus, int count, int work) {
    std::string text = fmt::format("time: {{end: 1 s, step: {} s}}\nsubsystems:\n", fmu_step), signals = "signals:\n";
    for (int i = 0; i < count; ++i) {
        text += fmt::format("  o{}: {{fmu: '{}', set: {{work: {}, x0: 0.01}}}}\n", i,
                            (fmus / "busy-oscillator-2.fmu").string(), work);
        signals += fmt::format("  - 1 N/m*o{}.position -> o{}.force\n", i, (i + 1) % count);
    }
    return text + signals + "record: {only: [o0.position]}\n";
}

fs::path shipped_fmus(const std::string& given) {
    std::error_code unknown;
    std::vector<fs::path> places;
    if (!given.empty())
        places.emplace_back(given);
    else
        for (const fs::path& here : own_folders()) {
            places.push_back(here / "fmus");
            places.push_back(here / ".." / "share" / "mdpcosim" / "fmus");
        }
    for (const fs::path& place : places)
        if (fs::exists(place / "busy-oscillator-2.fmu", unknown)) return place.lexically_normal();
    std::string looked;
    for (const fs::path& place : places) looked += (looked.empty() ? "" : ", ") + place.lexically_normal().string();
    throw user_error(
        fmt::format("bench fmu: the shipped FMUs (busy-oscillator-2.fmu ...) are not there. Looked in: {}. "
                    "'make build' makes them; --fmus names another folder.",
                    looked));
}

std::vector<fmu_timing> bench_fmu(const fs::path& fmus, int repetitions,
                                  const std::function<void(const std::string&)>& told) {
    struct candidate {
        std::string name;
        int workers;
        one_step own, loop;
    };
    constexpr int pair = 2, chain = 100, longest_chain = 1000, ring = 50;
    std::vector<candidate> all;
    const auto add = [&](const std::string& name, int workers, const std::string& text, one_step loop) {
        told(name);
        all.push_back({name, workers, coupled(text, workers), std::move(loop)});
    };
    add("pair of oscillators, coupled both ways", 1, fmu_ring(fmus, pair, 0),
        bare(bare_ring_of(fmus, pair, 0), &bare_ring::step));
    add("chain of 100", 1, fmu_chain(fmus, chain), bare(bare_chain_of(fmus, chain), &bare_chain::step));
    for (const int length : {chain, longest_chain})
        add(fmt::format("chain of {}, all calls in the loop", length), 1, fmu_chain(fmus, length),
            bare(bare_chain_of(fmus, length), &bare_chain::step_with_all_calls));
    for (int workers = 1; workers <= std::min(2, available_cores()); ++workers)
        add(fmt::format("ring of {} that work, {} worker{}", ring, workers, workers > 1 ? "s" : ""), workers,
            fmu_ring(fmus, ring, ring_work), bare(bare_ring_of(fmus, ring, ring_work), &bare_ring::step));
    std::vector<fmu_timing> timings;
    for (const candidate& c : all) {
        told(fmt::format("measuring: {}", c.name));
        std::vector<double> own, loop, ratio;
        for (int r = 0; r < repetitions; ++r) {
            loop.push_back(seconds_per_step(c.loop, c.workers));
            own.push_back(seconds_per_step(c.own, c.workers));
            ratio.push_back(own.back() / loop.back());
        }
        timings.push_back({c.name, c.workers, range_of(loop), range_of(own), range_of(ratio)});
    }
    return timings;
}

std::string to_table(const std::vector<fmu_timing>& timings) {
    text_table table({"FMUs, FMI 2.0 co-simulation", "bare loop [us]", "mdpcosim [us]", "ratio", "median"});
    for (const fmu_timing& t : timings)
        table.add({t.system, range_text(t.bare, 1e6, 3), range_text(t.own, 1e6, 3), range_text(t.ratio, 1, 3),
                   fmt::format("{:.2f}", t.ratio.middle)});
    return table.text() +
           "  one macro step each, nothing recorded; smallest to largest of measurements in turns\n"
           "  one worker: processor time; more: time on the clock\n";
}

std::string to_json(const std::vector<fmu_timing>& timings) {
    json all = json::array();
    for (const fmu_timing& t : timings)
        all.push_back({{"system", t.system},
                       {"workers", t.workers},
                       {"bare_loop_seconds", range_json(t.bare)},
                       {"mdpcosim_seconds", range_json(t.own)},
                       {"ratio", range_json(t.ratio)}});
    return json{{"fmus", std::move(all)}}.dump(2) + "\n";
}

}  // namespace mdpcosim
