#pragma once

#include <vector>

#include "scenario/spec.hpp"
#include "subsystem/ode_model.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// `ports:` of the subsystem, checked against the model's variables; motion that the user left out is -1. Slots count
/// the model's outputs and inputs. A variable without unit takes that of its port.
std::vector<port> resolve_ode_ports(const subsystem_spec& spec, ode_model& model);

}  // namespace mdpcosim
