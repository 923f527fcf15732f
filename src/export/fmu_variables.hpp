#pragma once

#include <string>
#include <vector>

#include "export/fmu_text.hpp"
#include "simulation/simulation.hpp"

/// What a host of an exported scenario sees. Private to export/.
namespace mdpcosim {

/// Outputs, inputs, parameters, in this order; what is left out is noted. User errors: names that FMI does not allow, or of which there are two;
/// nothing recorded.
std::vector<described_variable> described_variables(const simulation& system, std::vector<std::string>& notes);

}  // namespace mdpcosim
