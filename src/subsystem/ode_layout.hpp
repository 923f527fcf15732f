#pragma once

#include <vector>

#include "scenario/spec.hpp"
#include "subsystem/ode_model.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// The outside of an ode: its variables by slot, with rates and ports, and the formula of every output slot.
struct ode_layout {
    subsystem_description description;
    std::vector<expression> formulas;
};

/// Outputs come first, in the order of the model; then `der(y)` for every rate that is not already an output. Variables
/// without a unit take that of their port.
ode_layout lay_out(ode_model model, const subsystem_spec& spec);

}  // namespace mdpcosim
