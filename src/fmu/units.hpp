#pragma once

#include <string>

#include "fmi/description.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// The unit of an FMU's variable: subsystems are SI outside, FMUs have units of their own.
struct fmu_unit {
    std::string si;                 ///< empty: unknown, the numbers pass as they are
    double factor = 1, offset = 0;  ///< SI value = factor * value + offset

    bool plain() const { return factor == 1 && offset == 0; }
    double to_si(double value) const { return factor * value + offset; }
    double from_si(double value) const { return (value - offset) / factor; }
};

/// By the FMU's own definition of the unit; where that has no base units, by what the name means. A name that is not known
/// either is no unit.
fmu_unit unit_of(const fmi::description& fmu, const fmi::variable& v);

/// The same for a unit that is no variable's; without base units by its name.
fmu_unit unit_of(const fmi::unit_definition& unit);

/// The variable's display unit, where its name means what the FMU says it is: whoever reads the results has the name only.
display_form display_of(const fmi::description& fmu, const fmi::variable& v, const fmu_unit& unit);

}  // namespace mdpcosim
