#include "ssp/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/suggest.hpp"
#include "ssp/xml_document.hpp"

namespace mdpcosim::ssp {

namespace {

/// Systems inside systems; what is deeper is an attack.
constexpr int deepest = 64;

constexpr std::pair<const char*, value_type> type_names[] = {
    {"Real", value_type::real},       {"Float64", value_type::real},   {"Float32", value_type::real},
    {"Integer", value_type::integer}, {"Int8", value_type::integer},   {"UInt8", value_type::integer},
    {"Int16", value_type::integer},   {"UInt16", value_type::integer}, {"Int32", value_type::integer},
    {"UInt32", value_type::integer},  {"Int64", value_type::integer},  {"UInt64", value_type::integer},
    {"Boolean", value_type::boolean}, {"String", value_type::string},  {"Enumeration", value_type::enumeration},
    {"Binary", value_type::binary},   {"Clock", value_type::clock},
};

constexpr std::pair<const char*, kind> kind_names[] = {
    {"input", kind::input},
    {"output", kind::output},
    {"inout", kind::inout},
    {"parameter", kind::parameter},
    {"calculatedParameter", kind::calculated_parameter},
    {"structuralParameter", kind::structural_parameter},
    {"constant", kind::constant},
    {"local", kind::local},
    {"unspecified", kind::unknown},
};

using unit_table = std::map<std::string, unit, std::less<>>;

/// Reads one file; the definitions of its units hold inside it.
class reader {
   public:
    reader(const xml_document& xml, pugi::xml_node root) : xml_(xml) { read_units(root); }

    connector read_connector(pugi::xml_node node) const {
        connector c;
        c.name = xml_.required_text(node, "name");
        c.where = xml_.place(node);
        if (const std::string word = xml_.text(node, "kind"); !word.empty()) {
            const auto* found = std::ranges::find(kind_names, word, &std::pair<const char*, kind>::first);
            if (found == std::end(kind_names))
                xml_.fail(node, fmt::format("connector '{}': kind '{}' is not known.", c.name, word));
            c.kind = found->second;
        }
        // A child <Clock name="..."/> says when the connector changes; the type stands first.
        const pugi::xml_node type = type_child(node);
        c.type = type_of(type);
        if (c.type == value_type::clock && type.attribute("name")) c.type = value_type::unknown;
        c.unit = unit_in(type);
        return c;
    }

    std::vector<connector> read_connectors(pugi::xml_node parent, const char* name) const {
        std::vector<connector> all;
        std::set<std::string> names;
        for (const pugi::xml_node node : xml_.children(parent, name)) {
            all.push_back(read_connector(node));
            if (!names.insert(all.back().name).second)
                xml_.fail(node, fmt::format("connector '{}' stands twice.", all.back().name));
        }
        return all;
    }

    parameter_set read_set(pugi::xml_node root) const {
        parameter_set set;
        set.name = xml_.text(root, "name");
        set.where = xml_.place(root);
        std::set<std::string> names;
        for (const pugi::xml_node node : xml_.children(xml_.child(root, "Parameters"), "Parameter")) {
            set.parameters.push_back(read_parameter(node));
            if (!names.insert(set.parameters.back().name).second)
                xml_.fail(node, fmt::format("parameter '{}' stands twice.", set.parameters.back().name));
        }
        return set;
    }

    parameter_mapping read_map(pugi::xml_node root) const {
        parameter_mapping mapping;
        mapping.where = xml_.place(root);
        std::set<std::string> targets;
        for (const pugi::xml_node node : xml_.children(root, "MappingEntry")) {
            mapping.entries.push_back({xml_.required_text(node, "source"), xml_.required_text(node, "target"),
                                       xml_.place(node), xml_.flag(node, "suppressUnitConversion"),
                                       read_transformation(node)});
            if (!targets.insert(mapping.entries.back().target).second)
                xml_.fail(node,
                          fmt::format("mapping: '{}' is the target of two entries.", mapping.entries.back().target));
        }
        return mapping;
    }

    element read_system(pugi::xml_node node, int depth) const {
        if (depth > deepest)
            xml_.fail(node, fmt::format("systems are nested more than {} deep, which is not allowed.", deepest));
        element system = read_element(node, element::form::system);
        std::set<std::string> names;
        for (const pugi::xml_node inner : xml_.child(node, "Elements").children()) {
            if (inner.type() != pugi::node_element) continue;
            const std::string_view what = local_name(inner);
            if (what == "Component")
                system.elements.push_back(read_component(inner));
            else if (what == "System")
                system.elements.push_back(read_system(inner, depth + 1));
            else if (what == "SignalDictionaryReference")
                system.elements.push_back(read_element(inner, element::form::dictionary_reference));
            else
                continue;
            if (!names.insert(system.elements.back().name).second)
                xml_.fail(inner, fmt::format("system '{}': element '{}' stands twice. Names must differ.", system.name,
                                             system.elements.back().name));
        }
        for (const pugi::xml_node inner : xml_.children(xml_.child(node, "Connections"), "Connection"))
            system.connections.push_back(read_connection(inner));
        for (const pugi::xml_node inner : xml_.children(xml_.child(node, "SignalDictionaries"), "SignalDictionary"))
            system.dictionaries.push_back(read_dictionary(inner));
        return system;
    }

    annotation read_annotation(pugi::xml_node node) const {
        annotation found;
        for (const pugi::xml_node inner : xml_.children(xml_.child(node, "Annotations"), "Annotation")) {
            if (xml_.text(inner, "type") != annotation_type) continue;
            if (!found.text.empty())
                xml_.fail(inner, fmt::format("there are two annotations of the type '{}'.", annotation_type));
            // The text may stand in an element, as SSP 1.0 has it, or by itself.
            pugi::xml_node holder = inner.first_child();
            while (holder && holder.type() != pugi::node_element) holder = holder.next_sibling();
            if (!holder) holder = inner;
            for (const pugi::xml_node piece : holder.children()) {
                if (piece.type() != pugi::node_pcdata && piece.type() != pugi::node_cdata) continue;
                if (found.text.empty()) found.where = xml_.place(piece);
                found.text += piece.value();
            }
        }
        return found;
    }

   private:
    void read_units(pugi::xml_node root) {
        for (const pugi::xml_node node : xml_.children(xml_.child(root, "Units"), "Unit")) {
            unit u;
            u.name = xml_.required_text(node, "name");
            const pugi::xml_node base = xml_.child(node, "BaseUnit");
            u.defined = static_cast<bool>(base);
            for (std::size_t i = 0; i < unit::base_names.size(); ++i)
                u.exponents[i] = xml_.whole(base, unit::base_names[i]);
            u.factor = xml_.number(base, "factor").value_or(1);
            u.offset = xml_.number(base, "offset").value_or(0);
            if (u.factor == 0) xml_.fail(base, fmt::format("unit '{}' has the factor 0.", u.name));
            if (!units_.emplace(u.name, u).second) xml_.fail(node, fmt::format("unit '{}' is defined twice.", u.name));
        }
    }

    static value_type type_of(pugi::xml_node type) {
        for (const auto& [name, value] : type_names)
            if (type && local_name(type) == name) return value;
        return value_type::unknown;
    }

    static pugi::xml_node type_child(pugi::xml_node node) {
        for (const pugi::xml_node inner : node.children())
            if (inner.type() == pugi::node_element && type_of(inner) != value_type::unknown) return inner;
        return {};
    }

    std::optional<unit> unit_in(pugi::xml_node type) const {
        if (!type || type_of(type) != value_type::real) return {};
        const std::string name = xml_.text(type, "unit");
        if (name.empty()) return {};
        const auto found = units_.find(name);
        if (found != units_.end()) return found->second;
        return unit{.name = name};
    }

    parameter read_parameter(pugi::xml_node node) const {
        parameter p;
        p.name = xml_.required_text(node, "name");
        p.where = xml_.place(node);
        const pugi::xml_node type = type_child(node);
        if (!type) xml_.fail(node, fmt::format("parameter '{}' has no value of a known type.", p.name));
        p.type = type_of(type);
        p.unit = unit_in(type);
        p.array = static_cast<bool>(xml_.child(node, "Dimension"));
        for (const pugi::xml_node value : xml_.children(type, "Value")) p.values.push_back(xml_.text(value, "value"));
        if (!p.values.empty()) {
            p.array = p.array || p.values.size() > 1;
            return p;
        }
        if (!type.attribute("value")) xml_.fail(type, fmt::format("parameter '{}' has no value.", p.name));
        const std::string value = xml_.text(type, "value");
        if (p.type == value_type::string || p.type == value_type::enumeration || p.type == value_type::binary)
            p.values = {value};
        else
            p.values = archive::split_words(value);
        if (p.values.empty()) xml_.fail(type, fmt::format("parameter '{}' has no value.", p.name));
        p.array = p.array || p.values.size() > 1;
        return p;
    }

    transformation read_transformation(pugi::xml_node node) const {
        using form = transformation::form;
        transformation t;
        for (const auto& [name, how] : {std::pair{"LinearTransformation", form::linear},
                                        {"BooleanMappingTransformation", form::boolean},
                                        {"IntegerMappingTransformation", form::integer},
                                        {"EnumerationMappingTransformation", form::enumeration}}) {
            const pugi::xml_node found = xml_.child(node, name);
            if (!found) continue;
            t.how = how;
            t.where = xml_.place(found);
            t.factor = xml_.number(found, "factor").value_or(1);
            t.offset = xml_.number(found, "offset").value_or(0);
            for (const pugi::xml_node entry : xml_.children(found, "MapEntry"))
                t.map.emplace_back(xml_.required_text(entry, "source"), xml_.required_text(entry, "target"));
        }
        return t;
    }

    std::vector<std::uint64_t> indices(pugi::xml_node node, const char* attribute) const {
        std::vector<std::uint64_t> all;
        for (const std::string& word : archive::split_words(xml_.text(node, attribute))) {
            const auto index = archive::parse_integer<std::uint64_t>(word);
            if (!index)
                xml_.fail(node, fmt::format("<{}> has {}=\"{}\", which are no indices.", node.name(), attribute,
                                            xml_.text(node, attribute)));
            all.push_back(*index);
        }
        return all;
    }

    connection read_connection(pugi::xml_node node) const {
        return {.where = xml_.place(node),
                .start_element = xml_.text(node, "startElement"),
                .start_connector = xml_.required_text(node, "startConnector"),
                .end_element = xml_.text(node, "endElement"),
                .end_connector = xml_.required_text(node, "endConnector"),
                .start_indices = indices(node, "startIndices"),
                .end_indices = indices(node, "endIndices"),
                .transformation = read_transformation(node),
                .keep_number = xml_.flag(node, "suppressUnitConversion"),
                .annotation = read_annotation(node)};
    }

    template <class Content, class Read>
    source<Content> read_source(pugi::xml_node node, pugi::xml_node content, const char* what, const Read& read) const {
        source<Content> s;
        s.where = xml_.place(node);
        s.type = xml_.text(node, "type");
        s.uri = xml_.optional_text(node, "source");
        const std::string base = xml_.text(node, "sourceBase");
        if (!base.empty() && base != "SSD" && base != "component")
            xml_.fail(node,
                      fmt::format("<{}> has sourceBase=\"{}\"; allowed are SSD and component.", node.name(), base));
        s.in_component = base == "component";
        if (!s.uri && !content)
            xml_.fail(node, fmt::format("<{}> has neither a source nor a <{}>.", node.name(), what));
        if (s.uri && content)
            xml_.fail(node, fmt::format("<{}> has a source and a <{}>; one of them is too much.", node.name(), what));
        if (content) s.content = read(content);
        return s;
    }

    parameter_binding read_binding(pugi::xml_node node) const {
        parameter_binding binding;
        binding.where = xml_.place(node);
        binding.prefix = xml_.text(node, "prefix");
        const pugi::xml_node set = xml_.child(xml_.child(node, "ParameterValues"), "ParameterSet");
        binding.values = read_source<parameter_set>(node, set, "ParameterSet", [&](pugi::xml_node root) {
            return reader(xml_, root).read_set(root);  // with units of its own
        });
        if (const pugi::xml_node mapping = xml_.child(node, "ParameterMapping"))
            binding.mapping =
                read_source<parameter_mapping>(mapping, xml_.child(mapping, "ParameterMapping"), "ParameterMapping",
                                               [&](pugi::xml_node root) { return read_map(root); });
        return binding;
    }

    signal_dictionary read_dictionary(pugi::xml_node node) const {
        signal_dictionary d;
        d.name = xml_.required_text(node, "name");
        d.where = xml_.place(node);
        d.entries = read_source<std::vector<connector>>(
            node, xml_.child(node, "SignalDictionary"), "SignalDictionary",
            [&](pugi::xml_node root) { return reader(xml_, root).read_connectors(root, "DictionaryEntry"); });
        return d;
    }

    element read_element(pugi::xml_node node, element::form what) const {
        element e;
        e.what = what;
        e.name = xml_.required_text(node, "name");
        e.id = xml_.text(node, "id");
        e.where = xml_.place(node);
        e.connectors = read_connectors(xml_.child(node, "Connectors"), "Connector");
        for (const pugi::xml_node binding : xml_.children(xml_.child(node, "ParameterBindings"), "ParameterBinding"))
            e.bindings.push_back(read_binding(binding));
        e.annotation = read_annotation(node);
        if (what == element::form::dictionary_reference) e.dictionary = xml_.required_text(node, "dictionary");
        return e;
    }

    element read_component(pugi::xml_node node) const {
        element e = read_element(node, element::form::component);
        e.type = xml_.text(node, "type");
        e.uri = xml_.optional_text(node, "source");
        e.implementation = xml_.text(node, "implementation");
        if (e.implementation.empty()) e.implementation = "any";
        const std::vector<std::string> known{"any", "CoSimulation", "ModelExchange", "ScheduledExecution"};
        if (std::ranges::find(known, e.implementation) == known.end())
            xml_.fail(node, fmt::format("component '{}': implementation '{}' is not known. Allowed: {}.", e.name,
                                        e.implementation, name_list(known)));
        return e;
    }

    const xml_document& xml_;
    unit_table units_;
};

}  // namespace

const char* name(value_type type) {
    constexpr const char* names[] = {"unknown", "Real",        "Integer", "Boolean",
                                     "String",  "Enumeration", "Binary",  "Clock"};
    return names[static_cast<int>(type)];
}

const connector* element::find_connector(std::string_view wanted) const {
    const auto found = std::ranges::find(connectors, wanted, &connector::name);
    return found == connectors.end() ? nullptr : &*found;
}

const element* element::find_element(std::string_view wanted) const {
    const auto found = std::ranges::find(elements, wanted, &element::name);
    return found == elements.end() ? nullptr : &*found;
}

description parse_description(const std::string& text, const std::filesystem::path& path) {
    const xml_document xml(text, path);
    const pugi::xml_node root = xml.root("SystemStructureDescription");
    const reader in(xml, root);
    description d;
    d.path = path;
    d.name = xml.text(root, "name");
    d.version = xml.text(root, "version");
    const pugi::xml_node system = xml.child(root, "System");
    if (!system) xml.fail(root, "there is no <System>.");
    d.system = in.read_system(system, 0);
    if (const pugi::xml_node experiment = xml.child(root, "DefaultExperiment")) {
        d.start = xml.number(experiment, "startTime");
        d.stop = xml.number(experiment, "stopTime");
    }
    d.annotation = in.read_annotation(root);
    return d;
}

parameter_set parse_parameters(const std::string& text, const std::filesystem::path& path) {
    const xml_document xml(text, path);
    const pugi::xml_node root = xml.root("ParameterSet");
    return reader(xml, root).read_set(root);
}

parameter_mapping parse_mapping(const std::string& text, const std::filesystem::path& path) {
    const xml_document xml(text, path);
    const pugi::xml_node root = xml.root("ParameterMapping");
    return reader(xml, root).read_map(root);
}

std::vector<connector> parse_dictionary(const std::string& text, const std::filesystem::path& path) {
    const xml_document xml(text, path);
    const pugi::xml_node root = xml.root("SignalDictionary");
    return reader(xml, root).read_connectors(root, "DictionaryEntry");
}

}  // namespace mdpcosim::ssp
