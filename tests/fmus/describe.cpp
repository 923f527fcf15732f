// Writes modelDescription.xml, and for FMI 3.0 terminalsAndIcons/terminalsAndIcons.xml where the model has a terminal, from
// the table of variables in an FMU's library:
//   describe LIBRARY VERSION NAME TOKEN FOLDER
// VERSION is 1-cs, 1-me (an FMU of FMI 1.0 has one interface), 2 or 3.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "fmu.h"

namespace {

struct unit {
    const char* base;
    const char* display = nullptr;
    const char* factor = nullptr;
};

const std::map<std::string, unit> units = {
    {"s", {"s=\"1\""}},
    {"1/s", {"s=\"-1\""}},
    {"m", {"m=\"1\"", "mm", "1000"}},
    {"m/s", {"m=\"1\" s=\"-1\""}},
    {"mm", {"m=\"1\" factor=\"0.001\""}},
    {"mm/s", {"m=\"1\" s=\"-1\" factor=\"0.001\""}},
    {"m/s2", {"m=\"1\" s=\"-2\""}},
    {"kg", {"kg=\"1\""}},
    {"N", {"kg=\"1\" m=\"1\" s=\"-2\""}},
    {"kN", {"kg=\"1\" m=\"1\" s=\"-2\" factor=\"1000\""}},
    {"N/m", {"kg=\"1\" s=\"-2\""}},
    {"N.s/m", {"kg=\"1\" s=\"-1\""}},
    {"rad", {"rad=\"1\"", "deg", "57.295779513082323"}},
    {"rad/s", {"rad=\"1\" s=\"-1\"", "rpm", "9.5492965855137201"}},
    {"rad/s2", {"rad=\"1\" s=\"-2\""}},
    {"N.m", {"kg=\"1\" m=\"2\" s=\"-2\""}},
    {"kg.m2", {"kg=\"1\" m=\"2\""}},
    {"deg", {"rad=\"1\" factor=\"0.017453292519943295\""}},
    {"deg/s", {"rad=\"1\" s=\"-1\" factor=\"0.017453292519943295\""}},
    {"rpm", {"rad=\"1\" s=\"-1\" factor=\"0.10471975511965977\""}},
    {"rpm/s", {"rad=\"1\" s=\"-2\" factor=\"0.10471975511965977\""}},
    {"kN.m", {"kg=\"1\" m=\"2\" s=\"-2\" factor=\"1000\""}},
    {"degC", {"K=\"1\" offset=\"273.15\""}},
    {"K/s", {"K=\"1\" s=\"-1\""}},
    {"N.m.s/rad", {"kg=\"1\" m=\"2\" s=\"-1\" rad=\"-1\""}},
};

const char* const type_names[] = {"Float64", "Float32", "Int8",    "UInt8",  "Int16",       "UInt16", "Int32", "UInt32",
                                  "Int64",   "UInt64",  "Boolean", "String", "Enumeration", "Binary", "Clock"};
const char* const causalities[] = {"independent", "parameter", "structuralParameter", "input", "output", "local"};
const char* const variabilities[] = {"continuous", "discrete", "tunable", "fixed"};

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) switch (c) {
            case '<':
                result += "&lt;";
                break;
            case '&':
                result += "&amp;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += c;
        }
    return result;
}

std::string attribute(const char* name, const std::string& value) {
    return std::string(" ") + name + "=\"" + escaped(value) + '"';
}
std::string attribute(const char* name, const char* value) { return value ? attribute(name, std::string(value)) : ""; }
std::string attribute(const char* name, bool value) { return value ? attribute(name, "true") : ""; }

std::string number(double value) {
    std::ostringstream text;
    text << value;
    return text.str();
}

class description {
   public:
    description(const fmu_model& model, const std::string& version, std::string name, std::string token,
                std::ostream& out)
        : model_(model),
          version_(version[0] - '0'),
          implementation_(version == "1-cs"),
          name_(std::move(name)),
          token_(std::move(token)),
          out_(out) {
        unsigned count = 0;
        for (unsigned r = 0; r < model_.variable_count; ++r) indices_.push_back(count += !hidden(r));
    }

    void write() {
        if (version_ == 1) return write_1();
        out_ << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription"
             << attribute("fmiVersion", version_ == 2 ? "2.0" : "3.0") << attribute("modelName", name_)
             << attribute(version_ == 2 ? "guid" : "instantiationToken", token_)
             << attribute("description", model_.description) << attribute("generationTool", "mdpcosim tests")
             << attribute("variableNamingConvention", "structured");
        if (version_ == 2) out_ << attribute("numberOfEventIndicators", std::to_string(indicator_count()));
        out_ << ">\n";
        interfaces();
        unit_definitions();
        type_definitions();
        out_ << "  <LogCategories>\n    <Category name=\"logEvents\"/>\n    <Category name=\"logStatusError\"/>\n  "
                "</LogCategories>\n"
             << "  <DefaultExperiment startTime=\"0\"" << attribute("stopTime", number(model_.stop))
             << (model_.step > 0 ? attribute("stepSize", number(model_.step)) : "") << "/>\n  <ModelVariables>\n";
        for (unsigned r = 0; r < model_.variable_count; ++r) variable(r);
        if (version_ == 2) aliases();
        out_ << "  </ModelVariables>\n  <ModelStructure>\n";
        structure();
        out_ << "  </ModelStructure>\n</fmiModelDescription>\n";
    }

   private:
    const fmu_variable& at(unsigned r) const { return model_.variables[r]; }
    bool hidden(unsigned r) const { return at(r).only > version_; }
    bool can(unsigned capability) const { return (model_.capabilities & capability) != 0; }

    bool is_state(unsigned r) const {
        for (unsigned k = 0; k < model_.variable_count; ++k)
            if (r && at(k).derivative_of == r) return true;
        return false;
    }

    size_t indicator_count() const {
        size_t count = 0;
        while (model_.indicators[count]) ++count;
        return count;
    }

    std::string identifier() const {
        std::string text = name_;
        for (char& c : text)
            if (c == '-') c = '_';
        return text;
    }

    void write_1() {
        unsigned states = 0;
        for (unsigned r = 0; r < model_.variable_count; ++r) states += at(r).derivative_of != 0;
        out_ << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription" << attribute("fmiVersion", "1.0")
             << attribute("modelName", name_) << attribute("modelIdentifier", identifier()) << attribute("guid", token_)
             << attribute("description", model_.description) << attribute("generationTool", "mdpcosim tests")
             << attribute("variableNamingConvention", "structured")
             << attribute("numberOfContinuousStates", std::to_string(states))
             << attribute("numberOfEventIndicators", std::to_string(indicator_count())) << ">\n";
        unit_definitions();
        type_definitions();
        out_ << "  <DefaultExperiment startTime=\"0\"" << attribute("stopTime", number(model_.stop))
             << "/>\n  <VendorAnnotations><Tool name=\"mdpcosim tests\"/></VendorAnnotations>\n  <ModelVariables>\n";
        for (unsigned r = 0; r < model_.variable_count; ++r) {
            if (hidden(r)) continue;
            variable_1(r, at(r).name, "noAlias");
            if (at(r).alias) variable_1(r, at(r).alias, "alias");
            if (at(r).negated) variable_1(r, at(r).negated, "negatedAlias");
        }
        out_ << "  </ModelVariables>\n";
        if (implementation_)
            out_ << "  <Implementation><CoSimulation_StandAlone>\n    <Capabilities"
                 << attribute("canHandleVariableCommunicationStepSize", !can(fmu_fixed_step))
                 << attribute("canInterpolateInputs", can(fmu_takes_rates))
                 << attribute("maxOutputDerivativeOrder", can(fmu_gives_rates) ? "1" : "0")
                 << attribute("canBeInstantiatedOnlyOncePerProcess", can(fmu_one_instance))
                 << "/>\n  </CoSimulation_StandAlone></Implementation>\n";
        out_ << "</fmiModelDescription>\n";
    }

    /// Parameters are a variability; an alias is a variable like others, and here none that has a start value or is coupled.
    void variable_1(unsigned r, const char* name, const std::string& alias) {
        const fmu_variable& v = at(r);
        const bool own = alias == "noAlias";
        const char* role = own && v.causality == fmu_input    ? "input"
                           : own && v.causality == fmu_output ? "output"
                                                              : "internal";
        const char* changes = v.causality == fmu_parameter ? "parameter" : variabilities[v.variability];
        const char* type = v.type == fmu_float64 ? "Real" : v.type == fmu_int32 ? "Integer" : type_names[v.type];
        out_ << "    <ScalarVariable" << attribute("name", name) << attribute("valueReference", std::to_string(r))
             << attribute("description", v.description) << attribute("variability", changes)
             << attribute("causality", role) << attribute("alias", alias) << "><" << type << attribute("unit", v.unit)
             << attribute("displayUnit", v.display_unit) << nominal(r)
             << (v.items ? attribute("declaredType", type_of(r)) : std::string()) << (own ? start(r) : "") << "/>";
        if (own && v.causality == fmu_output && v.dependencies) {
            out_ << "<DirectDependency>";
            std::istringstream in(v.dependencies);
            for (unsigned known; in >> known;)
                if (at(known).causality == fmu_input) out_ << "<Name>" << escaped(at(known).name) << "</Name>";
            out_ << "</DirectDependency>";
        }
        out_ << "</ScalarVariable>\n";
    }

    void interfaces() {
        const std::string letter = version_ == 2 ? "s" : "S", plural = version_ == 2 ? "" : "s";
        const std::string both = attribute("modelIdentifier", identifier()) +
                                 attribute("canBeInstantiatedOnlyOncePerProcess", can(fmu_one_instance)) +
                                 attribute(("canGetAndSetFMU" + letter + "tate").c_str(), can(fmu_saves)) +
                                 attribute(("canSerializeFMU" + letter + "tate").c_str(), can(fmu_saves)) +
                                 attribute(("providesDirectionalDerivative" + plural).c_str(), can(fmu_derives));
        if (!can(fmu_no_model_exchange))
            out_ << "  <ModelExchange" << both
                 << (version_ == 2 ? attribute("completedIntegratorStepNotNeeded", !can(fmu_needs_completed_step))
                                   : attribute("needsCompletedIntegratorStep", can(fmu_needs_completed_step)))
                 << "/>\n";
        if (can(fmu_no_co_simulation)) return;
        out_ << "  <CoSimulation" << both << attribute("canHandleVariableCommunicationStepSize", !can(fmu_fixed_step));
        if (can(fmu_gives_rates)) out_ << attribute("maxOutputDerivativeOrder", "1");
        if (version_ == 2)
            out_ << attribute("canInterpolateInputs", can(fmu_takes_rates));
        else
            out_ << attribute("providesIntermediateUpdate", can(fmu_intermediate_update))
                 << attribute("mightReturnEarlyFromDoStep", can(fmu_early_return))
                 << attribute("canReturnEarlyAfterIntermediateUpdate",
                              can(fmu_early_return) && can(fmu_intermediate_update))
                 << attribute("hasEventMode", can(fmu_event_mode))
                 << (can(fmu_fixed_step) ? attribute("fixedInternalStepSize", number(model_.internal_step)) : "");
        out_ << "/>\n";
    }

    void unit_definitions() {
        std::set<std::string> used;
        for (unsigned r = 0; r < model_.variable_count; ++r)
            if (at(r).unit) used.insert(at(r).unit);
        if (used.empty()) return;
        out_ << "  <UnitDefinitions>\n";
        for (const std::string& name : used) {
            const unit& u = units.at(name);
            if (version_ == 1) {
                out_ << "    <BaseUnit" << attribute("unit", name) << ">";
                if (u.display)
                    out_ << "<DisplayUnitDefinition" << attribute("displayUnit", u.display)
                         << attribute("gain", u.factor) << "/>";
                out_ << "</BaseUnit>\n";
                continue;
            }
            out_ << "    <Unit" << attribute("name", name) << "><BaseUnit " << u.base << "/>";
            if (u.display)
                out_ << "<DisplayUnit" << attribute("name", u.display) << attribute("factor", u.factor) << "/>";
            out_ << "</Unit>\n";
        }
        out_ << "  </UnitDefinitions>\n";
    }

    /// Variables with the same items share a type, named after the first of them.
    std::string type_of(unsigned r) const {
        for (unsigned k = 0; k <= r; ++k)
            if (at(k).items && std::strcmp(at(k).items, at(r).items) == 0) return std::string(at(k).name) + "-type";
        return "";
    }

    void type_definitions() {
        std::set<std::string> done;
        for (unsigned r = 0; r < model_.variable_count; ++r) {
            if (!at(r).items || !done.insert(type_of(r)).second) continue;
            if (done.size() == 1) out_ << "  <TypeDefinitions>\n";
            if (version_ == 1)
                out_ << "    <Type" << attribute("name", type_of(r)) << "><EnumerationType>\n";
            else if (version_ == 2)
                out_ << "    <SimpleType" << attribute("name", type_of(r)) << "><Enumeration>\n";
            else
                out_ << "    <EnumerationType" << attribute("name", type_of(r)) << ">\n";
            std::istringstream items(at(r).items);
            std::string item;
            for (int value = 1; items >> item; ++value)
                out_ << "      <Item" << attribute("name", item)
                     << (version_ == 1 ? "" : attribute("value", std::to_string(value))) << "/>\n";
            out_ << (version_ == 1   ? "    </EnumerationType></Type>\n"
                     : version_ == 2 ? "    </Enumeration></SimpleType>\n"
                                     : "    </EnumerationType>\n");
        }
        if (!done.empty()) out_ << "  </TypeDefinitions>\n";
    }

    std::string start(unsigned r) const {
        if (!at(r).start) return "";
        if (at(r).type == fmu_boolean) return attribute("start", std::strcmp(at(r).start, "0") == 0 ? "false" : "true");
        return attribute("start", at(r).start);
    }

    std::string nominal(unsigned r) const {
        if (!(model_.nominal > 0) || !is_state(r)) return "";
        std::ostringstream text;
        text << model_.nominal;
        return attribute("nominal", text.str());
    }

    void variable(unsigned r) {
        const fmu_variable& v = at(r);
        if (hidden(r)) return;
        const bool exact = v.start && (v.causality == fmu_output || v.causality == fmu_local);
        const std::string head =
            attribute("name", v.name) + attribute("valueReference", std::to_string(r)) +
            attribute("description", v.description) + attribute("causality", causalities[v.causality]) +
            attribute("variability", variabilities[v.variability]) + attribute("initial", exact ? "exact" : nullptr);
        std::string typed = attribute("unit", v.unit) + attribute("displayUnit", v.display_unit) +
                            attribute("reinit", v.reinit) + nominal(r) +
                            (v.items ? attribute("declaredType", type_of(r)) : std::string());
        if (version_ == 2) {
            const char* type = v.type == fmu_float64 ? "Real" : v.type == fmu_int32 ? "Integer" : type_names[v.type];
            if (v.derivative_of) typed += attribute("derivative", std::to_string(index(v.derivative_of)));
            out_ << "    <ScalarVariable" << head << "><" << type << typed << start(r) << "/></ScalarVariable>\n";
            return;
        }
        if (v.derivative_of) typed += attribute("derivative", std::to_string(v.derivative_of));
        if (can(fmu_intermediate_update) && (v.causality == fmu_input || v.causality == fmu_output))
            typed += attribute("intermediateUpdate", true);
        const bool text = v.type == fmu_string || v.type == fmu_binary;
        if (v.clock) typed += attribute("clocks", std::to_string(v.clock));
        if (v.type == fmu_clock) {
            const bool constant = std::strcmp(v.interval, "constant") == 0;
            typed += attribute("intervalVariability", v.interval) +
                     attribute("intervalDecimal", constant ? "0.1" : nullptr) +
                     attribute("shiftDecimal", constant ? v.shift : nullptr);
        }
        out_ << "    <" << type_names[v.type] << head << typed << (text ? "" : start(r)) << '>';
        for (const unsigned dimension : v.dimensions)
            if (dimension) out_ << "<Dimension" << attribute("valueReference", std::to_string(dimension)) << "/>";
        if (text && v.start) out_ << "<Start" << attribute("value", v.start) << "/>";
        if (v.alias) out_ << "<Alias" << attribute("name", v.alias) << "/>";
        out_ << "</" << type_names[v.type] << ">\n";
    }

    void aliases() {
        for (unsigned r = 0; r < model_.variable_count; ++r)
            if (at(r).alias && !hidden(r))
                out_ << "    <ScalarVariable" << attribute("name", at(r).alias)
                     << attribute("valueReference", std::to_string(r)) << attribute("causality", "local") << "><Real"
                     << attribute("unit", at(r).unit) << "/></ScalarVariable>\n";
    }

    /// FMI 2.0 counts variables from 1.
    unsigned index(unsigned reference) const { return indices_[reference]; }

    std::string dependencies(const char* list, const char* kinds) const {
        if (!list) return "";
        std::istringstream in(list);
        std::string result;
        for (unsigned r; in >> r;) result += (result.empty() ? "" : " ") + std::to_string(version_ == 2 ? index(r) : r);
        return attribute("dependencies", result) + attribute("dependenciesKind", result.empty() ? nullptr : kinds);
    }

    void unknown(unsigned r, const char* element, const std::string& rest) {
        if (version_ == 2)
            out_ << "      <Unknown" << attribute("index", std::to_string(index(r))) << rest << "/>\n";
        else
            out_ << "    <" << element << attribute("valueReference", std::to_string(r)) << rest << "/>\n";
    }

    template <class Chosen>
    void unknowns(const char* group, const char* element, Chosen chosen, bool initial) {
        bool any = false;
        for (unsigned r = 0; r < model_.variable_count; ++r) {
            if (hidden(r) || !chosen(r)) continue;
            if (!any && version_ == 2) out_ << "    <" << group << ">\n";
            any = true;
            unknown(r, element,
                    initial ? dependencies(at(r).initial_dependencies, nullptr)
                            : dependencies(at(r).dependencies, at(r).kinds));
        }
        if (any && version_ == 2) out_ << "    </" << group << ">\n";
    }

    void structure() {
        unknowns(
            "Outputs", "Output", [&](unsigned r) { return at(r).causality == fmu_output; }, false);
        unknowns(
            "Derivatives", "ContinuousStateDerivative", [&](unsigned r) { return at(r).derivative_of != 0; }, false);
        unknowns(
            "InitialUnknowns", "InitialUnknown",
            [&](unsigned r) {
                return !at(r).start && at(r).type != fmu_clock &&
                       (at(r).causality == fmu_output || at(r).derivative_of || is_state(r));
            },
            true);
        if (version_ == 3)
            for (size_t i = 0; i < indicator_count(); ++i)
                unknown(model_.indicators[i], "EventIndicator",
                        dependencies(at(model_.indicators[i]).dependencies, nullptr));
    }

    const fmu_model& model_;
    int version_;
    bool implementation_;  ///< 1.0: co-simulation
    std::string name_, token_;
    std::ostream& out_;
    std::vector<unsigned> indices_;
};

void write_terminal(const fmu_model& model, std::ostream& out) {
    out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiTerminalsAndIcons fmiVersion=\"3.0\">\n  <Terminals>\n    "
           "<Terminal"
        << attribute("name", model.terminal.name) << attribute("matchingRule", "plug")
        << attribute("terminalKind", model.terminal.kind) << ">\n";
    for (const fmu_member& member : model.terminal.members)
        if (member.name)
            out << "      <TerminalMemberVariable" << attribute("variableName", model.variables[member.reference].name)
                << attribute("memberName", member.name) << attribute("variableKind", member.flow ? "inflow" : "signal")
                << "/>\n";
    out << "    </Terminal>\n  </Terminals>\n</fmiTerminalsAndIcons>\n";
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6) return 2;
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void* symbol = library ? dlsym(library, "fmu_get_model") : nullptr;
    if (!symbol) {
        std::fprintf(stderr, "describe: %s\n", dlerror());
        return 1;
    }
    const fmu_model& model = *reinterpret_cast<const fmu_model* (*)()>(symbol)();
    const std::string version = argv[2];
    const std::filesystem::path folder = argv[5];
    std::ofstream out(folder / "modelDescription.xml");
    description(model, version, argv[3], argv[4], out).write();
    if (version == "3" && model.terminal.name) {
        std::filesystem::create_directories(folder / "terminalsAndIcons");
        std::ofstream terminals(folder / "terminalsAndIcons" / "terminalsAndIcons.xml");
        write_terminal(model, terminals);
        if (!terminals.flush()) return 1;
    }
    return out.flush() ? 0 : 1;
}
