#pragma once

#include <string>
#include <vector>

#include "scenario/spec.hpp"

namespace mdpcosim {

/// Ports (`subsystem.port`) that move against their load: a sentence for each. A subsystem is made twice and advanced over a step of the scenario,
/// without and with a small constant load; whatever is passive follows the load, whatever its springs and dampers. Ports that do not
/// tell a position or an angle, and subsystems that cannot be made once more, are left out.
std::vector<std::string> reversed_ports(const scenario& s, const std::vector<std::string>& addresses);

}  // namespace mdpcosim
