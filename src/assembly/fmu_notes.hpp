#pragma once

#include <string>
#include <vector>

#include "scenario/spec.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

/// By output slot: its FMU does not say what it depends on.
std::vector<bool> silent_outputs(const scenario& s, const transport& subsystems);

/// What a user of FMUs should know before the run. `cut`: silent outputs of these stand in loops (see find_evaluation_order). A last
/// step that an FMU certainly cannot take is a user error.
void add_fmu_notes(const scenario& s, const transport& subsystems, const std::vector<subsystem_index>& cut,
                   std::vector<std::string>& notes);

}  // namespace mdpcosim
