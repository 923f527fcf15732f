#pragma once

#include <span>
#include <vector>

namespace mdpcosim {

/// Which worker serves which subsystem: lists of subsystem numbers per worker, each in rising order.
struct schedule {
    std::vector<std::vector<int>> work;

    /// The load of the busiest worker under the given costs: the time a parallel round cannot fall below.
    double busiest(std::span<const double> cost) const;
};

/// Neighbours stay together (subsystems of one worker are then neighbours in memory too) unless longest-first balancing
/// is better by more than 5 %.
schedule make_schedule(std::span<const double> cost, int workers);

}  // namespace mdpcosim
