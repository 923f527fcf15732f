#pragma once

#include "master/joint_loads.hpp"

namespace mdpcosim {

/// The multipliers with which the joints hold on acceleration level at the present time, handed to the system: its u, and the outputs that
/// depend on them. Positions and velocities must satisfy the joints already. Throws user_error: joints that an initial state violates, by how much;
/// joints that repeat or contradict each other, and those that nothing they hold can move.
std::vector<double> start_multipliers(coupled_system& system, const joint_loads& loads);

}  // namespace mdpcosim
