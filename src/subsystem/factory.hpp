#pragma once

#include <memory>

#include "scenario/spec.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// The subsystem a scenario's entry describes, with parameters, ports and solver. Mistakes are user errors with the
/// place in the scenario. `macro_step` is the default micro step of fixed-step solvers.
std::unique_ptr<subsystem> make_subsystem(const subsystem_spec& spec, double macro_step);

}  // namespace mdpcosim
