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
        c.u = c.u_min = c.u_max = c.low = c.high = c.long_low = c.long_high = u[i];
        c.du = du[i];
        c.q = q[i];
        c.v = v[i];
    }
}

coupling_monitor::middle_weights coupling_monitor::weights(double H) const {
    const std::array<double, 4> t{H, 0, -H_past_[0], -H_past_[0] - H_past_[1]};
    const int known = H_past_[0] == 0 ? 2 : H_past_[1] == 0 ? 3 : 4;
    const auto lagrange = [&](int points) {
        std::array<double, 4> w = {};
        for (int i = 0; i < points; ++i) {
            w[static_cast<std::size_t>(i)] = 1;
            for (int k = 0; k < points; ++k)
                if (k != i)
                    w[static_cast<std::size_t>(i)] *= (H / 2 - t[static_cast<std::size_t>(k)]) /
                                                      (t[static_cast<std::size_t>(i)] - t[static_cast<std::size_t>(k)]);
        }
        return w;
    };
    middle_weights w{.best = lagrange(known), .lower = lagrange(std::max(2, known - 1))};
    if (known > 2) {
        const double x = H_past_[0] / H;
        w.past = 1 / (16 * x * x * (1 + x) * (1 + x));
        w.value = {w.past * (1 + x) * (1 + x) * (1 - 2 * x), w.past * x * x * (3 + 2 * x)};
        w.rate = {w.past * H * x * (1 + x) * (1 + x), w.past * H * x * x * (1 + x)};
    }
    return w;
}

void coupling_monitor::step(double H, const step_values& s) {
    ++steps_;
    const middle_weights w = weights(H);
    const double sixth = H / 6, eighth = H / 8, rate = 1 / H;
    for (std::size_t i = 0; i < state_.size(); ++i) {
        channel_state& c = state_[i];
        const double u = s.u[i], du = s.du[i], change = u - c.u;
        c.jump = s.end[i] - u;
        const double size = std::abs(c.jump);
        // Written so that a jump that is not a number is caught: comparisons with it are false.
        if (!(size <= 1e300) && diverging_ < 0) [[unlikely]] {
            diverging_ = static_cast<int>(i);
            not_finite_ = true;
        }
        double u_middle, unsure;
        if (c.rate_of_u) {
            unsure = w.past * c.past[0] - w.value[0] * c.u - w.value[1] * u + w.rate[0] * c.du + w.rate[1] * du;
            u_middle = (c.u + u) / 2 + eighth * (c.du - du) + unsure;
        } else {
            const double lower = w.lower[0] * u + w.lower[1] * c.u + w.lower[2] * c.past[0];
            u_middle = w.best[0] * u + w.best[1] * c.u + w.best[2] * c.past[0] + w.best[3] * c.past[1];
            unsure = u_middle - lower;
        }
        // What is less than the uncertainty of u itself counts little.
        const double off = s.middle[i] - u_middle;
        const double seen = std::max(0.1 * std::abs(off), std::abs(off) - std::abs(unsure));
        const defect d{s.begin[i] - c.u, c.free ? 0 : std::copysign(seen, off), c.jump, u_middle};
        const double squares = sixth * (d.begin * d.begin + 4 * d.middle * d.middle + d.end * d.end);
        c.sum_u += sixth * (c.u + 4 * u_middle + u);
        c.sum_uu += sixth * (c.u * c.u + 4 * u_middle * u_middle + u * u);
        c.sum_d += sixth * (d.begin + 4 * d.middle + d.end);
        c.sum_du += sixth * (d.begin * c.u + 4 * d.middle * u_middle + d.end * u);
        c.sum_rate += rate * change * change;
        c.defect_squares += squares;
        c.jump_squares += c.jump * c.jump;
        c.contacts += c.u == 0 && u != 0 ? 1 : 0;
        c.reversals += change * c.direction < 0 ? 1 : 0;
        c.direction = change != 0 ? change : c.direction;
        c.low = std::min(c.low, u);
        c.high = std::max(c.high, u);
        if (size > c.jump_max) {
            c.jump_max = size;
            c.worst_after = elapsed_ + H;
        }
        add_energy(c, H, d, u, s.q[i], s.v[i]);
        jumps_[i] = c.jump;
        energy_errors_[i] = c.energy_error;
        c.past = {c.u, c.past[0]};
        c.u = u;
        c.du = du;
        c.q = s.q[i];
        c.v = s.v[i];
    }
    H_past_ = {H, H_past_[0]};
    elapsed_ += H;
    if (steps_ % window == 0) {
        for (std::size_t i = 0; i < state_.size(); ++i) close_window(i);
        window_begin_ = elapsed_;
    }
}

void coupling_monitor::add_energy(channel_state& c, double H, const defect& d, double u, double q, double v) {
    if (c.partner == conjugate::none) return;
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
    const double e0 = c.u * p0, e1 = 4 * d.u_middle * p1, e2 = u * p2;
    c.energy_error += H / 6 * (d.begin * p0 + 4 * d.middle * p1 + d.end * p2);
    c.energy += H / 6 * (std::abs(e0) + std::abs(e1) + std::abs(e2));
    c.exchanged += H / 6 * (e0 + e1 + e2);
    c.exchanged_min = std::min(c.exchanged_min, c.exchanged);
    c.exchanged_max = std::max(c.exchanged_max, c.exchanged);
}

double coupling_monitor::turned(const channel_state& c) const {
    const double mean = c.sum_u / elapsed_, variation = c.sum_uu - mean * c.sum_u;
    if (!(variation > 0) || c.reversals < least_reversals || c.one_way) return c.turned;
    const double alpha = (c.sum_du - mean * c.sum_d) / variation;
    const double angle = elapsed_ * std::sqrt(c.sum_rate / variation);
    return std::max(c.turned, std::abs(alpha) / 2 * angle * std::max(c.high - mean, mean - c.low));
}

double coupling_monitor::growth_record::close(double rms, double range) {
    const double before = record;
    const bool oscillates = rms > 0.15 * range, is_record = rms > before;
    record = std::max(rms, before);
    if (!oscillates || before == 0 || rms < 0.3 * before) streak = 0;
    // Beats let single windows fall behind; they end nothing and count for nothing.
    if (!is_record || !oscillates || before == 0) return 0;
    if (streak == 0) streak_begin = before;
    ++streak;
    return rms / streak_begin;
}

void coupling_monitor::close_window(std::size_t channel) {
    channel_state& c = state_[channel];
    c.turned = turned(c);
    const auto look = [&](growth_record& g, double rms, double range, double slow) {
        const double growth = g.close(rms, range);
        if (diverging_ >= 0 || c.one_way || !((g.streak >= 2 && growth > 1e6) || (g.streak >= 6 && growth > slow)))
            return;
        diverging_ = static_cast<int>(channel);
        growth_ = growth;
    };
    c.u_min = std::min(c.u_min, c.low);
    c.u_max = std::max(c.u_max, c.high);
    c.long_low = std::min(c.long_low, c.low);
    c.long_high = std::max(c.long_high, c.high);
    if (!c.free)
        look(c.defects, std::sqrt((c.defect_squares - c.defect_squares_before) / (elapsed_ - window_begin_)),
             c.high - c.low, 1e4);
    c.defect_squares_before = c.defect_squares;
    c.low = c.high = c.u;
    if (steps_ % jump_window != 0) return;
    look(c.jumps, std::sqrt((c.jump_squares - c.jump_squares_before) / jump_window), c.long_high - c.long_low, 30);
    c.jump_squares_before = c.jump_squares;
    c.long_low = c.long_high = c.u;
}

coupling_quality coupling_monitor::quality(std::size_t channel) const {
    const channel_state& c = state_[channel];
    coupling_quality q{.u_min = std::min(c.u_min, c.low), .u_max = std::max(c.u_max, c.high), .jump_max = c.jump_max};
    if (steps_ == 0) return q;
    q.jump_rms = std::sqrt(c.jump_squares / static_cast<double>(steps_));
    q.energy_error = c.energy_error;
    q.energy = c.energy;
    q.energy_peak = c.exchanged_max - c.exchanged_min;
    const double mean = c.sum_u / elapsed_, variation = c.sum_uu - mean * c.sum_u;
    // What rounding makes of a constant is no variation.
    const double range = q.u_max - q.u_min, largest = std::max(std::abs(q.u_min), std::abs(q.u_max));
    if (!(range > 1e-9 * largest) || !(variation > 0)) return q;
    q.unresolved = std::sqrt(c.defect_squares / variation);
    q.phase = 2 * turned(c) / range;
    q.contacts = c.partner == conjugate::none ? 0 : c.contacts;
    q.worst_after = c.worst_after;
    if (q.energy_peak > 0) q.amplitude = std::abs(c.energy_error) / (2 * q.energy_peak);
    return q;
}

double coupling_monitor::surge(std::size_t channel) const {
    const channel_state& c = state_[channel];
    if (steps_ < window || !(elapsed_ > 0)) return 0;
    const double mean = c.sum_u / elapsed_, variance = c.sum_uu / elapsed_ - mean * mean;
    return variance > 0 ? std::abs(c.u - mean) / std::sqrt(variance) : 0;
}

double coupling_quality::deviation() const {
    return std::max({unresolved, phase / 2, amplitude}) * (1 + static_cast<double>(contacts) / 6);
}

std::string coupling_monitor::reason() const {
    if (diverging_ < 0) return {};
    if (not_finite_) return "its coupling variable is no longer a finite number";
    return fmt::format("the coupling oscillates with the macro step and grew by a factor of {:.3g}; {}", growth_,
                       remedy_);
}

}  // namespace mdpcosim
