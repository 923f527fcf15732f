#include "fmu/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

display_form display_of(const fmi::description& fmu, const fmi::variable& v, const fmu_unit& unit) {
    if (v.display_unit.empty() || unit.si.empty()) return {};
    const auto differ = [](double a, double b, double scale) { return std::abs(a - b) > 1e-6 * scale; };
    try {
        const conversion named = find_conversion(unit.si, v.display_unit);
        const display_form shown{v.display_unit, named.factor, named.offset};
        const fmi::unit_definition* defined = fmu.find_unit(v.unit);
        if (defined == nullptr) return shown;
        for (const fmi::display_unit& d : defined->display_units) {
            if (d.name != v.display_unit) continue;
            const double factor = d.factor / unit.factor, offset = d.offset - factor * unit.offset;
            const bool another = d.inverse || differ(factor, named.factor, std::abs(factor)) ||
                                 differ(offset, named.offset, std::max(1.0, std::abs(offset)));
            if (another) return {};
        }
        return shown;
    } catch (const unit_error&) {
        return {};
    }
}

fmu_unit unit_of(const fmi::unit_definition& unit) {
    const std::string si = named_si(unit.name);
    if (unit.has_base) {
        const std::string base = base_text(unit);
        // A name that fits says more than base units, from which tools leave out rad, and N.m and J are the same.
        return {!si.empty() && units_fit(si, base) ? si : customary_unit(base), unit.factor, unit.offset};
    }
    if (si.empty()) return {};
    const conversion c = find_conversion(unit.name, si);
    return {si, c.factor, c.offset};
}

fmu_unit unit_of(const fmi::description& fmu, const fmi::variable& v) {
    if (v.unit.empty() || !fmi::is_float(v.type)) return {};
    if (const fmi::unit_definition* defined = fmu.find_unit(v.unit)) return unit_of(*defined);
    fmi::unit_definition named;
    named.name = v.unit;
    return unit_of(named);
}

}  // namespace mdpcosim
