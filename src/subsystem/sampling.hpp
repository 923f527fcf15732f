#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace mdpcosim {

/// When a sampled subsystem works: samples k = 0, 1, ... at t_k = t0 + offset + k*period; what a sample gives appears
/// `delay` later. All in seconds.
struct sampling {
    double period = 0;
    double offset = 0;
    double delay = 0;

    double sample_time(double t0, std::int64_t k) const { return t0 + (offset + static_cast<double>(k) * period); }
    double release_time(double t0, std::int64_t k) const {
        return t0 + (offset + static_cast<double>(k) * period + delay);
    }

    /// Whether a sample is taken at t, or what one gave appears.
    bool acts_at(double t0, double t) const {
        const auto is_multiple_after = [&](double first) {
            const double k = std::round((t - t0 - first) / period);
            return k >= 0 && std::fabs(t0 + (first + k * period) - t) <= tolerance(t);
        };
        return is_multiple_after(offset) || is_multiple_after(offset + delay);
    }

    /// Times closer than this are the same time: the rounding of start + n*H against start + offset + k*period.
    double tolerance(double t) const {
        return 1e-9 * period + 16 * std::numeric_limits<double>::epsilon() * std::fabs(t);
    }
};

}  // namespace mdpcosim
