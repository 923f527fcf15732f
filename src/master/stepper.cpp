#include "master/stepper.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mdpcosim {

namespace {

constexpr int order_that_needs_none = 2;

/// Parts that grow fast make extrapolations of many points unstable: of six and more they grow by the square root of two.
constexpr int order_of_many_points = 6;
int parts_per_doubling(int order) { return order < order_of_many_points ? 1 : 2; }

/// The shortest part is about 2^-(3 + 2 order) of the step.
int parts_for(int order) { return parts_per_doubling(order) * (4 + 2 * order); }

}  // namespace

int parts_of_first_step(const coupled_system& system, const method& chosen) {
    const int order = system.coupling.highest_order();
    if (!chosen.traits().builds_on_history || order <= order_that_needs_none) return 1;
    for (std::size_t i = 0; i < system.subsystems->size(); ++i)
        if (const capabilities offered = system.subsystems->offers(subsystem_index(i));
            offered.hidden_steps || !offered.why_fixed_step.empty())
            return 1;
    return parts_for(order);
}

/// As many usual steps as the span has, on the grid that there is; else as few equal ones as none is longer than usual, on a grid that begins here.
bool constant_stepper::lead_over(double span, bool other_lengths) {
    const double now = grid_.time(n_), steps = span / usual_step_;
    // Spans are differences of rounded times.
    const double rounding = 8 * std::numeric_limits<double>::epsilon() * (std::abs(now) + span);
    const double slack = 1e-9 * steps + rounding / usual_step_;
    double count = std::round(steps), length = usual_step_;
    const bool whole = count >= 1 && std::abs(steps - count) <= slack;
    if (!whole && std::abs(now + span - grid_.end()) <= rounding && std::ceil(steps) >= double(grid_.steps() - n_)) {
        goal_ = grid_.steps();  // the last step is shorter by itself
        return true;
    }
    if (!whole) {
        if (!other_lengths) return false;
        count = std::max(1.0, std::ceil(steps - slack));
        length = span / count;
    }
    if (std::abs(length - grid_.step_size()) > 1e-9 * length) {
        before_ += n_;
        divided_ -= n_;
        n_ = 0;
        grid_ = time_grid(now, grid_.end(), length);
    }
    goal_ = std::min(n_ + static_cast<std::int64_t>(count), grid_.steps());
    return true;
}

/// A law or a model that has no answer to an iterate, or an iteration without end: shorter steps begin nearer to their solution.
macro_step constant_stepper::whole_or_first_part(coupled_system& system, method& chosen, const macro_step& whole) {
    chosen.keep(system);
    bool goes_back = true;
    try {
        chosen.step(system, whole);
        return whole;
    } catch (const run_error&) {
        why_divided_ = std::current_exception();
        for (std::size_t i = 0; i < system.subsystems->size(); ++i)
            if (!system.subsystems->offers(subsystem_index(i)).why_fixed_step.empty()) throw;
        try {
            chosen.rollback(system);
        } catch (const std::runtime_error&) {  // what comes of a subsystem that is gone
            goes_back = false;
        }
        if (!goes_back) throw;
    }
    divide(parts_without_solution);
    const macro_step first = next_part(whole);
    step_part(system, chosen, first);
    return first;
}

/// A part that fails, too, ends the run with what the whole step failed with: that is the step a user knows.
void constant_stepper::step_part(coupled_system& system, method& chosen, const macro_step& part) {
    const std::int64_t before = system.integrations;
    try {
        chosen.step(system, part);
    } catch (const run_error&) {
        if (why_divided_) std::rethrow_exception(why_divided_);
        throw;
    }
    const std::int64_t of_part = system.integrations - before;
    system.integrations = before + std::max<std::int64_t>(0, of_part - counted_);
    counted_ = std::max(counted_, of_part);
    if (!within_step()) why_divided_ = nullptr;
}

macro_step constant_stepper::next_part(const macro_step& whole) {
    // Only those of many points are so many.
    const int per_doubling = parts_ < parts_for(order_of_many_points) ? 1 : parts_per_doubling(order_of_many_points);
    const auto end_of = [&](int part) {
        if (part == 0) return whole.begin;
        if (part == parts_) return whole.end;
        return whole.begin + (whole.end - whole.begin) * std::exp2(static_cast<double>(part - parts_) / per_doubling);
    };
    ++part_;
    return {end_of(part_ - 1), end_of(part_), whole.counter};
}

}  // namespace mdpcosim
