#include "fmu/units.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/units.hpp"

namespace mdpcosim {

namespace {

std::string base_text(const fmi::unit_definition& unit) {
    std::string text;
    for (const auto& [name, exponent] : {std::pair{"kg", unit.kg},
                                         {"m", unit.m},
                                         {"s", unit.s},
                                         {"A", unit.A},
                                         {"K", unit.K},
                                         {"mol", unit.mol},
                                         {"cd", unit.cd},
                                         {"rad", unit.rad}}) {
        if (exponent == 0) continue;
        if (!text.empty()) text += '.';
        text += exponent == 1 ? name : fmt::format("{}{}", name, exponent);
    }
    return text.empty() ? "1" : text;
}

/// The SI unit by the name alone; empty where the name means nothing.
std::string named_si(const std::string& name) {
    try {
        return si_unit(name);
    } catch (const unit_error&) {
        return {};
    }
}

}  // namespace

fmu_unit unit_of(const fmi::description& fmu, const fmi::variable& v) {
    if (v.unit.empty() || !fmi::is_float(v.type)) return {};
    const std::string si = named_si(v.unit);
    const fmi::unit_definition* defined = fmu.find_unit(v.unit);
    if (defined != nullptr && defined->has_base) {
        const std::string base = base_text(*defined);
        // A name that fits says more than base units, from which tools leave out rad, and N.m and J are the same.
        return {!si.empty() && units_fit(si, base) ? si : customary_unit(base), defined->factor, defined->offset};
    }
    if (si.empty()) return {};
    const conversion c = find_conversion(v.unit, si);
    return {si, c.factor, c.offset};
}

}  // namespace mdpcosim
