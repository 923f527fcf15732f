#pragma once

#include <memory>

#include "scenario/spec.hpp"
#include "subsystem/equations.hpp"

namespace mdpcosim {

/// Equations written in the scenario (`ode:`), with `set:` applied to their parameters and initial states, and their
/// ports. Rates, accelerations, direct dependences and the Jacobian come from exact derivatives of the expressions.
std::unique_ptr<equations> make_ode_equations(const subsystem_spec& spec);

}  // namespace mdpcosim
