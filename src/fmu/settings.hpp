#pragma once

#include <string>
#include <vector>

#include "fmi/description.hpp"
#include "scenario/spec.hpp"

namespace mdpcosim {

/// What `set` gives to one variable of an FMU, in the FMU's unit, per element: numbers, texts for strings, both for 64-bit integers, of whose
/// digits a double may lose some.
struct fmu_start {
    int variable = -1;
    std::vector<double> numbers;
    std::vector<std::string> texts;
    location where;
};

/// `set` against the FMU's variables. User errors: names that do not exist, variables that cannot be set, values of another
/// type, unit, size or out of the FMU's range.
std::vector<fmu_start> read_fmu_settings(const fmi::description& fmu, const subsystem_spec& spec);

}  // namespace mdpcosim
