#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenario/spec.hpp"

namespace mdpcosim {

/// A port (`subsystem.port`) that moves against its load.
struct reversed_port {
    std::string text;            ///< a sentence
    location where;              ///< of the port in the scenario; no line: the subsystem brings it
    std::string turned_by = {};  ///< "force: -F": the minus that the scenario writes itself; empty: none
    location turned_at = {};
};
/// What to do before the run.
std::string way_to_turn(const reversed_port& port);
/// A user error where the scenario itself turned the port.
void refuse_turned(const reversed_port& port);

/// Ports of connections whose subsystems `wanted` takes; enough of them to find a sign that is wrong everywhere.
std::vector<std::string> coupled_ports(const scenario& s, const std::function<bool(const subsystem_spec&)>& wanted);

/// Those of `addresses` that move against their load. A subsystem is made twice and advanced over a step of the scenario,
/// without and with a small constant load; whatever is passive follows the load, whatever its springs and dampers. Ports that do not
/// tell a position or an angle, and subsystems that cannot be made once more, are left out.
std::vector<reversed_port> reversed_ports(const scenario& s, const std::vector<std::string>& addresses);

}  // namespace mdpcosim
