#include "scenario/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/suggest.hpp"
#include "core/units.hpp"

namespace mdpcosim {

double read_number(const text& value, std::string_view unit, std::string_view object) {
    const auto parsed = parse_quantity(value.value);
    if (!parsed)
        throw user_error(value.where,
                         fmt::format("{}: '{}' is not a number. Write a number, with or without a unit{}.", object,
                                     value.value, unit.empty() ? "" : fmt::format(" that fits '{}'", unit)));
    if (parsed->unit.starts_with(','))
        throw user_error(value.where,
                         fmt::format("{}: '{}' is not a number. Write decimals with a point.", object, value.value));
    try {
        // Where any unit is allowed the number still becomes SI.
        const double number = convert(parsed->value, parsed->unit, unit.empty() ? si_unit(parsed->unit) : unit);
        if (std::isfinite(number)) return number;
    } catch (const unit_error& problem) {
        throw user_error(value.where, fmt::format("{}: in '{}' the {}.", object, value.value, problem.message()));
    }
    throw user_error(value.where, fmt::format("{}: '{}' is too large for a number in SI units.", object, value.value));
}

int read_whole(const text& value, int least, std::string_view object) {
    const double number = read_number(value, "1", object);
    if (number != std::floor(number) || number < least || number > 1e9)
        throw user_error(value.where,
                         fmt::format("{}: '{}' must be a whole number of at least {}.", object, value.value, least));
    return static_cast<int>(number);
}

namespace {

double read_choice(const text& value, const parameter_info& info, std::string_view object) {
    for (std::size_t i = 0; i < info.choices.size(); ++i)
        if (info.choices[i] == value.value) return static_cast<double>(i);
    throw user_error(value.where, fmt::format("{}: '{}' is not allowed. Allowed: {}.{}", object, value.value,
                                              name_list(info.choices), did_you_mean(value.value, info.choices)));
}

void check_range(double value, const text& written, const parameter_info& info, std::string_view object) {
    using range = parameter_info::range;
    const auto refuse = [&](const char* expected) {
        throw user_error(written.where, fmt::format("{}: '{}' must be {}.", object, written.value, expected));
    };
    if (info.allowed == range::positive && !(value > 0)) refuse("greater than zero");
    if (info.allowed == range::not_negative && !(value >= 0)) refuse("zero or greater");
    if (info.allowed == range::whole && (value < 1 || value != std::floor(value)))
        refuse("a whole number of at least 1");
    if (info.allowed == range::whole && value > info.most)
        throw user_error(written.where,
                         fmt::format("{}: '{}' is too high; at most {}.", object, written.value, info.most));
}

std::vector<std::string> names_of(const std::vector<parameter_info>& infos) {
    std::vector<std::string> names;
    for (const auto& info : infos) names.push_back(info.name);
    return names;
}

}  // namespace

parameter_values resolve_parameters(const std::vector<parameter_info>& infos, std::span<const setting> settings,
                                    const location& where, std::string_view owner) {
    parameter_values values(infos);
    for (const auto& given : settings) {
        const auto info =
            std::find_if(infos.begin(), infos.end(), [&](const auto& i) { return i.is_called(given.name); });
        if (info == infos.end())
            throw user_error(given.where, fmt::format("{}: {}", owner,
                                                      unknown_name("parameter", given.name, "It", names_of(infos))));
        const std::string object = fmt::format("{}: parameter '{}'", owner, given.name);
        if (given.list && !info->list)
            throw user_error(given.where, fmt::format("{}: a single value is expected, not a list of {}.", object,
                                                      given.values.size()));
        if (values.given(info->name))
            throw user_error(given.where, fmt::format("{}: it is given already; '{}' and '{}' are the same.", object,
                                                      info->name, info->symbol));
        std::vector<double> numbers;
        for (const auto& value : given.values) {
            const double number =
                info->choices.empty() ? read_number(value, info->unit, object) : read_choice(value, *info, object);
            check_range(number, value, *info, object);
            numbers.push_back(number);
        }
        if (numbers.empty()) throw user_error(given.where, fmt::format("{}: the list is empty.", object));
        values.set(info->name, std::move(numbers));
    }
    for (const auto& info : infos)
        if (info.required && !values.given(info.name))
            throw user_error(where,
                             fmt::format("{}: parameter '{}' ({}{}) is missing.", owner, info.name, info.description,
                                         info.unit.empty() || info.unit == "1" ? "" : ", in " + info.unit));
    return values;
}

}  // namespace mdpcosim
