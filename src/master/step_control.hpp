#pragma once

#include <functional>
#include <string>
#include <vector>

#include "master/error_constants.hpp"
#include "master/stepper.hpp"

/// Macro steps whose length follows an estimate of the coupling error.
///
/// `trial` (J. Kraft and others, Efficiency of Different Co-Simulation Approaches, section 2.3): the method estimates the error of every
/// coupled output, e. A step is accepted when the largest of |e|/(atol + rtol |y|) is at most 1, else it is undone and repeated; the next is
/// 0.9 eps^(-1/p) times as long, p the order of the estimate: (5) with the largest instead of the sum, (6). `jump` and `energy` look
/// at what the extrapolations missed at the end of the step, after it: no second integration, nothing is undone. jump: |u - u~| against
/// rtol times the largest |u| so far plus atol times the law's stiffness; energy: the residual power |(u - u~) v|/(n + 2) against rtol times the
/// largest power so far; a PI controller.
namespace mdpcosim {

struct step_control_options {
    enum class estimator { trial, jump, energy };
    enum class level { value, rate, both };

    double rtol = 1e-4;
    double atol = 1e-6;       ///< of values, SI units
    double atol_rate = 1e-6;  ///< of rates
    estimator estimate = estimator::trial;
    level of = level::both;
    double first = 0, smallest = 0, largest = 0;  ///< s
    double meet = 0;  ///< s; macro points at all multiples of it from the start on; 0: anywhere
};

struct step_control_counts {
    std::int64_t accepted = 0, rejected = 0;
    double smallest = 0, largest = 0;  ///< accepted; the last one, cut off by the end, not counted
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
    const step_control_counts& counts() const { return counts_; }
    void state(state_bytes& bytes) override {
        bytes(t_, H_, n_, repeated_, error_before_, factor_before_, counts_, largest_);
    }

    bool stands_at(double t) const override { return t_ == t; }

   private:
    struct verdict {
        double error = 0;   ///< 1: just what is allowed
        double factor = 1;  ///< that the next step may be longer by
        std::size_t worst = 0;
    };

    macro_step next_step(const transport& subsystems) const;
    macro_step step_with_trials(coupled_system& system, method& chosen);
    macro_step step_and_look(coupled_system& system, method& chosen);
    verdict judge(std::span<const double> y, const estimate_orders& orders) const;
    verdict look(const coupled_system& system, method& chosen, double H);
    void accept(const macro_step& step, const verdict& v, std::string_view worst);
    [[noreturn]] void give_up(const macro_step& step, const verdict& v) const;

    step_control_options options_;
    double start_, end_, t_;
    double H_;  ///< proposed
    std::int64_t n_ = 0;
    bool repeated_ = false;                        ///< the step before was not accepted at once
    double error_before_ = 1, factor_before_ = 1;  ///< of the step before
    step_control_counts counts_;
    std::function<void(const step_attempt&)> looked_;

    std::vector<subsystem_index> with_events_;  ///< that tell their next one
    std::vector<output_level> levels_;
    std::vector<std::string> names_;                ///< of outputs (trial) or channels
    std::vector<double> error_;                     ///< by output
    std::vector<double> missed_, q_, v_, largest_;  ///< by channel
    std::vector<channel_index> other_of_bond_;      ///< the same: the other signal; invalid: there is none
};

}  // namespace mdpcosim
