#include "results/coupling_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mdpcosim {

coupling_monitor::coupling_monitor(std::vector<conjugate> conjugates)
    : state_(conjugates.size()), jumps_(conjugates.size(), 0.0), energy_errors_(conjugates.size(), 0.0) {
    for (std::size_t c = 0; c < conjugates.size(); ++c) state_[c].partner = conjugates[c];
}

void coupling_monitor::set_rates(std::size_t channel, bool rate_of_u, bool rate_of_q) {
    state_[channel].rate_of_u = rate_of_u;
    state_[channel].rate_of_q = rate_of_q;
}

void coupling_monitor::start(std::span<const double> u, std::span<const double> du, std::span<const double> q,
                             std::span<const double> v) {
    for (std::size_t i = 0; i < state_.size(); ++i) {
        channel_state& c = state_[i];
        c.u = c.u_min = c.u_max = c.window_low = c.window_high = u[i];
        c.du = du[i];
        c.q = q[i];
        c.v = v[i];
    }
}

void coupling_monitor::step(double H, const step_values& s) {
    ++steps_;
    for (std::size_t i = 0; i < state_.size(); ++i) {
        channel_state& c = state_[i];
        const double u = s.u[i];
        c.jump = s.end[i] - u;
        const double size = std::abs(c.jump);
        // Written so that a jump that is not a number is caught: comparisons with it are false.
        if (!(size <= 1e300) && diverging_ < 0) {
            diverging_ = static_cast<int>(i);
            not_finite_ = true;
        }
        c.jump_max = std::max(c.jump_max, size);
        c.window_squares += c.jump * c.jump;
        c.u_min = std::min(c.u_min, u);
        c.u_max = std::max(c.u_max, u);
        c.window_low = std::min(c.window_low, u);
        c.window_high = std::max(c.window_high, u);
        add_energy(c, H, s.begin[i], s.middle[i], s.end[i], u, s.du[i], s.q[i], s.v[i]);
        jumps_[i] = c.jump;
        energy_errors_[i] = c.energy_error;
        c.u = u;
        c.du = s.du[i];
        c.q = s.q[i];
        c.v = s.v[i];
    }
    if (steps_ % window == 0)
        for (std::size_t i = 0; i < state_.size(); ++i) close_window(i);
}

void coupling_monitor::add_energy(channel_state& c, double H, double begin, double middle, double end, double u,
                                  double du, double q, double v) const {
    if (c.partner == conjugate::none) return;
    const double u_middle = (c.u + u) / 2 + (c.rate_of_u ? H / 8 * (c.du - du) : 0);
    double p0 = 1, p1 = 1, p2 = 1;
    if (c.partner == conjugate::value) {
        p0 = c.q;
        p2 = q;
        p1 = (p0 + p2) / 2;
    } else if (c.partner == conjugate::rate) {
        const double mean = (q - c.q) / H;
        p0 = c.rate_of_q ? c.v : mean;
        p2 = c.rate_of_q ? v : mean;
        p1 = c.rate_of_q ? 1.5 * mean - (p0 + p2) / 4 : mean;
    }
    c.energy_error += H / 6 * ((begin - c.u) * p0 + 4 * (middle - u_middle) * p1 + (end - u) * p2);
    c.energy += H / 6 * (std::abs(c.u * p0) + 4 * std::abs(u_middle * p1) + std::abs(u * p2));
}

void coupling_monitor::close_window(std::size_t channel) {
    channel_state& c = state_[channel];
    const double squares = c.window_squares;
    c.jump_squares += squares;
    const double rms = std::sqrt(squares / window);
    const bool oscillates = rms > 0.15 * (c.window_high - c.window_low);
    c.window_squares = 0;
    c.window_low = c.window_high = c.u;
    const double before = c.record;
    const bool record = rms > before;
    c.record = std::max(rms, before);
    if (!oscillates || before == 0 || rms < 0.3 * before) c.streak = 0;
    // Beats let single windows fall behind; they end nothing and count for nothing.
    if (!record || !oscillates || before == 0) return;
    if (c.streak == 0) c.streak_begin = before;
    ++c.streak;
    const double growth = rms / c.streak_begin;
    if (diverging_ < 0 && ((c.streak >= 2 && growth > 1e6) || (c.streak >= 6 && growth > 30))) {
        diverging_ = static_cast<int>(channel);
        growth_ = growth;
    }
}

coupling_quality coupling_monitor::quality(std::size_t channel) const {
    const channel_state& c = state_[channel];
    const double squares = c.jump_squares + c.window_squares;
    return {c.u_min,        c.u_max, c.jump_max, steps_ > 0 ? std::sqrt(squares / static_cast<double>(steps_)) : 0,
            c.energy_error, c.energy};
}

std::string coupling_monitor::reason() const {
    if (diverging_ < 0) return {};
    if (not_finite_) return "its coupling variable is no longer a finite number";
    return fmt::format("the coupling oscillates with the macro step and grew by a factor of {:.3g}; {}", growth_,
                       remedy_);
}

}  // namespace mdpcosim
