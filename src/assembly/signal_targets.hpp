#pragma once

#include "scenario/spec.hpp"

namespace mdpcosim {

/// The scenario with what its signals ask of the files and FMUs that they join: a column of a file is of the kind that the FMU's input takes
/// (`kinds`), a tunable parameter becomes an input (`driven`), a signal between whole arrays one for each element. Done again it changes
/// nothing. `digits`: 64-bit integers of files travel by their digits (`exact`), else as numbers. What does not fit is a user error at the
/// signal.
scenario with_signal_targets(scenario s, bool digits);

/// Whether it would change anything: a signal and an FMU are there.
bool may_have_signal_targets(const scenario& s);

}  // namespace mdpcosim
