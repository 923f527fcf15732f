#pragma once

#include <algorithm>
#include <exception>

#include "core/time_grid.hpp"
#include "master/method.hpp"

namespace mdpcosim {

/// Decides how long macro steps are: does one after the other until the end.
class stepper {
   public:
    virtual ~stepper() = default;
    /// Once, before the first step: whatever has to be allocated.
    virtual void prepare(coupled_system& /*system*/, method& /*chosen*/) {}
    virtual bool done() const = 0;
    /// The step that was done, by `chosen`.
    virtual macro_step step(coupled_system& system, method& chosen) = 0;
    /// After a part of a step, which ends at no macro point.
    virtual bool within_step() const { return false; }
    /// Where somebody outside says when a macro point is to be: the next steps lead over `span`, until arrived(). False: only steps of
    /// another length than usual would, and those are not allowed.
    virtual bool lead_over(double span, bool other_lengths) = 0;
    virtual bool arrived() const = 0;
    virtual void state(state_bytes& bytes) = 0;
    /// Whether its next step begins at t, which a state that was put back must.
    virtual bool stands_at(double t) const = 0;
};

/// Into how many parts the first step is divided: 1 where extrapolations need few values, where the method does not build on them, or where
/// a subsystem takes steps of one length only or, as FMUs do, integrates itself with steps that nobody knows.
int parts_of_first_step(const coupled_system& system, const method& chosen);

/// Steps of equal length. Where extrapolations build on values of several macro points, which the first step does not have, it is done in
/// parts that double, of many points within two: the first ones are so short that their low order does not matter. The same after a jump that
/// extrapolations of a higher order than 2 start anew from, and where a method that repeats steps finds no solution over the whole step.
class constant_stepper final : public stepper {
   public:
    /// `parts` of the first step; 1: it is done as a whole.
    /// `led`: lead_over() is used, so that the grid is part of the state.
    constant_stepper(const time_grid& grid, int parts, bool led = false)
        : grid_(grid), usual_(grid.steps() < least_steps ? 1 : parts), usual_step_(grid.step_size()), led_(led) {
        divide(usual_);
    }
    void prepare(coupled_system& system, method& chosen) override {
        if (!chosen.traits().repeats) return;
        chosen.keep(system);  // makes room
        system.forget_begin();
    }
    bool done() const override { return n_ >= grid_.steps(); }
    macro_step step(coupled_system& system, method& chosen) override {
        macro_step next = grid_.step(n_);
        next.counter += before_;
        if (system.restarted > order_without_parts && !within_step() &&
            n_ - divided_ >= std::max(steps_between, usual_)) [[unlikely]]
            divide(usual_);
        if (part_ < parts_) [[unlikely]] {
            next = next_part(next);
            step_part(system, chosen, next);
        } else if (chosen.traits().repeats)
            next = whole_or_first_part(system, chosen, next);
        else
            chosen.step(system, next);
        if (!within_step()) ++n_;
        return next;
    }
    bool within_step() const override { return part_ < parts_; }
    bool lead_over(double span, bool other_lengths) override;
    bool arrived() const override { return n_ >= goal_; }
    void state(state_bytes& bytes) override {
        bytes(n_, parts_, part_, divided_);
        if (!led_) return;
        double start = grid_.start(), step = grid_.step_size();
        bytes(before_, start, step);
        if (bytes.reading()) grid_ = time_grid(start, grid_.end(), step);
    }
    bool stands_at(double t) const override { return grid_.time(n_) == t; }

   private:
    /// Shorter runs are too coarse for anything but to be told so, and comparing them with half the step must not find the same parts.
    static constexpr std::int64_t least_steps = 8;

    /// After jumps steps are divided, too, but not so often that it would cost as much again.
    static constexpr int steps_between = 20;
    static constexpr int order_without_parts = 2;

    /// Where a step as a whole has no solution; the first one is 1/128 of it.
    static constexpr int parts_without_solution = 8;

    macro_step next_part(const macro_step& whole);
    void step_part(coupled_system& system, method& chosen, const macro_step& part);
    macro_step whole_or_first_part(coupled_system& system, method& chosen, const macro_step& whole);
    void divide(int parts) {
        parts_ = parts;
        part_ = parts > 1 ? 0 : parts;
        divided_ = n_;
        counted_ = 0;
    }

    time_grid grid_;
    int usual_;  ///< parts of the first step, and after jumps
    double usual_step_;
    bool led_;
    std::int64_t before_ = 0, goal_ = 0;  ///< steps before the grid began anew; the step that lead_over() leads to
    int parts_, part_;                    ///< of a divided step, and how many of them are done
    std::int64_t n_ = 0, divided_ = 0;
    std::int64_t counted_ =
        0;  ///< integrations of a divided step: those of the part that took most, as if it had been the whole
    std::exception_ptr why_divided_;  ///< what the step failed with as a whole
};

}  // namespace mdpcosim
