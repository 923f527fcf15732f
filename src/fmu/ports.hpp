#pragma once

#include <string>
#include <vector>

#include "fmi/description.hpp"
#include "scenario/spec.hpp"
#include "subsystem/port_resolver.hpp"

namespace mdpcosim {

/// Ports that the FMU's terminals are. A terminal is a port when its members hold the load and the motion of one kind, one of
/// them inputs and the other outputs: a member is known by its unit, without one by its name (`phi`, `tau`, `torque`).
/// Names that `written` has already are the user's.
std::vector<port> terminal_ports(const fmi::description& fmu, const std::vector<port_spec>& written,
                                 port_variables& variables);

/// Likely ports among the inputs and outputs, by units and names; those of terminals come first.
std::vector<port_spec> propose_ports(const fmi::description& fmu);

/// `shaft: {kind: rotation, angle: phi, torque: tau}`, as it stands under `ports:`.
std::string port_text(const port_spec& p);

}  // namespace mdpcosim
