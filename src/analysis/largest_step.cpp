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
        s.record = {};
        s.step_control = {};
        const double span = s.time.end - s.time.start;
        scenario dense = s;
        while (span / dense.time.step < 500) dense = with_steps(dense, 0.5);
        if (request.told) request.told("the reference");
        kept_run run;
        try {
            run = run_in_memory(dense, true);
            said_ = "the scenario as one system";
        } catch (const user_error&) {
            run = run_in_memory(with_steps(s, 0.125), false);
            said_ = fmt::format("a run with a macro step of {:.4g} s", s.time.step / 8);
        }
        if (!run.done) throw run_error(fmt::format("the reference ({}) fails: {}", said_, run.message));
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

    double error(const kept_run& run) const {
        const comparison c = compare_tables(run.table, table_);
        const std::vector<double> relative = errors_among_their_kind(c);
        double worst = 0;
        for (std::size_t i = 0; i < relative.size(); ++i)
            if (std::ranges::find(run.coupled, c.errors[i].name) != run.coupled.end())
                worst = std::max(worst, relative[i]);
        return worst;
    }

   private:
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
    result_table table_;
    std::map<std::string, band> bands_;
    std::map<std::string, double> widest_;
    double growth_ = 0;
};

class step_search {
   public:
    step_search(const largest_step_request& request, const step_reference& reference, largest_step& into, scenario s)
        : request_(request), reference_(reference), into_(into), scenario_(std::move(s)) {
        scenario_.record = {};
        scenario_.step_control = {};
    }

    void look() {
        const double span = scenario_.time.end - scenario_.time.start, first = scenario_.time.step;
        if (stable(first).value())
            rise(first, span / 16);
        else
            fall(first);
        if (into_.outcome == largest_step::kind::limit) narrow();
        std::ranges::sort(into_.runs, {}, &step_run::step);
        if (into_.largest > 0) look_for_error();
        std::ranges::sort(into_.runs, {}, &step_run::step);
    }

   private:
    /// Nothing: such a step is not possible (sample times are no multiples of it).
    std::optional<bool> stable(double step) {
        step_run one;
        one.step = step;
        kept_run run;
        const auto begin = std::chrono::steady_clock::now();
        try {
            run = run_in_memory(with_steps(scenario_, step / scenario_.time.step), false);
        } catch (const user_error& problem) {
            if (into_.runs.empty()) throw;
            return {};
        }
        one.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        one.macro_steps = static_cast<std::int64_t>(run.table.rows()) - 1;
        one.why = run.done ? reference_.leaves(run) : run.message;
        one.wrong = run.judged.level == trust::wrong;
        one.stable = one.why.empty();
        if (one.stable) one.error = reference_.error(run);
        if (request_.told)
            request_.told(fmt::format("{} {}: {:.4g} s {}", into_.choice.method, into_.choice.extrapolation, step,
                                      one.stable ? fmt::format("error {:.2g}", one.error) : "is not stable"));
        into_.runs.push_back(one);
        if (one.stable) {
            into_.largest = std::max(into_.largest, step);
        } else {
            into_.unstable = step;
            into_.why = one.why;
        }
        return one.stable;
    }

    void rise(double from, double most) {
        into_.outcome = largest_step::kind::unbounded;
        for (double step = from * 1.25; step <= most; step *= 1.25)
            if (const auto is = stable(step); is && !*is) {
                into_.outcome = largest_step::kind::limit;
                return;
            }
    }

    void fall(double from) {
        constexpr int most_halves = 12;
        into_.outcome = largest_step::kind::none;
        for (int n = 1; n <= most_halves; ++n)
            if (stable(from * std::ldexp(1.0, -n)).value_or(false)) {
                into_.outcome = largest_step::kind::limit;
                return;
            }
    }

    void narrow() {
        while (into_.unstable / into_.largest > 1 + request_.precision)
            if (!stable(std::sqrt(into_.largest * into_.unstable))) return;
    }

    const step_run* largest_accurate() const {
        const step_run* best = nullptr;
        for (const step_run& r : into_.runs)
            if (r.stable && !r.wrong && r.step <= into_.largest && r.error <= request_.error &&
                (!best || r.step > best->step))
                best = &r;
        return best;
    }

    /// The first that keeps it, and what is above: halved to 3 %.
    void look_for_error() {
        double step = into_.runs.front().step;
        for (int n = 0; n < 12 && largest_accurate() == nullptr; ++n) {
            const double largest = into_.largest;
            stable(step /= 2);
            into_.largest = std::max(largest, into_.largest);
        }
        for (;;) {
            const step_run* best = largest_accurate();
            if (best == nullptr) return;
            into_.accurate = *best;
            double above = HUGE_VAL;
            for (const step_run& r : into_.runs)
                if (r.step > best->step) above = std::min(above, r.step);
            if (!(above / best->step > 1.03) || above > into_.largest * (1 + request_.precision)) return;
            if (!stable(std::sqrt(above * best->step))) return;
        }
    }

    const largest_step_request& request_;
    const step_reference& reference_;
    largest_step& into_;
    scenario scenario_;
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

largest_steps find_largest_steps(const largest_step_request& request) {
    for (const step_choice& choice : request.choices) check_names(choice);
    largest_steps all;
    all.error = request.error;
    std::optional<step_reference> reference;
    std::optional<user_error> first_refusal;
    for (const step_choice& choice : request.choices) {
        largest_step& one = all.found.emplace_back();
        one.choice = choice;
        try {
            scenario s = request.load(choice);
            if (!reference) reference.emplace(s, request);
            if (!choice.extrapolation.empty()) all.own_extrapolation = with_own_extrapolation(s);
            step_search(request, *reference, one, std::move(s)).look();
        } catch (const user_error& problem) {
            one.why = problem.what();
            if (!first_refusal) first_refusal = problem;
        }
    }
    const bool any = std::ranges::any_of(
        all.found, [](const largest_step& one) { return one.outcome != largest_step::kind::refused; });
    if (!any && first_refusal) throw *first_refusal;
    all.reference = reference->said();
    all.growth = reference->growth();
    largest_step* fastest = nullptr;
    for (largest_step& one : all.found)
        if (one.accurate.step > 0 && (!fastest || one.accurate.seconds < fastest->accurate.seconds)) fastest = &one;
    if (fastest != nullptr) fastest->fastest = true;
    return all;
}

}  // namespace mdpcosim
