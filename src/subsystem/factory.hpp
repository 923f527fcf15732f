#pragma once

#include <memory>

#include "core/parameter.hpp"
#include "scenario/spec.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// The subsystem a scenario's entry describes, with parameters, ports and solver. Mistakes are user errors with the
/// place in the scenario.
std::unique_ptr<subsystem> make_subsystem(const subsystem_spec& spec);

/// The entry with every default of its model and solver written out.
subsystem_spec with_defaults(const subsystem_spec& spec);

/// `name: value unit` for a parameter at its default; false where "not given" has a meaning of its own.
bool default_setting(const parameter_info& info, setting& result);

}  // namespace mdpcosim
