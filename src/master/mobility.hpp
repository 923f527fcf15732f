#pragma once

#include <vector>

#include "coupling/sparse_lu.hpp"
#include "master/coupled_system.hpp"

namespace mdpcosim {

/// A connection as the one-pass method sees it.
struct coupled_channel {
    channel_index channel;
    bool first_order;  ///< u acts on the rate of q itself (heat on temperature), not on the rate of v
};

/// All channels with a law. Throws user_error where a connection does not know the rates it needs.
std::vector<coupled_channel> coupled_channels(const coupled_system& system);

struct mobility {
    std::vector<matrix_entry> Q;  ///< of coupling/one_pass.hpp, rows and columns in the order of the channels
    std::vector<double> rate;     ///< mean change of v per time over the step, under the u of its begin
};

/// Measured by trial steps: one under constant u, and one for each coupling input of the subsystem that has most of them.
/// Subsystems do not touch each other within a step, so that every trial serves all of them. All must offer save and restore; states
/// and outputs are as before, the network's polynomials are constants. Throws run_error where a port does not give way.
mobility measure_mobility(coupled_system& system, const macro_step& step, const std::vector<coupled_channel>& channels);

}  // namespace mdpcosim
