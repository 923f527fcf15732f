#include "analysis/largest_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "coupling/extrapolation.hpp"
#include "master/method.hpp"
#include "results/compare.hpp"
#include "simulation/simulation.hpp"
#include "simulation/trust.hpp"
#include "simulation/verify.hpp"

namespace mdpcosim {

namespace {

/// How many times its range in the reference a variable may leave it.
constexpr double most_growth = 1;

struct band {
    double low = HUGE_VAL, high = -HUGE_VAL;
    void add(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    double range() const { return high - low; }
};

band band_of(const result_table& t, std::size_t column, std::size_t first, std::size_t last) {
    band all;
    for (std::size_t r = first; r < last; ++r) all.add(t.value(r, column));
    return all;
}

class step_reference {
   public:
    explicit step_reference(scenario s, const largest_step_request& request) {
        s.step_control = {};
        s.record = {};
        // What nobody compares is not evaluated: times are those of a run.
        const simulation made(s, {.workers = 1, .writable = false});
        for (const std::string& name : coupled_columns(made.parts())) s.record.only.push_back({name, {}});
        record_ = s.record;
        const double span = s.time.end - s.time.start;
        scenario dense = s;
        while (span / dense.time.step < 500) dense = with_steps(dense, 0.5);
        if (request.told) request.told("the reference");
        kept_run run;
        try {
            run = run_in_memory(dense, true);
            said_ = "the scenario as one system";
        } catch (const user_error&) {
            run.done = false;
        }
        const bool alone = run.done;
        if (!alone) run = with_small_steps(s, request);
        table_ = std::move(run.table);
        for (std::size_t c = 0; c < table_.columns(); ++c) {
            const band all = band_of(table_, c, 0, table_.rows());
            bands_[table_.names[c]] = all;
            double& widest = widest_[std::string(kind_of(table_.names[c]))];
            widest = std::max(widest, all.range());
        }
        grow();
    }

    const std::string& said() const { return said_; }
    const record_spec& record() const { return record_; }
    double growth() const { return growth_; }

    /// Empty: it does not.
    std::string leaves(const kept_run& run) const {
        for (const auto& name : run.coupled) {
            const auto column = std::ranges::find(run.table.names, name);
            const auto known = bands_.find(name);
            if (column == run.table.names.end() || known == bands_.end()) continue;
            const band seen =
                band_of(run.table, static_cast<std::size_t>(column - run.table.names.begin()), 0, run.table.rows());
            const double widest = widest_.at(std::string(kind_of(name)));
            const double room = most_growth * std::max(known->second.range(), 1e-2 * widest);
            if (room > 0 && !(seen.high <= known->second.high + room && seen.low >= known->second.low - room))
                return fmt::format("{} reaches {:.4g} to {:.4g}, in the reference {:.4g} to {:.4g}", name, seen.low,
                                   seen.high, known->second.low, known->second.high);
        }
        return {};
    }

    double error(const kept_run& run) const { return error_of(run, table_); }

   private:
    /// The largest of coupled variables. Between two rows of the reference a jump may lie anywhere: what is between their values there is right.
    static double error_of(const kept_run& run, const result_table& reference) {
        comparison c = compare_tables(run.table, reference);
        const result_table differences = difference(run.table, reference);
        for (auto& one : c.errors) {
            const auto place = [&](const result_table& t) {
                return static_cast<std::size_t>(std::ranges::find(t.names, one.name) - t.names.begin());
            };
            const std::size_t in_a = place(run.table), in_b = place(reference), in_d = place(differences);
            double worst = 0;
            for (std::size_t r = 0, a = 0, b = 0; r < differences.rows(); ++r) {
                const double t = differences.time[r];
                double off = std::fabs(differences.value(r, in_d));
                while (a + 1 < run.table.rows() && run.table.time[a] < t) ++a;
                while (b + 2 < reference.rows() && reference.time[b + 1] < t) ++b;
                const double low = reference.value(b, in_b), high = reference.value(b + 1, in_b);
                if (reference.time[b] < t && t < reference.time[b + 1] && std::fabs(high - low) > 0.02 * one.range) {
                    const double value = run.table.value(a, in_a);
                    off = std::min(off, std::max({0.0, std::min(low, high) - value, value - std::max(low, high)}));
                }
                worst = std::max(worst, off);
            }
            if (one.max_error > 0 && std::isfinite(one.max_error)) one.relative *= worst / one.max_error;
            one.max_error = std::isfinite(one.max_error) ? worst : one.max_error;
        }
        const std::vector<double> relative = errors_among_their_kind(c);
        double worst = 0;
        for (std::size_t i = 0; i < relative.size(); ++i)
            if (std::ranges::find(run.coupled, c.errors[i].name) != run.coupled.end())
                worst = std::max(worst, relative[i]);
        return worst;
    }

    /// Of two runs the coarser one, whose error the finer one tells: a reference that is not stable itself would call anything stable.
    kept_run with_small_steps(const scenario& s, const largest_step_request& request) {
        kept_run coarse = run_in_memory(with_steps(s, 0.125), false);
        said_ = fmt::format("a run with a macro step of {:.4g} s", s.time.step / 8);
        if (!coarse.done) throw run_error(fmt::format("the reference ({}) fails: {}", said_, coarse.message));
        kept_run fine;
        try {
            fine = run_in_memory(with_steps(s, 0.0625), false);
        } catch (const user_error&) {
            said_ += "; how good that is, is not known";
            return coarse;
        }
        const double off = fine.done ? error_of(coarse, fine.table) : HUGE_VAL;
        if (!(off < std::max(0.1, request.error)))
            throw run_error(fmt::format(
                "there is no reference: the scenario cannot run as one system, and runs with macro steps of "
                "{:.4g} s and {:.4g} s differ by {:.2g} of the range. Give a smaller step (--step).",
                s.time.step / 8, s.time.step / 16, off));
        said_ += fmt::format(", {:.2g} off one with half of it", off);
        return coarse;
    }

    /// Of the kind of variable that grows most: the rest may only begin to move late.
    void grow() {
        std::map<std::string, std::pair<double, double>> parts;
        const std::size_t quarter = table_.rows() / 4;
        for (std::size_t c = 0; c < table_.columns(); ++c) {
            auto& [begin, end] = parts[std::string(kind_of(table_.names[c]))];
            begin = std::max(begin, band_of(table_, c, 0, quarter + 1).range());
            end = std::max(end, band_of(table_, c, table_.rows() - quarter - 1, table_.rows()).range());
        }
        for (const auto& [kind, ranges] : parts)
            if (ranges.first > 0) growth_ = std::max(growth_, ranges.second / ranges.first);
    }

    std::string said_;
    record_spec record_;
    result_table table_;
    std::map<std::string, band> bands_;
    std::map<std::string, double> widest_;
    double growth_ = 0;
};

class step_search {
   public:
    step_search(const largest_step_request& request, const step_reference& reference, largest_step& into, scenario s)
        : request_(request), reference_(reference), into_(into), scenario_(std::move(s)) {
        scenario_.record = reference.record();
        scenario_.step_control = {};
    }

    void look() {
        const double span = scenario_.time.end - scenario_.time.start, first = scenario_.time.step;
        begin_ = clock::now();
        if (stable(first).value())
            rise(first, span / 16);
        else
            fall(first);
        if (into_.outcome == largest_step::kind::limit) narrow();
        if (into_.largest > 0) look_below();
        if (into_.largest > 0) look_for_error();
        if (into_.accurate.step > 0) look_for_fastest();
        std::ranges::sort(into_.runs, {}, &step_run::step);
    }

   private:
    using clock = std::chrono::steady_clock;

    static double seconds_since(clock::time_point begin) {
        return std::chrono::duration<double>(clock::now() - begin).count();
    }

    const step_run* known(double step) const {
        for (const step_run& r : into_.runs)
            if (std::fabs(r.step / step - 1) < 1e-6) return &r;
        return nullptr;
    }

    /// The nearest step that all sample times are whole multiples of, as far as one of them tells.
    double allowed(double step) const {
        double sample = HUGE_VAL;
        for (const auto& s : scenario_.subsystems)
            if (s.sample && s.sample->time > 0) sample = std::min(sample, s.sample->time);
        return std::isfinite(sample) ? sample / std::max(1.0, std::round(sample / step)) : step;
    }

    kept_run run_with(double step) const {
        return run_in_memory(with_steps(scenario_, step / scenario_.time.step), false);
    }

    /// Nothing: such a step is not possible, or there is no time for it.
    std::optional<bool> stable(double wanted) {
        const double step = into_.runs.empty() ? wanted : allowed(wanted);
        if (const step_run* before = known(step)) return before->stable;
        if (!into_.runs.empty()) {
            const step_run& last = into_.runs.back();
            into_.out_of_time |= seconds_since(begin_) + last.seconds * last.step / step > request_.most_seconds;
            if (into_.out_of_time) return {};
        }
        step_run one;
        one.step = step;
        kept_run run;
        try {
            run = run_with(step);
        } catch (const user_error& problem) {
            if (into_.runs.empty()) throw;
            refusal_ = problem.what();
            return {};
        }
        one.seconds = run.seconds;
        one.evaluations = run.evaluations;
        one.macro_steps = static_cast<std::int64_t>(run.table.rows()) - 1;
        one.why = run.done ? reference_.leaves(run) : run.message;
        one.wrong = run.judged.level == trust::wrong;
        one.stable = one.why.empty();
        if (one.stable) one.error = reference_.error(run);
        if (request_.told)
            request_.told(fmt::format("{} {}: {:.4g} s {}", into_.choice.method, into_.choice.extrapolation, step,
                                      one.stable ? fmt::format("error {:.2g}", one.error) : "is not stable"));
        into_.runs.push_back(one);
        return one.stable;
    }

    void limit_is(double below, double above) {
        into_.outcome = largest_step::kind::limit;
        if (const step_run* r = known(allowed(below))) into_.largest = r->step;
        if (const step_run* r = known(allowed(above))) {
            into_.unstable = r->step;
            into_.why = r->why;
        }
    }

    void rise(double from, double most) {
        into_.largest = from;
        for (double step = from * 1.25; step <= most; step *= 1.25) {
            const auto is = stable(step);
            if (is && !*is) return limit_is(into_.largest, step);
            if (is) into_.largest = std::max(into_.largest, known(allowed(step))->step);
            if (into_.out_of_time) break;
        }
        const bool refused = !refusal_.empty() && into_.largest * 1.25 < most;
        into_.outcome = into_.out_of_time || refused ? largest_step::kind::ended : largest_step::kind::unbounded;
        if (into_.outcome == largest_step::kind::ended)
            into_.why = into_.out_of_time ? "the time for the search is over" : refusal_;
    }

    void fall(double from) {
        constexpr int most_halves = 12;
        into_.outcome = largest_step::kind::none;
        double unstable = from;
        for (int n = 1; n <= most_halves && !into_.out_of_time; ++n) {
            const double step = from * std::ldexp(1.0, -n);
            const auto is = stable(step);
            if (is && *is) return limit_is(step, unstable);
            if (is) unstable = step;
        }
        into_.unstable = unstable;
        if (const step_run* r = known(allowed(unstable))) into_.why = r->why;
    }

    void narrow() {
        while (into_.unstable / into_.largest > 1 + request_.precision) {
            const double middle = std::sqrt(into_.largest * into_.unstable);
            const std::size_t before = into_.runs.size();
            const auto is = stable(middle);
            if (!is || into_.runs.size() == before) return;
            is.value() ? limit_is(middle, into_.unstable) : limit_is(into_.largest, middle);
        }
    }

    void look_below() {
        for (int n = 1; n <= 3; ++n) {
            const double step = into_.largest * std::pow(0.8, n);
            if (std::ranges::none_of(into_.runs, [&](const step_run& r) { return std::fabs(r.step / step - 1) < 0.1; }))
                stable(step);
        }
    }

    const step_run* largest_accurate() const {
        const step_run* best = nullptr;
        for (const step_run& r : into_.runs)
            if (keeps_error(r) && (!best || r.step > best->step)) best = &r;
        return best;
    }

    /// The first that keeps it, and what is above: halved to 3 %. Errors that halved steps do not make smaller are not those of the step.
    void look_for_error() {
        const auto smallest = [this] { return *std::ranges::min_element(into_.runs, {}, &step_run::step); };
        double last = HUGE_VAL;
        for (int n = 0; n < 12 && largest_accurate() == nullptr; ++n) {
            const step_run before = smallest();
            if (n >= 3 && before.stable && !(before.error < 0.9 * last)) break;
            if (before.stable) last = before.error;
            if (!stable(before.step / 2) || into_.out_of_time) break;
        }
        for (;;) {
            const step_run* best = largest_accurate();
            if (best == nullptr) return;
            into_.accurate = *best;
            double above = HUGE_VAL;
            for (const step_run& r : into_.runs)
                if (r.step > best->step) above = std::min(above, r.step);
            if (!(above / best->step > 1.03) || above > into_.largest * (1 + request_.precision)) break;
            const std::size_t before = into_.runs.size();
            const auto is = stable(std::sqrt(above * best->step));
            if (!is || into_.runs.size() == before) break;
        }
    }

    bool keeps_error(const step_run& r) const {
        return r.stable && !r.wrong && r.step <= into_.largest && r.error <= request_.error;
    }

    /// Of the largest accurate step and those to about a half of it. Those that took least take part in two rounds more, so that a disturbance decides nothing.
    void look_for_fastest() {
        const double from = into_.accurate.step;
        for (int n = 1; n <= 3; ++n) {
            const double step = from * std::pow(0.8, n);
            if (std::ranges::none_of(into_.runs, [&](const step_run& r) { return std::fabs(r.step / step - 1) < 0.1; }))
                stable(step);
        }
        std::vector<step_run*> runs;
        for (step_run& r : into_.runs)
            if (keeps_error(r) && r.step >= 0.5 * from) runs.push_back(&r);
        std::ranges::sort(runs, {}, &step_run::seconds);
        constexpr std::size_t finalists = 4;
        if (runs.size() > finalists) runs.resize(finalists);
        for (int round = 0; round < 2; ++round)
            for (step_run* r : runs)
                if (seconds_since(begin_) + r->seconds <= request_.most_seconds)
                    r->seconds = std::min(r->seconds, run_with(r->step).seconds);
        into_.fastest = **std::ranges::min_element(runs, {}, &step_run::seconds);
        into_.accurate = *known(from);
    }

    const largest_step_request& request_;
    const step_reference& reference_;
    largest_step& into_;
    scenario scenario_;
    clock::time_point begin_;
    std::string refusal_;  ///< why a larger step could not be run
};

void check_names(const step_choice& choice) {
    const auto check = [](const char* option, const std::string& name, const std::vector<std::string>& known) {
        if (!name.empty() && std::ranges::find(known, name) == known.end())
            throw user_error(fmt::format("{} {}: there is none of this name; 'mdpcosim list {}s' shows all.{}", option,
                                         name, std::string_view(option).substr(2), did_you_mean(name, known)));
    };
    check("--method", choice.method, method_registry::instance().names());
    check("--extrapolation", choice.extrapolation, extrapolation_names());
}

std::vector<std::string> with_own_extrapolation(const scenario& s) {
    std::vector<std::string> names;
    for (const auto& c : s.connections)
        if (c.extrapolation.given()) names.push_back(c.name);
    for (const auto& signal : s.signals)
        if (signal.extrapolation.given()) names.push_back(signal.name);
    return names;
}

}  // namespace

std::vector<double> largest_step::pockets() const {
    std::vector<double> found;
    for (const step_run& r : runs)
        if (!r.stable && r.step < largest) found.push_back(r.step);
    return found;
}

largest_steps find_largest_steps(const largest_step_request& request) {
    for (const step_choice& choice : request.choices) check_names(choice);
    largest_steps all;
    all.error = request.error;
    std::vector<std::pair<const step_choice*, step_reference>> references;
    const auto reference_of = [&](const step_choice& choice, const scenario& s) -> const step_reference& {
        for (const auto& [of, reference] : references)
            if (of->changes == choice.changes) return reference;
        return references.emplace_back(&choice, step_reference(s, request)).second;
    };
    std::optional<user_error> first_refusal;
    for (const step_choice& choice : request.choices) {
        largest_step& one = all.found.emplace_back();
        one.choice = choice;
        try {
            scenario s = request.load(choice);
            const step_reference& reference = reference_of(choice, s);
            if (!choice.extrapolation.empty()) all.own_extrapolation = with_own_extrapolation(s);
            step_search(request, reference, one, std::move(s)).look();
        } catch (const user_error& problem) {
            one.why = problem.what();
            if (!first_refusal) first_refusal = problem;
        }
    }
    const bool any = std::ranges::any_of(
        all.found, [](const largest_step& one) { return one.outcome != largest_step::kind::refused; });
    if (!any && first_refusal) throw *first_refusal;
    all.reference = references.front().second.said();
    for (const auto& [choice, reference] : references) all.growth = std::max(all.growth, reference.growth());
    largest_step* best = nullptr;
    for (largest_step& one : all.found)
        if (one.fastest.step > 0 && (!best || one.fastest.seconds < best->fastest.seconds)) best = &one;
    if (best != nullptr) best->best = true;
    return all;
}

}  // namespace mdpcosim
