#pragma once

#include <string>

namespace mdpcosim {

/// The JSON schema of scenario files, for editors: the tables of keys (scenario/keys.hpp) with the names of what is
/// registered here: models, laws, joints, solvers, methods and their parameters, extrapolations.
std::string scenario_schema();

}  // namespace mdpcosim
