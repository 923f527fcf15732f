#include "core/units.hpp"

#include <fmt/format.h>
#include <udunits2.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/common_units.hpp"
#include "core/error.hpp"

namespace mdpcosim {

namespace {

struct unit_free {
    void operator()(ut_unit* unit) const { ut_free(unit); }
};
using unit_pointer = std::unique_ptr<ut_unit, unit_free>;

/// The unit library with what engineers write and it lacks. Guarded by one lock: it is used before the run only.
class unit_system {
   public:
    unit_system() {
        ut_set_error_message_handler(ut_ignore);
        system_ = ut_read_xml(nullptr);
        if (system_ == nullptr)
            throw run_error("the unit database of UDUNITS-2 cannot be read (Debian package libudunits2-data)");
        add("deg", "degree");
        add("rev", "6.283185307179586 radian");
    }

    const ut_unit* find(std::string_view text) {
        const auto found = cache_.find(text);
        if (found != cache_.end()) return found->second.get();
        unit_pointer unit(ut_parse(system_, std::string(text).c_str(), UT_UTF8));
        return cache_.emplace(text, std::move(unit)).first->second.get();
    }

    std::mutex guard;

   private:
    void add(const char* name, const char* definition) {
        const unit_pointer unit(ut_parse(system_, definition, UT_UTF8));
        if (unit) ut_map_name_to_unit(name, UT_UTF8, unit.get());
    }

    ut_system* system_ = nullptr;
    std::map<std::string, unit_pointer, std::less<>> cache_;
};

unit_system& units() {
    static unit_system instance;
    return instance;
}

/// To the unit library `2` is a unit, so that '3 2' would be 6; a user who writes that has mistyped something.
bool begins_with_number(std::string_view text) {
    if (text == "1" || text.starts_with("1/")) return false;
    return text.find_first_of("0123456789.+-") == 0;
}

const ut_unit& known_unit(std::string_view text) {
    const ut_unit* unit = begins_with_number(text) ? nullptr : units().find(text);
    if (unit == nullptr)
        throw unit_error(fmt::format("unit '{}' is not known; write units like 'N.m/rad', 'kg.m2', 'us', 'rpm'", text));
    return *unit;
}

bool mentions(std::string_view unit, std::string_view name) { return unit.find(name) != std::string_view::npos; }

bool cycles_against_angle(std::string_view a, std::string_view b) {
    const auto cycles = [](std::string_view u) { return mentions(u, "Hz") || mentions(u, "hertz"); };
    const auto angle = [](std::string_view u) {
        return mentions(u, "rad") || mentions(u, "rpm") || mentions(u, "rev") || mentions(u, "deg");
    };
    return (cycles(a) && angle(b)) || (angle(a) && cycles(b));
}

}  // namespace

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
    return unit_library::find_conversion(from, to);
}

conversion unit_library::find_conversion(std::string_view from, std::string_view to) {
    const std::lock_guard lock(units().guard);
    const ut_unit& source = known_unit(from);
    const ut_unit& target = known_unit(to);
    if (ut_are_convertible(&source, &target) == 0)
        throw unit_error(fmt::format("unit '{}' does not fit '{}'", from, to));
    if (cycles_against_angle(from, to))
        throw unit_error(fmt::format(
            "unit '{}' does not fit '{}': one counts cycles, the other angle (factor 2 pi); write the value in '{}'",
            from, to, to));
    const std::unique_ptr<cv_converter, decltype(&cv_free)> converter(
        ut_get_converter(const_cast<ut_unit*>(&source), const_cast<ut_unit*>(&target)), &cv_free);
    const double offset = cv_convert_double(converter.get(), 0.0);
    const double factor = cv_convert_double(converter.get(), 1.0) - offset;
    // The library turns s into Hz by taking the reciprocal; logarithmic units are no straight line either.
    if (!std::isfinite(offset) || !std::isfinite(factor))
        throw unit_error(fmt::format("unit '{}' does not fit '{}'", from, to));
    return {factor, offset};
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

/// The product of base units that `unit` is a multiple of, `m.kg.s-2` for kN; it tells dimensions apart, angles too.
std::string unit_library::base_units(std::string_view unit) {
    const std::lock_guard lock(units().guard);
    std::array<char, 256> buffer{};
    const int length = ut_format(&known_unit(unit), buffer.data(), buffer.size(), UT_ASCII | UT_DEFINITION);
    std::string_view text = length > 0 && length < 256 ? buffer.data() : "(";
    text = text.substr(0, text.find(" @"));
    if (text.find('(') != std::string_view::npos)
        throw unit_error(fmt::format("unit '{}' is not a multiple of SI units", unit));
    if (const auto space = text.find(' '); space != std::string_view::npos) text.remove_prefix(space + 1);
    return std::string(text);
}

namespace {

std::string base_units(std::string_view unit) {
    const common_unit* known = find_common_unit(unit);
    return known != nullptr ? std::string(known->base) : unit_library::base_units(unit);
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
