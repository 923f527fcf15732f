#include "study/search.hpp"

#include <fmt/format.h>
#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/suggest.hpp"
#include "study/formula.hpp"
#include "study/runner.hpp"

namespace mdpcosim {

namespace {

constexpr double met = 1e-9;

/// `a <= b` as a - b, `a >= b` as b - a.
program condition_of(const text& written, const std::vector<measure_spec>& measures,
                     const std::vector<study_parameter>& parameters) {
    const std::size_t less = written.value.find("<="), more = written.value.find(">=");
    const std::size_t at = std::min(less, more);
    if (at == std::string::npos)
        throw user_error(
            written.where,
            fmt::format("optimise: subject-to '{}' is no condition: write 'settled <= 1.5'.", written.value));
    const auto find = [&](const std::string& name) {
        int index = 0;
        for (const auto& m : measures) {
            if (m.name == name) return index;
            ++index;
        }
        for (const auto& p : parameters) {
            if (p.address == name) return index;
            ++index;
        }
        return -1;
    };
    const auto unknown = [&](const std::string& name) {
        std::vector<std::string> names;
        for (const auto& m : measures) names.push_back(m.name);
        for (const auto& p : parameters) names.push_back(p.address);
        return unknown_name("name", name, "The study", names);
    };
    const expression a =
        parse_formula({written.value.substr(0, at), written.where}, "optimise: subject-to", find, unknown);
    const expression b =
        parse_formula({written.value.substr(at + 2), written.where}, "optimise: subject-to", find, unknown);
    const assignment all[] = {{at == less ? a - b : b - a, 0}};
    return program(all);
}

}  // namespace

study_target::study_target(const study_spec& s) : sign_(s.goal.maximise ? -1 : 1) {
    const std::vector<measure_spec> measures = measures_of(s);
    const std::string name = s.how == study_spec::way::fit ? residual_name : s.goal.measure.value;
    std::vector<std::string> names;
    for (const auto& m : measures) names.push_back(m.name);
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
        throw user_error(s.goal.measure.where, "optimise: " + unknown_name("measure", name, "The study", names));
    measure_ = static_cast<std::size_t>(found - names.begin());
    for (const text& written : s.goal.subject_to) conditions_.push_back(condition_of(written, measures, s.parameters));
}

double study_target::objective(const study_row& row) const {
    return row.done ? sign_ * row.values[measure_] : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> study_target::violations(const study_row& row) const {
    std::vector<double> all = row.values;
    all.insert(all.end(), row.parameters.begin(), row.parameters.end());
    std::vector<double> result;
    for (const program& c : conditions_) {
        double value = 0;
        c.evaluate({all.data(), nullptr, nullptr}, &value);
        result.push_back(value);
    }
    return result;
}

bool study_target::feasible(const study_row& row) const {
    if (!row.done || !std::isfinite(objective(row))) return false;
    const auto all = violations(row);
    return std::ranges::all_of(all, [](double v) { return v <= met; });
}

namespace {

struct interrupted_search {};

/// What NLopt asks for, in coordinates from 0 to 1.
class search_state {
   public:
    search_state(const study_spec& s,
                 const std::function<std::optional<study_row>(std::int64_t, const std::vector<double>&)>& run)
        : study_(s), target_(s), run_(run) {}

    const study_row& row_at(const double* x) {
        const std::vector<double> point(x, x + study_.parameters.size());
        if (known_ && point == point_) return *known_;
        std::vector<double> values;
        for (std::size_t k = 0; k < point.size(); ++k) {
            const study_parameter& p = study_.parameters[k];
            const double share = std::clamp(point[k], 0.0, 1.0);
            values.push_back(p.logarithmic ? p.low * std::pow(p.high / p.low, share)
                                           : p.low + share * (p.high - p.low));
        }
        known_ = run_(count_++, values);
        if (!known_) throw interrupted_search();
        point_ = point;
        return *known_;
    }

    double objective(const double* x) {
        const double value = target_.objective(row_at(x));
        if (std::isfinite(value)) {
            worst_ = any_ ? std::max(worst_, value) : value;
            best_ = any_ ? std::min(best_, value) : value;
            any_ = true;
            return value;
        }
        // Worse than all before, but of their size: models of the objective stay usable.
        return any_ ? worst_ + (worst_ - best_) + std::fabs(worst_) : 1e10;
    }

    double violation(const double* x, std::size_t condition) {
        const double value = target_.violations(row_at(x))[condition];
        return std::isfinite(value) ? value : 1e10;
    }

    std::vector<double> start() const {
        std::vector<double> x;
        for (const study_parameter& p : study_.parameters)
            x.push_back(p.logarithmic ? std::log(p.start / p.low) / std::log(p.high / p.low)
                                      : (p.start - p.low) / (p.high - p.low));
        return x;
    }
    std::size_t conditions() const { return target_.conditions(); }

    nlopt_opt task = nullptr;
    bool stopped = false;
    std::exception_ptr problem;

    /// No exception crosses NLopt.
    template <class Work>
    double guarded(const Work& work) {
        if (stopped) return 0;
        try {
            return work();
        } catch (const interrupted_search&) {
        } catch (...) {
            problem = std::current_exception();
        }
        stopped = true;
        nlopt_force_stop(task);
        return 0;
    }

   private:
    const study_spec& study_;
    study_target target_;
    const std::function<std::optional<study_row>(std::int64_t, const std::vector<double>&)>& run_;
    std::int64_t count_ = 0;
    std::vector<double> point_;
    std::optional<study_row> known_;
    double worst_ = 0, best_ = 0;
    bool any_ = false;
};

struct condition_of_search {
    search_state* state;
    std::size_t number;
};

double nlopt_objective(unsigned, const double* x, double*, void* data) {
    auto& state = *static_cast<search_state*>(data);
    return state.guarded([&] { return state.objective(x); });
}

double nlopt_condition(unsigned, const double* x, double*, void* data) {
    const auto& condition = *static_cast<condition_of_search*>(data);
    return condition.state->guarded([&] { return condition.state->violation(x, condition.number); });
}

nlopt_algorithm algorithm_of(const study_spec& s) {
    const std::string& name = s.goal.algorithm;
    if (name == "cobyla" || (name.empty() && !s.goal.subject_to.empty())) return NLOPT_LN_COBYLA;
    if (name == "nelder-mead" || (name.empty() && s.parameters.size() == 1)) return NLOPT_LN_NELDERMEAD;
    if (name == "direct") return NLOPT_GN_DIRECT_L;
    if (name == "crs") return NLOPT_GN_CRS2_LM;
    return NLOPT_LN_BOBYQA;
}

std::string words_of(nlopt_result result, int evaluations) {
    if (result == NLOPT_MAXEVAL_REACHED)
        return fmt::format("ended after {} evaluations, as many as it was given", evaluations);
    if (result == NLOPT_ROUNDOFF_LIMITED) return "ended where rounding hides what is better";
    if (result < 0) return fmt::format("ended with an error of the optimiser ({})", static_cast<int>(result));
    return "ended within its tolerance";
}

}  // namespace

std::string search_minimum(
    const study_spec& s, const std::function<std::optional<study_row>(std::int64_t, const std::vector<double>&)>& run) {
    search_state state(s, run);
    const auto count = static_cast<unsigned>(s.parameters.size());
    const std::unique_ptr<nlopt_opt_s, void (*)(nlopt_opt)> task(nlopt_create(algorithm_of(s), count), nlopt_destroy);
    if (task == nullptr) throw run_error("the optimiser cannot be made");
    state.task = task.get();
    nlopt_srand(5489);  // of crs
    std::vector<condition_of_search> conditions;
    for (std::size_t k = 0; k < state.conditions(); ++k) conditions.push_back({&state, k});
    bool fine = nlopt_set_lower_bounds1(task.get(), 0) > 0 && nlopt_set_upper_bounds1(task.get(), 1) > 0 &&
                nlopt_set_min_objective(task.get(), nlopt_objective, &state) > 0 &&
                nlopt_set_maxeval(task.get(), s.goal.evaluations) > 0 &&
                nlopt_set_xtol_abs1(task.get(), s.goal.tolerance) > 0 && nlopt_set_initial_step1(task.get(), 0.15) > 0;
    for (auto& c : conditions)
        fine = fine && nlopt_add_inequality_constraint(task.get(), nlopt_condition, &c, 1e-9) > 0;
    if (!fine) throw run_error("the optimiser refuses its settings");
    std::vector<double> x = state.start();
    double value = 0;
    const nlopt_result result = nlopt_optimize(task.get(), x.data(), &value);
    if (state.problem) std::rethrow_exception(state.problem);
    if (state.stopped) return {};
    return words_of(result, s.goal.evaluations);
}

}  // namespace mdpcosim
