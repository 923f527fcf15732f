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

/// Q of coupling/one_pass.hpp, rows and columns in the order of `channels`: how fast the channels' rates change by unit coupling
/// variables, as the mean over the step, measured by trial steps: one as things are, and one for each coupling input of the subsystem that
/// has most of them. Subsystems do not touch each other within a step, so that every trial serves all of them. All must
/// offer save and restore; states and outputs are as before. Throws run_error where a port does not answer to its input.
std::vector<matrix_entry> measure_mobility(coupled_system& system, const macro_step& step,
                                           const std::vector<coupled_channel>& channels);

}  // namespace mdpcosim
