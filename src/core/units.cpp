#include "core/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <vector>

#include "core/coherent_units.hpp"
#include "core/common_units.hpp"
#include "core/error.hpp"

namespace mdpcosim {

namespace {

bool mentions(std::string_view unit, std::string_view name) { return unit.find(name) != std::string_view::npos; }

const unit_library* library_in_use = nullptr;

std::string coherent_base_of(std::string_view unit) {
    if (const auto base = coherent_base(unit)) return *base;
    throw unit_error(
        fmt::format("unit '{}' is not known to this program, which has no unit library; write it in SI units", unit));
}

}  // namespace

bool cycles_against_angle(std::string_view a, std::string_view b) {
    const auto cycles = [](std::string_view u) { return mentions(u, "Hz") || mentions(u, "hertz"); };
    const auto angle = [](std::string_view u) {
        return mentions(u, "rad") || mentions(u, "rpm") || mentions(u, "rev") || mentions(u, "deg");
    };
    return (cycles(a) && angle(b)) || (angle(a) && cycles(b));
}

unit_library::unit_library() { library_in_use = this; }
const unit_library* unit_library::installed() { return library_in_use; }

std::optional<quantity> parse_quantity(std::string_view text) {
    const auto trim = [](std::string_view s) {
        while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
        while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
        return s;
    };
    text = trim(text);
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || !std::isfinite(value)) return std::nullopt;
    const std::string_view unit = trim(text.substr(static_cast<std::size_t>(end - text.data())));
    return quantity{value, std::string(unit)};
}

conversion find_conversion(std::string_view from, std::string_view to) {
    if (from.empty() || to.empty() || from == to) return {};
    const common_unit *source = find_common_unit(from), *target = find_common_unit(to);
    if (source != nullptr && target != nullptr && target->coherent() && source->base == target->base &&
        !cycles_against_angle(from, to))
        return {source->factor, source->offset};
    if (const unit_library* library = unit_library::installed()) return library->find_conversion(from, to);
    if (coherent_base_of(from) != coherent_base_of(to) || cycles_against_angle(from, to))
        throw unit_error(fmt::format("unit '{}' does not fit '{}'", from, to));
    return {};
}

double conversion::operator()(double value) const {
    // 20 us is 20/1e6 s = 2e-05 s, while 20 * 1e-6 is not the nearest double: divide where the inverse is a whole number.
    const double inverse = std::round(1 / factor);
    if (std::abs(factor) < 1 && std::abs(factor * inverse - 1) < 1e-12) return value / inverse + offset;
    return factor * value + offset;
}

double convert(double value, std::string_view from, std::string_view to) { return find_conversion(from, to)(value); }

bool units_fit(std::string_view unit, std::string_view other) {
    try {
        find_conversion(unit, other);
        return true;
    } catch (const unit_error&) {
        return false;
    }
}

std::string unit_product(std::string_view a, std::string_view b) {
    if (a.empty() || b.empty()) return {};
    return fmt::format("({}).({})", a, b);
}

namespace {

std::string base_units(std::string_view unit) {
    const common_unit* known = find_common_unit(unit);
    if (known != nullptr) return std::string(known->base);
    const unit_library* library = unit_library::installed();
    return library != nullptr ? library->base_units(unit) : coherent_base_of(unit);
}

/// The customary name for base units; among several (N.m and J) the one that occurs in what the user wrote.
std::string customary_name(const std::string& base, std::string_view written) {
    static const std::array<std::string_view, 44> names{
        "1",     "m",      "s",      "kg",    "A",     "K",   "mol",  "rad",   "m/s",   "m/s2", "m/s3",
        "rad/s", "rad/s2", "rad/s3", "N",     "N/s",   "N.m", "J",    "W",     "N.m/s", "Pa",   "Pa/s",
        "V",     "V/s",    "C",      "A/s",   "Wb",    "ohm", "F",    "H",     "T",     "K/s",  "m2",
        "m3",    "m3/s",   "m3/s2",  "kg/m3", "kg.m2", "N/m", "kg/s", "N.s/m", "J/K",   "W/K",  "N.m/rad"};
    static const auto bases = [] {
        std::map<std::string, std::vector<std::string_view>> all;
        for (const auto name : names) all[base_units(name)].push_back(name);
        return all;
    }();
    const auto found = bases.find(base);
    if (found == bases.end()) return {};
    for (const auto name : found->second)
        if (mentions(written, name)) return std::string(name);
    return std::string(found->second.front());
}

}  // namespace

std::string si_unit(std::string_view unit) {
    if (unit.empty()) return {};
    const std::string base = base_units(unit);
    const common_unit* known = find_common_unit(unit);
    const conversion c = known != nullptr ? conversion{known->factor, known->offset} : find_conversion(unit, base);
    if (c.factor == 1 && c.offset == 0) return std::string(unit);
    const std::string name = customary_name(base, unit);
    return name.empty() ? base : name;
}

std::string customary_unit(std::string_view unit) {
    const std::string name = customary_name(base_units(unit), unit);
    return name.empty() ? std::string(unit) : name;
}

std::string rate_unit(std::string_view unit) {
    if (unit.empty()) return {};
    const std::string text = mentions(unit, "/") ? fmt::format("({})/s", unit) : fmt::format("{}/s", unit);
    const std::string name = customary_name(base_units(text), text);
    return name.empty() ? text : name;
}

}  // namespace mdpcosim
