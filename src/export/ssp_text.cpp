#include "export/ssp_text.hpp"

#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>
#include <tuple>

#include "ssp/read.hpp"

namespace mdpcosim {

namespace {

constexpr const char* name_spaces[][2] = {
    {"xmlns:ssd", "http://ssp-standard.org/SSP1/SystemStructureDescription"},
    {"xmlns:ssc", "http://ssp-standard.org/SSP1/SystemStructureCommon"},
    {"xmlns:ssv", "http://ssp-standard.org/SSP1/SystemStructureParameterValues"},
};

auto meaning_of(const fmi::unit_definition& u) {
    return std::tuple(u.kg, u.m, u.s, u.A, u.K, u.mol, u.cd, u.rad, u.factor, u.offset);
}

std::vector<std::pair<std::string, std::int64_t>> meaning_of(const fmi::type_definition& t) {
    std::vector<std::pair<std::string, std::int64_t>> items;
    for (const auto& item : t.items) items.emplace_back(item.name, item.value);
    return items;
}

template <class Definition>
std::string add_to(std::map<std::string, Definition>& all, const Definition& added) {
    std::string name = added.name;
    for (int n = 2;; ++n) {
        const auto [place, is_new] = all.emplace(name, added);
        if (is_new || meaning_of(place->second) == meaning_of(added)) return name;
        name = fmt::format("{}_{}", added.name, n);
    }
}

void set(pugi::xml_node node, const char* attribute, const std::string& value) {
    if (!value.empty()) node.append_attribute(attribute) = value.c_str();
}
void set(pugi::xml_node node, const char* attribute, double value) {
    node.append_attribute(attribute) = fmt::format("{}", value).c_str();
}

void add_units(pugi::xml_node parent, const char* name, const std::map<std::string, fmi::unit_definition>& units) {
    if (units.empty()) return;
    pugi::xml_node all = parent.append_child(name);
    for (const auto& [unit_name, u] : units) {
        pugi::xml_node unit = all.append_child("ssc:Unit");
        set(unit, "name", unit_name);
        pugi::xml_node base = unit.append_child("ssc:BaseUnit");
        for (const auto& [symbol, exponent] : {std::pair{"kg", u.kg},
                                               {"m", u.m},
                                               {"s", u.s},
                                               {"A", u.A},
                                               {"K", u.K},
                                               {"mol", u.mol},
                                               {"cd", u.cd},
                                               {"rad", u.rad}})
            if (exponent != 0) base.append_attribute(symbol) = exponent;
        if (u.factor != 1) set(base, "factor", u.factor);
        if (u.offset != 0) set(base, "offset", u.offset);
    }
}

void add_annotation(pugi::xml_node parent, const std::string& text) {
    if (text.empty()) return;
    pugi::xml_node annotation = parent.append_child("ssd:Annotations").append_child("ssc:Annotation");
    set(annotation, "type", ssp::annotation_type);
    // In an element of its own: in SSP 1.0 an annotation holds no text by itself.
    pugi::xml_node own = annotation.append_child("mdpcosim");
    own.append_attribute("xmlns") = "urn:mdpcosim:scenario";
    own.append_child(pugi::node_pcdata).set_value(("\n" + text).c_str());
}

void add_dimensions(pugi::xml_node node, const std::vector<std::uint64_t>& dimensions) {
    for (const std::uint64_t size : dimensions)
        node.append_child("ssc:Dimension").append_attribute("size") = static_cast<unsigned long long>(size);
}

void add_values(pugi::xml_node parent, const std::vector<ssd_value>& values, const ssd_definitions& definitions,
                const std::string& name, const std::string& version) {
    if (values.empty()) return;
    pugi::xml_node set_node = parent.append_child("ssd:ParameterBindings")
                                  .append_child("ssd:ParameterBinding")
                                  .append_child("ssd:ParameterValues")
                                  .append_child("ssv:ParameterSet");
    set(set_node, "version", version);
    set(set_node, "name", name);
    pugi::xml_node all = set_node.append_child("ssv:Parameters");
    std::map<std::string, fmi::unit_definition> used;
    for (const ssd_value& v : values) {
        pugi::xml_node parameter = all.append_child("ssv:Parameter");
        set(parameter, "name", v.name);
        pugi::xml_node type = parameter.append_child(("ssv:" + v.type).c_str());
        if ((v.type == "String" || v.type == "Enumeration") && v.values.size() > 1)
            for (const std::string& value : v.values)
                type.append_child("ssv:Value").append_attribute("value") = value.c_str();
        else
            type.append_attribute("value") = fmt::format("{}", fmt::join(v.values, " ")).c_str();
        set(type, "unit", v.unit);
        if (!v.unit.empty()) used.emplace(v.unit, definitions.units().at(v.unit));
        add_dimensions(parameter, v.dimensions);
    }
    add_units(set_node, "ssv:Units", used);
}

void add_component(pugi::xml_node elements, const ssd_component& c, const ssd_definitions& definitions,
                   const std::string& version) {
    pugi::xml_node component = elements.append_child("ssd:Component");
    set(component, "name", c.name);
    set(component, "type", c.type);
    set(component, "source", c.source);
    set(component, "implementation", c.implementation);
    if (!c.connectors.empty()) {
        pugi::xml_node connectors = component.append_child("ssd:Connectors");
        for (const ssd_connector& each : c.connectors) {
            pugi::xml_node connector = connectors.append_child("ssd:Connector");
            set(connector, "name", each.name);
            set(connector, "kind", each.kind);
            pugi::xml_node type = connector.append_child(("ssc:" + each.type).c_str());
            set(type, "unit", each.unit);
            set(type, "name", each.enumeration);
            add_dimensions(connector, each.dimensions);
        }
    }
    add_values(component, c.values, definitions, c.name, version);
    add_annotation(component, c.annotation);
}

void add_connection(pugi::xml_node connections, const ssd_connection& c) {
    pugi::xml_node connection = connections.append_child("ssd:Connection");
    set(connection, "startElement", c.from_element);
    set(connection, "startConnector", c.from);
    set(connection, "endElement", c.to_element);
    set(connection, "endConnector", c.to);
    if (c.keep_number) set(connection, "suppressUnitConversion", "true");
    if (c.factor != 1 || c.offset != 0) {
        pugi::xml_node line = connection.append_child("ssc:LinearTransformation");
        if (c.factor != 1) set(line, "factor", c.factor);
        if (c.offset != 0) set(line, "offset", c.offset);
    }
    add_annotation(connection, c.annotation);
}

}  // namespace

std::string ssd_definitions::add(const fmi::unit_definition& unit) {
    return unit.has_base ? add_to(units_, unit) : std::string();
}

std::string ssd_definitions::add(const fmi::type_definition& enumeration) { return add_to(enumerations_, enumeration); }

std::string ssd_text(const ssd_system& system) {
    pugi::xml_document document;
    pugi::xml_node root = document.append_child("ssd:SystemStructureDescription");
    for (const auto& [attribute, address] : name_spaces) set(root, attribute, address);
    set(root, "version", system.version);
    set(root, "name", system.name);
    set(root, "generationTool", system.tool);
    pugi::xml_node top = root.append_child("ssd:System");
    set(top, "name", system.name);
    pugi::xml_node elements = top.append_child("ssd:Elements");
    for (const ssd_component& c : system.components) add_component(elements, c, system.definitions, system.version);
    if (!system.connections.empty()) {
        pugi::xml_node connections = top.append_child("ssd:Connections");
        for (const ssd_connection& c : system.connections) add_connection(connections, c);
    }
    if (!system.definitions.enumerations().empty()) {
        pugi::xml_node all = root.append_child("ssd:Enumerations");
        for (const auto& [name, definition] : system.definitions.enumerations()) {
            pugi::xml_node enumeration = all.append_child("ssc:Enumeration");
            set(enumeration, "name", name);
            for (const auto& item : definition.items) {
                pugi::xml_node each = enumeration.append_child("ssc:Item");
                set(each, "name", item.name);
                each.append_attribute("value") = static_cast<long long>(item.value);
            }
        }
    }
    add_units(root, "ssd:Units", system.definitions.units());
    pugi::xml_node experiment = root.append_child("ssd:DefaultExperiment");
    set(experiment, "startTime", system.start);
    set(experiment, "stopTime", system.stop);
    add_annotation(root, system.annotation);
    std::ostringstream out;
    document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
    return out.str();
}

}  // namespace mdpcosim
