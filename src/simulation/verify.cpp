#include "simulation/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <future>
#include <thread>

#include "core/error.hpp"
#include "results/run_folder.hpp"
#include "simulation/simulation.hpp"
#include "simulation/trust.hpp"

namespace mdpcosim {

namespace {

bool is_multiple(double every, double step) {
    const double ratio = every / step;
    return ratio > 0.5 && std::abs(ratio - std::round(ratio)) < 1e-6 * ratio;
}

}  // namespace

scenario with_steps(scenario s, double factor) {
    const double span = s.time.end - s.time.start;
    if (s.step_control.given() && !s.step_control.largest) s.step_control.largest = std::max(s.time.step, span / 20);
    const double step = std::min(s.time.step, span);
    s.time.step = step * factor;
    // Rows at macro points of both runs, so that nothing has to be interpolated.
    if (s.record.every && !(is_multiple(*s.record.every, step) && is_multiple(*s.record.every, s.time.step)))
        s.record.every.reset();
    for (auto& entry : s.subsystems)
        if (entry.step.value) *entry.step.value *= factor;
    for (double* tolerance : {&s.step_control.rtol, &s.step_control.atol, &s.step_control.atol_rate})
        *tolerance *= factor * factor;
    for (auto* bound : {&s.step_control.smallest, &s.step_control.largest})
        if (*bound) **bound *= factor;
    s.expect.clear();
    return s;
}

namespace {

/// "done", or why there are no results to compare with.
std::string run_another(const scenario& s, const run_options& options) {
    try {
        const run_summary summary = run(s, options);
        return summary.status == "failed" ? summary.message : summary.status;
    } catch (const std::exception& problem) {
        return problem.what();
    }
}

/// The runs beside the one that is to be verified.
class other_runs {
   public:
    other_runs(const scenario& s, const run_options& options, std::filesystem::path folder)
        : scenario_(s), folder_(std::move(folder)), user_(options.interrupt) {
        options_.workers = options.workers;
        options_.pin = false;
        options_.interrupt = &stop_;
        options_.shown = options.shown;
    }
    ~other_runs() {
        stop_ = true;
        if (half_.valid()) half_.wait();
    }

    void begin() {
        half_ = std::async(std::launch::async, [this] {
            run_options half = options_;
            half.out = folder_ / half_step_folder;
            half.ended = [this](const run_summary& ended) { half_steps_ = static_cast<double>(ended.steps); };
            return run_another(with_steps(scenario_, 0.5), half);
        });
    }

    void end(run_summary& summary) {
        if (summary.status != "done") {
            // Part of a run with another step beside part of this one tells nobody anything.
            stop_ = true;
            if (half_.valid()) half_.wait();
            std::error_code ignored;
            std::filesystem::remove_all(folder_ / half_step_folder, ignored);
            return;
        }
        run_options twice = options_;
        twice.out = folder_ / twice_step_folder;
        twice.shown = nullptr;
        twice.interrupt = user_;
        const std::string twice_status = run_another(with_steps(scenario_, 2), twice);
        while (half_.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
            if (user_ != nullptr && user_->load()) stop_ = true;
        std::string half_status = half_.get();
        if (user_ != nullptr && user_->load()) {
            summary.status = "interrupted";
            summary.message = "interrupted while it was verified; its own results are complete";
            return;
        }
        if (half_status == "done" && scenario_.step_control.given() &&
            half_steps_ < 1.2 * static_cast<double>(summary.steps))
            half_status = "a quarter of the tolerance takes the same steps: they are bounded by something else";
        verification v;
        if (half_status == "done") {
            const auto all = [](std::string_view) { return true; };
            result_table coarse;
            if (twice_status == "done") coarse = read_results(folder_ / twice_step_folder, all);
            v = verify(read_results(folder_, all), read_results(folder_ / half_step_folder, all), coarse,
                       summary.coupled);
        }
        v.half = half_status;
        v.twice = twice_status;
        v.unmeasured = summary.unmeasured;
        v.controlled = scenario_.step_control.given();
        if (summary.judged) judge(v, *summary.judged);
        summary.verified = std::move(v);
    }

   private:
    const scenario& scenario_;
    std::filesystem::path folder_;
    const std::atomic<bool>* user_;
    std::atomic<bool> stop_{false};
    run_options options_;
    double half_steps_ = 0;
    std::future<std::string> half_;
};

}  // namespace

namespace {

/// Every macro point.
class table_recorder final : public observer {
   public:
    explicit table_recorder(const std::vector<recorded_column>& columns) : columns_(columns) {
        // What monitors see, and work, is nothing to compare.
        std::erase_if(columns_, [](const recorded_column& column) {
            return column.from != recorded_column::source::output && column.from != recorded_column::source::coupling;
        });
        for (const auto& column : columns_) table.names.push_back(column.name);
    }
    void started(const simulation& of) override { add(of); }
    void committed(const simulation& of, const macro_step&) override { add(of); }

    result_table table;

   private:
    void add(const simulation& of) {
        table.time.push_back(of.time());
        for (const auto& column : columns_) {
            const bool output = column.from == recorded_column::source::output;
            table.values.push_back((output ? of.outputs() : of.coupling_variables())[column.index]);
        }
    }

    std::vector<recorded_column> columns_;
};

}  // namespace

kept_run run_in_memory(const scenario& s, bool monolithic, const std::atomic<bool>* interrupt) {
    kept_run out;
    simulation all(s, {.workers = 1, .monolithic = monolithic, .writable = false});
    if (!monolithic) out.coupled = coupled_columns(all.parts());
    table_recorder rows(all.parts().columns);
    all.add(rows);
    try {
        all.initialise();
        while (!all.done() && (interrupt == nullptr || !interrupt->load(std::memory_order_relaxed))) all.step();
        if (!all.done()) out.done = false, out.message = "interrupted";
    } catch (const run_error& problem) {
        out.done = false;
        out.message = problem.what();
    }
    const run_summary summary = all.finish();
    if (summary.judged) out.judged = *summary.judged;
    out.seconds = summary.wall_seconds;
    for (const auto& one : summary.subsystems) out.evaluations += one.evaluations;
    out.table = std::move(rows.table);
    return out;
}

verification verify_in_memory(const scenario& s, const result_table& of, const std::vector<std::string>& coupled,
                              const std::atomic<bool>* interrupt) {
    constexpr double least_steps = 8;  // with fewer, twice the step says nothing
    const kept_run half = run_in_memory(with_steps(s, 0.5), false, interrupt);
    kept_run twice;
    twice.done = false;
    twice.message = "there are too few macro steps";
    if (s.time.end - s.time.start > least_steps * s.time.step) {
        try {
            twice = run_in_memory(with_steps(s, 2), false, interrupt);
        } catch (const user_error& problem) {  // such a step is not possible
            twice.message = problem.what();
        }
    }
    verification v;
    if (half.done) v = verify(of, half.table, twice.done ? twice.table : result_table{}, coupled);
    v.half = half.done ? "done" : half.message;
    v.twice = twice.done ? "done" : twice.message;
    v.controlled = s.step_control.given();
    return v;
}

void verify_small_run(const scenario& s, run_summary& summary, const std::atomic<bool>* interrupt) {
    // Counted rather than timed: what is said of a run does not depend on how busy the machine is. Large models are left out by the work
    // that they made.
    constexpr std::int64_t most = 100'000;  // steps of subsystems
    constexpr double longest = 2;           // s of processor time
    if (summary.status != "done" || !summary.judged || summary.coupled.empty()) return;
    if (summary.steps * static_cast<std::int64_t>(summary.subsystems.size()) > most) return;
    if (static_cast<double>(std::clock()) / CLOCKS_PER_SEC > longest) return;
    scenario all = s;
    all.record = {};  // what is not recorded may be wrong, too
    const kept_run same = run_in_memory(all, false, interrupt);
    if (!same.done) return;
    verification v;
    try {
        v = verify_in_memory(all, same.table, same.coupled, interrupt);
    } catch (const user_error&) {
        return;  // half the step is not possible: the verdict is that of this run alone
    }
    if (interrupt != nullptr && interrupt->load()) return;
    judge(v, *summary.judged);
    summary.verified = std::move(v);
}

run_summary run_verified(const scenario& s, run_options options) {
    if (options.monolithic)
        throw user_error(
            "--verify: the reference has no macro step. Run it again with another tolerance and compare: --set "
            "reference.solver.rtol=1e-10.");
    if (!options.remote.names.empty())
        throw user_error(
            "--verify: subsystems that 'mdpcosim serve' brings are there once, and three runs need them. Run without "
            "--remote, or run again with half the step (--step) and compare the results ('mdpcosim compare').");
    if (!s.record.csv)
        throw user_error(s.record.where, "--verify: results.csv is what is compared. Leave out 'csv: no' of 'record'.");
    if (options.out.empty()) options.out = default_folder(s, false);
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    if (options.workers == 0 && options.transport == "threads") options.workers = std::max(1, cores / 2);
    options.pin = false;
    other_runs others(s, options, options.out);
    options.shown = nullptr;  // half the step takes longest
    options.started = [&] { others.begin(); };
    options.ended = [&](run_summary& summary) { others.end(summary); };
    return run(s, options);
}

}  // namespace mdpcosim
