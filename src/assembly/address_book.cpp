#include "assembly/address_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/suggest.hpp"

namespace mdpcosim {

namespace {

std::vector<std::string> subsystem_names(const transport& t) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < t.size(); ++i) names.push_back(t.name(subsystem_index(i)));
    return names;
}

template <class Variable>
std::vector<std::string> variable_names(const std::vector<Variable>& variables) {
    std::vector<std::string> names;
    for (const auto& v : variables) names.push_back(v.size == 1 ? v.name : fmt::format("{}[0]", v.name));
    return names;
}

/// The slot of `name` among the variables: a scalar's name, `vector[i]`, or -1.
template <class Variable>
int find_slot(const std::vector<Variable>& variables, std::string_view name) {
    for (const auto& v : variables)
        if (v.size == 1 && v.name == name)
            return v.slot;  // also the elements of a vector that are described one by one
    int element = -1;
    const std::size_t bracket = name.find('[');
    if (bracket != std::string_view::npos && name.back() == ']') {
        const auto digits = name.substr(bracket + 1, name.size() - bracket - 2);
        const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), element);
        if (status != std::errc{} || end != digits.data() + digits.size() || element < 0) return -1;
        name = name.substr(0, bracket);
    }
    for (const auto& v : variables) {
        if (v.name != name) continue;
        if (element < 0) return v.size == 1 ? v.slot : -1;
        return element < v.size ? v.slot + element : -1;
    }
    return -1;
}

/// `port.variable` as the slot that the port uses for it; `motion` or `load` according to `want_motion`.
int find_in_ports(const subsystem_description& d, std::string_view name, causality side) {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return -1;
    for (const auto& p : d.ports) {
        if (p.name != name.substr(0, dot)) continue;
        const auto& words = info(p.kind);
        const auto variable = name.substr(dot + 1);
        if (p.kind == port_kind::frame) {
            const auto words_of_frame = p.causality == side ? frame_motion_variables() : frame_load_variables();
            const auto& slots = p.causality == side ? p.motion_slots : p.load_slots;
            for (std::size_t k = 0; k < slots.size(); ++k)
                if (variable == frame_element_name(words_of_frame, static_cast<int>(k))) return slots[k];
            return -1;
        }
        if (p.causality != side && variable == words.load_integral) return p.load_integral;
        if (p.causality != side) return variable == words.load ? p.load : -1;
        for (std::size_t k = 0; k < 3; ++k)
            if (variable == words.motion[k]) return p.motion[k];
    }
    return -1;
}

template <class Variable>
const Variable& variable_at(const std::vector<Variable>& variables, int slot) {
    return *std::find_if(variables.begin(), variables.end(),
                         [&](const auto& v) { return slot >= v.slot && slot < v.slot + v.size; });
}

}  // namespace

address_book::address_book(const transport& subsystems) : subsystems_(subsystems) {
    for (std::size_t i = 0; i < subsystems.size(); ++i)
        by_name_[subsystems.name(subsystem_index(i))] = subsystem_index(i);
}

address_book::parts address_book::split(const text& address, const std::string& object, const char* form) const {
    const std::size_t dot = address.value.find('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 == address.value.size())
        throw user_error(address.where,
                         fmt::format("{}: '{}' is not an address. Write '{}'.", object, address.value, form));
    const std::string name = address.value.substr(0, dot);
    const auto found = by_name_.find(name);
    if (found == by_name_.end())
        throw user_error(address.where,
                         fmt::format("{}: {}", object,
                                     unknown_name("subsystem", name, "The scenario", subsystem_names(subsystems_))));
    return {found->second, address.value.substr(dot + 1)};
}

address_book::port_place address_book::find_port(const text& address, const std::string& object) const {
    const parts p = split(address, object, "subsystem.port");
    const auto& d = subsystems_.describe(p.subsystem);
    for (const auto& candidate : d.ports)
        if (candidate.name == p.rest) return {p.subsystem, &candidate};
    std::vector<std::string> names, addresses;
    for (const auto& candidate : d.ports) {
        names.push_back(candidate.name);
        addresses.push_back(subsystems_.name(p.subsystem) + "." + candidate.name);
    }
    throw user_error(address.where, fmt::format("{}: port '{}' does not exist. Subsystem '{}' has: {}.{}", object,
                                                address.value, subsystems_.name(p.subsystem), name_list(names),
                                                did_you_mean(address.value, addresses)));
}

void address_book::unknown_variable(const text& address, const parts& p, const std::string& object,
                                    bool want_input) const {
    const auto& d = subsystems_.describe(p.subsystem);
    const std::string& owner = subsystems_.name(p.subsystem);
    refuse_text(address, p, object);
    const auto names = want_input ? variable_names(d.inputs) : variable_names(d.outputs);
    const std::string has =
        fmt::format("{} of subsystem '{}': {}.", want_input ? "Inputs" : "Outputs", owner, name_list(names));
    const int reversed = want_input
                             ? std::max(find_slot(d.outputs, p.rest), find_in_ports(d, p.rest, causality::takes_load))
                             : std::max(find_slot(d.inputs, p.rest), find_in_ports(d, p.rest, causality::takes_motion));
    if (reversed >= 0)
        throw user_error(address.where,
                         fmt::format("{}: '{}' is an {}, but an {} is needed here. {}", object, address.value,
                                     want_input ? "output" : "input", want_input ? "input" : "output", has));
    std::vector<std::string> addresses;
    for (const auto& name : names) addresses.push_back(fmt::format("{}.{}", owner, name));
    throw user_error(address.where, fmt::format("{}: variable '{}' does not exist. {}{}", object, address.value, has,
                                                did_you_mean(address.value, addresses)));
}

address_book::output_place address_book::find_output(const text& address, const std::string& object) const {
    const parts p = split(address, object, "subsystem.output");
    const auto& d = subsystems_.describe(p.subsystem);
    int slot = find_slot(d.outputs, p.rest);
    if (slot < 0) slot = find_in_ports(d, p.rest, causality::takes_load);
    if (slot < 0) unknown_variable(address, p, object, false);
    return {p.subsystem, &variable_at(d.outputs, slot), global_output(p.subsystem, slot)};
}

address_book::input_place address_book::find_input(const text& address, const std::string& object) const {
    const parts p = split(address, object, "subsystem.input");
    const auto& d = subsystems_.describe(p.subsystem);
    int slot = find_slot(d.inputs, p.rest);
    if (slot < 0) slot = find_in_ports(d, p.rest, causality::takes_motion);
    if (slot < 0) unknown_variable(address, p, object, true);
    return {p.subsystem, &variable_at(d.inputs, slot), global_input(p.subsystem, slot)};
}

namespace {

std::vector<std::string> text_names(const std::vector<text_variable>& texts) {
    std::vector<std::string> names;
    for (const auto& v : texts) names.push_back(v.name);
    return names;
}

}  // namespace

std::optional<address_book::text_place> address_book::find_text(const std::string& address, bool input) const {
    const std::size_t dot = address.find('.');
    if (dot == std::string::npos) return {};
    const auto owner = by_name_.find(std::string_view(address).substr(0, dot));
    if (owner == by_name_.end()) return {};
    const auto& d = subsystems_.describe(owner->second);
    const auto& texts = input ? d.text_inputs : d.text_outputs;
    const auto found = std::ranges::find(texts, std::string_view(address).substr(dot + 1), &text_variable::name);
    if (found == texts.end()) return {};
    return text_place{owner->second, &*found, static_cast<int>(found - texts.begin())};
}

std::optional<address_book::text_place> address_book::text_output(const std::string& address) const {
    return find_text(address, false);
}

std::optional<address_book::text_place> address_book::text_input(const std::string& address) const {
    return find_text(address, true);
}

void address_book::unknown_text(const text& address, const std::string& object, bool want_input) const {
    const parts p = split(address, object, want_input ? "subsystem.input" : "subsystem.output");
    const auto& d = subsystems_.describe(p.subsystem);
    const std::string kind = want_input ? "input" : "output";
    const auto names = text_names(want_input ? d.text_inputs : d.text_outputs);
    throw user_error(address.where,
                     fmt::format("{}: '{}' is no {} for strings or bytes. {}", object, address.value, kind,
                                 names.empty() ? fmt::format("Subsystem '{}' has none.", subsystems_.name(p.subsystem))
                                               : fmt::format("Subsystem '{}' has: {}.", subsystems_.name(p.subsystem),
                                                             name_list(names))));
}

void address_book::refuse_text(const text& address, const parts& p, const std::string& object) const {
    const auto output = text_output(address.value), input = text_input(address.value);
    if (!output && !input) return;
    const text_variable& v = *(output ? output : input)->variable;
    throw user_error(address.where,
                     fmt::format("{}: '{}' of subsystem '{}' is a {}, but a number is needed here. {}", object, p.rest,
                                 subsystems_.name(p.subsystem), text_kind(v.type),
                                 "Signals carry texts from one such output to one such input: '- a.text -> b.text'."));
}

output_slot address_book::global_output(subsystem_index s, int slot) const {
    return output_slot(subsystems_.output_offset(s) + static_cast<std::size_t>(slot));
}

input_slot address_book::global_input(subsystem_index s, int slot) const {
    return input_slot(subsystems_.input_offset(s) + static_cast<std::size_t>(slot));
}

namespace {

/// The last subsystem whose slots begin at or before `slot` and which has slots at all.
template <class Offset>
subsystem_index owner(const transport& t, std::size_t slot, Offset offset) {
    std::size_t low = 0, high = t.size();
    while (high - low > 1) {
        const std::size_t middle = (low + high) / 2;
        (offset(subsystem_index(middle)) <= slot ? low : high) = middle;
    }
    return subsystem_index(low);
}

}  // namespace

std::string address_book::output_address(output_slot slot) const {
    const auto s = owner(subsystems_, slot.value(), [&](subsystem_index i) { return subsystems_.output_offset(i); });
    const int local = static_cast<int>(slot.value() - subsystems_.output_offset(s));
    return subsystems_.name(s) + "." + element_name(variable_at(subsystems_.describe(s).outputs, local), local);
}

std::string address_book::input_address(input_slot slot) const {
    const auto s = owner(subsystems_, slot.value(), [&](subsystem_index i) { return subsystems_.input_offset(i); });
    const int local = static_cast<int>(slot.value() - subsystems_.input_offset(s));
    return subsystems_.name(s) + "." + element_name(variable_at(subsystems_.describe(s).inputs, local), local);
}

address_book::parameter_place address_book::find_parameter(const text& address, const std::string& object) const {
    const parts p = split(address, object, "subsystem.parameter");
    const auto offered = subsystems_.offers(p.subsystem).parameters;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < offered.size(); ++i) {
        if (offered[i].name == p.rest || (!offered[i].symbol.empty() && offered[i].symbol == p.rest))
            return {p.subsystem, static_cast<int>(i), offered[i]};
        names.push_back(offered[i].name);
    }
    const auto inputs = variable_names(subsystems_.describe(p.subsystem).inputs);
    names.insert(names.end(), inputs.begin(), inputs.end());
    throw user_error(address.where,
                     fmt::format("{}: {}", object,
                                 unknown_name("input or parameter", p.rest,
                                              fmt::format("Subsystem '{}'", subsystems_.name(p.subsystem)), names)));
}

bool address_book::has_output(const std::string& address) const {
    try {
        find_output({address, {}}, "");
        return true;
    } catch (const user_error&) {
        return false;
    }
}

bool address_book::has_input(const std::string& address) const {
    try {
        find_input({address, {}}, "");
        return true;
    } catch (const user_error&) {
        return false;
    }
}

}  // namespace mdpcosim
