#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "fmi/description_reader.hpp"

/// The rules of the standard that bind several elements of a description, the same for all versions.
namespace mdpcosim::fmi {

namespace {

/// The variable itself or the one whose alias it is: a rule is kept when any of an alias set keeps it.
int original(const description& d, int index) {
    return d.variables[index].alias_of < 0 ? index : d.variables[index].alias_of;
}

class checker {
   public:
    checker(const xml_file& xml, const description& d) : xml_(xml), d_(d) {
        for (const unit_definition& unit : d.units) units_.emplace(unit.name, &unit);
    }

    void run() {
        check_names();
        for (const variable& x : d_.variables) {
            check_unit(x);
            if (d_.version == version::v3 && x.alias_of >= 0) continue;  // all else is that of the variable itself
            check_start(x);
            check_limits(x);
            if (x.derivative_of >= 0) check_derivative(x);
        }
        check_aliases();
        check_independent();
        check_structure();
    }

   private:
    template <class... Values>
    void warn(int line, fmt::format_string<Values...> text, Values&&... values) const {
        xml_.violation_at(archive::level::warning, line, text, std::forward<Values>(values)...);
    }
    template <class... Values>
    void note(int line, fmt::format_string<Values...> text, Values&&... values) const {
        xml_.violation_at(archive::level::note, line, text, std::forward<Values>(values)...);
    }
    template <class... Values>
    void report(int line, fmt::format_string<Values...> text, Values&&... values) const {
        xml_.violation_at(line, text, std::forward<Values>(values)...);
    }

    void check_names() {
        std::unordered_map<std::string_view, int> lines;
        lines.reserve(d_.variables.size());
        for (const variable& x : d_.variables)
            if (const auto [place, is_new] = lines.emplace(x.name, x.line); !is_new)
                report(x.line, "the name '{}' is taken by the variable in line {}.", x.name, place->second);
    }

    void check_unit(const variable& x) {
        if (x.unit.empty()) {
            if (!x.display_unit.empty()) note(x.line, "variable '{}' has a displayUnit but no unit.", x.name);
            return;
        }
        const auto unit = units_.find(x.unit);
        if (unit == units_.end()) {
            if (d_.version == version::v1) return;  // there only units with display units need a definition
            note(x.line, "variable '{}': unit '{}' is not defined.", x.name, x.unit);
            return;
        }
        const auto& displays = unit->second->display_units;
        if (!x.display_unit.empty() && x.display_unit != x.unit &&
            std::none_of(displays.begin(), displays.end(),
                         [&](const display_unit& u) { return u.name == x.display_unit; }))
            note(x.line, "variable '{}': unit '{}' has no display unit '{}'.", x.name, x.unit, x.display_unit);
    }

    void check_start(const variable& x) {
        const bool needed = x.initial == initial::exact || x.initial == initial::approx ||
                            (x.causality == causality::input && d_.version != version::v1);
        if (x.type == base_type::clock) return;
        if (needed && x.start.empty() && x.alias_of < 0)
            warn(x.line, "variable '{}' ({}, {}) has no start value.", x.name, name(x.causality), name(x.variability));
        if (!x.start.empty() && (x.initial == initial::calculated || x.causality == causality::independent))
            warn(x.line, "variable '{}' is calculated and must not have a start value.", x.name);
        for (const std::string& text : x.start) {
            if (x.type == base_type::string || x.type == base_type::binary) continue;
            if (x.type == base_type::boolean) {
                if (text != "true" && text != "false" && text != "1" && text != "0")
                    report(x.line, "variable '{}': start value '{}' is not true or false.", x.name, text);
                continue;
            }
            const bool whole = !is_float(x.type);
            const std::optional<double> value = parse_number(text);
            if (!value || (whole && !parse_integer<std::int64_t>(text) && !parse_integer<std::uint64_t>(text)))
                report(x.line, "variable '{}': start value '{}' is not a {}number.", x.name, text,
                       whole ? "whole " : "");
            else if (*value < x.min.value_or(-INFINITY) || *value > x.max.value_or(INFINITY))
                warn(x.line, "variable '{}': start value {} lies outside its limits.", x.name, text);
        }
    }

    void check_limits(const variable& x) {
        if (x.min && x.max && *x.min > *x.max)
            report(x.line, "variable '{}': min {} is above max {}.", x.name, *x.min, *x.max);
        if (x.nominal && *x.nominal == 0) warn(x.line, "variable '{}': its nominal value is zero.", x.name);
    }

    void check_derivative(const variable& x) {
        const variable& state = d_.variables[x.derivative_of];
        const auto continuous = [](const variable& y) {
            return is_float(y.type) && y.variability == variability::continuous &&
                   y.causality != causality::independent && y.causality != causality::parameter;
        };
        if (!continuous(state) || !continuous(x))
            warn(x.line, "variable '{}' is the derivative of '{}', but one of them is no continuous real.", x.name,
                 state.name);
        else if (&state == &x)
            report(x.line, "variable '{}' is its own derivative.", x.name);
    }

    void check_aliases() {
        const auto settable = [](const variable& x) {
            return x.causality == causality::input || x.causality == causality::parameter ||
                   x.causality == causality::structural_parameter;
        };
        std::unordered_map<int, const variable*> owner;  // of alias sets that have a settable variable
        for (const variable& x : d_.variables) {
            if (x.alias_of < 0) continue;
            const variable& first = d_.variables[x.alias_of];
            if (first.unit != x.unit)
                warn(x.line, "variables '{}' and '{}' have one value but the units '{}' and '{}'.", first.name, x.name,
                     first.unit, x.unit);
            if ((first.variability == variability::constant) != (x.variability == variability::constant))
                warn(x.line, "variables '{}' and '{}' have one value, but only one is constant.", first.name, x.name);
            if (d_.version != version::v2 || !settable(x)) continue;
            const auto [place, is_new] = owner.emplace(x.alias_of, settable(first) ? &first : &x);
            if (!is_new || settable(first))
                warn(x.line, "variables '{}' and '{}' have one value, and both can be set.", place->second->name,
                     x.name);
        }
    }

    void check_independent() {
        const variable* before = nullptr;
        for (const variable& x : d_.variables) {
            if (x.causality != causality::independent) continue;
            if (before != nullptr) report(x.line, "'{}' and '{}' are both independent.", before->name, x.name);
            if (!is_float(x.type)) report(x.line, "the independent variable '{}' is not a real.", x.name);
            before = &x;
        }
    }

    /// The variables that a list of the model structure names; each may stand there once.
    std::unordered_set<int> listed(const std::vector<unknown>& unknowns, const char* list) {
        std::unordered_set<int> set;
        for (const unknown& u : unknowns)
            if (!set.insert(u.variable).second)
                report(u.line, "{}: variable '{}' is listed twice.", list, d_.variables[u.variable].name);
        return set;
    }

    /// What is known while an unknown is computed: inputs, states, the time, parameters in the initial system.
    void check_dependencies(const std::vector<unknown>& unknowns, const char* list,
                            const std::unordered_set<int>& states) {
        for (const unknown& u : unknowns) {
            if (!u.dependencies) continue;
            for (const int known : *u.dependencies)
                if (known == u.variable && !states.contains(known))
                    report(u.line, "{}: variable '{}' depends on itself.", list, d_.variables[known].name);
        }
    }

    void check_structure() {
        const std::unordered_set<int> outputs = listed(d_.outputs, "outputs");
        for (const unknown& u : d_.outputs)
            if (d_.variables[u.variable].causality != causality::output)
                warn(u.line, "outputs: variable '{}' has causality {}.", d_.variables[u.variable].name,
                     name(d_.variables[u.variable].causality));
        const std::unordered_set<int> derivatives = listed(d_.derivatives, "derivatives");
        std::unordered_set<int> states;
        for (const unknown& u : d_.derivatives) {
            const variable& x = d_.variables[u.variable];
            if (x.derivative_of < 0)
                warn(u.line, "derivatives: variable '{}' is not declared as the derivative of a state.", x.name);
            else
                states.insert(x.derivative_of);
        }
        check_dependencies(d_.outputs, "outputs", states);
        check_dependencies(d_.derivatives, "derivatives", states);
        listed(d_.event_indicators, "event indicators");
        listed(d_.initial_unknowns, "initial unknowns");
        std::unordered_set<int> initial_values;
        for (const unknown& u : d_.initial_unknowns) initial_values.insert(original(d_, u.variable));

        for (int i = 0; i < static_cast<int>(d_.variables.size()); ++i) {
            const variable& x = d_.variables[i];
            if (d_.version == version::v3 && x.alias_of >= 0) continue;
            const bool output = x.causality == causality::output;
            if (output && !outputs.contains(i))
                warn(x.line, "output '{}' is missing among the outputs of <ModelStructure>.", x.name);
            // FMI 1.0 lists no initial unknowns.
            const bool computed =
                (x.initial == initial::approx || x.initial == initial::calculated) && d_.version != version::v1;
            const bool initial_unknown = computed && (x.causality == causality::calculated_parameter || output ||
                                                      states.contains(i) || derivatives.contains(i));
            if (initial_unknown && x.type != base_type::clock && !initial_values.contains(original(d_, i)))
                note(x.line, "variable '{}' is missing among the initial unknowns of <ModelStructure>.", x.name);
        }
    }

    const xml_file& xml_;
    const description& d_;
    std::unordered_map<std::string_view, const unit_definition*> units_;
};

}  // namespace

void check_description(const xml_file& xml, const description& d) { checker(xml, d).run(); }

}  // namespace mdpcosim::fmi
