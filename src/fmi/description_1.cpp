#include <cstring>
#include <set>

#include "fmi/description_reader.hpp"

/// modelDescription.xml of FMI 1.0. Variables are named by their names. What 2.0 calls a parameter is here a variability, a
/// start value may be a guess (fixed), and the dependencies of an output stand with it.
namespace mdpcosim::fmi {

namespace {

class reader_1 {
   public:
    reader_1(const xml_file& xml, description& d) : xml_(xml), d_(d) {}

    void read() {
        const pugi::xml_node root = xml_.root();
        d_.token = xml_.required_text(root, "guid");
        d_.unlisted_states = xml_.integer<std::uint32_t>(root, "numberOfContinuousStates").value_or(0);
        d_.event_indicator_count = xml_.integer<std::uint32_t>(root, "numberOfEventIndicators").value_or(0);
        read_interface(root);
        read_units();
        read_types();
        read_variables();
        find_aliases();
        read_dependencies();
    }

   private:
    static pugi::xml_node typed_element(pugi::xml_node node) {
        return node.find_child([](pugi::xml_node child) {
            return child.type() == pugi::node_element && std::strcmp(child.name(), "DirectDependency") != 0;
        });
    }

    /// Model exchange without <Implementation>, co-simulation with it: an FMU of 1.0 is one or the other.
    void read_interface(pugi::xml_node root) {
        interface_description offers;
        offers.initialisation_mode = false;
        offers.model_identifier = xml_.required_text(root, "modelIdentifier");
        const pugi::xml_node implementation = root.child("Implementation");
        if (!implementation) {
            d_.model_exchange = std::move(offers);
            return;
        }
        const pugi::xml_node tool = implementation.child("CoSimulation_Tool");
        const pugi::xml_node alone = implementation.child("CoSimulation_StandAlone");
        if (tool && !alone) refuse_tool(tool);
        if (!alone && !tool)
            xml_.fatal(implementation,
                       "<Implementation> has neither <CoSimulation_StandAlone> nor <CoSimulation_Tool>.");
        const pugi::xml_node can = alone.child("Capabilities");
        if (alone && !can) xml_.violation(alone, "<CoSimulation_StandAlone> has no <Capabilities>.");
        offers.once_per_process = xml_.flag(can, "canBeInstantiatedOnlyOncePerProcess");
        offers.variable_step = xml_.flag(can, "canHandleVariableCommunicationStepSize");
        offers.input_derivatives = xml_.flag(can, "canInterpolateInputs");
        offers.output_derivatives =
            static_cast<int>(std::min(xml_.integer<std::uint32_t>(can, "maxOutputDerivativeOrder").value_or(0), 1000u));
        d_.co_simulation = std::move(offers);
    }

    /// Its library only passes messages to a program that has to be started with the model.
    void refuse_tool(pugi::xml_node tool) {
        const pugi::xml_node model = tool.child("Model");
        xml_.fatal(
            tool,
            "it needs the tool that made it{} to run beside it (<CoSimulation_Tool>, entry point '{}', type '{}'), "
            "which is "
            "not supported. Export it as stand-alone co-simulation (<CoSimulation_StandAlone>), for model exchange, "
            "or as FMI 2.0 or 3.0.",
            d_.tool.empty() ? "" : fmt::format(" ({})", d_.tool), model.attribute("entryPoint").value(),
            model.attribute("type").value());
    }

    /// Units have names only: what one is in SI follows from the name.
    void read_units() {
        std::set<std::string> names;
        for (const pugi::xml_node node : xml_.root().child("UnitDefinitions").children("BaseUnit")) {
            unit_definition unit;
            unit.name = xml_.required_text(node, "unit");
            if (!names.insert(unit.name).second) xml_.violation(node, "unit '{}' is defined twice.", unit.name);
            for (const pugi::xml_node display : node.children("DisplayUnitDefinition"))
                unit.display_units.push_back({xml_.required_text(display, "displayUnit"),
                                              xml_.number(display, "gain").value_or(1),
                                              xml_.number(display, "offset").value_or(0)});
            d_.units.push_back(std::move(unit));
        }
    }

    static std::optional<base_type> type_of(std::string_view element) {
        if (element == "Real") return base_type::float64;
        if (element == "Integer") return base_type::int32;
        if (element == "Boolean") return base_type::boolean;
        if (element == "String") return base_type::string;
        if (element == "Enumeration") return base_type::enumeration;
        return {};
    }

    void read_types() {
        for (const pugi::xml_node node : xml_.root().child("TypeDefinitions").children("Type")) {
            const pugi::xml_node value = typed_element(node);
            type_definition type;
            type.name = xml_.required_text(node, "name");
            std::string_view element = value.name();
            if (element.ends_with("Type")) element.remove_suffix(4);
            const std::optional<base_type> known = type_of(element);
            if (!known) {
                xml_.violation(node, "type '{}' has no known base type.", type.name);
                continue;
            }
            type.type = *known;
            type.unit = xml_.text(value, "unit");
            type.display_unit = xml_.text(value, "displayUnit");
            type.min = xml_.number(value, "min");
            type.max = xml_.number(value, "max");
            type.nominal = xml_.number(value, "nominal");
            // Items have no values of their own: they count from one.
            if (type.type == base_type::enumeration)
                for (const pugi::xml_node item : value.children("Item"))
                    type.items.push_back(
                        {xml_.required_text(item, "name"), static_cast<std::int64_t>(type.items.size()) + 1});
            d_.types.push_back(std::move(type));
        }
    }

    void read_variables() {
        const pugi::xml_node list = xml_.root().child("ModelVariables");
        if (!list) xml_.fatal(xml_.root(), "there is no <ModelVariables>.");
        const type_index types = index_types(xml_, d_);
        const auto all = list.children("ScalarVariable");
        d_.variables.reserve(static_cast<std::size_t>(std::distance(all.begin(), all.end())));
        for (const pugi::xml_node node : consumed(list)) {
            if (std::strcmp(node.name(), "ScalarVariable") != 0) continue;
            const int index = static_cast<int>(d_.variables.size());
            variable& x = d_.variables.emplace_back();
            const pugi::xml_node value = typed_element(node);
            const std::optional<base_type> type = type_of(value.name());
            if (!type)
                xml_.fatal(node, "variable '{}' has no known type (Real, Integer, Boolean, String, Enumeration).",
                           node.attribute("name").value());
            x.type = type.value_or(base_type::float64);
            read_head(node, x);
            read_value_attributes(xml_, value, types, x);
            if (const pugi::xml_attribute start = value.attribute("start")) x.start.emplace_back(start.value());
            read_causality(node, xml_.flag(value, "fixed", true), x);
            if (x.causality == causality::output) remember_dependencies(node, index);
        }
    }

    void read_head(pugi::xml_node node, variable& x) {
        x.line = xml_.line(node);
        x.name = xml_.required_text(node, "name");
        if (x.name.empty() && node.attribute("name")) xml_.violation(node, "a variable's name is empty.");
        x.description = xml_.text(node, "description");
        const std::optional<value_reference> reference = xml_.integer<value_reference>(node, "valueReference");
        if (!reference) xml_.fatal(node, "variable '{}' has no usable valueReference.", x.name);
        x.reference = reference.value_or(0);
        x.negated = word(node, x, "alias", {"noAlias", "alias", "negatedAlias"}) == "negatedAlias";
        if (x.negated && x.type == base_type::string)
            xml_.fatal(node, "variable '{}' is a text and cannot be a negated alias.", x.name);
    }

    /// The attribute's value, or the first of `allowed` where there is none; others are a fatal violation.
    std::string_view word(pugi::xml_node node, const variable& x, const char* attribute,
                          std::initializer_list<std::string_view> allowed) {
        const pugi::xml_attribute value = node.attribute(attribute);
        if (!value) return *allowed.begin();
        for (const std::string_view known : allowed)
            if (known == value.value()) return known;
        xml_.fatal(node, "variable '{}' has {}=\"{}\". Allowed are: {}.", x.name, attribute, value.value(),
                   fmt::join(allowed, ", "));
        return *allowed.begin();
    }

    void read_causality(pugi::xml_node node, bool fixed, variable& x) {
        const std::string_view role = word(node, x, "causality", {"internal", "input", "output", "none"});
        const std::string_view changes =
            word(node, x, "variability", {"continuous", "constant", "parameter", "discrete"});
        const bool real = is_float(x.type);
        if (node.attribute("variability") && changes == "continuous" && !real)
            xml_.violation(node, "variable '{}' is of type {} and cannot be continuous.", x.name, name(x.type));
        x.variability = changes == "constant"            ? variability::constant
                        : changes == "parameter"         ? variability::fixed
                        : changes == "discrete" || !real ? variability::discrete
                                                         : variability::continuous;
        if (!x.start.empty()) x.initial = fixed ? initial::exact : initial::approx;
        if (role == "output") {
            x.causality = causality::output;
        } else if (x.variability == variability::fixed) {
            // Without a value of its own, or with a guess, it is computed in the initialisation.
            const bool given = x.initial == initial::exact;
            x.causality = given ? causality::parameter : causality::calculated_parameter;
            if (!given && x.start.empty()) x.initial = initial::calculated;
        } else if (role == "input") {
            x.causality = causality::input;
            x.initial = initial::none;
            if (x.variability == variability::constant) {
                xml_.violation(node, "variable '{}': causality input and variability constant do not go together.",
                               x.name);
                x.causality = causality::local;
            }
        }
    }

    /// Names of inputs, which may come later in the list.
    void remember_dependencies(pugi::xml_node node, int index) {
        unknown u;
        u.variable = index;
        u.line = d_.variables[index].line;
        if (const pugi::xml_node list = node.child("DirectDependency")) {
            u.dependencies.emplace();
            for (const pugi::xml_node input : list.children("Name"))
                named_.push_back({d_.outputs.size(), input.child_value()});
        }
        d_.outputs.push_back(std::move(u));
    }

    void read_dependencies() {
        d_.build_index();
        for (const auto& [output, input] : named_) {
            unknown& u = d_.outputs[output];
            const int index = d_.index_of(input);
            if (index >= 0 && d_.variables[index].causality == causality::input)
                u.dependencies->push_back(index);
            else
                xml_.violation_at(u.line, "output '{}' depends on '{}', which is no input.",
                                  d_.variables[u.variable].name, input);
        }
    }

    /// Variables of one value and one sign: a negated alias is a variable of its own.
    void find_aliases() {
        reference_index first[2];
        for (int i = 0; i < static_cast<int>(d_.variables.size()); ++i) {
            variable& x = d_.variables[i];
            const auto [place, is_new] = first[x.negated].emplace(reference_key(d_.version, x.type, x.reference), i);
            if (!is_new) x.alias_of = place->second;
        }
    }

    const xml_file& xml_;
    description& d_;
    std::vector<std::pair<std::size_t, std::string>> named_;  ///< place in outputs, an input's name
};

}  // namespace

void read_description_1(const xml_file& xml, description& d) { reader_1(xml, d).read(); }

}  // namespace mdpcosim::fmi
