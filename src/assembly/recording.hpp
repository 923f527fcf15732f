#pragma once

#include <vector>

#include "assembly/assembly.hpp"

namespace mdpcosim {

/// The columns that the scenario asks for: everything but derivatives `der(...)`, or what the patterns in `only` match. A
/// pattern (with `*` for any text) is matched against `subsystem.variable`, `subsystem.port.variable`, `connection.u`, and on request
/// (`*.jump`, `*.energy-error`) against what the coupling monitor sees;
/// one that matches nothing is a user error.
std::vector<recorded_column> select_columns(const record_spec& record, const assembly& a);

}  // namespace mdpcosim
