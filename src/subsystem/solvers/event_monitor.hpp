#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "subsystem/equations.hpp"

/// Book-keeping of state events, shared by all solvers.
///
/// Every indicator is on a side: +1, -1, or 0 while it has been zero ever since it was first seen. An event is the
/// change to the other side. An event that comes again in the same direction at once, or whose motion back to the former side is too
/// small to get there, is chattering: events without end, as of a ball that bounces to rest. Sides outlive the macro step, so that an indicator that jumps with its inputs between two
/// steps is seen as well; they are part of what a solver saves.
namespace mdpcosim {

class event_monitor {
   public:
    event_monitor(equations& model, std::string_view solver_name);

    std::size_t count() const { return z_.size(); }
    std::span<double> sides() { return side_; }
    std::span<const double> sides() const { return side_; }
    std::int64_t events() const { return events_; }

    /// A new macro step: the cap on its events counts from zero.
    void start_interval() { in_interval_ = 0; }
    /// The state was changed from outside: earlier events mean nothing.
    void forget();
    /// +1 or -1 for the direction of the last event of indicator i that changed the state; 0: there was none.
    int last_rose(std::size_t i) const {
        return last_[i].time < 0 && std::isinf(last_[i].time) ? 0 : last_[i].rising ? 1 : -1;
    }

    /// Events of indicators that changed side because the inputs jumped at `t`; true when x was changed.
    bool jump(double t, double* x, const double* u);

    /// Takes the present sides without events.
    void remember(double t, const double* x, const double* u);

    /// The indicators, in storage of the monitor.
    std::span<const double> evaluate(double t, const double* x, const double* u);

    /// Applies event i; true when x was changed. Throws run_error after too many events in one macro step, and when the last one
    /// of this indicator and direction is not longer ago than `instant`.
    bool apply(std::size_t i, bool rising, double t, double instant, double* x, const double* u);

    /// Whether the indicator, `before` and `after` an event, is at zero but for errors: a reset has moved it elsewhere, or its
    /// motion over a micro step hides what is left.
    static bool at_zero(double before, double after, double motion_of_a_step) {
        return std::fabs(after) <= 2 * std::fabs(before) || std::fabs(after) <= 1e-6 * std::fabs(motion_of_a_step);
    }

    [[noreturn]] void fail_at_once(std::size_t i, double t) const;

   private:
    struct applied {
        double time = -std::numeric_limits<double>::infinity();
        bool rising = false;
    };

    equations& model_;
    std::string_view solver_name_;
    std::vector<double> z_, side_;
    std::vector<applied> last_;  ///< of the events that changed the state
    std::int64_t events_ = 0;
    int in_interval_ = 0;
};

}  // namespace mdpcosim
