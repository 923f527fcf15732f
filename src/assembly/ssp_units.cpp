#include "assembly/ssp_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/units.hpp"

namespace mdpcosim {

namespace {

bool is_true(const std::string& text) { return text == "true" || text == "1"; }

/// A mapping of Booleans is a straight line; others only where they change nothing.
std::pair<double, double> line_of(const ssp::transformation& how, const std::string& object) {
    using form = ssp::transformation::form;
    if (how.how == form::none) return {1, 0};
    if (how.how == form::linear) return {how.factor, how.offset};
    if (how.how == form::boolean) {
        double low = 0, high = 1;
        for (const auto& [source, target] : how.map) (is_true(source) ? high : low) = is_true(target) ? 1 : 0;
        return {high - low, low};
    }
    if (std::ranges::all_of(how.map, [](const auto& entry) { return entry.first == entry.second; })) return {1, 0};
    throw user_error(how.where, fmt::format("{}: a mapping of integers or enumerations cannot be done in a connection. "
                                            "Do it in the component that gives or takes the value.",
                                            object));
}

}  // namespace

fmu_unit unit_of(const ssp::unit& unit) {
    const auto& e = unit.exponents;
    fmi::unit_definition d;
    d.name = unit.name;
    d.has_base = unit.defined;
    d.kg = e[0], d.m = e[1], d.s = e[2], d.A = e[3], d.K = e[4], d.mol = e[5], d.cd = e[6], d.rad = e[7];
    d.factor = unit.factor, d.offset = unit.offset;
    return unit_of(d);
}

bool same_unit(const fmu_unit& a, const fmu_unit& b) {
    const auto close = [](double x, double y, double scale) { return std::abs(x - y) <= 1e-9 * scale; };
    return units_fit(a.si, b.si) && close(a.factor, b.factor, std::abs(a.factor)) &&
           close(a.offset, b.offset, std::max(1.0, std::abs(a.offset)));
}

value_way::value_way(const fmu_unit& unit, bool in_si) {
    if (in_si)
        unit_ = unit;
    else
        from_number(unit);
}

void value_way::scale(double factor, double offset) {
    gain_ *= factor;
    offset_ = factor * offset_ + offset;
}

void value_way::to_number() {
    gain_ /= unit_.factor;
    offset_ = (offset_ - unit_.offset) / unit_.factor;
    unit_ = {};
}

void value_way::from_number(const fmu_unit& unit) {
    unit_ = unit;
    scale(unit.factor, unit.offset);
}

void value_way::pass(const ssp::hop& over, const fmu_unit& unit, const std::string& object) {
    if (!unit.si.empty()) {
        if (!unit_.si.empty() && !over.keep_number) {
            if (!units_fit(unit_.si, unit.si))
                throw user_error(
                    over.where,
                    fmt::format("{}: '{}' does not fit '{}'. Where the numbers are meant as they are, write "
                                "suppressUnitConversion=\"true\".",
                                object, unit_.si, unit.si));
            unit_ = unit;
        } else if (!same_unit(unit_, unit) || unit_.si.empty()) {
            to_number();
            from_number(unit);
        }
    }
    if (over.transformation == nullptr) return;
    const auto [factor, offset] = line_of(*over.transformation, object);
    if (factor != 1 || offset != 0) scale(factor, unit_.factor * offset + unit_.offset * (1 - factor));
}

void value_way::finish(bool in_si) {
    if (!in_si) to_number();
}

std::string mapped(const ssp::transformation& how, const std::string& value) {
    using form = ssp::transformation::form;
    for (const auto& [source, target] : how.map)
        if (how.how == form::boolean ? is_true(source) == is_true(value) : source == value) return target;
    return value;
}

}  // namespace mdpcosim
