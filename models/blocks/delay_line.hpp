#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/state_bytes.hpp"

namespace mdpcosim::blocks {

/// What a signal was, from its values (and rates, where they are known) at the ends of micro steps: cubic between two points with rates, linear
/// between others. Two points of one time are a jump.
class delay_line {
   public:
    delay_line() = default;
    delay_line(double time, double before) : time_(time), before_(before) { reserve(); }
    /// So that it seldom allocates.
    void reserve() {
        points_.reserve(1024);
        jumps_.reserve(64);
    }

    /// At t - time; the rate there comes behind the value.
    void look(double t, double* value_and_rate) const {
        const double past = t - time_;
        const auto next = std::ranges::upper_bound(points_, past, {}, &point::t);
        if (next == points_.begin()) return put(value_and_rate, before_, 0);
        const point& a = *(next - 1);
        const double s = past - a.t;
        if (next == points_.end()) return put(value_and_rate, a.v + (std::isnan(a.rate) ? 0 : a.rate * s), a.rate);
        const point& b = *next;
        const double h = b.t - a.t, secant = (b.v - a.v) / h, q = s / h;
        if (std::isnan(a.rate) || std::isnan(b.rate)) return put(value_and_rate, a.v + secant * s, secant);
        const double c = a.rate - secant,
                     d = b.rate - secant;  // Hermite: (1 - q) q h ((1 - q) c - q d) beside the secant
        put(value_and_rate, a.v + secant * s + q * (1 - q) * h * ((1 - q) * c - q * d),
            secant + (1 - q) * (1 - 3 * q) * c + q * (3 * q - 2) * d);
    }

    /// The longest micro step that leaves nothing to guess.
    double time() const { return time_; }
    double last() const { return points_.empty() ? std::numeric_limits<double>::infinity() : points_.back().t; }

    /// The signal's value at t, not before the last one; `rate` may be NaN.
    void record(double t, double value, double rate) {
        const bool first = points_.empty();
        if (!first && points_.back().t == t && points_.back().v == value) {
            points_.back().rate = rate;
            return;
        }
        if (first || points_.back().t == t) jumps_.push_back(t);
        forget_before(t - time_);
        points_.push_back({t, value, rate});
    }

    /// When the delayed signal jumps next, or begins.
    double next_jump(double t) const {
        const auto next = std::ranges::find_if(jumps_, [&](double jump) { return jump + time_ > t; });
        return next == jumps_.end() ? std::numeric_limits<double>::infinity() : *next + time_;
    }

    void clear() {
        points_.clear();
        jumps_.clear();
    }
    void state(state_bytes& bytes) { bytes(points_, jumps_); }

   private:
    struct point {
        double t, v, rate;
    };

    static void put(double* to, double value, double rate) {
        to[0] = value;
        to[1] = std::isnan(rate) ? 0 : rate;
    }

    /// In batches, so that it costs little.
    void forget_before(double t) {
        constexpr std::ptrdiff_t batch = 128;
        const auto old = std::ranges::lower_bound(points_, t, {}, &point::t) - points_.begin() - 1;
        if (old < batch) return;
        points_.erase(points_.begin(), points_.begin() + old);
        std::erase_if(jumps_, [&](double jump) { return jump + time_ < t; });
    }

    double time_ = 0, before_ = 0;
    std::vector<point> points_;
    std::vector<double> jumps_;
};

}  // namespace mdpcosim::blocks
