// The semi-implicit method (J. Kraft, T. Meyer, B. Schweizer, Efficiency of Different Co-Simulation Approaches, section 2.4): a
// predictor step with extrapolated coupling variables, trial steps with disturbed ones, one corrector step.
//
//   u_p = extrapolation  ->  all subsystems to t_{n+1}: q_p, v_p  ->  by: u_p(t_{n+1}) + by = law(q_p + Q by, v_p + V by), linearised
//   ->  u_p + by * shape  ->  all subsystems again from t_n  ->  u(t_{n+1}) from the laws
//
// Q, V, how positions and rates answer, are taken at first from how rates answer at once, else measured, and then kept: every corrector step
// shows how well they predicted, mends them by Broyden's update, and has them measured anew where they did not. Order and derivation: docs/methods/semi-implicit.md.
#include <fmt/format.h>

#include <cmath>

#include "master/error_constants.hpp"
#include "master/requirements.hpp"
#include "master/step_sensitivities.hpp"

namespace mdpcosim {

namespace {

/// Answers mispredicted by more are measured again, but not at every step.
constexpr double well_predicted = 0.1;
constexpr int steps_between_measurements = 20;

/// Neighbouring times t0 + n*H round differently.
bool same(double H, double other) { return std::abs(H - other) < 1e-9 * H; }

const method_traits semi_implicit_traits{
    .builds_on_history = true, .estimates = true, .rule_with_rates = "hermite-2", .rule_without_rates = "poly-4"};

class semi_implicit_method final : public method {
   public:
    semi_implicit_method() : method(semi_implicit_traits) {}

    void check(const coupled_system& system) const override {
        require_save_restore(system, "method 'semi-implicit' repeats every macro step",
                             "'method: one-pass' for stiff couplings, or 'method: explicit'");
    }

    void prepare(coupled_system& system) override {
        sensitivities_ = step_sensitivities(system);
        const std::size_t n = sensitivities_.channels().size();
        lu_ = sparse_lu(n, sensitivities_.system(std::vector<law_slope>(n), 1));
        slopes_.resize(n);
        by_.resize(n);
        q_.resize(system.coupling.channels());
        v_.resize(q_.size());
        end_.resize(q_.size());
        transport& t = *system.subsystems;
        trials_.assign(sensitivities_.rounds() + 1,
                       {{t.inputs().begin(), t.inputs().end()}, std::vector<double>(t.outputs().size())});
        H_measured_ = 0;
        resolved_ = true;
        system.make_room_for_begin();
    }

    void attempt(coupled_system& system, const macro_step& step) override { advance(system, step, false); }

    void prepare_estimates(coupled_system& system) override {
        constants_ = error_constants(system);
        for (auto* one : {&tried_, &accepted_}) one->error.assign(system.subsystems->outputs().size(), 0.0);
        transport& t = *system.subsystems;
        for (auto* values : {&predicted_, &expected_, &missed_}) values->assign(system.coupling.channels(), 0.0);
        signals_.clear();
        for (std::size_t c = 0; c < predicted_.size(); ++c)
            if (!constants_.by_nature()[c] &&
                std::ranges::find(sensitivities_.channels(), channel_index(c)) == sensitivities_.channels().end())
                signals_.emplace_back(c);
        if (!signals_.empty())
            for (auto& trial : compared_)
                trial = {{t.inputs().begin(), t.inputs().end()}, std::vector<double>(t.outputs().size())};
    }

    estimate_orders attempt_and_estimate(coupled_system& system, const macro_step& step,
                                         std::span<double> error) override {
        const double H = step.end - step.begin;
        // Where the step changes all the time, old answers are taken as long as they predict well.
        advance(system, step, H_measured_ > 0 && std::abs(H / H_measured_ - 1) < 0.5);
        for (std::size_t c = 0; c < missed_.size(); ++c)
            missed_[c] = constants_.by_nature()[c] ? 0 : system.u[c] - predicted_[c];
        const auto before = std::span<const double>(trials_.back().outputs);
        const auto after = system.subsystems->outputs();
        constants_.update(system, &interpolation_constants);
        const estimate_orders orders = constants_.orders();
        // The differences of u behind the estimate belong to an earlier time than the error: they are carried on by their change.
        const bool changes = accepted_.step.end > accepted_.step.begin;
        const double ratio = changes ? H / (accepted_.step.end - accepted_.step.begin) : 0;
        const int n = orders.rate - 2;
        // What is new in the step is no polynomial: all that the corrector changed may be wrong.
        const bool surprised = constants_.surprised(system, H, expected_, missed_) && expects_;
        const double lag = (n + 0.5) / (n + 2), grown = std::pow(ratio, orders.rate);
        tried_.step = step;
        for (std::size_t slot = 0; slot < error.size(); ++slot) {
            const double now = constants_.of_output(slot) * (after[slot] - before[slot]);
            const double then = grown * (constants_.is_value(slot) ? ratio : 1) * (changes ? accepted_.error[slot] : 0);
            error[slot] = changes ? now + lag * (now - then) : now;
            if (surprised && constants_.of_output(slot) != 0)
                error[slot] = std::max(std::abs(error[slot]), std::abs(after[slot] - before[slot]));
            tried_.error[slot] = now;
        }
        estimated_ = true;
        add_errors_of_signals(system, step, error);
        return orders;
    }

    void state(state_bytes& bytes) override {
        bytes(sensitivities_, accepted_.step, accepted_.error, H_last_, H_measured_, due_, resolved_, since_measured_);
        constants_.state(bytes);
    }

   private:
    void committed() override {
        constants_.committed();
        if (estimated_) std::swap(tried_, accepted_);
        estimated_ = false;
    }

    void advance(coupled_system& system, const macro_step& step, bool keep) {
        network& net = system.coupling;
        transport& t = *system.subsystems;
        const double H = step.end - step.begin;
        net.accept(step.begin, t.outputs(), system.u, system.du);
        net.extrapolate(step.end);
        if (!predicted_.empty()) {
            net.polynomial_values(H, predicted_);
            expects_ = net.raise(expected_);
        }
        if (H_last_ > 0 && !same(H, H_last_)) sensitivities_.rescale(H / H_last_);
        H_last_ = H;
        if (!keep && !same(H, H_measured_)) due_ = true;
        const bool estimate = due_ && resolved_ && sensitivities_.estimate(system, H);
        bool poor = correct(system, step, due_ && !estimate);
        resolved_ = resolved_ && !poor;
        if (estimate && poor) {  // once more, with answers that are measured
            system.restore_begin();
            net.extrapolate(step.end);
            poor = correct(system, step, true);
        }
        if (due_) H_measured_ = H;
        since_measured_ = due_ ? 0 : since_measured_ + 1;
        due_ = poor && since_measured_ >= steps_between_measurements;
    }

    /// Signals are extrapolated and not corrected: the step once more with signals that end where they should have.
    void add_errors_of_signals(coupled_system& system, const macro_step& step, std::span<double> error) {
        network& net = system.coupling;
        const double H = step.end - step.begin;
        if (std::ranges::all_of(signals_, [&](channel_index c) { return missed_[c.value()] == 0; })) return;
        auto& [changed, kept] = compared_;
        net.deliver(H, kept.inputs);
        for (const channel_index c : signals_) net.correct(c, missed_[c.value()]);
        net.deliver(H, changed.inputs);
        net.extrapolate(step.end);
        const auto& channels = sensitivities_.channels();
        for (std::size_t i = 0; i < channels.size(); ++i) net.correct(channels[i], by_[i]);
        system.restore_begin();
        system.advance_trials(step, compared_);
        constants_.update(system, &extrapolation_constants);
        for (std::size_t slot = 0; slot < error.size(); ++slot)
            error[slot] = std::abs(error[slot]) +
                          std::abs(constants_.of_output(slot) * (changed.outputs[slot] - kept.outputs[slot]));
    }

    /// Predictor and corrector; true: the answers mispredicted.
    bool correct(coupled_system& system, const macro_step& step, bool measure) {
        network& net = system.coupling;
        transport& t = *system.subsystems;
        predict(system, step, measure);
        if (solve(system, step)) fail(net, step);
        system.restore_begin();
        const auto& channels = sensitivities_.channels();
        for (std::size_t i = 0; i < channels.size(); ++i) net.correct(channels[i], by_[i]);
        net.deliver(step.end - step.begin, t.inputs());
        system.advance(step);
        return sensitivities_.learn(by_, trials_.back().outputs, t.outputs()) > well_predicted;
    }

    /// Where the predictor leads, and with `measure` how that changes. The last trial is the predictor itself.
    void predict(coupled_system& system, const macro_step& step, bool measure) {
        const double H = step.end - step.begin;
        const std::span trials = measure ? std::span(trials_) : std::span(trials_).last(1);
        for (std::size_t k = 0; k < trials.size(); ++k) {
            system.coupling.deliver(H, trials[k].inputs);
            if (k + 1 < trials.size()) sensitivities_.disturb(k, system.coupling, H, trials[k].inputs);
        }
        system.advance_trials(step, trials);
        for (std::size_t k = 0; k + 1 < trials.size(); ++k)
            sensitivities_.measured(k, trials[k].outputs, trials.back().outputs);
    }

    /// The corrections. The channel at which the system of equations is singular, if it is.
    std::optional<std::size_t> solve(coupled_system& system, const macro_step& step) {
        const network& net = system.coupling;
        const auto& channels = sensitivities_.channels();
        net.polynomial_values(step.end - step.begin, end_);
        net.motions(step.end, system.subsystems->outputs(), q_, v_);
        for (std::size_t i = 0; i < channels.size(); ++i) {
            const std::size_t c = channels[i].value();
            slopes_[i] = net.law_of(channels[i])->slope(q_[c], v_[c]);
            by_[i] = system.u[c] - end_[c];
        }
        singular_ = lu_.factorise(sensitivities_.system(slopes_, net.integral_weight(step.end)));
        if (!singular_) lu_.solve(by_);
        return singular_;
    }

    [[noreturn]] void fail(const network& net, const macro_step& step) const {
        throw run_error(
            fmt::format("method 'semi-implicit' at t = {} s: the coupling variables are not determined, the system of "
                        "equations is singular at "
                        "connection '{}'; leave out connections that repeat others, or take 'method: explicit'",
                        step.begin, net.name(sensitivities_.channels()[*singular_])));
    }

    step_sensitivities sensitivities_;
    sparse_lu lu_;
    std::optional<std::size_t> singular_;
    std::vector<trial_step> trials_;
    std::vector<law_slope> slopes_;
    std::vector<double> by_, q_, v_, end_;
    error_constants constants_;
    std::vector<double> predicted_, expected_,
        missed_;  ///< by channel: the end of the predictor's polynomial, what it was expected to miss, and what it did
    bool expects_ = false;                ///< there were enough accepted values for that
    std::vector<channel_index> signals_;  ///< that move within the step
    std::array<trial_step, 2> compared_;  ///< with signals as they turned out; the step as it is done
    struct estimated {
        macro_step step;
        std::vector<double> error;
    };
    estimated tried_, accepted_;  ///< the attempt, and the step before it
    bool estimated_ = false;      ///< the attempt
    double H_last_ = 0, H_measured_ = 0;
    bool due_ = true;       ///< the answers are to be measured
    bool resolved_ = true;  ///< as far as is known, steps resolve what moves inside: leading orders predict well
    int since_measured_ = 0;
};

const method_registration registered{
    {"semi-implicit",
     "predictor, linearised coupling conditions, one corrector: two integrations per macro step, for stiff couplings",
     [](const parameter_values&) { return std::make_unique<semi_implicit_method>(); },
     {},
     semi_implicit_traits}};

}  // namespace

}  // namespace mdpcosim
