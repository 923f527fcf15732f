#include "results/coupling_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace mdpcosim {

coupling_monitor::coupling_monitor(std::vector<conjugate> conjugates)
    : now_((conjugates.size() + 1) / 2),
      past_(conjugates.size()),
      jumps_(2 * now_.size()),
      energy_errors_(2 * now_.size()) {
    for (std::size_t c = 0; c < conjugates.size(); ++c) {
        channel_pair& n = now(c);
        n.between_known[c % 2] = 1;
        n.by_value[c % 2] = conjugates[c] == conjugate::value ? 1 : 0;
        n.by_one[c % 2] = conjugates[c] == conjugate::one ? 1 : 0;
        n.by_change[c % 2] = conjugates[c] == conjugate::rate ? 1 : 0;
        past_[c].has_energy = conjugates[c] != conjugate::none;
    }
}

void coupling_monitor::set_rates(std::size_t channel, bool rate_of_u, bool rate_of_q) {
    now(channel).rate_of_u[channel % 2] = rate_of_u ? 1 : 0;
    now(channel).by_rate[channel % 2] = rate_of_q ? now(channel).by_change[channel % 2] : 0;
}

void coupling_monitor::set_free(std::size_t channel) {
    now(channel).between_known[channel % 2] = 0;
    past_[channel].free = true;
}

void coupling_monitor::start(std::span<const double> u, std::span<const double> du, std::span<const double> q,
                             std::span<const double> v) {
    for (std::size_t i = 0; i < past_.size(); ++i) {
        channel_pair& n = now(i);
        channel_past& p = past_[i];
        p.u_min = p.u_max = p.long_low = p.long_high = u[i];
        n.u[i % 2] = n.low[i % 2] = n.high[i % 2] = u[i];
        n.du[i % 2] = du[i];
        n.q[i % 2] = q[i];
        n.flow[i % 2] = n.by_value[i % 2] * q[i] + n.by_rate[i % 2] * v[i] + n.by_one[i % 2];
    }
}

coupling_monitor::middle_weights coupling_monitor::weights(double H) const {
    const auto both = [](double x) { return pair{x, x}; };
    const std::array<double, 4> t{H, 0, -H_past_[0], -H_past_[0] - H_past_[1]};
    const std::size_t known = H_past_[0] == 0 ? 2 : H_past_[1] == 0 ? 3 : 4;
    const auto lagrange = [&](std::size_t i, std::size_t points) {
        double weight = i < points ? 1 : 0;
        for (std::size_t k = 0; k < points; ++k)
            if (k != i) weight *= (H / 2 - t[k]) / (t[i] - t[k]);
        return both(weight);
    };
    middle_weights w{.sixth = both(H / 6), .eighth = both(H / 8), .per_second = both(1 / H)};
    for (std::size_t i = 0; i < known; ++i) {
        w.best[i] = lagrange(i, known);
        w.lacking[i] = w.best[i] - lagrange(i, std::max<std::size_t>(2, known - 1));
    }
    if (known > 2) {
        const double x = H_past_[0] / H, past = 1 / (16 * x * x * (1 + x) * (1 + x));
        w.past = both(past);
        w.value = {both(past * (1 + x) * (1 + x) * (1 - 2 * x)), both(past * x * x * (3 + 2 * x))};
        w.rate = {both(past * H * x * (1 + x) * (1 + x)), both(past * H * x * x * (1 + x))};
    }
    return w;
}

inline void coupling_monitor::step_pair(std::size_t index, const pair_values& s) {
    using bits = std::int64_t __attribute__((vector_size(16)));
    constexpr std::int64_t sign_bit = std::numeric_limits<std::int64_t>::min();
    constexpr bits signs{sign_bit, sign_bit};
    const auto size = [&](pair x) { return reinterpret_cast<pair>(reinterpret_cast<bits>(x) & ~signs); };
    const auto with_sign = [&](pair x, pair of) {
        return reinterpret_cast<pair>(reinterpret_cast<bits>(x) | (reinterpret_cast<bits>(of) & signs));
    };
    const auto count = [](bits where) { return where ? pair{1, 1} : pair{0, 0}; };
    const auto smaller = [](pair a, pair b) { return b < a ? b : a; };
    const auto larger = [](pair a, pair b) { return a < b ? b : a; };
    const middle_weights& w = weights_;
    channel_pair& c = now_[index];
    const pair u = s.u, du = s.du, change = u - c.u, jump = s.end - u;

    pair u_middle{}, unsure{};
    const bits by_rates = c.rate_of_u != 0;
    if ((by_rates[0] & by_rates[1]) == 0) {
        u_middle = w.best[0] * u + w.best[1] * c.u + w.best[2] * c.past[0] + w.best[3] * c.past[1];
        unsure = w.lacking[0] * u + w.lacking[1] * c.u + w.lacking[2] * c.past[0] + w.lacking[3] * c.past[1];
    }
    if ((by_rates[0] | by_rates[1]) != 0) {
        const pair more = w.past * c.past[0] - w.value[0] * c.u - w.value[1] * u + w.rate[0] * c.du + w.rate[1] * du;
        u_middle = by_rates ? 0.5 * (c.u + u) + w.eighth * (c.du - du) + more : u_middle;
        unsure = by_rates ? more : unsure;
    }
    // What is less than the uncertainty of u itself counts little.
    const pair off = s.middle - u_middle, seen = larger(0.1 * size(off), size(off) - size(unsure));
    const pair d_begin = s.begin - c.u, d_middle = 4 * c.between_known * with_sign(seen, off);
    const pair four_u = 4 * u_middle;

    c.sum_u += w.sixth * (c.u + four_u + u);
    c.sum_uu += w.sixth * (c.u * c.u + four_u * u_middle + u * u);
    c.sum_d += w.sixth * (d_begin + d_middle + jump);
    c.sum_du += w.sixth * (d_begin * c.u + d_middle * u_middle + jump * u);
    c.sum_rate += w.per_second * change * change;
    c.defect_squares += w.sixth * (d_begin * d_begin + 0.25 * d_middle * d_middle + jump * jump);
    const pair counted = counts_ * size(jump);
    c.jump_squares += counted * counted;
    c.contacts += count((c.u == 0) & (u != 0));
    c.reversals += count(change * c.direction < 0);
    c.direction = change != 0 ? change : c.direction;
    c.low = smaller(c.low, u);
    c.high = larger(c.high, u);
    // Written so that a jump that is not a number gets here, too: comparisons with it are false.
    const bits usual = size(jump) <= c.jump_max;
    if ((usual[0] & usual[1]) == 0) {
        for (int k = 0; k < 2; ++k)
            if (diverging_ < 0 && !(std::abs(jump[k]) <= 1e300)) {
                diverging_ = 2 * static_cast<int>(index) + k;
                not_finite_ = true;
            }
        c.worst_after = counted > c.jump_max ? pair{1, 1} * (elapsed_ + H_) : c.worst_after;
        c.jump_max = larger(c.jump_max, counted);
    }

    // The flow in the middle is that of the parabola with the ends' flows and the mean flow.
    const pair q = s.q, flow = c.by_value * q + c.by_rate * s.v + c.by_one;
    const bits from_change = c.by_change != 0;
    const pair mean = from_change ? w.per_second * (q - c.q) : 0.5 * (c.flow + flow);
    const bits flow_is_mean = from_change & (c.by_rate == 0);
    const pair p_begin = flow_is_mean ? mean : c.flow, p_end = flow_is_mean ? mean : flow;
    const pair p_middle = 1.5 * mean - 0.25 * (p_begin + p_end);
    const pair exchanged = w.sixth * (c.u * p_begin + four_u * p_middle + u * p_end);
    c.energy_error += w.sixth * (d_begin * p_begin + d_middle * p_middle + jump * p_end);
    c.energy += size(exchanged);
    c.exchanged += exchanged;
    c.exchanged_min = smaller(c.exchanged_min, c.exchanged);
    c.exchanged_max = larger(c.exchanged_max, c.exchanged);

    std::memcpy(&jumps_[2 * index], &jump, sizeof jump);
    std::memcpy(&energy_errors_[2 * index], &c.energy_error, sizeof jump);
    c.past = {c.u, c.past[0]};
    c.u = u;
    c.du = du;
    c.q = q;
    c.flow = flow;
}

void coupling_monitor::step(double H, const step_values& s, bool counts) {
    H_ = H;
    counts_ = counts ? pair{1, 1} : pair{0, 0};
    const auto differs = [H](double other) { return std::abs(H - other) > 1e-12 * H; };
    if (differs(H_past_[0]) || differs(H_past_[1]) || differs(H_weighted_)) {
        weights_ = weights(H);
        H_weighted_ = differs(H_past_[0]) || differs(H_past_[1]) ? 0 : H;
    }
    const std::size_t pairs = past_.size() / 2;
    const auto both_at = [](std::span<const double> values, std::size_t i) {
        pair x;
        std::memcpy(&x, values.data() + 2 * i, sizeof x);
        return x;
    };
    for (std::size_t i = 0; i < pairs; ++i)
        step_pair(i, {both_at(s.begin, i), both_at(s.middle, i), both_at(s.end, i), both_at(s.u, i), both_at(s.du, i),
                      both_at(s.q, i), both_at(s.v, i)});
    if (pairs < now_.size()) {
        const auto last = [](std::span<const double> values) { return pair{values.back(), 0}; };
        step_pair(pairs, {last(s.begin), last(s.middle), last(s.end), last(s.u), last(s.du), last(s.q), last(s.v)});
    }
    H_past_ = {H, H_past_[0]};
    elapsed_ += H;
    if (!counts) return;
    ++steps_;
    if (steps_ % window == 0) {
        for (std::size_t i = 0; i < past_.size(); ++i) close_window(i);
        window_begin_ = elapsed_;
    }
}

double coupling_monitor::turned(std::size_t channel) const {
    const channel_pair& c = now(channel);
    const std::size_t k = channel % 2;
    const double before = past_[channel].turned;
    const double mean = c.sum_u[k] / elapsed_, variation = c.sum_uu[k] - mean * c.sum_u[k];
    if (!(variation > 0) || c.reversals[k] < least_reversals || past_[channel].one_way) return before;
    const double inverse = 1 / variation, alpha = (c.sum_du[k] - mean * c.sum_d[k]) * inverse;
    const double angle = elapsed_ * std::sqrt(c.sum_rate[k] * inverse);
    return std::max(before, std::abs(alpha) / 2 * angle * std::max(c.high[k] - mean, mean - c.low[k]));
}

double coupling_monitor::growth_record::close(double rms, double range, double noise) {
    const double before = record == 0 ? 0 : std::max(record, noise);
    const bool oscillates = rms > 0.15 * range, is_record = rms > before;
    record = std::max(rms, record);
    if (!oscillates || before == 0 || rms < 0.3 * before) streak = 0;
    // Beats let single windows fall behind; they end nothing and count for nothing.
    if (!is_record || !oscillates || before == 0) return 0;
    if (streak == 0) streak_begin = before;
    ++streak;
    return rms / streak_begin;
}

void coupling_monitor::close_window(std::size_t channel) {
    channel_pair& c = now(channel);
    channel_past& p = past_[channel];
    const std::size_t k = channel % 2;
    p.turned = turned(channel);
    const auto look = [&](growth_record& g, double rms, double range, double slow) {
        // At rest, rounding grows until a method's tolerance holds it; a coupling that truly diverges is past this soon.
        const double noise = 1e-6 * std::max(std::abs(p.u_min), std::abs(p.u_max));
        const double growth = g.close(rms, range, noise);
        if (diverging_ >= 0 || p.one_way || !((g.streak >= 2 && growth > 1e6) || (g.streak >= 6 && growth > slow)))
            return;
        diverging_ = static_cast<int>(channel);
        growth_ = growth;
    };
    const double low = c.low[k], high = c.high[k], defects = c.defect_squares[k], jumps = c.jump_squares[k];
    p.u_min = std::min(p.u_min, low);
    p.u_max = std::max(p.u_max, high);
    p.long_low = std::min(p.long_low, low);
    p.long_high = std::max(p.long_high, high);
    if (!p.free)
        look(p.defects, std::sqrt((defects - p.defect_squares_before) / (elapsed_ - window_begin_)), high - low, 1e4);
    p.defect_squares_before = defects;
    c.low[k] = c.high[k] = c.u[k];
    if (steps_ % jump_window != 0) return;
    look(p.jumps, std::sqrt((jumps - p.jump_squares_before) / jump_window), p.long_high - p.long_low, 30);
    p.jump_squares_before = jumps;
    p.long_low = p.long_high = c.u[k];
}

coupling_quality coupling_monitor::quality(std::size_t channel) const {
    const channel_pair& c = now(channel);
    const channel_past& p = past_[channel];
    const std::size_t k = channel % 2;
    coupling_quality q{
        .u_min = std::min(p.u_min, c.low[k]), .u_max = std::max(p.u_max, c.high[k]), .jump_max = c.jump_max[k]};
    if (steps_ == 0) return q;
    q.jump_rms = std::sqrt(c.jump_squares[k] / static_cast<double>(steps_));
    q.energy_error = c.energy_error[k];
    q.energy = c.energy[k];
    q.energy_peak = c.exchanged_max[k] - c.exchanged_min[k];
    const double mean = c.sum_u[k] / elapsed_, variation = c.sum_uu[k] - mean * c.sum_u[k];
    // What rounding makes of a constant is no variation.
    const double range = q.u_max - q.u_min, largest = std::max(std::abs(q.u_min), std::abs(q.u_max));
    if (!(range > 1e-9 * largest) || !(variation > 0)) return q;
    q.unresolved = std::sqrt(c.defect_squares[k] / variation);
    q.phase = 2 * turned(channel) / range;
    q.contacts = p.has_energy ? static_cast<std::int64_t>(c.contacts[k]) : 0;
    q.worst_after = c.worst_after[k];
    if (q.energy_peak > 0) q.amplitude = std::abs(q.energy_error) / (2 * q.energy_peak);
    return q;
}

double coupling_monitor::surge(std::size_t channel) const {
    const channel_pair& c = now(channel);
    if (steps_ < window || !(elapsed_ > 0)) return 0;
    const double mean = c.sum_u[channel % 2] / elapsed_, variance = c.sum_uu[channel % 2] / elapsed_ - mean * mean;
    return variance > 0 ? std::abs(c.u[channel % 2] - mean) / std::sqrt(variance) : 0;
}

double coupling_quality::deviation() const {
    return std::max({unresolved, phase / 2, amplitude}) * (1 + static_cast<double>(contacts) / 6);
}

std::string coupling_monitor::reason() const {
    if (diverging_ < 0) return {};
    if (not_finite_) return "its coupling variable is no longer a number to compute with";
    return fmt::format("the coupling oscillates with the macro step and grew by a factor of {:.3g}; {}", growth_,
                       remedy_);
}

}  // namespace mdpcosim
