#include <cmath>

#include "fmi/description_reader.hpp"

/// modelDescription.xml of FMI 3.0. Variables are named by their value references, which are unique.
namespace mdpcosim::fmi {

namespace {

constexpr base_type all_types[] = {base_type::float64, base_type::float32, base_type::int8,    base_type::uint8,
                                   base_type::int16,   base_type::uint16,  base_type::int32,   base_type::uint32,
                                   base_type::int64,   base_type::uint64,  base_type::boolean, base_type::enumeration,
                                   base_type::string,  base_type::binary,  base_type::clock};
/// More elements in one variable than any machine holds: an attack, or a mistake.
constexpr std::uint64_t most_elements = 1ULL << 31;

std::optional<base_type> type_of(std::string_view element, std::string_view suffix = {}) {
    for (const base_type type : all_types) {
        const std::string_view text = name(type);
        if (element.size() == text.size() + suffix.size() && element.starts_with(text) && element.ends_with(suffix))
            return type;
    }
    return {};
}

interface_description read_interface(const xml_file& xml, pugi::xml_node node) {
    interface_description offers;
    offers.model_identifier = xml.required_text(node, "modelIdentifier");
    offers.needs_execution_tool = xml.flag(node, "needsExecutionTool");
    offers.once_per_process = xml.flag(node, "canBeInstantiatedOnlyOncePerProcess");
    offers.state = xml.flag(node, "canGetAndSetFMUState");
    offers.serialise = xml.flag(node, "canSerializeFMUState");
    offers.directional_derivatives = xml.flag(node, "providesDirectionalDerivatives");
    offers.variable_step = xml.flag(node, "canHandleVariableCommunicationStepSize");
    offers.output_derivatives =
        static_cast<int>(std::min(xml.integer<std::uint32_t>(node, "maxOutputDerivativeOrder").value_or(0), 1000u));
    offers.intermediate_update = xml.flag(node, "providesIntermediateUpdate");
    offers.early_return =
        xml.flag(node, "mightReturnEarlyFromDoStep") || xml.flag(node, "canReturnEarlyAfterIntermediateUpdate");
    offers.event_mode = xml.flag(node, "hasEventMode");
    offers.fixed_step = xml.number(node, "fixedInternalStepSize").value_or(0);
    if (node.attribute("fixedInternalStepSize") && !(offers.fixed_step > 0)) {
        xml.violation(node, "fixedInternalStepSize must be above zero.");
        offers.fixed_step = 0;
    }
    offers.completed_step = xml.flag(node, "needsCompletedIntegratorStep");
    return offers;
}

void read_types(const xml_file& xml, description& d) {
    for (const pugi::xml_node node : xml.root().child("TypeDefinitions").children()) {
        const std::optional<base_type> known = type_of(node.name(), "Type");
        if (!known) continue;
        type_definition type;
        type.name = xml.required_text(node, "name");
        type.type = *known;
        type.unit = xml.text(node, "unit");
        type.display_unit = xml.text(node, "displayUnit");
        type.min = xml.number(node, "min");
        type.max = xml.number(node, "max");
        type.nominal = xml.number(node, "nominal");
        if (type.type == base_type::enumeration) read_items(xml, node, type);
        d.types.push_back(std::move(type));
    }
}

void read_start(const xml_file& xml, pugi::xml_node node, variable& x) {
    if (x.type == base_type::string || x.type == base_type::binary) {
        for (const pugi::xml_node start : node.children("Start"))
            x.start.emplace_back(start.attribute("value").value());
    } else {
        x.start = xml.words(node, "start");
    }
}

void read_dimensions(const xml_file& xml, pugi::xml_node node, variable& x) {
    for (const pugi::xml_node child : node.children("Dimension")) {
        dimension size;
        size.parameter = xml.integer<value_reference>(child, "valueReference");
        size.size = xml.integer<std::uint64_t>(child, "start").value_or(0);
        if (size.parameter.has_value() == static_cast<bool>(child.attribute("start")))
            xml.fatal(child, "variable '{}': a <Dimension> has either start or valueReference.", x.name);
        x.dimensions.push_back(size);
    }
}

/// What the other elements refer to, while they are read.
struct references {
    reference_index index;
    int find(std::optional<value_reference> reference) const {
        const auto place = reference ? index.find(*reference) : index.end();
        return place == index.end() ? -1 : place->second;
    }
};

/// Sizes that structural parameters give, and the number of elements of every variable kept within reason.
void resolve_dimensions(const xml_file& xml, description& d, const references& all) {
    for (variable& x : d.variables) {
        std::uint64_t elements = 1;
        for (dimension& size : x.dimensions) {
            if (size.parameter) {
                const int index = all.find(size.parameter);
                const bool usable = index >= 0 && d.variables[index].causality == causality::structural_parameter &&
                                    d.variables[index].start.size() == 1;
                const auto start =
                    usable ? parse_integer<std::uint64_t>(d.variables[index].start[0]) : std::optional<std::uint64_t>{};
                if (!start)
                    xml.violation_at(x.line,
                                     "variable '{}': the dimension with valueReference {} is no structural "
                                     "parameter with a start value.",
                                     x.name, *size.parameter);
                size.size = start.value_or(0);
            }
            if (size.size != 0 && elements > most_elements / size.size) {
                xml.fatal_at(x.line, "variable '{}' has more than {} elements.", x.name, most_elements);
                size.size = 0;
            }
            elements *= size.size;
        }
        if (x.alias_of < 0 && x.start.size() > 1 && x.start.size() != elements)
            xml.violation_at(x.line, "variable '{}' has {} elements, but {} start values.", x.name, elements,
                             x.start.size());
    }
}

/// The aliases of the variable just read stand behind it, as variables of their own with the same reference.
void read_aliases(const xml_file& xml, pugi::xml_node node, description& d) {
    const int original = static_cast<int>(d.variables.size()) - 1;
    for (const pugi::xml_node child : node.children("Alias")) {
        if (!check_count(xml, d.variables.size() + 1) || !xml.count_words(child, d.variables[original].start.size()))
            return;
        variable alias = d.variables[original];
        alias.name = xml.required_text(child, "name");
        alias.description = xml.text(child, "description");
        alias.display_unit = xml.text(child, "displayUnit");
        alias.line = xml.line(child);
        alias.alias_of = original;
        d.variables.push_back(std::move(alias));
    }
}

clock_description read_clock(const xml_file& xml, pugi::xml_node node, const variable& x, int index) {
    using enum clock_interval;
    clock_description clock;
    clock.variable = index;
    const std::string kind = xml.text(node, "intervalVariability");
    bool known = false;
    for (const clock_interval candidate : {constant, fixed, tunable, changing, countdown, triggered})
        if (kind == name(candidate)) clock.interval_kind = candidate, known = true;
    if (!known) xml.violation(node, "clock '{}': intervalVariability is '{}'; it is taken as triggered.", x.name, kind);
    const auto seconds = [&](const char* decimal, const char* counter) {
        const double resolution = static_cast<double>(xml.integer<std::uint64_t>(node, "resolution").value_or(1));
        const auto ticks = xml.integer<std::uint64_t>(node, counter);
        return xml.number(node, decimal).value_or(ticks ? static_cast<double>(*ticks) / resolution : 0);
    };
    clock.interval = seconds("intervalDecimal", "intervalCounter");
    clock.shift = seconds("shiftDecimal", "shiftCounter");
    const bool periodic = clock.interval > 0 && clock.shift >= 0 && std::isfinite(clock.interval + clock.shift);
    if (clock.interval_kind == constant && !periodic) {
        xml.violation(node, "clock '{}' has interval {} s and shift {} s; it is taken as triggered.", x.name,
                      clock.interval, clock.shift);
        clock.interval_kind = triggered;
    }
    return clock;
}

references read_variables(const xml_file& xml, description& d) {
    const pugi::xml_node list = xml.root().child("ModelVariables");
    if (!list) xml.fatal(xml.root(), "there is no <ModelVariables>.");
    const type_index types = index_types(xml, d);
    references all;
    std::vector<std::pair<int, value_reference>> derivatives;
    std::vector<std::pair<int, std::vector<std::string>>> clocked;
    const auto variables = list.children();
    d.variables.reserve(static_cast<std::size_t>(std::distance(variables.begin(), variables.end())));
    for (const pugi::xml_node node : consumed(list)) {
        const std::optional<base_type> type = type_of(node.name());
        if (!type) {
            if (node.type() == pugi::node_element)
                xml.violation(node, "<{}> is not a type of variable; it is ignored.", node.name());
            continue;
        }
        const int index = static_cast<int>(d.variables.size());
        variable& x = d.variables.emplace_back();
        x.type = *type;
        const bool usable = read_common(xml, node, version::v3, x);
        read_value_attributes(xml, node, types, x);
        read_start(xml, node, x);
        read_dimensions(xml, node, x);
        x.intermediate_update = xml.flag(node, "intermediateUpdate");
        if (x.type == base_type::clock) d.clocks.push_back(read_clock(xml, node, x, index));
        if (node.attribute("clocks") && x.type != base_type::clock)
            clocked.emplace_back(index, xml.words(node, "clocks"));
        if (const auto state = xml.integer<value_reference>(node, "derivative"))
            derivatives.emplace_back(index, *state);
        if (usable && !all.index.emplace(x.reference, index).second)
            xml.violation(node, "variable '{}' has the valueReference {} of variable '{}'; they must be unique.",
                          x.name, x.reference, d.variables[all.index.at(x.reference)].name);
        read_aliases(xml, node, d);
    }
    for (const auto& [index, state] : derivatives) {
        d.variables[index].derivative_of = all.find(state);
        if (all.find(state) < 0)
            xml.violation_at(d.variables[index].line,
                             "variable '{}' is the derivative of valueReference {}, which does "
                             "not exist.",
                             d.variables[index].name, state);
    }
    for (const auto& [index, words] : clocked) {
        clocked_variable& made = d.clocked.emplace_back();
        made.variable = index;
        for (const std::string& word : words) {
            const int clock = all.find(parse_integer<value_reference>(word));
            if (clock >= 0 && d.variables[clock].type == base_type::clock)
                made.clocks.push_back(clock);
            else
                xml.violation_at(d.variables[index].line, "variable '{}' names the clock {}, which does not exist.",
                                 d.variables[index].name, word);
        }
    }
    resolve_dimensions(xml, d, all);
    return all;
}

std::vector<unknown> read_unknowns(const xml_file& xml, const char* element, const description& d,
                                   const references& all) {
    std::vector<unknown> unknowns;
    for (const pugi::xml_node node : xml.root().child("ModelStructure").children(element)) {
        unknown u;
        u.line = xml.line(node);
        u.variable = all.find(xml.integer<value_reference>(node, "valueReference"));
        if (u.variable < 0) {
            xml.fatal(node, "<{}>: there is no variable with valueReference {}.", element,
                      node.attribute("valueReference").value());
            continue;
        }
        if (node.attribute("dependencies")) {
            u.dependencies.emplace();
            for (const std::string& word : xml.words(node, "dependencies")) {
                const int known = all.find(parse_integer<value_reference>(word));
                if (known >= 0)
                    u.dependencies->push_back(known);
                else
                    xml.violation(node, "<{}>: '{}' depends on valueReference {}, which does not exist.", element,
                                  d.variables[u.variable].name, word);
            }
        }
        unknowns.push_back(std::move(u));
    }
    return unknowns;
}

}  // namespace

void read_description_3(const xml_file& xml, description& d) {
    const pugi::xml_node root = xml.root();
    d.token = xml.required_text(root, "instantiationToken");
    if (const pugi::xml_node node = root.child("ModelExchange")) d.model_exchange = read_interface(xml, node);
    if (const pugi::xml_node node = root.child("CoSimulation")) d.co_simulation = read_interface(xml, node);
    if (!d.model_exchange && !d.co_simulation) {
        if (root.child("ScheduledExecution"))
            xml.fatal(root,
                      "it offers scheduled execution only, which is not supported. Supported are co-simulation and "
                      "model exchange.");
        else
            xml.fatal(root, "there is neither <ModelExchange> nor <CoSimulation>.");
    }
    read_types(xml, d);
    const references all = read_variables(xml, d);
    if (!root.child("ModelStructure")) xml.violation(root, "there is no <ModelStructure>.");
    d.outputs = read_unknowns(xml, "Output", d, all);
    d.derivatives = read_unknowns(xml, "ContinuousStateDerivative", d, all);
    d.initial_unknowns = read_unknowns(xml, "InitialUnknown", d, all);
    d.event_indicators = read_unknowns(xml, "EventIndicator", d, all);
    for (const unknown& u : d.event_indicators) d.event_indicator_count += d.variables[u.variable].element_count();
}

}  // namespace mdpcosim::fmi
