#include <fmt/format.h>

#include <chrono>
#include <limits>

#include "engine/assembly.hpp"
#include "engine/engine.hpp"
#include "master/macro_loop.hpp"
#include "results/csv.hpp"
#include "results/run_folder.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

std::filesystem::path default_folder(const scenario& s) {
    // examples/two-mass/scenario.yaml is better known by its folder's name.
    std::string name = s.path.stem().string();
    const std::string parent = std::filesystem::absolute(s.path).parent_path().filename().string();
    if (name == "scenario" && !parent.empty()) name = parent;
    return name + ".out";
}

void describe_system(run_summary& summary, const scenario& s, const assembly& a, const coupling_range& range) {
    const transport& subsystems = *a.system.subsystems;
    summary.workers = subsystems.workers();
    summary.parallel_steps = subsystems.parallel_steps();
    for (std::size_t i = 0; i < subsystems.size(); ++i) {
        const subsystem_index index(i);
        const subsystem_statistics st = subsystems.statistics(index);
        const subsystem_cost cost = subsystems.cost(index);
        summary.subsystems.push_back({subsystems.name(index), subsystems.describe(index).type, s.subsystems[i].solver.name.value,
                                      st.micro_steps, st.evaluations, st.rejected, st.events, cost.seconds_per_step, cost.worker});
    }
    for (std::size_t c = 0; c < a.channels.size(); ++c) {
        if (a.channels[c].is_signal) continue;
        summary.connections.push_back({a.channels[c].name, a.channels[c].law, a.channels[c].extrapolation, range.low[c], range.high[c],
                                       a.system.u[c], a.channels[c].unit});
    }
}

/// Writing at the end of a run: a failure (a full disk) makes the run a failed one, unless it has failed before.
template <class Write>
void keep_first_failure(run_summary& summary, const Write& write) {
    try {
        write();
    } catch (const run_error& problem) {
        if (summary.status == "failed") return;
        summary.status = "failed";
        summary.message = problem.what();
    }
}

}  // namespace

run_summary run(const scenario& s, const run_options& options) {
    const auto begin = clock::now();
    const std::unique_ptr<method> how = make_method(s);
    assembly a = assemble(s, options.workers);
    how->check(a.system);
    const run_folder folder(options.out.empty() ? default_folder(s) : options.out);
    const scenario full = resolved(s, a);
    folder.write("scenario.yaml", write_scenario(full));
    recorder rows(a.columns, make_csv_sink(folder.file("results.csv"), a.columns));

    run_summary summary;
    summary.scenario = s.path.string();
    summary.folder = folder.path().string();
    summary.method = full.method.value;
    summary.start = s.time.start;
    summary.end = s.time.end;
    summary.step = s.time.step;
    summary.reached = s.time.start;
    summary.notes = a.notes;
    coupling_range range;
    range.low.assign(a.channels.size(), std::numeric_limits<double>::infinity());
    range.high.assign(a.channels.size(), -std::numeric_limits<double>::infinity());

    loop_result result;
    result.reached = s.time.start;
    progress shown(progress::fitting(options.quiet), s.time.start, s.time.end);
    auto loop_begin = clock::now();
    try {
        a.system.initialise(s.time.start);
        summary.setup_seconds = seconds_since(begin);
        loop_begin = clock::now();
        run_macro_loop(a.system, *how, time_grid(s.time.start, s.time.end, s.time.step),
                       {&rows, s.record.every, &shown, &range, options.interrupt}, result);
        if (result.interrupted) {
            summary.status = "interrupted";
            summary.message = fmt::format("interrupted at t = {:.10g} s", result.reached);
        }
    } catch (const std::exception& problem) {
        // Whatever it was: what has been recorded is brought to the disk.
        summary.status = "failed";
        summary.message = problem.what();
    }
    summary.wall_seconds = seconds_since(loop_begin);
    shown.finish();
    keep_first_failure(summary, [&] { rows.flush(); });
    summary.reached = result.reached;
    summary.steps = result.steps;
    summary.rows = rows.rows();
    describe_system(summary, full, a, range);
    keep_first_failure(summary, [&] { folder.write("summary.json", to_json(summary)); });
    return summary;
}

}  // namespace mdpcosim
