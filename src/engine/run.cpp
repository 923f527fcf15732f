#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <limits>
#include <optional>

#include "engine/assembly.hpp"
#include "engine/engine.hpp"
#include "engine/reference_run.hpp"
#include "master/macro_loop.hpp"
#include "results/csv.hpp"
#include "results/run_folder.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

std::filesystem::path default_folder(const scenario& s, bool monolithic) {
    // examples/two-mass/scenario.yaml is better known by its folder's name.
    std::string name = s.path.stem().string();
    const std::string parent = std::filesystem::absolute(s.path).parent_path().filename().string();
    if (name == "scenario" && !parent.empty()) name = parent;
    // The reference stands beside the co-simulation that is compared with it.
    return name + (monolithic ? ".reference.out" : ".out");
}

/// What is known before the run; the scenario, which can be large, is then no longer needed.
run_summary describe_before(const scenario& full, const run_folder& folder, const assembly& a, bool monolithic) {
    run_summary summary;
    summary.scenario = full.path.string();
    summary.folder = folder.path().string();
    summary.method = monolithic ? monolithic_method : full.method.value;
    summary.start = full.time.start;
    summary.end = full.time.end;
    summary.step = full.time.step;
    summary.reached = full.time.start;
    summary.notes = a.notes;
    if (monolithic) return summary;
    for (const auto& spec : full.subsystems) {
        summary.subsystems.emplace_back();
        summary.subsystems.back().name = spec.name;
        summary.subsystems.back().solver = spec.solver.name.value;
    }
    return summary;
}

void describe_subsystems(run_summary& summary, const assembly& a) {
    const transport& subsystems = *a.system.subsystems;
    summary.workers = subsystems.workers();
    summary.parallel_steps = subsystems.parallel_steps();
    for (std::size_t i = 0; i < subsystems.size(); ++i) {
        const subsystem_index index(i);
        const subsystem_statistics st = subsystems.statistics(index);
        const subsystem_cost cost = subsystems.cost(index);
        run_summary::subsystem& entry = summary.subsystems[i];
        entry.type = subsystems.describe(index).type;
        entry.micro_steps = st.micro_steps;
        entry.evaluations = st.evaluations;
        entry.rejected = st.rejected;
        entry.events = st.events;
        entry.seconds_per_step = cost.seconds_per_step;
        entry.worker = cost.worker;
    }
}

void describe_connections(run_summary& summary, const assembly& a, const coupling_range& range) {
    for (std::size_t c = 0; c < a.channels.size(); ++c) {
        if (a.channels[c].is_signal) continue;
        const std::string extrapolation = summary.method == monolithic_method ? "none" : a.channels[c].extrapolation;
        summary.connections.push_back({a.channels[c].name, a.channels[c].law_name, extrapolation, range.low[c], range.high[c],
                                       a.system.u[c], a.channels[c].unit});
    }
}

}  // namespace

run_summary run(scenario s, const run_options& options) {
    const auto begin = clock::now();
    const std::unique_ptr<method> how = make_method(s);
    assembly a = assemble(s, options.workers);
    std::optional<reference_run> reference;
    if (options.monolithic)
        reference.emplace(s, a);
    else
        how->check(a.system);
    const run_folder folder(options.out.empty() ? default_folder(s, options.monolithic) : options.out);
    s = resolved(s, a);
    folder.write("scenario.yaml", write_scenario(s));
    run_summary summary = describe_before(s, folder, a, options.monolithic);
    const time_spec time = s.time;
    const auto record_every = s.record.every;
    s = {};
    ::malloc_trim(0);

    recorder rows(a.columns, make_csv_sink(folder.file("results.csv"), a.columns));
    coupling_range range;
    range.low.assign(a.channels.size(), std::numeric_limits<double>::infinity());
    range.high.assign(a.channels.size(), -std::numeric_limits<double>::infinity());
    loop_result result;
    result.reached = time.start;
    progress shown(progress::fitting(options.quiet), time.start, time.end);
    auto loop_begin = clock::now();
    try {
        if (!reference) a.system.initialise(time.start);
        summary.setup_seconds = seconds_since(begin);
        loop_begin = clock::now();
        const time_grid grid(time.start, time.end, time.step);
        const loop_observers observers{&rows, record_every, &shown, &range, options.interrupt};
        if (reference)
            reference->run(a, grid, observers, result);
        else
            run_macro_loop(a.system, *how, grid, observers, result);
        if (result.interrupted) {
            summary.status = "interrupted";
            summary.message = fmt::format("interrupted at t = {} s", result.reached);
        }
    } catch (const run_error& problem) {
        summary.status = "failed";
        summary.message = problem.what();
    }
    summary.wall_seconds = seconds_since(loop_begin);
    shown.finish();
    rows.flush();
    summary.reached = result.reached;
    summary.steps = result.steps;
    summary.rows = rows.rows();
    if (reference)
        reference->describe(summary);
    else
        describe_subsystems(summary, a);
    describe_connections(summary, a, range);
    folder.write("summary.json", to_json(summary));
    return summary;
}

}  // namespace mdpcosim
