#include "plugin/declarations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "core/suggest.hpp"
#include "core/units.hpp"
#include "plugin/ports.hpp"

namespace mdpcosim {

namespace {

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

std::string text_of(const char* text) { return text == nullptr ? std::string() : std::string(text); }

/// Letters, digits, `_` and `-`, parts joined by points.
bool is_address(const std::string& name) {
    bool first = true;
    for (const char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        const bool later = (c >= '0' && c <= '9') || c == '-';
        if (c == '.' && !first) {
            first = true;
            continue;
        }
        if (!letter && (first || !later)) return false;
        first = false;
    }
    return !first;
}

/// The name of declaration number `i`, which has to be there, to be an address, and to be new in `seen`.
std::string name_of(const char* name, const char* kind, int i, std::set<std::string>& seen) {
    std::string text = text_of(name);
    if (text.empty()) refuse(fmt::format("{} {} has no name.", kind, i + 1));
    if (!is_address(text))
        refuse(
            fmt::format("{} '{}': a name has letters, digits, '_' and '-', its parts joined by points.", kind, text));
    if (!seen.insert(text).second) refuse(fmt::format("{} '{}' is declared twice.", kind, text));
    return text;
}

std::string unit_of(const char* unit, const std::string& object) {
    std::string text = text_of(unit);
    if (text.empty()) return text;
    try {
        const std::string si = si_unit(text);
        const conversion to_si = find_conversion(text, si);
        if (to_si.factor != 1 || to_si.offset != 0)
            refuse(fmt::format("{}: unit '{}' is not SI; use '{}'.", object, text, si));
    } catch (const unit_error& problem) {
        refuse(fmt::format("{}: the {}.", object, problem.message()));
    }
    return text;
}

int size_of(int size, const std::string& object) {
    constexpr int most_elements = 10'000'000;
    if (size < 0) refuse(fmt::format("{}: size {} is negative.", object, size));
    if (size > most_elements) refuse(fmt::format("{}: size {} is too large; at most {}.", object, size, most_elements));
    return std::max(size, 1);
}

bool default_fits(const parameter_info& p) {
    using range = parameter_info::range;
    const double value = p.default_value;
    if (!std::isfinite(value)) return false;
    if (p.allowed == range::positive) return value > 0;
    if (p.allowed == range::not_negative) return value >= 0;
    return p.allowed != range::whole || (value >= 1 && value == std::floor(value));
}

}  // namespace

/// Numbers get their type here; a text is done with, as true says.
bool declaration_reader::add_text(int type, const std::string& object, variable& v, std::vector<text_variable>& texts) {
    if (type < MDPCOSIM_REAL || type > MDPCOSIM_BINARY)
        refuse(fmt::format("{}: its type is {}; it must be MDPCOSIM_REAL, _INTEGER, _BOOLEAN, _STRING or _BINARY.",
                           object, type));
    v.type = static_cast<variable_type>(type);
    v.sampled = v.type != variable_type::real;
    if (type < MDPCOSIM_STRING) return false;
    if (!v.unit.empty()) refuse(fmt::format("{}: a text has no unit.", object));
    constexpr int most_texts = 10'000;  // each is a variable of its own
    if (v.size > most_texts) refuse(fmt::format("{}: {} texts are too many; at most {}.", object, v.size, most_texts));
    for (int k = 0; k < v.size; ++k)
        texts.push_back({v.size == 1 ? v.name : fmt::format("{}[{}]", v.name, k), v.description, v.type});
    return true;
}

void declaration_reader::read_inputs(std::span<const mdpcosim_input> all) {
    for (int i = 0; const auto& given : all) {
        input_variable v;
        v.name = name_of(given.name, "input", i++, variables_);
        const std::string object = fmt::format("input '{}'", v.name);
        v.unit = unit_of(given.unit, object);
        v.description = text_of(given.description);
        v.size = size_of(given.size, object);
        if (add_text(given.type, object, v, description_.text_inputs)) continue;
        v.slot = description_.input_count();
        if (given.max_degree < MDPCOSIM_CONSTANT || given.max_degree > max_degree)
            refuse(fmt::format("{}: max_degree is {}; allowed: 1 to {}, 0 (any) or MDPCOSIM_CONSTANT.", object,
                               given.max_degree, max_degree));
        if (given.max_degree != 0) v.max_degree = std::max(given.max_degree, 0);
        if (v.sampled) v.max_degree = 0;
        if (!std::isfinite(given.start)) refuse(fmt::format("{}: its start value is {}.", object, given.start));
        v.start = given.start;
        description_.inputs.push_back(std::move(v));
    }
}

void declaration_reader::read_outputs(std::span<const mdpcosim_output> given) {
    auto& outputs = description_.outputs;
    std::vector<std::string> rates;
    for (int i = 0; const auto& declared : given) {
        output_variable v;
        v.name = name_of(declared.name, "output", i++, variables_);
        const std::string object = fmt::format("output '{}'", v.name);
        v.unit = unit_of(declared.unit, object);
        v.description = text_of(declared.description);
        v.size = size_of(declared.size, object);
        if (declared.type >= MDPCOSIM_STRING && (declared.rate != nullptr || declared.direct != nullptr))
            refuse(fmt::format("{}: a text has neither 'rate' nor 'direct'.", object));
        if (add_text(declared.type, object, v, description_.text_outputs)) continue;
        v.slot = description_.output_count();
        rates.push_back(text_of(declared.rate));
        v.direct = direct_of(text_of(declared.direct), object);
        outputs.push_back(std::move(v));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (!rates[i].empty()) set_rate(outputs[i], rates[i]);
}

std::vector<int> declaration_reader::direct_of(const std::string& names, const std::string& object) const {
    std::vector<const input_variable*> named;
    const auto& inputs = description_.inputs;
    std::istringstream words(names);
    for (std::string word; words >> word;) {
        if (word == "*") {
            for (const auto& input : inputs) named.push_back(&input);
            continue;
        }
        const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const auto& v) { return v.name == word; });
        if (found == inputs.end())
            refuse(fmt::format("{}: direct: {}", object, unknown_name("input", word, owner_, variable_names(inputs))));
        named.push_back(&*found);
    }
    std::ranges::sort(named, {}, &input_variable::slot);
    named.erase(std::unique(named.begin(), named.end()), named.end());
    std::vector<int> slots;
    for (const input_variable* input : named)
        for (int k = 0; k < input->size; ++k) slots.push_back(input->slot + k);
    return slots;
}

void declaration_reader::set_rate(output_variable& output, const std::string& name) {
    const auto& outputs = description_.outputs;
    const std::string object = fmt::format("output '{}'", output.name);
    const auto rate = std::find_if(outputs.begin(), outputs.end(), [&](const auto& v) { return v.name == name; });
    if (rate == outputs.end())
        refuse(fmt::format("{}: rate: {}", object, unknown_name("output", name, owner_, variable_names(outputs))));
    if (&*rate == &output) refuse(fmt::format("{}: it cannot be its own rate.", object));
    if (rate->size != output.size)
        refuse(fmt::format("{}: it has {} elements, but its rate '{}' has {}.", object, output.size, name, rate->size));
    const std::string wanted = rate_unit(output.unit);
    if (!units_fit(rate->unit, wanted))
        refuse(fmt::format("{}: its unit is '{}', but its rate '{}' is in '{}'; '{}' is expected.", object, output.unit,
                           name, rate->unit, wanted));
    output.rate_slot = rate->slot;
    output.rate_needs_input = !rate->direct.empty();
}

void declaration_reader::read_ports(std::span<const mdpcosim_port> all) {
    std::set<std::string> seen;
    plugin_port_reader reader(description_, owner_);
    for (int i = 0; const auto& given : all) {
        const std::string name = name_of(given.name, "port", i++, seen);
        if (name.find('.') != std::string::npos)
            refuse(fmt::format("port '{}': the name of a port has no points.", name));
        description_.ports.push_back(reader.read(name, given));
    }
}

parameter_info declaration_reader::read_parameter(const mdpcosim_parameter& given) {
    parameter_info p;
    p.name = name_of(given.name, "parameter", static_cast<int>(parameters_.size()), parameters_);
    const std::string object = fmt::format("parameter '{}'", p.name);
    p.unit = unit_of(given.unit, object);
    p.description = text_of(given.description);
    if (given.allowed < MDPCOSIM_ANY || given.allowed > MDPCOSIM_WHOLE)
        refuse(fmt::format("{}: 'allowed' is {}; it must be MDPCOSIM_ANY, _POSITIVE, _NOT_NEGATIVE or _WHOLE.", object,
                           given.allowed));
    p.allowed = static_cast<parameter_info::range>(given.allowed);
    p.required = std::isnan(given.default_value);
    if (!p.required) p.default_value = given.default_value;
    if (!p.required && !default_fits(p))
        refuse(fmt::format("{}: its default {} is out of the allowed range.", object, p.default_value));
    return p;
}

}  // namespace mdpcosim
