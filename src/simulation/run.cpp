#include "simulation/run.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "assembly/step_control.hpp"
#include "core/files.hpp"
#include "core/forked_copy.hpp"
#include "core/last_words.hpp"
#include "core/messages.hpp"
#include "results/csv.hpp"
#include "results/pace.hpp"
#include "results/profile.hpp"
#include "results/run_folder.hpp"
#include "scenario/read.hpp"
#include "simulation/expectations.hpp"
#include "simulation/isolation.hpp"
#include "simulation/port_signs.hpp"
#include "simulation/row_recorder.hpp"
#include "simulation/simulation.hpp"
#include "simulation/system_description.hpp"
#include "simulation/trust.hpp"
#include "subsystem/factory.hpp"
#include "transport/affinity.hpp"

namespace mdpcosim {

std::filesystem::path default_folder(const scenario& s, bool monolithic) {
    // examples/two-mass/scenario.yaml is better known by its folder's name.
    std::string name = s.path.stem().string();
    const std::string parent = std::filesystem::absolute(s.path).parent_path().filename().string();
    if (name == "scenario" && !parent.empty()) name = parent;
    // The reference stands beside the co-simulation that is compared with it.
    return name + (monolithic ? ".reference.out" : ".out");
}

std::int64_t most_rows(const time_spec& time, const record_spec& record) {
    const double steps = static_cast<double>(time_grid(time.start, time.end, time.step).steps());
    return static_cast<std::int64_t>(record.every ? std::min(steps, (time.end - time.start) / *record.every) : steps) +
           3;
}

namespace {

bool is_wanted(const result_format& format, const record_spec& record) {
    return format.name == "csv" ? record.csv : record.hdf5;
}

std::vector<std::unique_ptr<result_sink>> make_sinks(const run_folder& folder, const record_spec& record,
                                                     const std::vector<recorded_column>& columns, std::int64_t rows) {
    std::vector<std::unique_ptr<result_sink>> sinks;
    for (const result_format* format : result_format_registry::instance().all())
        if (is_wanted(*format, record))
            sinks.push_back(format->make(folder.file(("results." + format->name).c_str()), columns, rows));
    return sinks;
}

/// What a run, its checks and its user look for at the end.
void check_files(const scenario& s) {
    const auto all = result_format_registry::instance().all();
    if (std::ranges::none_of(all, [&](const result_format* f) { return is_wanted(*f, s.record); }))
        throw user_error(s.record.where,
                         "record: the run would leave no file of results. Leave out 'csv: no' or 'hdf5: no'; who needs "
                         "no file steps the scenario through the library.");
    if (!s.record.csv && !s.expect.empty())
        throw user_error(s.expect.front().where,
                         "expect: results.csv is what is looked at. Leave out 'csv: no' of 'record'.");
}

/// A thread of the recorder's finds a core where not all of them work for the transport.
class spare_core {
   public:
    spare_core(const simulation& all, const run_options& options)
        : subsystems_(*all.parts().system.subsystems), alone_(options.monolithic) {
        const auto kind = transport_named(options.transport);
        threads_ = kind == transport_kind::threads;
        possible_ = available_cores() > 1 && kind != transport_kind::mpi;
    }
    bool possible() const { return possible_; }
    bool operator()() {
        if (alone_) return true;
        if (!threads_) return subsystems_.workers() + 1 < available_cores();
        if (subsystems_.workers() < available_cores()) return true;
        return std::exchange(parallel_, subsystems_.parallel_steps()) == subsystems_.parallel_steps();
    }

   private:
    const transport& subsystems_;
    bool alone_, threads_, possible_;
    std::int64_t parallel_ = 0;
};

std::vector<std::string> subsystem_names(const transport& subsystems) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < subsystems.size(); ++i) names.push_back(subsystems.name(subsystem_index(i)));
    return names;
}

/// At most, roughly: a kilobyte for everything that has a name.
std::size_t summary_size(const scenario& s) {
    constexpr std::size_t least = 64'000, each = 1'000;
    return least + each * (s.subsystems.size() + s.connections.size() + s.signals.size());
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

/// No place for results on the disk.
run_summary failed_at_start(const run_folder& folder, const time_spec& time, const std::string& why) {
    run_summary summary;
    summary.folder = folder.path().string();
    summary.status = "failed";
    summary.message = why;
    summary.start = summary.reached = time.start;
    summary.end = time.end;
    summary.step = time.step;
    folder.write("summary.json", to_json(summary));
    return summary;
}

/// What a full disk has left.
std::int64_t rows_in(const std::filesystem::path& file) {
    constexpr std::size_t longest = 64'000'000;
    std::int64_t lines = 0;
    try {
        line_reader all(file, longest);
        for (std::string line; all.next(line);) ++lines;
    } catch (const file_problem&) {
    }
    return std::max<std::int64_t>(lines - 1, 0);  // the header
}

/// Every attempt at a macro step into steps.csv.
class attempt_recorder final : public observer {
   public:
    explicit attempt_recorder(const run_folder& folder) : log_(folder) {}
    void attempted(const step_attempt& attempt) override { log_.add(attempt); }
    void finish() { log_.finish(); }

   private:
    step_log log_;
};

/// Before a long run: how long it will be, and what it will leave.
class outlook {
   public:
    outlook(const time_spec& time, std::int64_t rows, bool controlled, std::filesystem::path folder)
        : time_(time), rows_(rows), controlled_(controlled), folder_(std::move(folder)) {}

    /// Told once, when a second has passed.
    void look(const recorder& recorded, double t, pacer::clock::time_point now, progress& shown) {
        const double passed = std::chrono::duration<double>(now - begin_).count();
        if (told_ || passed < 1) return;
        told_ = true;
        const double share = (t - time_.start) / (time_.end - time_.start);
        const double rows = controlled_ ? static_cast<double>(recorded.rows()) / share : static_cast<double>(rows_);
        const double bytes = rows * recorded.bytes_per_row();
        std::error_code unknown;
        const auto space = std::filesystem::space(folder_, unknown);
        const bool enough = unknown || static_cast<double>(space.available) > bytes;
        shown.tell(fmt::format(
            "expected: {} in all, {} of results{}", progress::duration(passed / share), progress::size(bytes),
            enough ? "" : fmt::format("; the disk has {} left", progress::size(static_cast<double>(space.available)))));
    }

   private:
    time_spec time_;
    std::int64_t rows_;
    bool controlled_, told_ = false;
    std::filesystem::path folder_;
    pacer::clock::time_point begin_ = pacer::clock::now();
};

/// Macro steps to the end, or until `interrupt`.
void run_to_end(simulation& all, row_recorder& rows, progress* shown, outlook ahead,
                const std::atomic<bool>* interrupt) {
    if (all.interrupted()) return;
    pacer pace;
    flush_timer flush;
    std::int64_t n = 0;
    while (!all.done()) {
        const macro_step step = all.step();
        if (is_forked_copy()) end_forked_copy();
        if (all.interrupted() || (interrupt != nullptr && interrupt->load(std::memory_order_relaxed))) return;
        if (!pace.due(++n)) continue;
        pace.looked(n);
        if (shown != nullptr) {
            ahead.look(rows.rows(), step.end, pace.now(), *shown);
            shown->update(step.end);
        }
        flush.look(rows.rows(), pace.now());
    }
}

/// The summary of a run of which nothing is known yet but what was asked for.
run_summary bare_summary(const scenario& s, const run_options& options, const std::filesystem::path& out) {
    run_summary bare;
    bare.scenario = s.path.string();
    bare.folder = out.string();
    bare.status = "failed";
    bare.method = options.monolithic ? "monolithic" : s.method.value;
    bare.reference = options.monolithic;
    if (!options.monolithic) bare.transport = options.transport;
    bare.start = bare.reached = s.time.start;
    bare.end = s.time.end;
    bare.step = s.time.step;
    return bare;
}

/// Of FMUs in this process, which can be asked quickly.
void tell_reversed_ports(const simulation& all) {
    const auto wanted = [](const subsystem_spec& entry) {
        return entry.kind == subsystem_spec::source_kind::fmu && !lives_apart(entry);
    };
    const auto ports = coupled_ports(all.resolved(), wanted);
    const messages out;
    const message_scope silence({});
    const auto reversed = reversed_ports(all.resolved(), ports);
    std::ranges::for_each(reversed, refuse_turned);
    for (const reversed_port& port : reversed) out.send(fmt::format("warning: {}: {}.", port.text, way_to_turn(port)));
}

}  // namespace

run_summary run(scenario s, const run_options& options) {
    const std::filesystem::path out = options.out.empty() ? default_folder(s, options.monolithic) : options.out;
    check_files(s);
    check_run_folder(out, files_read(s));
    std::error_code gone;
    const std::filesystem::path working_folder = std::filesystem::current_path(gone);  // foreign code may change it
    // Until its summary is written and all subsystems are gone.
    run_in_work in_work(out, to_json(bare_summary(s, options, out)), open_run::state::set_up);
    std::optional<run_folder> made;
    if (options.fmi_log) {
        made.emplace(out, working_folder);
        made->write("fmi.log", std::string(fmi_log_head) + "\n");
        for (auto& entry : s.subsystems) entry.fmu.trace = made->file("fmi.log");
    }
    if (transport_named(options.transport) == transport_kind::threads && !options.monolithic)
        choose_isolation(s, goes_back(s));
    const binding_right may_bind;
    std::optional<simulation> built;
    try {
        built.emplace(s, simulation_options{.workers = options.workers,
                                            .transport = transport_named(options.transport),
                                            .monolithic = options.monolithic,
                                            .pin = options.pin && (may_bind.granted() || !s.placement.cores.empty()),
                                            .writable = false,
                                            .remote = options.remote,
                                            .interrupt = options.interrupt});
    } catch (const run_error& problem) {  // of a process that did not start
        if (transport_named(options.transport) != transport_kind::threads) throw;
        return failed_at_start(made ? *made : made.emplace(out, working_folder), s.time, problem.what());
    }
    simulation& all = *built;
    tell_reversed_ports(all);
    const expectations expected(s, all.parts().columns);
    const std::string system = system_json(all.resolved(), all.parts());  // finds mistakes in scenes
    if (!made) made.emplace(out, working_folder);
    const run_folder& folder = *made;
    in_work.enter(open_run::state::running);
    folder.write("system.json", system);  // first: by it the folder is known as a run's
    folder.write("scenario.yaml", write_scenario(all.resolved()));
    const time_spec time = s.time;
    const record_spec record = s.record;
    std::optional<attempt_recorder> attempts;
    if (s.step_control.given() && !options.monolithic) {
        attempts.emplace(folder);
        all.add(*attempts);
    }
    try {
        made->reserve(summary_size(s));
    } catch (const run_error& problem) {
        return failed_at_start(folder, time, problem.what());
    }
    s = {};
    all.release_scenario();
    ::malloc_trim(0);

    std::vector<std::unique_ptr<result_sink>> sinks;
    try {
        sinks = make_sinks(folder, record, all.parts().columns, most_rows(time, record));
    } catch (const run_error& problem) {
        made->release();
        return failed_at_start(folder, time, problem.what());
    }
    row_writing writing{.journal = in_work.journal()};
    if (const spare_core spare(all, options); spare.possible()) {
        writing.core_is_free = spare;
        writing.begin_thread = [] { bind_to_unit(0, -1); };  // the master may be bound
    }
    recorder recorded(all.parts().columns, std::move(sinks), std::move(writing));
    row_recorder rows(recorded, time_grid(time.start, time.end, time.step), record.every);
    all.add(rows);
    std::string status = "done", message;
    try {
        all.initialise();
        if (options.started) options.started();
        const std::int64_t expected_rows = most_rows(time, record);
        run_to_end(all, rows, options.shown, {time, expected_rows, attempts.has_value(), out}, options.interrupt);
        if (!all.interrupted()) rows.close(all);
        if (!all.done()) {
            // mpiexec tells all ranks to end when it loses one. Who is gone does not answer, and the run has failed.
            if (transport_named(options.transport) == transport_kind::mpi && !options.monolithic) all.ask_everybody();
            status = "interrupted";
            message = fmt::format("interrupted at t = {:.10g} s", all.time());
        }
    } catch (const user_error&) {
        if (all.steps() > 0) throw std::logic_error("a user's mistake was found after the first macro step");
        if (options.shown != nullptr) options.shown->finish();
        throw;  // what only the initial state shows
    } catch (const std::exception& problem) {
        // Whatever it was: what has been recorded is brought to the disk.
        status = "failed";
        message = problem.what();
        if (all.diverged()) rows.close(all);
    }
    in_work.enter(open_run::state::closing);
    run_summary summary = all.finish();
    summary.folder = folder.path().string();
    summary.status = status;
    summary.message = message;
    if (status == "failed" && summary.judged && !all.diverged())
        summary.judged->add(trust::wrong, "the run failed: " + message, {});
    if (options.shown != nullptr) options.shown->finish();
    keep_first_failure(summary, [&] { recorded.finish(); });
    summary.rows = recorded.rows();
    if (recorded.refused()) summary.rows = record.csv ? rows_in(folder.file("results.csv")) : recorded.rows_written();
    if (attempts) keep_first_failure(summary, [&] { attempts->finish(); });
    const transport& subsystems = *all.parts().system.subsystems;
    keep_first_failure(summary, [&] {
        folder.write("profile.json", to_trace_json(subsystems.profile(), subsystem_names(subsystems)));
    });
    std::vector<std::string> bonds;
    for (const auto& bond : all.parts().system.bonds) bonds.push_back(bond.name);
    if (all.trace() != nullptr)
        keep_first_failure(summary, [&] {
            folder.write("coupling.json", all.trace()->to_json(connection_names(all.parts()), bonds));
        });
    if (!options.monolithic) {
        summary.coupled = coupled_columns(all.parts());
        summary.unmeasured = unmeasured_coupling(all.parts());
    }
    if (summary.judged && summary.status != "interrupted" && !summary.grown.empty())
        for (const reversed_port& port : reversed_ports(read_scenario(folder.file("scenario.yaml")), summary.grown))
            summary.judged->add(trust::wrong, port.text, "change the sign of the load in the model");
    if (!expected.empty() && summary.status == "done") {
        if (!summary.judged) summary.judged.emplace();
        const std::size_t met = expected.check(folder.place(), *summary.judged);
        for (auto& note : expected.notes()) summary.notes.push_back(std::move(note));
        summary.notes.push_back(fmt::format("{} of {} expectations are met", met, expected.count()));
    }
    if (options.ended) options.ended(summary);
    made->release();
    keep_first_failure(summary, [&] { folder.write("summary.json", to_json(summary)); });
    return summary;
}

}  // namespace mdpcosim
