#include "analysis/advice_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "master/stepper.hpp"
#include "results/compare.hpp"
#include "simulation/verify.hpp"

namespace mdpcosim {

namespace {

constexpr double confirmed_part = 0.95, next_try = 0.85;
constexpr int confirming_steps = 600, most_tries = 8;
constexpr int finer = 4;              // the steps of a run that tells what is stable
constexpr double may_leave = 1;       // times its range, as in analysis/largest_step.hpp
constexpr double least_range = 1e-2;  // of the widest range of its kind

scenario with_span(scenario s, double step, double span) {
    s.step_control = {};
    s = with_steps(std::move(s), step / s.time.step);
    s.time.end = s.time.start + span;
    return s;
}

struct range_of {
    double low = HUGE_VAL, high = -HUGE_VAL;
    double width() const { return high - low; }
};

range_of range_in(const result_table& t, std::size_t column) {
    range_of r;
    for (std::size_t row = 0; row < t.rows(); ++row) {
        r.low = std::min(r.low, t.value(row, column));
        r.high = std::max(r.high, t.value(row, column));
    }
    return r;
}

/// Why a run is not stable beside one that is; empty: it is.
std::string leaves(const kept_run& run, const result_table& stable) {
    std::map<std::string, double> widest;
    for (std::size_t c = 0; c < stable.columns(); ++c) {
        double& w = widest[std::string(kind_of(stable.names[c]))];
        w = std::max(w, range_in(stable, c).width());
    }
    for (const std::string& name : run.coupled) {
        const auto in_run = std::ranges::find(run.table.names, name), in_stable = std::ranges::find(stable.names, name);
        if (in_run == run.table.names.end() || in_stable == stable.names.end()) continue;
        const range_of seen = range_in(run.table, static_cast<std::size_t>(in_run - run.table.names.begin())),
                       known = range_in(stable, static_cast<std::size_t>(in_stable - stable.names.begin()));
        const double room = may_leave * std::max(known.width(), least_range * widest[std::string(kind_of(name))]);
        if (room > 0 && !(seen.high <= known.high + room && seen.low >= known.low - room))
            return fmt::format("{} reaches {:.4g} to {:.4g}, with a quarter of the step {:.4g} to {:.4g}", name,
                               seen.low, seen.high, known.low, known.high);
    }
    return {};
}

std::string why_not_stable(const scenario& s, double step) {
    const double span = std::min(confirming_steps * step, s.time.end - s.time.start);
    const kept_run run = run_in_memory(with_span(s, step, span));
    if (!run.done) return run.message;
    const kept_run fine = run_in_memory(with_span(s, step / finer, span));
    if (!fine.done) return "a run with a quarter of the step fails, too: " + fine.message;
    return leaves(run, fine.table);
}

}  // namespace

result_table run_stand_in(scenario s, const identified_system& known, const std::vector<std::string>& columns,
                          double* integrations) {
    s.step_control = {};
    s.record = {};
    for (const std::string& name : columns) s.record.only.push_back({name, {}});
    assembly a = make_stand_in(s, known);
    result_table table;
    for (const recorded_column& c : a.columns) table.names.push_back(c.name);
    const auto note = [&](double t) {
        table.time.push_back(t);
        for (const recorded_column& c : a.columns)
            table.values.push_back(c.from == recorded_column::source::output ? a.system.outputs()[c.index]
                                                                             : a.system.u[c.index]);
    };
    constant_stepper steps(time_grid(s.time.start, s.time.end, s.time.step),
                           parts_of_first_step(a.system, *a.chosen_method));
    steps.prepare(a.system, *a.chosen_method);
    note(s.time.start);
    while (!steps.done()) {
        const macro_step done = steps.step(a.system, *a.chosen_method);
        if (!steps.within_step()) note(done.end);
    }
    if (integrations != nullptr)
        *integrations = static_cast<double>(a.system.integrations) / static_cast<double>(table.rows() - 1);
    return table;
}

double largest_error(const result_table& run, const result_table& reference) {
    const std::vector<double> all = errors_among_their_kind(compare_tables(run, reference));
    return all.empty() ? 0 : *std::ranges::max_element(all);
}

void confirm_limit(const scenario& s, double limit, double sample, confirmation& into) {
    const auto allowed = [&](double step) {
        return sample > 0 ? sample / std::ceil(sample / step * (1 - 1e-9)) : step;
    };
    into.tried = allowed(confirmed_part * limit);
    for (into.lowered = 0; into.lowered < most_tries; ++into.lowered) {
        into.why = why_not_stable(s, into.tried);
        into.stable = into.why.empty();
        if (into.stable) return;
        into.tried = allowed(into.tried * next_try);
    }
}

void confirm_error(const scenario& s, double step, double predicted, double span, confirmation& into) {
    const kept_run run = run_in_memory(with_span(s, step, span));
    if (!run.done) return;
    kept_run reference;
    into.against = "the scenario as one system";
    try {
        scenario dense = with_span(s, step / finer, span);
        reference = run_in_memory(dense, true);
    } catch (const user_error&) {
        reference.done = false;
    }
    if (!reference.done) {
        into.against = "a run with an eighth of the step";
        reference = run_in_memory(with_span(s, step / 8, span));
        if (!reference.done) return;
    }
    comparison c = compare_tables(run.table, reference.table);
    const auto all = errors_among_their_kind(c);
    into.step = step;
    into.predicted = predicted;
    for (std::size_t k = 0; k < all.size(); ++k)
        if (std::ranges::find(run.coupled, c.errors[k].name) != run.coupled.end())
            into.measured = std::max(into.measured, all[k]);
}

}  // namespace mdpcosim
