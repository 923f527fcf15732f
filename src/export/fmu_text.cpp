#include "export/fmu_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <pugixml.hpp>
#include <sstream>

#include "archive/utf8.hpp"
#include "core/coherent_units.hpp"
#include "core/units.hpp"

namespace mdpcosim {

namespace {

using role = exported_variable::role;

/// An identifier of C, or several with dots between and indices behind; der(...) of one.
bool is_structured(std::string_view name) {
    if (name.starts_with("der(") && name.ends_with(')')) return is_structured(name.substr(4, name.size() - 5));
    bool begin = true, brackets = false;
    for (const char c : name) {
        const bool digit = c >= '0' && c <= '9';
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (brackets) {
            brackets = c != ']';
            if (brackets && !digit && c != ',') return false;
        } else if (c == '.' || c == '[') {
            if (begin) return false;
            begin = c == '.';
            brackets = c == '[';
        } else {
            if (!letter && (begin || !digit)) return false;
            begin = false;
        }
    }
    return !begin && !brackets;
}

/// The exponents of `m2.kg.s-2`, in the words of FMI; nothing where the unit has no such form.
std::optional<std::map<std::string, int>> base_of(const std::string& unit) {
    std::map<std::string, int> exponents;
    const auto base = coherent_base(unit);
    if (!base) return {};
    for (std::size_t at = 0; at < base->size() && *base != "1";) {
        const std::size_t dot = std::min(base->find('.', at), base->size());
        const std::string factor = base->substr(at, dot - at);
        const std::size_t number = std::min(factor.find_first_of("-0123456789"), factor.size());
        int exponent = 1;
        if (number < factor.size()) std::from_chars(factor.data() + number, factor.data() + factor.size(), exponent);
        exponents[factor.substr(0, number)] += exponent;
        at = dot + 1;
    }
    return exponents;
}

class description_writer {
   public:
    explicit description_writer(const fmu_text& fmu) : fmu_(fmu), newer_(fmu.version == fmi::version::v3) {}

    std::string write() {
        pugi::xml_document document;
        root_ = document.append_child("fmiModelDescription");
        text(root_, "fmiVersion", newer_ ? "3.0" : "2.0");
        text(root_, "modelName", fmu_.name);
        text(root_, newer_ ? "instantiationToken" : "guid", fmu_.token);
        if (!fmu_.description.empty()) text(root_, "description", fmu_.description);
        text(root_, "generationTool", "mdpcosim");
        bool structured = true;
        for (const auto& v : fmu_.variables) structured = structured && is_structured(v.name);
        text(root_, "variableNamingConvention", structured ? "structured" : "flat");
        if (!newer_) text(root_, "numberOfEventIndicators", fmt::format("{}", count(role::indicator)));
        if (fmu_.exchange) add_exchange();
        add_interface();
        add_units();
        pugi::xml_node log = root_.append_child("LogCategories");
        for (const char* category : {"logAll", "logStatusWarning", "logStatusError"})
            text(log.append_child("Category"), "name", category);
        pugi::xml_node experiment = root_.append_child("DefaultExperiment");
        number(experiment, "startTime", fmu_.start);
        number(experiment, "stopTime", fmu_.stop);
        number(experiment, "stepSize", fmu_.step);
        add_variables();
        add_structure();
        std::ostringstream out;
        document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
        return out.str();
    }

   private:
    static void text(pugi::xml_node node, const char* attribute, const std::string& value) {
        node.append_attribute(attribute) = value.c_str();
    }
    static void number(pugi::xml_node node, const char* attribute, double value) {
        text(node, attribute, fmt::format("{}", value));
    }
    static void flag(pugi::xml_node node, const char* attribute, bool value) {
        text(node, attribute, value ? "true" : "false");
    }

    std::ptrdiff_t count(role what) const {
        return std::ranges::count_if(fmu_.variables, [&](const auto& v) { return v.it.what == what; });
    }

    void add_common(pugi::xml_node node, bool directional) {
        text(node, "modelIdentifier", fmu_.identifier);
        flag(node, "canBeInstantiatedOnlyOncePerProcess", fmu_.once_per_process);
        flag(node, newer_ ? "canGetAndSetFMUState" : "canGetAndSetFMUstate", fmu_.state);
        flag(node, newer_ ? "canSerializeFMUState" : "canSerializeFMUstate", fmu_.state);
        flag(node, newer_ ? "providesDirectionalDerivatives" : "providesDirectionalDerivative", directional);
    }

    void add_exchange() {
        pugi::xml_node node = root_.append_child("ModelExchange");
        add_common(node, fmu_.directional_exchange);
        if (newer_)
            flag(node, "needsCompletedIntegratorStep", fmu_.completed_step);
        else
            flag(node, "completedIntegratorStepNotNeeded", !fmu_.completed_step);
    }

    void add_interface() {
        pugi::xml_node steps = root_.append_child("CoSimulation");
        add_common(steps, fmu_.directional_steps);
        if (!newer_) flag(steps, "canInterpolateInputs", fmu_.interpolates);
        flag(steps, "canHandleVariableCommunicationStepSize", fmu_.variable_step);
        if (newer_ && fmu_.has_macro_steps) number(steps, "fixedInternalStepSize", fmu_.step);
    }

    void add_units() {
        std::map<std::string, std::optional<std::map<std::string, int>>> units;
        for (const auto& v : fmu_.variables)
            if (!v.unit.empty()) units.emplace(v.unit, base_of(v.unit));
        if (newer_) units.emplace("s", base_of("s"));
        if (units.empty()) return;
        pugi::xml_node all = root_.append_child("UnitDefinitions");
        for (const auto& [name, base] : units) {
            pugi::xml_node unit = all.append_child("Unit");
            text(unit, "name", name);
            if (!base) continue;
            pugi::xml_node exponents = unit.append_child("BaseUnit");
            for (const auto& [symbol, exponent] : *base) exponents.append_attribute(symbol.c_str()) = exponent;
        }
    }

    static std::string reference(std::size_t i) { return fmt::format("{}", i + 1); }

    void add_variables() {
        pugi::xml_node all = root_.append_child("ModelVariables");
        if (newer_) {
            pugi::xml_node time = all.append_child("Float64");
            text(time, "name", "time");
            text(time, "valueReference", "0");
            text(time, "causality", "independent");
            text(time, "variability", "continuous");
            text(time, "unit", "s");
        }
        for (std::size_t i = 0; i < fmu_.variables.size(); ++i) {
            const described_variable& v = fmu_.variables[i];
            pugi::xml_node node = all.append_child(newer_ ? type_name(v.it.type) : "ScalarVariable");
            text(node, "name", v.name);
            text(node, "valueReference", reference(i));
            if (!v.description.empty()) text(node, "description", v.description);
            const bool real = v.it.type == variable_type::real;
            text(node, "causality",
                 v.it.is_parameter() ? "parameter"
                 : v.it.settable()   ? "input"
                 : is_hidden(v)      ? "local"
                                     : "output");
            text(node, "variability",
                 v.it.what == role::tunable     ? "tunable"
                 : v.it.what == role::parameter ? "fixed"
                 : real                         ? "continuous"
                                                : "discrete");
            if (v.it.is_parameter()) text(node, "initial", "exact");
            if (!v.it.settable()) text(node, "initial", "calculated");
            pugi::xml_node value = newer_ ? node : node.append_child(type_name(v.it.type));
            if (v.it.settable())
                text(value, "start",
                     v.it.type == variable_type::boolean ? (v.it.start != 0 ? "true" : "false")
                                                         : fmt::format("{}", v.it.start));
            if (real && !v.unit.empty()) text(value, "unit", v.unit);
            if (v.derivative_of >= 0) text(value, "derivative", reference(static_cast<std::size_t>(v.derivative_of)));
        }
    }

    const char* type_name(variable_type type) const {
        if (type == variable_type::integer) return newer_ ? "Int64" : "Integer";
        if (type == variable_type::boolean) return "Boolean";
        return newer_ ? "Float64" : "Real";
    }

    static bool is_hidden(const described_variable& v) { return v.it.what >= role::state; }

    /// The entries of those variables in a list of the model structure.
    template <class Which>
    void add_unknowns(pugi::xml_node list, const char* element, bool initial, const Which& which) {
        for (std::size_t i = 0; i < fmu_.variables.size(); ++i) {
            const described_variable& v = fmu_.variables[i];
            if (!which(v.it.what)) continue;
            pugi::xml_node unknown = list.append_child(newer_ ? element : "Unknown");
            text(unknown, newer_ ? "valueReference" : "index", reference(i));
            if (initial || (v.follows_inputs && !v.depends)) continue;
            std::string all;
            for (const int d : v.depends.value_or(std::vector<int>()))
                all += (all.empty() ? "" : " ") + reference(static_cast<std::size_t>(d));
            text(unknown, "dependencies", all);
        }
    }

    void add_structure() {
        pugi::xml_node structure = root_.append_child("ModelStructure");
        const auto list = [&](const char* name) { return newer_ ? structure : structure.append_child(name); };
        add_unknowns(list("Outputs"), "Output", false, [](role r) { return r == role::output; });
        if (count(role::derivative) > 0)
            add_unknowns(list("Derivatives"), "ContinuousStateDerivative", false,
                         [](role r) { return r == role::derivative; });
        add_unknowns(list("InitialUnknowns"), "InitialUnknown", true,
                     [](role r) { return r == role::output || r == role::state || r == role::derivative; });
        if (newer_) add_unknowns(structure, "EventIndicator", true, [](role r) { return r == role::indicator; });
    }

    const fmu_text& fmu_;
    bool newer_;
    pugi::xml_node root_;
};

}  // namespace

std::string model_description(const fmu_text& fmu) { return description_writer(fmu).write(); }

std::string terminals_description(const fmu_text& fmu) {
    pugi::xml_document document;
    pugi::xml_node root = document.append_child("fmiTerminalsAndIcons");
    root.append_attribute("fmiVersion") = "3.0";
    pugi::xml_node all = root.append_child("Terminals");
    for (const described_terminal& t : fmu.terminals) {
        pugi::xml_node terminal = all.append_child("Terminal");
        terminal.append_attribute("name") = t.name.c_str();
        terminal.append_attribute("matchingRule") = "plug";
        terminal.append_attribute("terminalKind") = ("org.mdpcosim." + t.kind).c_str();
        if (!t.description.empty()) terminal.append_attribute("description") = t.description.c_str();
        for (const auto& m : t.members) {
            pugi::xml_node member = terminal.append_child("TerminalMemberVariable");
            member.append_attribute("variableName") = m.variable.c_str();
            member.append_attribute("memberName") = m.name.c_str();
            member.append_attribute("variableKind") = m.kind.c_str();
        }
    }
    std::ostringstream out;
    document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
    return out.str();
}

std::string why_no_fmi_name(const std::string& name) {
    if (name.empty()) return "it is empty";
    if (archive::find_invalid_utf8(name) != std::string::npos) return "it is not UTF-8";
    for (const char c : name)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "it has a control character";
    if (name.front() == ' ' || name.back() == ' ' || name.find("  ") != std::string::npos)
        return "it has blanks that XML does not keep";
    return {};
}

}  // namespace mdpcosim
