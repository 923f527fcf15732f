#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/state_bytes.hpp"

/// What one subsystem gave at the ends of its own steps, for readers on grids of their own.
///
/// Times need not be equidistant. A value at time t is a sum of stored ones with weights that all outputs share:
///   interpolate   the polynomial of order P through P + 1 points: the first one at or after t, where there is one, and those before it
///                 (F. Gonzalez and others, On the effect of multirate co-simulation techniques, section 2.1); beyond the newest point it
///                 extrapolates
///   fit           the polynomial of order P that is closest, in the least squares, to 2 (P + 1) points, chosen the same way
///   hold          the newest value that is not later than t
/// While there are fewer points the order is lower. Before the oldest point its value holds. After construction nothing allocates.
namespace mdpcosim {

inline constexpr int most_order = 4;

class output_history {
   public:
    struct weights {
        static constexpr int most = 2 * (most_order + 1);
        std::size_t first = 0;  ///< point, counted from the oldest
        int count = 0;
        std::array<double, most> of{};
    };

    /// Keeps at least `points` points, at least as many as any order needs.
    output_history(std::size_t outputs, std::size_t points);

    void clear() { count_ = 0; }
    void state(state_bytes& bytes) { bytes(times_, values_, first_, count_); }
    /// At a later time than the newest point.
    void add(double t, std::span<const double> y);
    /// Outputs at the newest point's time, found once more.
    void replace(std::span<const double> y);

    double newest() const { return time(count_ - 1); }
    std::span<const double> newest_values() const { return {row(count_ - 1), outputs_}; }

    weights interpolate(double t, int order) const;
    weights fit(double t, int order) const;
    weights hold(double t) const;
    double value(const weights& w, std::size_t output) const;
    /// Over [begin, end], straight lines between the points.
    double mean(double begin, double end, std::size_t output) const;

   private:
    double time(std::size_t k) const { return times_[place(k)]; }
    const double* row(std::size_t k) const { return values_.data() + place(k) * outputs_; }
    std::size_t place(std::size_t k) const { return (first_ + k) % times_.size(); }
    std::size_t first_at_or_after(double t) const;
    weights window(double t, int points) const;

    std::size_t outputs_;
    std::vector<double> times_;   ///< a ring
    std::vector<double> values_;  ///< a row per point
    std::size_t first_ = 0, count_ = 0;
};

}  // namespace mdpcosim
