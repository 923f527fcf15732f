#pragma once

#include <string>
#include <vector>

#include "export/fmu_text.hpp"
#include "simulation/simulation.hpp"

/// A single subsystem as an FMU. Private to export/.
namespace mdpcosim {

/// The subsystem with nothing around it. A user error for one that the scenario does not have, and for FMUs and tables.
scenario alone(const scenario& s, const std::string& name);

/// Of the FMU of a scenario that is one subsystem: names without the subsystem's; rates, ports, states, what depends on what; model exchange
/// where it is made of equations, else a note.
void describe_subsystem(fmu_text& text, const simulation& system, std::vector<std::string>& notes);

}  // namespace mdpcosim
