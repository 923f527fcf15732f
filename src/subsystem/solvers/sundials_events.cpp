#include <algorithm>
#include <cmath>

#include "subsystem/solvers/interval.hpp"
#include "subsystem/solvers/sundials_solver.hpp"

/// State events of the SUNDIALS integrators, which find the roots of the indicators on their interpolated solution.
namespace mdpcosim {

bool sundials_solver::apply_roots(double t, double* x) {
    find_roots(roots_.data());
    input_values(inputs_, t - begin_, u_.data());
    std::ranges::copy(monitor_->evaluate(t, x, u_.data()), z_before_.begin());
    look_ahead(t, x, z_before_);
    input_values(inputs_, t - begin_, u_.data());
    bool changed = false;
    for (std::size_t i = 0; i < roots_.size(); ++i) {
        if (roots_[i] == 0) continue;
        // An indicator that moves away from the side to which it has crossed: what it did since its last event is below the tolerance.
        // Corners have no last event.
        if (rate_[i] * roots_[i] < 0 && monitor_->last_rose(i) == roots_[i]) monitor_->fail_at_once(i, t);
        changed |= monitor_->apply(i, roots_[i] > 0, t, 2 * instant_[i], x, u_.data());
    }
    if (!changed) return false;
    make_consistent(t);
    input_values(inputs_, t - begin_, u_.data());
    shift_indicators(t, x);
    return true;
}

/// The rates of the indicators in roots_, which are z at t, from a short way along f: longer where rounding hides the motion. ahead_ is
/// that way, zero where nothing is hidden.
void sundials_solver::look_ahead(double t, const double* x, std::span<const double> z) {
    const double instant = shortest_look(t);
    std::ranges::fill(rate_, 0);
    std::ranges::fill(ahead_, 0);
    if (n_ > 0) evaluate(t, x, rates_.data());
    bool hidden = true;
    for (double ahead = instant; hidden && ahead <= std::max(instant, remembered_.size); ahead *= 4) {
        for (std::size_t k = 0; k < n_; ++k) x_ahead_[k] = x[k] + ahead * rates_[k];
        input_values(inputs_, t + ahead - begin_, u_.data());
        const auto z_ahead = monitor_->evaluate(t + ahead, x_ahead_.data(), u_.data());
        hidden = false;
        for (std::size_t i = 0; i < z.size(); ++i) {
            if (roots_[i] == 0 || rate_[i] != 0) continue;
            rate_[i] = (z_ahead[i] - z[i]) / ahead;
            if (rate_[i] == 0)
                hidden = true;
            else if (ahead > instant)
                ahead_[i] = ahead;
        }
    }
}

double sundials_solver::shortest_look(double t) const { return 1e-9 * remembered_.size + 64 * time_resolution(t); }

/// At an event the indicator may be a rounding error on the wrong side for the motion that follows, and so may the integrator's
/// interpolation be, so that its next root would be missed or found at once. For an instant, until the motion shows, a shift puts it
/// on the right side. Where the motion turns back sooner, the end of the shift is the next event: too soon after the last one.
void sundials_solver::shift_indicators(double t, const double* x) {
    std::ranges::copy(monitor_->evaluate(t, x, u_.data()), z_.begin());
    look_ahead(t, x, z_);
    shifted_ = t;
    for (std::size_t i = 0; i < z_.size(); ++i) {
        shift_[i] = 0;
        instant_[i] = shortest_look(t);
        if (rate_[i] == 0 || !monitor_->at_zero(z_before_[i], z_[i], rate_[i] * remembered_.size)) continue;
        const double needed = 4 * std::max(std::fabs(z_[i] / rate_[i]), ahead_[i]);
        instant_[i] = std::max(instant_[i], std::min(needed, remembered_.size));
        shift_[i] = std::copysign(std::max(2 * std::fabs(z_[i]), std::fabs(rate_[i]) * instant_[i]), rate_[i]);
    }
}

int sundials_solver::indicators(double t, N_Vector y, double* z, void* self_pointer) {
    auto& self = *static_cast<sundials_solver*>(self_pointer);
    if (self.warming_up_) {
        std::ranges::fill(std::span(z, self.roots_.size()), 1.0);
        return 0;
    }
    try {
        input_values(self.inputs_, t - self.begin_, self.u_.data());
        self.model_->event_indicators(t, N_VGetArrayPointer(y), self.u_.data(), z);
        for (std::size_t i = 0; i < self.shift_.size(); ++i)
            if (t <= self.shifted_ + self.instant_[i]) z[i] += self.shift_[i];
        return 0;
    } catch (...) {
        self.failure_ = std::current_exception();
        return -1;
    }
}

}  // namespace mdpcosim
