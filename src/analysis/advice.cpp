#include "analysis/advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "analysis/advice_runs.hpp"
#include "core/error.hpp"
#include "coupling/eigenvalues.hpp"
#include "simulation/trust.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

namespace {

constexpr Eigen::Index most_eigenvalues = 400;
constexpr double smallest_of_fastest = 0.05;  // the search begins where the fastest motion turns by so much in a step,
constexpr double smallest_of_step = 1e-3;     // but not below this part of the scenario's own step
constexpr double largest_of_span = 1.0 / 16;
constexpr double growth_that_counts = 1e-6;  // of the fastest motion
constexpr double part_of_limit = 0.95;
constexpr int error_halvings = 7;
constexpr double most_stand_in_steps = 60000;
constexpr double finer_reference = 4;

/// The largest modulus of an eigenvalue, by what many products with M make of a vector; enough to know where to begin.
double size_of_largest(const Eigen::MatrixXd& M) {
    constexpr int products = 60, counted = 40;
    Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(M.rows(), 1, 2);
    double sum = 0;
    for (int n = 0; n < products; ++n) {
        v = M * v;
        const double size = v.norm();
        if (!(size > 0)) return 0;
        v /= size;
        if (n >= products - counted) sum += std::log(size);
    }
    return std::exp(sum / counted);
}

class adviser {
   public:
    explicit adviser(const advice_request& request) : request_(request), own_(request.load(request.choices.front())) {}

    advice find() {
        out_.step = own_.time.step;
        out_.span = own_.time.end - own_.time.start;
        out_.error = request_.error;
        own_.step_control = {};
        refuse_what_cannot_be();
        tell("identifying the subsystems");
        out_.system = identify(own_, request_.told, request_.quick);
        for (const auto& one : out_.system.subsystems) out_.instances += one.instances, out_.advances += one.advances;
        look_at_physics();
        for (const step_choice& choice : request_.choices) find_limit(out_.found.emplace_back(), choice);
        with_errors_ = request_.errors && !(sample_time() > 0);
        if (request_.errors && !with_errors_)
            out_.warnings.emplace_back("errors are not predicted where subsystems are sampled");
        if (with_errors_) predict_errors();
        recommend();
        confirm();
        return std::move(out_);
    }

   private:
    void tell(const std::string& what) const {
        if (request_.told) request_.told(what);
    }

    void refuse_what_cannot_be() const {
        if (own_.connections.empty() && own_.signals.empty())
            throw user_error(fmt::format(
                "{}: nothing is coupled: there are neither connections nor signals, so that no macro step limits it.",
                own_.path.string()));
        for (const connection_spec& c : own_.connections)
            if (c.is_joint())
                throw user_error(
                    c.where,
                    fmt::format(
                        "connection '{}': advice is not found for joints. 'mdpcosim stability --method index-1' shows "
                        "what limits them, 'mdpcosim bench largest-step' finds limits by running.",
                        c.name));
    }

    void look_at_physics() {
        scenario all = own_;
        all.record = {};
        const simulation described(all, {.workers = 1, .watch = false, .writable = false});
        const Eigen::MatrixXd M = coupled_matrix(described.parts(), out_.system.subsystems, out_.system.slopes);
        for (const std::string& name : coupled_columns(described.parts())) columns_.push_back(name);
        for (std::size_t c = 0; c < described.parts().channels.size(); ++c) {
            const channel_report& channel = described.parts().channels[c];
            std::vector<std::string> joined;
            for (const auto& end : channel.ends) joined.push_back(end.address.substr(0, end.address.find('.')));
            for (const channel_term& term : described.parts().system.coupling.terms(channel_index(c))) {
                const output_slot slot = term.value.valid() ? term.value : term.rate;
                for (std::size_t i = out_.system.subsystems.size(); i-- > 0;)
                    if (described.parts().system.subsystems->output_offset(subsystem_index(i)) <= slot.value()) {
                        joined.push_back(out_.system.subsystems[i].name);
                        break;
                    }
            }
            joins_.emplace_back(channel.name, joined);
        }
        if (M.rows() == 0 || !M.allFinite()) return warn();
        if (M.rows() > most_eigenvalues) {
            out_.fastest = size_of_largest(M);
            return warn();
        }
        const Eigen::EigenSolver<Eigen::MatrixXd> modes(M, false);
        for (const auto& s : modes.eigenvalues()) {
            if (std::abs(s) > std::abs(out_.fastest)) out_.fastest = s;
            if (s.real() > out_.growing.real()) out_.growing = s;
        }
        // Integrators in series (free bodies) are zero but for rounding.
        if (out_.growing.real() > growth_that_counts * std::abs(out_.fastest)) out_.growth = out_.growing.real();
        warn();
    }

    void warn() {
        for (const identified_subsystem& one : out_.system.subsystems) {
            for (const std::string& k : one.kinks)
                out_.warnings.push_back(fmt::format("subsystem '{}' stands in a kink: {}", one.name, k));
            if (one.how == identified_subsystem::way::excluded)
                out_.warnings.push_back(
                    fmt::format("subsystem '{}' is excluded, as if it kept what it gives now: {}", one.name, one.why));
            if (one.misfit > 0.05)
                out_.warnings.push_back(
                    fmt::format("subsystem '{}': over a longer window its model misses {:.2g} of what it answers",
                                one.name, one.misfit));
            std::complex<double> worst = 0;
            double largest = 0;
            for (const auto& s : one.own) {
                largest = std::max(largest, std::abs(s));
                if (s.real() > worst.real()) worst = s;
            }
            if (worst.real() * out_.span > 0.1 && worst.real() > growth_that_counts * largest)
                out_.warnings.push_back(
                    fmt::format("subsystem '{}' is unstable by itself: eigenvalue {:.4g}{:+.4g}i 1/s", one.name,
                                worst.real(), worst.imag()));
        }
        for (const std::string& k : out_.system.kinks) out_.warnings.push_back(k);
        if (out_.growth * out_.span > 0.1)
            out_.warnings.push_back(
                fmt::format("the coupled system grows by itself, whatever the step: eigenvalue {:.4g}{:+.4g}i 1/s; "
                            "limits are those "
                            "of growing faster than that",
                            out_.growing.real(), out_.growing.imag()));
    }

    void find_limit(advised_choice& one, const step_choice& choice) {
        one.choice = choice;
        try {
            scenario s = request_.load(choice);
            s.step_control = {};
            one.method = s.method.value.empty() ? default_method : s.method.value;
            one.extrapolation = choice.extrapolation;
            if (known_method(s).traits.own_steps)
                throw user_error(fmt::format(
                    "method '{}': advice is not found where subsystems have steps of their own", s.method.value));
            tell(fmt::format("{} {}", one.method, one.extrapolation));
            step_growth growth(s, out_.system, out_.system.slopes);
            if (request_.quick && !growth.by_matrix()) throw user_error("its macro step is no small matrix");
            if (!growth.by_matrix() && !(sample_time() > 0))
                throw user_error(
                    fmt::format("its macro step depends on {} unknowns, of which 160 can be looked at; 'mdpcosim bench "
                                "largest-step' finds limits by running",
                                growth.unknowns()));
            one.limit = limit_of(growth);
            if (out_.system.moving_slopes) {
                step_growth steep(s, out_.system, out_.system.steepest);
                const step_limit there = limit_of(steep);
                if (there.outcome != step_limit::kind::unbounded && there.largest < one.limit.largest)
                    one.steep = there.largest;
            }
            one.safe = allowed(part_of_limit * one.stable_step());
            one.integrations = growth.integrations(std::min(own_.time.step, one.stable_step()));
            if (one.limit.outcome == step_limit::kind::limit) one.mode = growth.mode(one.limit.largest * 1.005);
            if (one.mode) name_connections(one);
        } catch (const user_error& problem) {
            one.refused = true;
            one.why = problem.what();
        }
    }

    /// The shortest time between samples, of which macro steps are whole parts; 0: nothing is sampled.
    double sample_time() const {
        double sample = 0;
        for (const auto& spec : own_.subsystems)
            if (spec.sample) sample = sample > 0 ? std::min(sample, spec.sample->time) : spec.sample->time;
        return sample;
    }

    double allowed(double step) const {
        const double sample = sample_time();
        return sample > 0 ? sample / std::max(1.0, std::ceil(sample / step * (1 - 1e-9))) : step;
    }

    step_limit limit_of(step_growth& growth) const {
        const double sample = sample_time();
        const double fastest = std::abs(out_.fastest), to = std::max(out_.span * largest_of_span, 4 * own_.time.step);
        double from = own_.time.step / 8;
        if (fastest > 0) from = std::min(from, smallest_of_fastest / fastest);
        return find_step_limit(growth, out_.growth, std::max(from, smallest_of_step * own_.time.step), to, sample);
    }

    void name_connections(advised_choice& one) const {
        const auto takes_part = [&](const std::string& name) {
            return std::ranges::any_of(one.mode->subsystems, [&](const auto& p) { return p.first == name; });
        };
        for (const auto& [name, joined] : joins_)
            if (std::ranges::all_of(joined, takes_part)) one.connections.push_back(name);
    }

    /// Over the whole run, or what few enough steps reach. The reference has a step that is small for the scenario's own choice.
    void predict_errors() {
        const advised_choice* base = nullptr;
        for (const advised_choice& one : out_.found) {
            if (!usable(one)) continue;
            const bool better = base != nullptr && base->method != default_method && one.method == default_method;
            if (base == nullptr || better) base = &one;
        }
        if (base == nullptr) return;
        const double most = most_stand_in_steps / std::max(1.0, static_cast<double>(out_.system.subsystems.size()) / 4);
        double finest = std::min(base->stable_step(), out_.span * largest_of_span) /
                        std::ldexp(finer_reference, error_halvings - 1);
        finest = allowed(std::min(finest, out_.step / finer_reference));
        out_.error_span = std::min(out_.span, most * finest);
        tell("predicting errors");
        result_table reference;
        try {
            reference = run_stand_in(with(base->choice, finest), out_.system, columns_);
        } catch (const std::exception& problem) {
            out_.warnings.push_back(
                fmt::format("errors are not predicted: the reference of the stand-in fails: {}", problem.what()));
            return;
        }
        for (advised_choice& one : out_.found) {
            if (!usable(one)) continue;
            double step = std::min(part_of_limit * one.stable_step(), out_.error_span * largest_of_span);
            for (int n = 0; n < error_halvings && step > finer_reference * 0.99 * finest; ++n, step /= 2)
                one.errors.push_back({allowed(step), HUGE_VAL});
            one.errors.push_back({out_.step, HUGE_VAL});
            predict_errors_of(one, reference);
        }
    }

    void predict_errors_of(advised_choice& one, const result_table& reference) {
        for (step_error& e : one.errors) {
            if (e.step > one.stable_step()) continue;
            try {
                e.error = largest_error(
                    run_stand_in(with(one.choice, e.step), out_.system, columns_, &one.integrations), reference);
            } catch (const std::exception&) {
                e.error = HUGE_VAL;  // it failed, as a run would
            }
        }
        std::ranges::sort(one.errors, {}, &step_error::step);
        // The largest step below which everything keeps the error, between two of them by their slope.
        const step_error* last = nullptr;
        for (const step_error& e : one.errors) {
            if (!(e.error <= request_.error)) {
                if (last != nullptr && std::isfinite(e.error) && last->error > 0)
                    one.accurate = last->step * std::pow(e.step / last->step, std::log(request_.error / last->error) /
                                                                                  std::log(e.error / last->error));
                break;
            }
            one.accurate = e.step;
            last = &e;
        }
    }

    static bool usable(const advised_choice& one) {
        return !one.refused && one.limit.outcome != step_limit::kind::none && one.stable_step() > 0;
    }

    scenario with(const step_choice& choice, double step) const {
        scenario s = request_.load(choice);
        s.step_control = {};
        s.time.step = step;
        s.time.end = s.time.start + out_.error_span;
        return s;
    }

    void recommend() {
        for (std::size_t k = 0; k < out_.found.size(); ++k) {
            const advised_choice& one = out_.found[k];
            if (!usable(one) || (with_errors_ && !(one.accurate > 0))) continue;
            const auto price = [&](const advised_choice& x) {
                return with_errors_ ? x.cost() : x.integrations / x.stable_step();
            };
            if (!out_.recommended || price(one) < price(out_.found[*out_.recommended]) * (1 - 1e-6))
                out_.recommended = k;
        }
        if (!out_.recommended) {
            out_.reason = "none of the methods that were looked at keeps the wanted error with a step that was tried";
            return;
        }
        const advised_choice& best = out_.found[*out_.recommended];
        if (with_errors_)
            out_.reason = fmt::format(
                "of all that keep an error of {:.3g} it needs the fewest integrations, {:.4g} for each simulated "
                "second",
                out_.error, best.cost());
        else
            out_.reason = fmt::format("it is stable with the fewest integrations, {:.4g} for each simulated second",
                                      best.integrations / best.stable_step());
        if (best.accurate > 0 && best.accurate < 0.9 * best.stable_step())
            out_.reason += fmt::format("; accuracy, not stability, limits its step ({:.4g} s would be stable)",
                                       best.stable_step());
    }

    void confirm() {
        for (std::size_t k = 0; k < out_.found.size(); ++k) {
            advised_choice& one = out_.found[k];
            const bool wanted = request_.confirm_all || (request_.confirm && out_.recommended == k);
            if (!wanted || !usable(one)) continue;
            tell(fmt::format("confirming {} {}", one.method, one.extrapolation));
            const scenario s = request_.load(one.choice);
            confirmation& told = one.confirmed.emplace();
            try {
                confirm_limit(s, one.stable_step(), sample_time(), told);
                if (told.stable && told.lowered > 0) one.accurate = std::min(one.accurate, told.tried);
                if (one.accurate > 0)
                    confirm_error(s, one.accurate, error_at(one, one.accurate), out_.error_span, told);
            } catch (const std::exception& problem) {
                told.why = problem.what();
            }
        }
    }

    static double error_at(const advised_choice& one, double step) {
        for (std::size_t k = 0; k < one.errors.size(); ++k) {
            const step_error& e = one.errors[k];
            if (e.step < step * (1 - 1e-9)) continue;
            if (k == 0 || e.step <= step * (1 + 1e-9) || !std::isfinite(e.error)) return e.error;
            const step_error& before = one.errors[k - 1];
            if (!(before.error > 0)) return e.error;
            return before.error *
                   std::pow(e.error / before.error, std::log(step / before.step) / std::log(e.step / before.step));
        }
        return HUGE_VAL;
    }

    const advice_request& request_;
    scenario own_;
    advice out_;
    bool with_errors_ = true;
    std::vector<std::string> columns_;
    std::vector<std::pair<std::string, std::vector<std::string>>> joins_;  ///< channels, and whom they join
};

}  // namespace

advice find_advice(const advice_request& request) { return adviser(request).find(); }

}  // namespace mdpcosim
