#include <cstring>

#include "fmi/description_reader.hpp"

/// modelDescription.xml of FMI 2.0. Variables are named by their place, counted from one.
namespace mdpcosim::fmi {

namespace {

constexpr std::pair<const char*, base_type> type_elements[] = {{"Real", base_type::float64},
                                                               {"Integer", base_type::int32},
                                                               {"Boolean", base_type::boolean},
                                                               {"String", base_type::string},
                                                               {"Enumeration", base_type::enumeration}};

std::optional<base_type> type_of(std::string_view element) {
    for (const auto& [text, type] : type_elements)
        if (text == element) return type;
    return {};
}

pugi::xml_node first_element(pugi::xml_node node) {
    return node.find_child([](pugi::xml_node child) { return child.type() == pugi::node_element; });
}

interface_description read_interface(const xml_file& xml, pugi::xml_node node) {
    interface_description offers;
    offers.model_identifier = xml.required_text(node, "modelIdentifier");
    offers.needs_execution_tool = xml.flag(node, "needsExecutionTool");
    offers.once_per_process = xml.flag(node, "canBeInstantiatedOnlyOncePerProcess");
    offers.state = xml.flag(node, "canGetAndSetFMUstate");
    offers.serialise = xml.flag(node, "canSerializeFMUstate");
    offers.directional_derivatives = xml.flag(node, "providesDirectionalDerivative");
    offers.variable_step = xml.flag(node, "canHandleVariableCommunicationStepSize");
    offers.output_derivatives =
        static_cast<int>(std::min(xml.integer<std::uint32_t>(node, "maxOutputDerivativeOrder").value_or(0), 1000u));
    offers.input_derivatives = xml.flag(node, "canInterpolateInputs");
    offers.completed_step = !xml.flag(node, "completedIntegratorStepNotNeeded");
    return offers;
}

void read_types(const xml_file& xml, description& d) {
    for (const pugi::xml_node node : xml.root().child("TypeDefinitions").children("SimpleType")) {
        const pugi::xml_node value = first_element(node);
        type_definition type;
        type.name = xml.required_text(node, "name");
        const std::optional<base_type> known = type_of(value.name());
        if (!known) {
            xml.violation(node, "type '{}' has no known base type.", type.name);
            continue;
        }
        type.type = *known;
        type.unit = xml.text(value, "unit");
        type.display_unit = xml.text(value, "displayUnit");
        type.min = xml.number(value, "min");
        type.max = xml.number(value, "max");
        type.nominal = xml.number(value, "nominal");
        if (type.type == base_type::enumeration) read_items(xml, value, type);
        d.types.push_back(std::move(type));
    }
}

void read_variables(const xml_file& xml, description& d) {
    const pugi::xml_node list = xml.root().child("ModelVariables");
    if (!list) xml.fatal(xml.root(), "there is no <ModelVariables>.");
    const type_index types = index_types(xml, d);
    std::vector<std::pair<std::size_t, std::uint32_t>> derivatives;
    const auto all = list.children("ScalarVariable");
    d.variables.reserve(static_cast<std::size_t>(std::distance(all.begin(), all.end())));
    for (const pugi::xml_node node : consumed(list)) {
        if (std::strcmp(node.name(), "ScalarVariable") != 0) continue;
        variable& x = d.variables.emplace_back();
        const pugi::xml_node value = first_element(node);
        const std::optional<base_type> type = type_of(value.name());
        if (!type)
            xml.fatal(node, "variable '{}' has no known type (Real, Integer, Boolean, String, Enumeration).",
                      node.attribute("name").value());
        x.type = type.value_or(base_type::float64);
        read_common(xml, node, version::v2, x);
        read_value_attributes(xml, value, types, x);
        if (const pugi::xml_attribute start = value.attribute("start")) x.start.emplace_back(start.value());
        // The variable it points to may come later; whether it exists is seen at the end.
        if (const auto state = xml.integer<std::uint32_t>(value, "derivative"))
            derivatives.emplace_back(d.variables.size() - 1, *state);
    }
    for (const auto& [index, state] : derivatives)
        if (state >= 1 && state <= d.variables.size())
            d.variables[index].derivative_of = static_cast<int>(state) - 1;
        else
            xml.violation_at(d.variables[index].line,
                             "variable '{}' is the derivative of variable {}, but there are {}.",
                             d.variables[index].name, state, d.variables.size());
}

void find_aliases(description& d) {
    reference_index first;
    first.reserve(d.variables.size());
    for (int i = 0; i < static_cast<int>(d.variables.size()); ++i) {
        const auto [place, is_new] =
            first.emplace(reference_key(d.version, d.variables[i].type, d.variables[i].reference), i);
        if (!is_new) d.variables[i].alias_of = place->second;
    }
}

std::vector<unknown> read_unknowns(const xml_file& xml, const char* element, const description& d) {
    std::vector<unknown> unknowns;
    const auto valid = [&](std::optional<std::uint32_t> index) {
        return index && *index >= 1 && *index <= d.variables.size();
    };
    for (const pugi::xml_node node : xml.root().child("ModelStructure").child(element).children("Unknown")) {
        unknown u;
        u.line = xml.line(node);
        const std::optional<std::uint32_t> index = xml.integer<std::uint32_t>(node, "index");
        if (!valid(index)) {
            xml.fatal(node, "<{}>: there is no variable {} (there are {}).", element, node.attribute("index").value(),
                      d.variables.size());
            continue;
        }
        u.variable = static_cast<int>(*index) - 1;
        if (node.attribute("dependencies")) {
            u.dependencies.emplace();
            for (const std::string& word : xml.words(node, "dependencies")) {
                const std::optional<std::uint32_t> known = parse_integer<std::uint32_t>(word);
                if (valid(known))
                    u.dependencies->push_back(static_cast<int>(*known) - 1);
                else
                    xml.violation(node, "<{}>: '{}' depends on variable {}, which does not exist.", element,
                                  d.variables[u.variable].name, word);
            }
        }
        unknowns.push_back(std::move(u));
    }
    return unknowns;
}

}  // namespace

void read_description_2(const xml_file& xml, description& d) {
    const pugi::xml_node root = xml.root();
    d.token = xml.required_text(root, "guid");
    d.event_indicator_count = xml.integer<std::uint32_t>(root, "numberOfEventIndicators").value_or(0);
    if (const pugi::xml_node node = root.child("ModelExchange")) d.model_exchange = read_interface(xml, node);
    if (const pugi::xml_node node = root.child("CoSimulation")) d.co_simulation = read_interface(xml, node);
    if (!d.model_exchange && !d.co_simulation) xml.fatal(root, "there is neither <ModelExchange> nor <CoSimulation>.");
    read_types(xml, d);
    read_variables(xml, d);
    find_aliases(d);
    if (!root.child("ModelStructure")) xml.violation(root, "there is no <ModelStructure>.");
    d.outputs = read_unknowns(xml, "Outputs", d);
    d.derivatives = read_unknowns(xml, "Derivatives", d);
    d.initial_unknowns = read_unknowns(xml, "InitialUnknowns", d);
}

}  // namespace mdpcosim::fmi
