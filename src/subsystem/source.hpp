#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/registry.hpp"
#include "scenario/spec.hpp"
#include "subsystem/equations.hpp"
#include "subsystem/subsystem.hpp"

/// Where a scenario's subsystem comes from (`model:`, `ode:`, `file:`, `plugin:`, `fmu:`, `program:`). The room that knows a source
/// registers it, so that subsystems can be made here without knowing the rooms that are built on this one.
namespace mdpcosim {

struct source_info {
    std::string name;  ///< the key in the scenario; `process` makes any of them in a process of its own
    /// The subsystem with the solver that the source brings along; nullptr: it is made of its equations and the entry's solver.
    std::function<std::unique_ptr<subsystem>(const subsystem_spec&)> make = {};
    /// The equations alone; nullptr: it shows none.
    std::function<std::unique_ptr<equations>(const subsystem_spec&)> make_equations = {};
    /// Writes every default into the entry; true: the entry's solver is used.
    std::function<bool(subsystem_spec&)> write_defaults = {};
    /// The numbers that `set` may give, for subsystems whose parameters are changed later; between_steps: also while they run.
    std::function<std::vector<tunable_parameter>(const subsystem_spec&)> parameters = {};
    /// A macro step H that it cannot take is a user_error.
    std::function<void(const subsystem_spec&, double)> check_step = {};
    std::string way_to_equations =
        {};  ///< what a user may do to see equations, as the begin of a sentence that ends with "run"
};

using source_registration = registration<source_info>;
using source_registry = registry<source_info>;

/// That of the entry. A room that is not part of this program is a user_error.
const source_info& source_of(const subsystem_spec& spec);
const source_info& source_named(const std::string& name, const subsystem_spec& spec);

}  // namespace mdpcosim
