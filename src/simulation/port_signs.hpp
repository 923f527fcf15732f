#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenario/spec.hpp"

namespace mdpcosim {

inline constexpr const char* way_to_turn_a_port =
    "change it there, or write a minus before it in the FMU's 'ports' ('force: -F')";

/// Ports of connections whose subsystems `wanted` takes; enough of them to find a sign that is wrong everywhere.
std::vector<std::string> coupled_ports(const scenario& s, const std::function<bool(const subsystem_spec&)>& wanted);

/// Ports (`subsystem.port`) that move against their load: a sentence for each. A subsystem is made twice and advanced over a step of the scenario,
/// without and with a small constant load; whatever is passive follows the load, whatever its springs and dampers. Ports that do not
/// tell a position or an angle, and subsystems that cannot be made once more, are left out.
std::vector<std::string> reversed_ports(const scenario& s, const std::vector<std::string>& addresses);

}  // namespace mdpcosim
