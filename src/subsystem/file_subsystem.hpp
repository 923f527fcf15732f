#pragma once

#include <memory>

#include "scenario/spec.hpp"
#include "subsystem/equations.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// Recorded data (`file:`) as a subsystem without inputs: one output and its rate per column.
std::unique_ptr<subsystem> make_file_subsystem(const subsystem_spec& spec);

/// The same as equations without states, whose rows are time events.
std::unique_ptr<equations> make_file_equations(const subsystem_spec& spec);

}  // namespace mdpcosim
