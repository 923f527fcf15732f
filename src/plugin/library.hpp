#pragma once

#include <filesystem>

#include "plugin/table.hpp"
#include "scenario/spec.hpp"

namespace mdpcosim {

/// The plugin a scenario's entry names. A library is loaded once, whatever number of subsystems use it, and stays loaded to
/// the end of the process: threads and exit handlers of its runtime (OpenMP, Fortran) would not survive being unloaded.
/// A file that is missing, is no shared library of this machine, lacks a symbol or has a table that is not right is a
/// user_error with the place in the scenario.
const plugin_model& load_plugin(const subsystem_spec& spec);

}  // namespace mdpcosim
