#pragma once

#include "scenario/spec.hpp"

namespace mdpcosim {

/// `isolate: auto`, the default: whether an FMU gets a process of its own. Each FMU is tried for a moment in a process that is thrown away, with
/// the first entry that uses it: start, some steps, saving and restoring its state where the run `goes_back`. What crashes, hangs or
/// fails there lives apart; of the others those whose steps take so long that a process of their own costs little. The choice and its reason
/// are written into the entries.
void choose_isolation(scenario& s, bool goes_back);

}  // namespace mdpcosim
