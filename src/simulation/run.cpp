#include "simulation/run.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "assembly/assembly.hpp"
#include "assembly/iteration.hpp"
#include "assembly/step_control.hpp"
#include "master/macro_loop.hpp"
#include "results/csv.hpp"
#include "results/hdf5.hpp"
#include "results/profile.hpp"
#include "results/run_folder.hpp"
#include "scenario/read.hpp"
#include "simulation/parallel_figures.hpp"
#include "simulation/reference_run.hpp"
#include "simulation/statistics.hpp"
#include "simulation/system_description.hpp"
#include "simulation/trust.hpp"

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
run_summary describe_before(const scenario& full, const run_folder& folder, const assembly& a) {
    run_summary summary;
    summary.scenario = full.path.string();
    summary.folder = folder.path().string();
    summary.method = full.method.value;
    summary.start = full.time.start;
    summary.end = full.time.end;
    summary.step = full.time.step;
    summary.reached = full.time.start;
    summary.notes = a.notes;
    for (const auto& spec : full.subsystems) {
        summary.subsystems.emplace_back();
        summary.subsystems.back().name = spec.name;
        summary.subsystems.back().solver = spec.solver.name.value;
    }
    return summary;
}

void describe_after(run_summary& summary, const assembly& a, const coupling_watch& watch, double cpu_begin) {
    const transport& subsystems = *a.system.subsystems;
    // With steps of their own subsystems are asked more often than once per macro step, and not all at once.
    const std::int64_t rounds = summary.method == "multirate" ? summary.integrations : summary.steps;
    summary.work = parallel_figures(subsystems, rounds > 0 ? summary.wall_seconds / static_cast<double>(rounds) : 0,
                                    subsystems.cpu_seconds() - cpu_begin);
    summary.workers = subsystems.workers();
    // Counted per integration, told per macro step.
    summary.parallel_steps = subsystems.parallel_steps() * summary.steps /
                             std::max<std::int64_t>(1, std::max(summary.steps, a.system.advances));
    for (std::size_t i = 0; i < subsystems.size(); ++i) {
        const subsystem_index index(i);
        const subsystem_cost cost = subsystems.cost(index);
        run_summary::subsystem& entry = summary.subsystems[i];
        entry.type = subsystems.describe(index).type;
        enter(subsystems.statistics(index), entry);
        entry.seconds_per_step = cost.seconds_per_step;
        entry.worker = cost.worker;
    }
    for (std::size_t c = 0; c < a.channels.size(); ++c) {
        if (a.channels[c].is_signal || a.channels[c].internal) continue;
        const coupling_quality q = watch.monitor().quality(c);
        summary.connections.push_back({a.channels[c].name, a.channels[c].law_name, a.channels[c].extrapolation, q.u_min,
                                       q.u_max, a.system.u[c], a.channels[c].unit, q.jump_max, q.jump_rms,
                                       q.energy_error, q.energy});
    }
    if (!watch.divergence().empty() && summary.message != watch.divergence())
        summary.notes.push_back(watch.divergence());
}

/// Rows of a run on a constant grid, at most.
std::int64_t most_rows(const time_grid& grid, std::optional<double> every) {
    const double span = grid.end() - grid.start();
    const double rows =
        every ? std::min(static_cast<double>(grid.steps()), span / *every) : static_cast<double>(grid.steps());
    return static_cast<std::int64_t>(rows) + 3;
}

std::vector<std::unique_ptr<result_sink>> make_sinks(const run_folder& folder,
                                                     const std::vector<recorded_column>& columns, std::int64_t rows) {
    std::vector<std::unique_ptr<result_sink>> sinks;
    sinks.push_back(make_csv_sink(folder.file("results.csv"), columns));
    sinks.push_back(make_hdf5_sink(folder.file("results.h5"), columns, rows));
    return sinks;
}

std::vector<std::string> subsystem_names(const transport& subsystems) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < subsystems.size(); ++i) names.push_back(subsystems.name(subsystem_index(i)));
    return names;
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

run_summary run(scenario s, const run_options& options) {
    const auto begin = clock::now();
    const std::unique_ptr<method> how = make_method(s);
    const std::filesystem::path out = options.out.empty() ? default_folder(s, options.monolithic) : options.out;
    std::optional<run_folder> made;
    if (options.fmi_log) {
        made.emplace(out);
        made->write("fmi.log", "# time [s], subsystem (FMU): call -> status\n");
        for (auto& entry : s.subsystems) entry.fmu.trace = made->file("fmi.log");
    }
    const binding_right may_bind;
    const bool pin = options.pin && (may_bind.granted() || !s.placement.cores.empty());
    const transport_kind kind = transport_named(options.transport);
    assembly a = assemble(s, {options.workers, options.monolithic ? transport_kind::threads : kind, pin, options.remote,
                              options.interrupt});
    std::optional<reference_run> reference;
    if (options.monolithic)
        reference.emplace(s, a);
    else
        check_method(s, *how, a.system);
    if (!made) made.emplace(out);
    const run_folder& folder = *made;
    s = resolved(s, a);
    folder.write("scenario.yaml", write_scenario(s));
    folder.write("system.json", system_json(s, a));
    run_summary summary = describe_before(s, folder, a);
    if (!options.monolithic) summary.transport = options.transport;
    const time_spec time = s.time;
    const bool controlled = s.step_control.given() && !options.monolithic;
    const step_control_options control = step_control_of(s);
    if (controlled)
        summary.control = {s.step_control.estimate.empty() ? "trial" : s.step_control.estimate.value, control.rtol,
                           control.atol};
    const auto record_every = s.record.every;
    coupling_monitor monitor = make_monitor(a);
    if (const std::string remedy = how->remedy(); !remedy.empty()) monitor.set_remedy(remedy);
    coupling_watch watch = make_watch(a, monitor, s.monitor);
    s = {};
    ::malloc_trim(0);

    const time_grid grid(time.start, time.end, time.step);
    std::optional<step_log> attempts;
    std::unique_ptr<stepper> steps = std::make_unique<constant_stepper>(grid);
    step_controller* controller = nullptr;
    if (controlled) {
        attempts.emplace(folder);
        auto made_controller =
            std::make_unique<step_controller>(control, time.start, time.end, [&](const step_attempt& attempt) {
                attempts->add(attempt);
                watch.trace().attempt(attempt.length, attempt.error, attempt.accepted);
            });
        controller = made_controller.get();
        steps = std::move(made_controller);
    }
    auto sinks = make_sinks(folder, a.columns, most_rows(grid, record_every));
    recorder rows(std::move(a.columns), std::move(sinks));
    loop_result result;
    result.reached = time.start;
    progress shown(progress::fitting(options.quiet), time.start, time.end);
    auto loop_begin = clock::now();
    double cpu_begin = 0;
    try {
        if (!reference) {
            summary.initialisation = initialise(a.system, time.start);
            how->prepare(a.system);
            steps->prepare(a.system, *how);
        }
        summary.setup_seconds = seconds_since(begin);
        cpu_begin = a.system.subsystems->cpu_seconds();
        loop_begin = clock::now();
        if (reference)
            reference->run(grid, {&rows, record_every, &shown, options.interrupt}, result);
        else
            run_macro_loop(a.system, *how, grid, *steps, {&rows, record_every, &shown, &watch, options.interrupt},
                           result);
        if (result.interrupted) {
            // mpiexec tells all ranks to end when it loses one. Who is gone does not answer, and the run has failed.
            if (!reference && kind == transport_kind::mpi)
                for (std::size_t i = 0; i < a.system.subsystems->size(); ++i)
                    a.system.evaluate_one(subsystem_index(i), true);
            summary.status = "interrupted";
            summary.message = fmt::format("interrupted at t = {:.10g} s", result.reached);
        }
    } catch (const user_error&) {
        if (result.steps > 0) throw std::logic_error("a user's mistake was found after the first macro step");
        shown.finish();
        throw;  // what only the initial state shows
    } catch (const std::exception& problem) {
        // Whatever it was: what has been recorded is brought to the disk.
        summary.status = "failed";
        summary.message = problem.what();
    }
    summary.wall_seconds = seconds_since(loop_begin);
    shown.finish();
    keep_first_failure(summary, [&] { rows.finish(); });
    summary.reached = result.reached;
    summary.steps = result.steps;
    summary.rows = rows.rows();
    summary.integrations = a.system.integrations;
    if (!reference) summary.iterations = iterations_of(a.system, *how);
    if (controller != nullptr) {
        keep_first_failure(summary, [&] { attempts->finish(); });
        const step_control_counts& counts = controller->counts();
        summary.control->rejected = counts.rejected;
        summary.control->smallest = counts.smallest;
        summary.control->largest = counts.largest;
    }
    if (reference)
        reference->describe(summary, a);
    else
        describe_after(summary, a, watch, cpu_begin);
    keep_first_failure(summary, [&] {
        folder.write("profile.json",
                     to_trace_json(a.system.subsystems->profile(), subsystem_names(*a.system.subsystems)));
    });
    if (!reference)
        keep_first_failure(summary, [&] { folder.write("coupling.json", watch.trace().to_json(connection_names(a))); });
    keep_first_failure(summary, [&] { folder.write("summary.json", to_json(summary)); });
    return summary;
}

}  // namespace mdpcosim
