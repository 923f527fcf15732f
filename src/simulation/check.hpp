#pragma once

#include <string>

#include "scenario/spec.hpp"

namespace mdpcosim {

/// The coupled system as text: subsystems, ports with kind, causality, units and signs, connections, effective degrees,
/// what will be recorded. Throws user_error as run() would.
std::string check(const scenario& s);

}  // namespace mdpcosim
