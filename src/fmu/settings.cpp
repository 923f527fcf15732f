#include "fmu/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "core/suggest.hpp"
#include "core/units.hpp"
#include "fmu/layout.hpp"
#include "fmu/units.hpp"
#include "scenario/resolve.hpp"

namespace mdpcosim {

namespace {

using fmi::base_type;
using fmi::causality;

/// Why the variable has no value that one could set; empty where it has.
std::string why_fixed(const fmi::variable& v) {
    if (v.variability == fmi::variability::constant) return "is a constant";
    switch (v.causality) {
        case causality::parameter:
        case causality::structural_parameter:
        case causality::input:
            return {};
        case causality::independent:
            return "is the time";
        case causality::calculated_parameter:
            return "is calculated from other parameters";
        case causality::output:
        case causality::local:
            break;
    }
    if (v.initial == fmi::initial::exact || v.initial == fmi::initial::approx) return {};
    return v.causality == causality::output ? "is an output that the FMU calculates"
                                            : "is a variable that the FMU calculates";
}

std::pair<double, double> whole_range(base_type type) {
    switch (type) {
        case base_type::int8:
            return {-0x1p7, 0x1p7 - 1};
        case base_type::uint8:
            return {0, 0x1p8 - 1};
        case base_type::int16:
            return {-0x1p15, 0x1p15 - 1};
        case base_type::uint16:
            return {0, 0x1p16 - 1};
        case base_type::int32:
            return {-0x1p31, 0x1p31 - 1};
        case base_type::uint32:
            return {0, 0x1p32 - 1};
        case base_type::uint64:
            return {0, 0x1p53};
        default:
            return {-0x1p53, 0x1p53};  // beyond that doubles have no room for every whole number: digits have
    }
}

/// As it is written, where that is a whole number of the type; else empty.
std::string plain_digits(base_type type, const std::string& written) {
    const char *begin = written.data(), *end = begin + written.size();
    const auto fits = [&](auto number) {
        const auto [last, status] = std::from_chars(begin, end, number);
        return status == std::errc{} && last == end;
    };
    return (type == base_type::int64 ? fits(std::int64_t{}) : fits(std::uint64_t{})) ? written : std::string();
}

class setting_reader {
   public:
    setting_reader(const fmi::description& fmu, const subsystem_spec& spec) : fmu_(fmu), spec_(spec) {}

    std::vector<fmu_start> read() {
        for (const setting& s : spec_.set) read(s);
        return std::move(result_);
    }

   private:
    std::string owner() const {
        return fmt::format("subsystem '{}' (fmu {})", spec_.name, spec_.path.filename().string());
    }

    [[noreturn]] void fail(const location& where, const std::string& message) const {
        throw user_error(where, fmt::format("{}: {}", owner(), message));
    }

    void read(const setting& s) {
        const fmu_element found = find_element(fmu_, s.name);
        if (found.variable < 0) fail(s.where, unknown_name("variable", s.name, "What can be set", settable()));
        const fmi::variable& v = fmu_.variables[static_cast<std::size_t>(found.variable)];
        if (const std::string reason = why_fixed(v); !reason.empty())
            fail(s.where, fmt::format("'{}' {} and cannot be set. Parameters, inputs and start values can: {}.{}",
                                      s.name, reason, name_list(settable()), did_you_mean(s.name, settable())));
        if (v.type == base_type::binary || v.type == base_type::clock)
            fail(s.where,
                 fmt::format("'{}' is of type {}, which cannot be set in a scenario.", s.name, fmi::name(v.type)));
        const std::size_t count = found.element < 0 ? v.element_count() : 1;
        if (s.values.size() != count && !(s.list && s.values.size() == 1))
            fail(s.where, count == 1 ? fmt::format("'{}': a single value is expected, not a list of {}.", s.name,
                                                   s.values.size())
                                     : fmt::format("'{}' has {} elements, but {} {} given.", s.name, count,
                                                   s.values.size(), s.values.size() == 1 ? "is" : "are"));
        fmu_start& start = entry(found.variable, v, s);
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t at = found.element < 0 ? k : static_cast<std::size_t>(found.element);
            const text& value = s.values[s.values.size() == 1 ? 0 : k];
            if (v.type == base_type::string)
                start.texts[at] = value.value;
            else
                start.numbers[at] = number(v, value, s.name);
            if (!fmi::has_64_bits(v.type)) continue;
            const std::string digits = plain_digits(v.type, value.value);
            start.texts[at] = digits.empty() ? fmt::format("{:.0f}", start.numbers[at]) : digits;
            if (v.causality == causality::input && std::abs(start.numbers[at]) > 0x1p53 && !is_exact(v))
                fail(value.where,
                     fmt::format("'{}': inputs are numbers with 53 bits, too few for {}. Name it under 'exact', "
                                 "'exact: [{}]': then every digit counts.",
                                 s.name, value.value, v.name));
        }
    }

    /// The variable's entry, with the FMU's own start values where it is new: a setting may change one element only.
    fmu_start& entry(int variable, const fmi::variable& v, const setting& s) {
        const auto found =
            std::find_if(result_.begin(), result_.end(), [&](const auto& x) { return x.variable == variable; });
        if (found != result_.end()) return *found;
        fmu_start added;
        added.variable = variable;
        added.where = s.where;
        for (std::size_t k = 0; k < v.element_count(); ++k) {
            if (v.type == base_type::string || fmi::has_64_bits(v.type))
                added.texts.push_back(v.start.empty() ? fmi::has_64_bits(v.type) ? "0" : ""
                                                      : v.start[std::min(k, v.start.size() - 1)]);
            if (v.type != base_type::string) added.numbers.push_back(start_value(v, static_cast<int>(k), 0));
        }
        result_.push_back(std::move(added));
        return result_.back();
    }

    double number(const fmi::variable& v, const text& value, const std::string& name) const {
        double result = 0;
        if (v.type == base_type::boolean)
            result = boolean(value, name);
        else if (v.type == base_type::enumeration)
            result = item(v, value, name);
        else if (fmi::is_float(v.type))
            result = real(v, value, name);
        else
            result = whole(v, value, name);
        check_range(v, result, value, name);
        return result;
    }

    bool is_exact(const fmi::variable& v) const {
        return std::ranges::find(spec_.fmu.exact, v.name, &text::value) != spec_.fmu.exact.end();
    }

    double boolean(const text& value, const std::string& name) const {
        if (value.value == "true" || value.value == "1") return 1;
        if (value.value == "false" || value.value == "0") return 0;
        fail(value.where,
             fmt::format("'{}': '{}' is not allowed for a boolean. Allowed: true, false.", name, value.value));
    }

    double item(const fmi::variable& v, const text& value, const std::string& name) const {
        const fmi::type_definition* type = fmu_.find_type(v.declared_type);
        std::vector<std::string> names;
        if (type != nullptr)
            for (const auto& i : type->items) {
                if (i.name == value.value || fmt::format("{}", i.value) == value.value)
                    return static_cast<double>(i.value);
                names.push_back(i.name);
            }
        fail(value.where, fmt::format("'{}': '{}' is no item of {}. Items: {}.{}", name, value.value, v.declared_type,
                                      name_list(names), did_you_mean(value.value, names)));
    }

    double whole(const fmi::variable& v, const text& value, const std::string& name) const {
        if (fmi::has_64_bits(v.type) && !plain_digits(v.type, value.value).empty()) return std::stod(value.value);
        const double number = read_number(value, "1", fmt::format("{}: '{}'", owner(), name));
        const auto [least, most] = whole_range(v.type);
        if (number == std::floor(number) && number >= least && number <= most) return number;
        fail(value.where, fmt::format("'{}': '{}' must be a whole number from {:.0f} to {:.0f} ({}).", name,
                                      value.value, least, most, fmi::name(v.type)));
    }

    double real(const fmi::variable& v, const text& value, const std::string& name) const {
        const fmu_unit unit = unit_of(fmu_, v);
        if (const auto given = parse_quantity(value.value); given && !given->unit.empty() && given->unit == v.unit)
            return given->value;  // in the FMU's own words
        return unit.from_si(read_number(value, unit.si, fmt::format("{}: '{}'", owner(), name)));
    }

    void check_range(const fmi::variable& v, double number, const text& value, const std::string& name) const {
        const fmi::type_definition* type = fmu_.find_type(v.declared_type);
        const auto least = v.min || type == nullptr ? v.min : type->min;
        const auto most = v.max || type == nullptr ? v.max : type->max;
        if (number >= least.value_or(number) && number <= most.value_or(number)) return;
        const std::string unit = v.unit.empty() ? "" : " " + v.unit;
        fail(value.where,
             fmt::format("'{}': '{}' is {}{} to the FMU, out of its range of {}{} to {}{}.", name, value.value, number,
                         unit, least.value_or(-std::numeric_limits<double>::infinity()), unit,
                         most.value_or(std::numeric_limits<double>::infinity()), unit));
    }

    std::vector<std::string> settable() const {
        std::vector<std::string> names;
        const auto add = [&](bool parameters) {
            for (const auto& v : fmu_.variables) {
                const bool parameter =
                    v.causality == causality::parameter || v.causality == causality::structural_parameter;
                if (parameter == parameters && why_fixed(v).empty()) names.push_back(v.name);
            }
        };
        add(true);
        add(false);
        return names;
    }

    const fmi::description& fmu_;
    const subsystem_spec& spec_;
    std::vector<fmu_start> result_;
};

}  // namespace

std::vector<fmu_start> read_fmu_settings(const fmi::description& fmu, const subsystem_spec& spec) {
    return setting_reader(fmu, spec).read();
}

}  // namespace mdpcosim
