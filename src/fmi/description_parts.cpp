#include <algorithm>
#include <cstring>
#include <set>

#include "fmi/description_reader.hpp"

/// The parts of a description that several versions write alike.
namespace mdpcosim::fmi {

namespace {

constexpr int deepest_terminal = 32;

/// The word's place in `words`; a word that is not there is a fatal violation.
template <class Enum, std::size_t n>
Enum read_word(const xml_file& xml, pugi::xml_node node, const char* attribute, const Enum (&allowed)[n],
               Enum otherwise) {
    const pugi::xml_attribute value = node.attribute(attribute);
    if (!value) return otherwise;
    std::string list;
    for (const Enum word : allowed) {
        if (name(word) == value.value()) return word;
        list += fmt::format("{}{}", list.empty() ? "" : ", ", name(word));
    }
    xml.fatal(node, "variable '{}' has {}=\"{}\". Allowed are: {}.", node.attribute("name").value(), attribute,
              value.value(), list);
    return otherwise;
}

bool is_parameter(causality c) {
    return c == causality::parameter || c == causality::calculated_parameter || c == causality::structural_parameter;
}

variability default_variability(version v, const variable& x) {
    if (v == version::v3 && is_parameter(x.causality)) return variability::fixed;
    return is_float(x.type) ? variability::continuous : variability::discrete;
}

bool combination_allowed(causality c, variability v) {
    switch (c) {
        case causality::parameter:
        case causality::calculated_parameter:
        case causality::structural_parameter:
            return v == variability::fixed || v == variability::tunable;
        case causality::input:
            return v == variability::discrete || v == variability::continuous;
        case causality::output:
            return v != variability::fixed && v != variability::tunable;
        case causality::local:
            return true;
        case causality::independent:
            return v == variability::continuous;
    }
    return false;
}

/// The standard's table of "initial": what stands where nothing is written, and what may be written.
struct initial_rule {
    initial standard = initial::none;
    bool exact = false, approx = false, calculated = false;
    bool allows(initial i) const {
        return (i == initial::exact && exact) || (i == initial::approx && approx) ||
               (i == initial::calculated && calculated);
    }
};

initial_rule rule_of(causality c, variability v) {
    if (c == causality::input || c == causality::independent) return {};
    if (v == variability::constant || c == causality::parameter || c == causality::structural_parameter)
        return {initial::exact, true, false, false};
    if (v == variability::fixed || v == variability::tunable) return {initial::calculated, false, true, true};
    return {initial::calculated, true, true, true};
}

}  // namespace

void read_root(const xml_file& xml, description& d) {
    const pugi::xml_node root = xml.root();
    d.model_name = xml.required_text(root, "modelName");
    d.text = xml.text(root, "description");
    d.author = xml.text(root, "author");
    d.model_version = xml.text(root, "version");
    d.copyright = xml.text(root, "copyright");
    d.license = xml.text(root, "license");
    d.tool = xml.text(root, "generationTool");
    d.date = xml.text(root, "generationDateAndTime");
    d.structured_names = xml.text(root, "variableNamingConvention") == "structured";
    for (const pugi::xml_node category : root.child("LogCategories").children("Category"))
        d.log_categories.push_back(xml.text(category, "name"));
    if (const pugi::xml_node node = root.child("DefaultExperiment")) {
        d.experiment.start = xml.number(node, "startTime");
        d.experiment.stop = xml.number(node, "stopTime");
        d.experiment.tolerance = xml.number(node, "tolerance");
        d.experiment.step = xml.number(node, "stepSize");
        if (d.experiment.start.value_or(0) > d.experiment.stop.value_or(std::numeric_limits<double>::infinity()))
            xml.warning(node, "<DefaultExperiment> starts after its stopTime.");
        for (auto* positive : {&d.experiment.tolerance, &d.experiment.step})
            if (positive->has_value() && !(**positive > 0)) {
                xml.warning(node, "<DefaultExperiment>: tolerance and stepSize must be above zero; {} is ignored.",
                            **positive);
                positive->reset();
            }
    }
}

void read_units(const xml_file& xml, description& d) {
    std::set<std::string> names;
    for (const pugi::xml_node node : xml.root().child("UnitDefinitions").children("Unit")) {
        unit_definition unit;
        unit.name = xml.required_text(node, "name");
        if (!names.insert(unit.name).second) xml.violation(node, "unit '{}' is defined twice.", unit.name);
        if (const pugi::xml_node base = node.child("BaseUnit")) {
            unit.has_base = true;
            const std::pair<const char*, int*> exponents[] = {{"kg", &unit.kg}, {"m", &unit.m},    {"s", &unit.s},
                                                              {"A", &unit.A},   {"K", &unit.K},    {"mol", &unit.mol},
                                                              {"cd", &unit.cd}, {"rad", &unit.rad}};
            for (const auto& [attribute, exponent] : exponents)
                *exponent = xml.integer<std::int32_t>(base, attribute).value_or(0);
            unit.factor = xml.number(base, "factor").value_or(1);
            unit.offset = xml.number(base, "offset").value_or(0);
        }
        for (const pugi::xml_node display : node.children("DisplayUnit"))
            unit.display_units.push_back({xml.required_text(display, "name"), xml.number(display, "factor").value_or(1),
                                          xml.number(display, "offset").value_or(0), xml.flag(display, "inverse")});
        d.units.push_back(std::move(unit));
    }
}

void read_items(const xml_file& xml, pugi::xml_node type, type_definition& definition) {
    std::set<std::int64_t> values;
    for (const pugi::xml_node item : type.children("Item")) {
        definition.items.push_back(
            {xml.required_text(item, "name"), xml.integer<std::int64_t>(item, "value").value_or(0)});
        if (!values.insert(definition.items.back().value).second)
            xml.violation(item, "type '{}' gives the value {} to two of its items.", definition.name,
                          definition.items.back().value);
    }
    if (definition.items.empty()) xml.violation(type, "enumeration type '{}' has no items.", definition.name);
}

bool read_common(const xml_file& xml, pugi::xml_node node, version v, variable& x) {
    x.line = xml.line(node);
    x.name = xml.required_text(node, "name");
    if (x.name.empty() && node.attribute("name")) xml.violation(node, "a variable's name is empty.");
    x.description = xml.text(node, "description");
    const std::optional<value_reference> reference = xml.integer<value_reference>(node, "valueReference");
    if (!reference) xml.fatal(node, "variable '{}' has no usable valueReference.", x.name);
    x.reference = reference.value_or(0);

    using c = causality;
    if (v == version::v2) {
        constexpr c allowed[] = {c::parameter, c::calculated_parameter, c::input, c::output, c::local, c::independent};
        x.causality = read_word(xml, node, "causality", allowed, c::local);
    } else {
        constexpr c allowed[] = {c::parameter, c::calculated_parameter, c::structural_parameter, c::input, c::output,
                                 c::local,     c::independent};
        x.causality = read_word(xml, node, "causality", allowed, c::local);
    }
    using w = variability;
    constexpr w words[] = {w::constant, w::fixed, w::tunable, w::discrete, w::continuous};
    x.variability = read_word(xml, node, "variability", words, default_variability(v, x));
    if (!combination_allowed(x.causality, x.variability))
        xml.warning(node, "variable '{}': causality {} and variability {} do not go together.", x.name,
                    name(x.causality), name(x.variability));
    if (x.variability == w::continuous && !is_float(x.type))
        xml.violation(node, "variable '{}' is of type {} and cannot be continuous.", x.name, name(x.type));

    const initial_rule rule = rule_of(x.causality, x.variability);
    using i = initial;
    constexpr i initials[] = {i::exact, i::approx, i::calculated};
    x.initial = read_word(xml, node, "initial", initials, rule.standard);
    if (node.attribute("initial") && !rule.allows(x.initial)) {
        xml.warning(node, "variable '{}': initial=\"{}\" is not allowed for causality {} and variability {}.", x.name,
                    name(x.initial), name(x.causality), name(x.variability));
        x.initial = rule.standard;
    }
    return reference.has_value() && node.attribute("name");
}

type_index index_types(const xml_file& xml, const description& d) {
    type_index index;
    for (const type_definition& type : d.types)
        if (!index.emplace(type.name, &type).second)
            xml.violation(xml.root().child("TypeDefinitions"), "type '{}' is defined twice.", type.name);
    return index;
}

void read_value_attributes(const xml_file& xml, pugi::xml_node node, const type_index& types, variable& x) {
    x.declared_type = xml.text(node, "declaredType");
    x.unit = xml.text(node, "unit");
    x.display_unit = xml.text(node, "displayUnit");
    x.min = xml.number(node, "min");
    x.max = xml.number(node, "max");
    x.nominal = xml.number(node, "nominal");
    if (x.declared_type.empty()) {
        if (x.type == base_type::enumeration) xml.violation(node, "enumeration '{}' names no declaredType.", x.name);
        return;
    }
    const auto known = types.find(x.declared_type);
    if (known == types.end()) {
        xml.violation(node, "variable '{}': type '{}' is not defined.", x.name, x.declared_type);
        return;
    }
    const type_definition* type = known->second;
    if (type->type != x.type)
        xml.violation(node, "variable '{}' is of type {}, its declared type '{}' is of type {}.", x.name, name(x.type),
                      type->name, name(type->type));
    if (x.unit.empty()) x.unit = type->unit;
    if (x.display_unit.empty()) x.display_unit = type->display_unit;
    if (!x.min) x.min = type->min;
    if (!x.max) x.max = type->max;
    if (!x.nominal) x.nominal = type->nominal;
}

namespace {

terminal read_terminal(const xml_file& xml, pugi::xml_node node, const description& d, int depth) {
    terminal t;
    t.name = xml.required_text(node, "name");
    t.kind = xml.text(node, "terminalKind");
    t.matching_rule = xml.text(node, "matchingRule");
    t.description = xml.text(node, "description");
    if (t.matching_rule.empty()) xml.warning(node, "terminal '{}' has no matchingRule.", t.name);
    for (const pugi::xml_node child : node.children()) {
        const std::string_view element = child.name();
        if (element == "TerminalMemberVariable") {
            terminal_member member{xml.text(child, "memberName"), d.index_of(xml.text(child, "variableName")),
                                   xml.text(child, "variableKind")};
            if (member.variable < 0)
                xml.violation(child, "terminal '{}': variable '{}' does not exist.", t.name,
                              child.attribute("variableName").value());
            else
                t.members.push_back(std::move(member));
        } else if (element == "Terminal") {
            if (depth >= deepest_terminal)
                xml.violation(child, "terminals are nested more than {} deep.", deepest_terminal);
            else
                t.parts.push_back(read_terminal(xml, child, d, depth + 1));
        }
    }
    return t;
}

}  // namespace

void read_terminals(const xml_file& xml, description& d) {
    if (std::strcmp(xml.root().name(), "fmiTerminalsAndIcons") != 0) {
        xml.violation(xml.root(), "the root element is <{}> instead of <fmiTerminalsAndIcons>.", xml.root().name());
        return;
    }
    for (const pugi::xml_node node : xml.root().child("Terminals").children("Terminal"))
        d.terminals.push_back(read_terminal(xml, node, d, 1));
}

}  // namespace mdpcosim::fmi
