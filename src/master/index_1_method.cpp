// The index-1 method for joints (T. Meyer, P. Li, D. Lu, B. Schweizer, Implicit co-simulation method for constraint coupling with
// improved stability behavior, 2018).
//
//   multipliers of the last step go on  ->  all subsystems to t_{n+1}: residuals of the joints there, on position, velocity and
//   acceleration level  ->  three parameters of every multiplier's polynomial that make them zero, linearised  ->  all subsystems again
//
// Polynomials of degree 2 may jump at macro points, those of degree 3 do not. How residuals answer to the parameters is measured by
// trial steps, kept while it predicts well, and mended by Broyden's update. Force laws beside joints are extrapolated, as in the
// explicit method. Order, stability, limits of use: docs/methods/index-1.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "master/error_constants.hpp"
#include "master/joint_equations.hpp"
#include "master/joint_start.hpp"
#include "master/method.hpp"
#include "master/requirements.hpp"

namespace mdpcosim {

namespace {

/// A corrector that leaves more of the residuals than this has old answers.
constexpr double well_corrected = 1e-4;
constexpr int kept_iterations = 3;     // with old answers, before they are measured
constexpr double hardly_wrong = 1e-8;  // nothing to learn from
constexpr double rounding = 1e-14;     // of the largest residuals so far
constexpr double nothing = 1e-100;     // what is left of motions that died out
constexpr int first_iterations = 4;    // of the first step, whose predictor is a constant

struct index_1_options {
    int degree = 3;
    double tolerance = 0;  ///< 0: one iteration
    int limit = 10;
    bool fresh = false;  ///< answers are measured at every step
};

const method_traits index_1_traits{
    .holds_joints = true,
    .estimates = true,
    .least_micro_steps = 3,
    .remedy = "take a smaller macro step, 'method: {name: index-1, degree: 3}', or iterate ('tolerance: 1e-9')"};

class index_1_method final : public method {
   public:
    explicit index_1_method(const index_1_options& options) : method(index_1_traits), options_(options) {}

    void check(const coupled_system& system) const override {
        require_save_restore(system, "method 'index-1' repeats every macro step",
                             "a stiff spring (law 'spring-damper') in place of each joint, with 'method: one-pass'");
        if (system.joints.empty())
            throw user_error(
                "method 'index-1' holds joints, and this scenario has none. Couple by 'joint:', or take "
                "'method: explicit', 'semi-implicit' or 'one-pass' for force laws.");
        for (const joint_connection& j : system.joints)
            for (const auto& end : j.ends)
                if (end.degree < options_.degree)
                    throw user_error(fmt::format(
                        "joint '{}': the loads of subsystem '{}' take polynomials of degree {} only, and method "
                        "'index-1' with 'degree: {}' gives such of degree {}. The way that needs less: a stiff spring "
                        "(law 'spring-damper') in place of the joint, with 'method: one-pass'.",
                        j.name, system.subsystems->name(end.subsystem), end.degree, options_.degree, options_.degree));
    }

    void prepare(coupled_system& system) override {
        loads_ = joint_loads(system);
        equations_ = joint_equations(system, loads_);
        for (auto* s : {&before_, &now_, &end_, &scratch_}) *s = loads_.make_state();
        const std::vector<double> start = start_multipliers(system, loads_);
        system.coupling.evaluate(0, system.subsystems->outputs(), system.u, system.du);
        accepted_.resize(start.size());
        for (std::size_t i = 0; i < start.size(); ++i) accepted_[i] = {.c = {start[i]}};
        last_ = multipliers_ = accepted_;
        base_.resize(equations_.size());
        left_.resize(base_.size());
        change_.resize(base_.size());
        transport& t = *system.subsystems;
        trials_.assign(equations_.rounds() + 1,
                       {{t.inputs().begin(), t.inputs().end()}, std::vector<double>(t.outputs().size())});
        system.make_room_for_begin();
        tried_ = {};
        H_accepted_ = H_measured_ = 0;
        largest_predicted_ = 0;
        continued_ = false;
        std::size_t of_joints = 0;
        for (const joint_connection& j : system.joints) of_joints += j.multipliers.size() + 2 * j.ends[0].load.size();
        laws_ = system.coupling.channels() > of_joints;
    }

    void attempt(coupled_system& system, const macro_step& step) override {
        const double H = step.end - step.begin;
        begin(system, step);
        predict(system, step, options_.fresh);
        correct(system, step, H);
    }

    void prepare_estimates(coupled_system& system) override {
        transport& t = *system.subsystems;
        for (auto& trial : compared_)
            trial = {{t.inputs().begin(), t.inputs().end()}, std::vector<double>(t.outputs().size())};
        others_ = multipliers_;
        missed_.resize(system.coupling.channels());
        constants_ = error_constants(system);
    }
    /// The step with multipliers of the other degree, which have the same effect on free bodies, shows what the lower degree costs.
    estimate_orders attempt_and_estimate(coupled_system& system, const macro_step& step,
                                         std::span<double> error) override {
        begin(system, step);
        predict(system, step, options_.fresh);
        estimating_ = true;
        correct(system, step, step.end - step.begin);
        estimating_ = false;
        for (std::size_t slot = 0; slot < error.size(); ++slot)
            error[slot] = compared_[0].outputs[slot] - compared_[1].outputs[slot];
        constants_.update(system, &extrapolation_constants);
        const estimate_orders of_laws = constants_.orders();
        return laws_ ? estimate_orders{std::min(6, of_laws.value), std::min(6, of_laws.rate)} : estimate_orders{6, 6};
    }

    std::size_t memory_size(const coupled_system&) const override {
        return options_.degree == 3 ? accepted_.size() : 0;
    }
    void memory(std::span<double> into) const override {
        for (std::size_t i = 0; i < into.size(); ++i) into[i] = last_[i](tried_.end - tried_.begin);
    }
    void set_memory(double /*H*/, std::span<const double> from) override {
        for (std::size_t i = 0; i < accepted_.size(); ++i) accepted_[i] = {.c = {i < from.size() ? from[i] : 0}};
        H_accepted_ = 0;
        continued_ = true;
        tried_ = {};
    }

    void state(state_bytes& bytes) override {
        bytes(equations_, before_.residuals, before_.loads, accepted_, last_, tried_, H_accepted_, H_measured_,
              largest_predicted_, continued_, due_);
    }

   private:
    void committed() override {
        accepted_ = last_;
        H_accepted_ = tried_.end - tried_.begin;
        std::swap(before_, now_);
    }

    void begin(coupled_system& system, const macro_step& step) {
        transport& t = *system.subsystems;
        loads_.evaluate(system, t.outputs(), now_);
        tried_ = step;
        system.coupling.accept(step.begin, t.outputs(), system.u, system.du);
        system.coupling.extrapolate(step.end);
    }

    /// Where the multipliers of the last step lead, and how that changes where it has to be measured.
    void predict(coupled_system& system, const macro_step& step, bool measure) {
        const double H = step.end - step.begin;
        for (std::size_t i = 0; i < accepted_.size(); ++i) multipliers_[i] = shifted(accepted_[i], H_accepted_);
        loads_.go_on(before_, now_, H_accepted_, H);
        measure = measure || due_ || !(std::abs(H - H_measured_) < 1e-9 * H);
        const std::span trials = measure ? std::span(trials_) : std::span(trials_).last(1);
        // Outputs that depend on loads at once and are read by others are asked for after each trial, with its loads.
        const bool one_by_one = !system.at_each_step.empty();
        if (one_by_one) system.save_begin();
        for (std::size_t k = 0; k < trials.size(); ++k) {
            loads_.impose(system, multipliers_);
            system.coupling.deliver(H, trials[k].inputs);
            if (k + 1 < trials.size())
                equations_.disturb(k, system, loads_, options_.degree, H, multipliers_, trials[k].inputs, system.u);
            if (!one_by_one) continue;
            if (k > 0) system.restore_begin();
            std::ranges::copy(trials[k].inputs, system.subsystems->inputs().begin());
            system.advance(step);
            std::ranges::copy(system.subsystems->outputs(), trials[k].outputs.begin());
        }
        if (!one_by_one) system.advance_trials(step, trials);
        const auto& undisturbed = trials.back().outputs;
        loads_.evaluate(system, undisturbed, end_);
        equations_.residuals(end_, H, base_);
        for (std::size_t k = 0; k + 1 < trials.size(); ++k)
            equations_.measured(k, system, loads_, H, trials[k].outputs, undisturbed, base_, scratch_);
        measured_now_ = measure;
        if (!measure) return;
        H_measured_ = H;
        due_ = false;
    }

    void correct(coupled_system& system, const macro_step& step, double H) {
        if (options_.tolerance > 0) return iterate(system, step, H);
        const double predicted = largest(base_);
        largest_predicted_ = std::max(largest_predicted_, predicted);
        const double noise =
            std::max({hardly_wrong * equations_.size_of(multipliers_, H), rounding * largest_predicted_, nothing});
        const bool first = H_accepted_ == 0 && !continued_;
        for (int i = 0;; ++i) {
            change(system, step, H);
            const double after = largest(left_);
            const bool good = after <= std::max(noise, (first ? hardly_wrong : well_corrected) * predicted);
            if (!good) equations_.learn(change_, left_);
            std::swap(base_, left_);
            if (good || (measured_now_ && i + 1 >= (first ? first_iterations : 1))) break;
            if (measured_now_ || i + 1 < kept_iterations) continue;
            system.restore_begin();
            predict(system, step, true);
            i = -1;
        }
        last_ = multipliers_;
    }

    void iterate(coupled_system& system, const macro_step& step, double H) {
        double before = largest(base_);
        for (int i = 0; i < options_.limit; ++i) {
            change(system, step, H);
            const double after = largest(left_);
            if (after > hardly_wrong * before) equations_.learn(change_, left_);
            due_ = due_ || after > 0.1 * before;
            before = after;
            std::swap(base_, left_);
            if (!met(H)) continue;
            last_ = multipliers_;
            return;
        }
        fail(system, step, H);
    }

    /// One corrector step: the multipliers that make the residuals `base_` zero, and the residuals `left_` that they leave.
    void change(coupled_system& system, const macro_step& step, double H) {
        if (const auto singular = equations_.solve(base_, change_)) fail_singular(system, step, *singular);
        for (std::size_t i = 0; i < multipliers_.size(); ++i) {
            polynomial& p = multipliers_[i];
            for (int which = 0; which < 3; ++which) {
                const polynomial part = multiplier_basis(options_.degree, which, H);
                const double by = change_[3 * i + static_cast<std::size_t>(which)];
                for (int n = 0; n <= part.degree; ++n) p.c[n] += by * part.c[n];
            }
            p.degree = options_.degree;
        }
        loads_.lead(now_, end_, H);
        loads_.impose(system, multipliers_);
        system.restore_begin();
        if (estimating_)
            advance_compared(system, step, H);
        else
            advance(system, step, H);
        loads_.evaluate(system, system.subsystems->outputs(), end_);
        equations_.residuals(end_, H, left_);
    }

    static void advance(coupled_system& system, const macro_step& step, double H) {
        system.coupling.deliver(H, system.subsystems->inputs());
        system.advance(step);
    }

    /// And with multipliers of the other degree, and laws of a higher one.
    void advance_compared(coupled_system& system, const macro_step& step, double H) {
        network& net = system.coupling;
        auto& [other, kept] = compared_;
        net.deliver(H, kept.inputs);
        for (std::size_t i = 0; i < others_.size(); ++i)
            others_[i] = as_effective(multipliers_[i], 5 - options_.degree, accepted_[i](H_accepted_), H);
        loads_.impose(system, others_);
        const bool raised = laws_ && net.raise(missed_);
        if (raised)
            for (std::size_t c = 0; c < missed_.size(); ++c)
                if (missed_[c] != 0 && !net.held(channel_index(c))) net.correct(channel_index(c), missed_[c]);
        net.deliver(H, other.inputs);
        if (raised) net.extrapolate(step.end);
        loads_.impose(system, multipliers_);
        system.advance_trials(step, compared_);
    }

    /// The largest residual as an acceleration.
    static double largest(std::span<const double> residuals) {
        double most = 0;
        for (const double r : residuals) most = std::max(most, std::abs(r));
        return most;
    }
    bool met(double H) const { return largest(base_) * H * H <= options_.tolerance; }

    std::string joint_of(const coupled_system& system, std::size_t multiplier) const {
        std::size_t j = system.joints.size();
        while (j-- > 0 && loads_.first_multiplier(j) > multiplier) {
        }
        return system.joints[j].name;
    }
    [[noreturn]] void fail_singular(const coupled_system& system, const macro_step& step,
                                    std::size_t multiplier) const {
        throw run_error(
            fmt::format("method 'index-1' at t = {:.10g} s: the multipliers are not determined, the system of "
                        "equations is singular at "
                        "joint '{}'; the mechanism may have come to a position in which joints repeat each other",
                        step.begin, joint_of(system, multiplier)));
    }
    [[noreturn]] void fail(const coupled_system& system, const macro_step& step, double H) const {
        const auto worst = std::ranges::max_element(base_, {}, [](double r) { return std::abs(r); });
        const auto at = static_cast<std::size_t>(worst - base_.begin());
        throw run_error(fmt::format(
            "method 'index-1' at t = {:.10g} s: joint '{}' is left with a residual of {:.3g} after {} iterations, {} "
            "are "
            "allowed ('tolerance'); take a smaller macro step than {:.6g} s, or a larger tolerance",
            step.begin, joint_of(system, at / 3), std::abs(*worst) * H * H, options_.limit, options_.tolerance, H));
    }

    index_1_options options_;
    joint_loads loads_;
    joint_equations equations_;
    joint_state before_, now_, end_, scratch_;  ///< at the begin of the last step, of this step, at its end
    std::vector<polynomial> accepted_, multipliers_, last_;  ///< of the step before, in work, of the step tried last
    std::vector<double> base_, left_, change_;
    std::vector<trial_step> trials_;      ///< the last: undisturbed
    std::array<trial_step, 2> compared_;  ///< with the other multipliers; the step as it is done
    std::vector<polynomial> others_;
    std::vector<double> missed_;
    error_constants constants_;
    bool estimating_ = false;
    bool laws_ = false;  ///< something besides joints couples
    macro_step tried_;
    double H_accepted_ = 0;  ///< of the step before; 0: there is none
    double H_measured_ = 0;
    double largest_predicted_ = 0;
    bool continued_ = false;  ///< from memory, so that the next step is not the first
    bool due_ = true, measured_now_ = false;
};

const method_registration registered{
    {"index-1",
     "joints by multipliers: predictor, linearised residuals of position, velocity and acceleration, corrector; order "
     "5 or 6",
     [](const parameter_values& p) {
         index_1_options options;
         options.degree = p["degree"] == 0 ? 2 : 3;
         if (p.given("tolerance")) options.tolerance = p["tolerance"];
         options.limit = static_cast<int>(p["limit"]);
         options.fresh = p["jacobian"] == 1;
         return std::make_unique<index_1_method>(options);
     },
     {{.name = "degree",
       .unit = "",
       .description = "of the multipliers' polynomials: 2 may jump at macro points, 3 is continuous",
       .default_value = 1,
       .choices = {"2", "3"}},
      {.name = "tolerance",
       .unit = "1",
       .description = "iterate until no residual of a joint is larger (m, rad, 1; velocities times H, "
                      "accelerations times H^2); not given: one iteration",
       .allowed = parameter_info::range::positive},
      {.name = "limit",
       .unit = "1",
       .description = "iterations per macro step at most, with a tolerance",
       .default_value = 10,
       .allowed = parameter_info::range::whole},
      {.name = "jacobian",
       .unit = "",
       .description = "how residuals answer to multipliers: kept while it predicts well, or measured at every step",
       .choices = {"kept", "fresh"}}},
     index_1_traits}};

}  // namespace

}  // namespace mdpcosim
