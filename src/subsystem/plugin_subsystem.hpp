#pragma once

#include <functional>
#include <memory>

#include "scenario/spec.hpp"
#include "subsystem/plugin_table.hpp"
#include "subsystem/solver.hpp"

namespace mdpcosim {

/// The subsystem of an entry with `plugin:`. `make_solver` is asked for the integrator when the plugin has equations; a
/// plugin with an own solver refuses `solver:`.
std::unique_ptr<subsystem> make_plugin_subsystem(const subsystem_spec& spec,
                                                 const std::function<std::unique_ptr<solver>()>& make_solver);

/// Its equations alone; nothing when the plugin has its own solver.
std::unique_ptr<equations> make_plugin_equations(const subsystem_spec& spec);

}  // namespace mdpcosim
