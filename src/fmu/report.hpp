#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenario/spec.hpp"

namespace mdpcosim {

/// What `check` shows of an entry with `fmu:` besides its ports and variables: label and text. Interface and capabilities,
/// conversions of units, settings as the FMU gets them, what is left out, and likely ports where it has none.
std::vector<std::pair<std::string, std::string>> fmu_report(const subsystem_spec& spec);

/// What the FMU offers through the interface in use, in plain words.
std::string fmu_capabilities(const struct fmu_model& fmu);

}  // namespace mdpcosim
