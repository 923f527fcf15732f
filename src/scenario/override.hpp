#pragma once

#include "scenario/read.hpp"
#include "scenario/yaml.hpp"

namespace mdpcosim {

/// Puts a setting from the command line into the tree of the file, as if it had been written there. Addresses follow the
/// tables of keys: `c` (a let value), `time.end`, `motor.inertia` (a parameter), `motor.solver.rtol`, `gear.stiffness`,
/// `ball.ode.events.1.when`. Whether the value fits is the reader's business.
void apply_override(yaml_node& root, const scenario_override& change);

}  // namespace mdpcosim
