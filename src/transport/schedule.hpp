#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace mdpcosim {

/// A running mean of durations after one more sample. A step during which the system took the core away lasts a thousand times as
/// long as its neighbours: the first samples give their smallest value, later ones count with at most three times the mean.
inline constexpr std::int64_t first_samples = 4;
inline double blend(double mean, double sample, std::int64_t samples_before) {
    if (samples_before == 0) return sample;
    if (samples_before < first_samples) return std::min(mean, sample);
    return mean + 0.25 * (std::min(sample, 3 * mean) - mean);
}

/// Which worker serves which subsystem. After construction nothing allocates, so that it can be re-decided in the macro loop.
class schedule {
   public:
    schedule(std::size_t subsystems, int workers);

    /// The subsystems of one worker, in rising order.
    std::span<const int> work(int worker) const;
    int worker_of(std::size_t subsystem) const { return worker_[subsystem]; }

    /// The load of the busiest worker under the given costs: a parallel round cannot be faster.
    double busiest(std::span<const double> cost) const { return busiest(worker_, cost); }

    /// This worker serves it for ever.
    void fix(std::size_t subsystem, int worker);

    /// Decides anew when the load of the busiest worker falls by more than 5 %. Neighbours stay together (they are neighbours
    /// in memory too) unless longest-first balancing is better by more than 5 %.
    void decide(std::span<const double> cost);

   private:
    void neighbours_together(std::span<const double> cost);
    void longest_first(std::span<const double> cost);
    double busiest(std::span<const int> worker, std::span<const double> cost) const;
    void adopt(std::span<const int> worker);

    int workers_;
    std::vector<int> worker_;  ///< of each subsystem
    std::vector<int> fixed_;   ///< the worker of a subsystem, or -1
    std::vector<int> order_;   ///< subsystems sorted by worker
    std::vector<int> begin_;   ///< of each worker's part of order_
    std::vector<int> near_, balanced_, by_cost_;
    mutable std::vector<double> load_;
};

}  // namespace mdpcosim
