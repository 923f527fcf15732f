#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "subsystem/equations.hpp"

/// Book-keeping of state events, shared by all solvers.
///
/// Every indicator is on a side: +1, -1, or 0 while it has been zero ever since it was first seen. An event is the
/// change to the other side. Sides outlive the macro step, so that an indicator that jumps with its inputs between two
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

    /// Events of indicators that changed side because the inputs jumped at `t`; true when x was changed.
    bool jump(double t, double* x, const double* u);

    /// Takes the present sides without events.
    void remember(double t, const double* x, const double* u);

    /// The indicators, in storage of the monitor.
    std::span<const double> evaluate(double t, const double* x, const double* u);

    /// Applies event i; true when x was changed. Throws run_error after too many events in one macro step.
    bool apply(std::size_t i, bool rising, double t, double* x, const double* u);

   private:
    equations& model_;
    std::string_view solver_name_;
    std::vector<double> z_, side_;
    std::int64_t events_ = 0;
    int in_interval_ = 0;
};

}  // namespace mdpcosim
