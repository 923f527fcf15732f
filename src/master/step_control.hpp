#pragma once

#include <functional>
#include <string>
#include <vector>

#include "master/corner_watch.hpp"
#include "master/error_constants.hpp"
#include "master/stepper.hpp"

/// Macro steps whose length follows an estimate of the coupling error.
///
/// `trial` (J. Kraft and others, Efficiency of Different Co-Simulation Approaches, section 2.3): the method estimates the error of every
/// coupled output, e. A step is accepted when the largest of |e|/(share (atol + rtol |y|)) is at most 1, else it is undone and repeated; the next is
/// 0.9 eps^(-1/p) times as long, p the order of the estimate: (5) with the largest instead of the sum, (6).
/// Over one step: share = 1, |y| at its end. Over the run: |y| is the largest so far, and
///     share = f (H + b)/(end - start),  f = 0.25, with contacts 0.1,  B <- B + H - eps (H + b), at first B = the first step; b = B/4 in a step that is repeated, else B/64 ,
/// so that all errors together stay below a part of the tolerance, and where something new makes steps short, they may spend what others have left.
///
/// `jump` and `energy` look at what the extrapolations missed at the end of the step, without a second integration. jump: |u - u~| against
/// rtol times the largest |u| so far plus atol times the law's stiffness; energy: the residual power |(u - u~) v|/(n + 2) against rtol times the
/// largest power so far; a PI controller. Where all subsystems can go back, steps above that are undone; else they are counted.
namespace mdpcosim {

struct step_control_options {
    enum class estimator { trial, jump, energy };
    enum class level { value, rate, both };

    double rtol = 1e-4;
    double atol = 1e-6;       ///< of values, SI units
    double atol_rate = 1e-6;  ///< of rates
    estimator estimate = estimator::trial;
    level of = level::both;
    bool whole_run =
        false;  ///< tolerances speak of the errors of all steps together, else of those of one (trial only)
    double first = 0, smallest = 0, largest = 0;  ///< s
    double meet = 0;  ///< s; macro points at all multiples of it from the start on; 0: anywhere
};

struct step_control_counts {
    std::int64_t accepted = 0, rejected = 0;
    double smallest = 0, largest = 0;  ///< accepted; the last one, cut off by the end, not counted
    // Where subsystems cannot go back:
    std::int64_t above = 0;  ///< steps that stand with an error above the tolerance
    double most_above = 0;   ///< the largest, as a multiple of the tolerance,
    double above_at = 0;     ///< and when its step began, s
};

/// One attempt: its error as a multiple of what is allowed, and the coupled output or connection with the largest.
struct step_attempt {
    double begin, length, error;
    bool accepted;
    std::string_view worst;
};

class step_controller final : public stepper {
   public:
    /// `looked` sees every attempt.
    step_controller(const step_control_options& options, double start, double end,
                    std::function<void(const step_attempt&)> looked = {});

    /// What the estimator needs, and the way that needs less; throws user_error.
    static void check(const step_control_options& options, const coupled_system& system, const method& chosen,
                      const std::string& method_name);

    void prepare(coupled_system& system, method& chosen) override;
    bool done() const override { return t_ >= end_; }
    macro_step step(coupled_system& system, method& chosen) override;
    bool lead_over(double span, bool /*other_lengths*/) override;
    bool arrived() const override { return t_ >= goal_; }
    const step_control_counts& counts() const { return counts_; }
    void state(state_bytes& bytes) override {
        bytes(t_, H_, n_, repeated_, error_before_, factor_before_, counts_, largest_, bank_, starting_);
        corners_.state(bytes);
    }

    bool stands_at(double t) const override { return t_ == t; }

   private:
    struct verdict {
        double error = 0;   ///< 1: just what is allowed
        double factor = 1;  ///< that the next step may be longer by
        std::size_t worst = 0;
        double quiet = 0;                     ///< errors below are nothing
        std::string_view flown_through = {};  ///< a contact, which undoes the step whatever the error
    };

    macro_step next_step(const transport& subsystems) const;
    macro_step step_with_trials(coupled_system& system, method& chosen);
    macro_step step_and_look(coupled_system& system, method& chosen);
    double first_step_for_good(const coupled_system& system);
    void look_for_contacts(const coupled_system& system, const macro_step& step, verdict& v);
    verdict judge(std::span<const double> y, const estimate_orders& orders, double H);
    double tolerance_of(std::size_t slot, double y) const;
    /// What a step of the length H may add to the errors of the run, as a part of the tolerance.
    double share(double H) const;
    double loan() const;
    verdict look(const coupled_system& system, method& chosen, double H);
    void reject(const macro_step& step, const verdict& v, std::string_view worst);
    void accept(const macro_step& step, const verdict& v, std::string_view worst);
    std::string_view name_of_worst(const verdict& v) const;
    [[noreturn]] void give_up(const macro_step& step, const verdict& v) const;

    step_control_options options_;
    double start_, end_, t_;
    double goal_;  ///< that lead_over() leads to; else the end
    double H_;     ///< proposed
    std::int64_t n_ = 0;
    bool repeated_ = false;                        ///< the step before was not accepted at once
    double error_before_ = 1, factor_before_ = 1;  ///< of the step before
    step_control_counts counts_;
    std::function<void(const step_attempt&)> looked_;

    std::vector<subsystem_index> with_events_;  ///< that tell their next one
    std::vector<output_level> levels_;
    std::vector<std::uint32_t> owner_;             ///< by output
    std::vector<bool> seen_;                       ///< by subsystem: an output that is read has an error
    std::vector<std::string> names_;               ///< of outputs (trial) or channels
    std::vector<double> error_;                    ///< by output
    std::vector<double> missed_, q_, v_;           ///< by channel
    std::vector<double> largest_, largest_tried_;  ///< so far: outputs (trial), coupling variables or powers
    std::vector<bool> by_nature_;                  ///< by channel: held
    corner_watch corners_;                         ///< where steps are undone
    bool goes_back_ = true;
    bool smooth_ = false;                       ///< tolerances speak of the whole run, and no law has corners
    bool starting_ = false;                     ///< steps are still to grow to what errors allow
    double sum_of_errors_ = 0;                  ///< of all steps, as a part of the tolerance
    double bank_;                               ///< s; what steps so far left of what they might have added
    std::vector<channel_index> other_of_bond_;  ///< by channel: the other signal; invalid: there is none
};

}  // namespace mdpcosim
