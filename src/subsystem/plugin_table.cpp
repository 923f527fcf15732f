#include "subsystem/plugin_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <sstream>
#include <stdexcept>

#include "core/suggest.hpp"
#include "core/units.hpp"
#include "subsystem/plugin_ports.hpp"

namespace mdpcosim {

namespace {

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

std::string text_of(const char* text) { return text == nullptr ? std::string() : std::string(text); }

/// Letters, digits, `_` and `-`, parts joined by points.
bool is_address(const std::string& name) {
    bool first = true;
    for (const char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        const bool later = (c >= '0' && c <= '9') || c == '-';
        if (c == '.' && !first) {
            first = true;
            continue;
        }
        if (!letter && (first || !later)) return false;
        first = false;
    }
    return !first;
}

/// The name of declaration number `i`, which has to be there, to be an address, and to be new in `seen`.
std::string name_of(const char* name, const char* what, int i, std::set<std::string>& seen) {
    const std::string text = text_of(name);
    if (text.empty()) refuse(fmt::format("{} {} has no name.", what, i + 1));
    if (!is_address(text))
        refuse(
            fmt::format("{} '{}': a name has letters, digits, '_' and '-', its parts joined by points.", what, text));
    if (!seen.insert(text).second) refuse(fmt::format("{} '{}' is declared twice.", what, text));
    return text;
}

std::string unit_of(const char* unit, const std::string& object) {
    const std::string text = text_of(unit);
    if (text.empty()) return text;
    try {
        const std::string si = si_unit(text);
        const conversion to_si = find_conversion(text, si);
        if (to_si.factor != 1 || to_si.offset != 0)
            refuse(fmt::format("{}: unit '{}' is not SI; use '{}'.", object, text, si));
    } catch (const unit_error& problem) {
        refuse(fmt::format("{}: the {}.", object, problem.message()));
    }
    return text;
}

int size_of(int size, const std::string& object) {
    if (size < 0) refuse(fmt::format("{}: size {} is negative.", object, size));
    return std::max(size, 1);
}

/// The declarations of a list whose elements may be longer than those we know.
template <class Declaration>
std::vector<Declaration> declarations(const Declaration* list, int count, int element_size, const char* what) {
    if (count < 0) refuse(fmt::format("the number of {}s is {}.", what, count));
    if (count > 0 && list == nullptr) refuse(fmt::format("{} {}s are declared, but their list is NULL.", count, what));
    if (count > 0 && element_size < static_cast<int>(sizeof(Declaration)))
        refuse(fmt::format("the layout gives {} bytes for one {}; version 1 has {}. Set 'layout' to MDPCOSIM_LAYOUT.",
                           element_size, what, sizeof(Declaration)));
    std::vector<Declaration> result(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < result.size(); ++i)
        std::memcpy(&result[i], reinterpret_cast<const char*>(list) + i * static_cast<std::size_t>(element_size),
                    sizeof(Declaration));
    return result;
}

class table_reader {
   public:
    table_reader(const mdpcosim_plugin* table, const std::string& file) {
        model_.file = file;
        if (table == nullptr)
            refuse(fmt::format(
                "its mdpcosim_plugin_entry({}) returned NULL: it does not serve version {} of the plugin interface.",
                MDPCOSIM_PLUGIN_VERSION, MDPCOSIM_PLUGIN_VERSION));
        if (table->layout.version != MDPCOSIM_PLUGIN_VERSION)
            refuse(fmt::format(
                "it is made for version {} of the plugin interface; this mdpcosim has version {}. Compile it with this "
                "version's mdpcosim/plugin.h.",
                table->layout.version, MDPCOSIM_PLUGIN_VERSION));
        if (table->layout.plugin_size < static_cast<int>(sizeof(mdpcosim_plugin)))
            refuse(fmt::format(
                "the layout gives {} bytes for the table; version 1 has {}. Set 'layout' to MDPCOSIM_LAYOUT.",
                table->layout.plugin_size, sizeof(mdpcosim_plugin)));
        std::memcpy(&model_.functions, table, sizeof(mdpcosim_plugin));
    }

    plugin_model read() {
        model_.description.type = "plugin " + model_.file;
        read_inputs();
        read_outputs();
        read_ports();
        read_parameters();
        check_functions();
        return std::move(model_);
    }

   private:
    void read_inputs() {
        const mdpcosim_plugin& f = model_.functions;
        for (int i = 0; const auto& given : declarations(f.inputs, f.input_count, f.layout.input_size, "input")) {
            input_variable v;
            v.name = name_of(given.name, "input", i++, variables_);
            const std::string object = fmt::format("input '{}'", v.name);
            v.unit = unit_of(given.unit, object);
            v.description = text_of(given.description);
            v.size = size_of(given.size, object);
            v.slot = model_.description.input_count();
            if (given.max_degree < MDPCOSIM_CONSTANT || given.max_degree > max_degree)
                refuse(fmt::format("{}: max_degree is {}; allowed: 1 to {}, 0 (any) or MDPCOSIM_CONSTANT.", object,
                                   given.max_degree, max_degree));
            if (given.max_degree != 0) v.max_degree = std::max(given.max_degree, 0);
            if (!std::isfinite(given.start)) refuse(fmt::format("{}: its start value is {}.", object, given.start));
            v.start = given.start;
            model_.description.inputs.push_back(std::move(v));
        }
    }

    void read_outputs() {
        const mdpcosim_plugin& f = model_.functions;
        const auto given = declarations(f.outputs, f.output_count, f.layout.output_size, "output");
        auto& outputs = model_.description.outputs;
        for (int i = 0; const auto& declared : given) {
            output_variable v;
            v.name = name_of(declared.name, "output", i++, variables_);
            const std::string object = fmt::format("output '{}'", v.name);
            v.unit = unit_of(declared.unit, object);
            v.description = text_of(declared.description);
            v.size = size_of(declared.size, object);
            v.slot = model_.description.output_count();
            v.direct = direct_of(text_of(declared.direct), object);
            outputs.push_back(std::move(v));
        }
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (const std::string rate = text_of(given[i].rate); !rate.empty()) set_rate(outputs[i], rate);
    }

    std::vector<int> direct_of(const std::string& names, const std::string& object) const {
        std::vector<int> slots;
        const auto add = [&](const input_variable& input) {
            for (int k = 0; k < input.size; ++k) slots.push_back(input.slot + k);
        };
        const auto& inputs = model_.description.inputs;
        std::istringstream words(names);
        for (std::string word; words >> word;) {
            if (word == "*") {
                for (const auto& input : inputs) add(input);
                continue;
            }
            const auto found =
                std::find_if(inputs.begin(), inputs.end(), [&](const auto& v) { return v.name == word; });
            if (found == inputs.end())
                refuse(fmt::format("{}: direct: {}", object,
                                   unknown_name("input", word, "The plugin", variable_names(inputs))));
            add(*found);
        }
        std::sort(slots.begin(), slots.end());
        slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
        return slots;
    }

    void set_rate(output_variable& output, const std::string& name) {
        const auto& outputs = model_.description.outputs;
        const std::string object = fmt::format("output '{}'", output.name);
        const auto rate = std::find_if(outputs.begin(), outputs.end(), [&](const auto& v) { return v.name == name; });
        if (rate == outputs.end())
            refuse(fmt::format("{}: rate: {}", object,
                               unknown_name("output", name, "The plugin", variable_names(outputs))));
        if (&*rate == &output) refuse(fmt::format("{}: it cannot be its own rate.", object));
        if (rate->size != output.size)
            refuse(fmt::format("{}: it has {} elements, but its rate '{}' has {}.", object, output.size, name,
                               rate->size));
        const std::string wanted = rate_unit(output.unit);
        if (!units_fit(rate->unit, wanted))
            refuse(fmt::format("{}: its unit is '{}', but its rate '{}' is in '{}'; '{}' is expected.", object,
                               output.unit, name, rate->unit, wanted));
        output.rate_slot = rate->slot;
        output.rate_needs_input = !rate->direct.empty();
    }

    void read_ports() {
        const mdpcosim_plugin& f = model_.functions;
        std::set<std::string> seen;
        plugin_port_reader reader(model_.description);
        for (int i = 0; const auto& given : declarations(f.ports, f.port_count, f.layout.port_size, "port")) {
            const std::string name = name_of(given.name, "port", i++, seen);
            if (name.find('.') != std::string::npos)
                refuse(fmt::format("port '{}': the name of a port has no points.", name));
            model_.description.ports.push_back(reader.read(name, given));
        }
    }

    void read_parameters() {
        const mdpcosim_plugin& f = model_.functions;
        std::set<std::string> seen;
        for (int i = 0;
             const auto& given : declarations(f.parameters, f.parameter_count, f.layout.parameter_size, "parameter")) {
            parameter_info p;
            p.name = name_of(given.name, "parameter", i++, seen);
            const std::string object = fmt::format("parameter '{}'", p.name);
            p.unit = unit_of(given.unit, object);
            p.description = text_of(given.description);
            if (given.allowed < MDPCOSIM_ANY || given.allowed > MDPCOSIM_WHOLE)
                refuse(fmt::format("{}: 'allowed' is {}; it must be MDPCOSIM_ANY, _POSITIVE, _NOT_NEGATIVE or _WHOLE.",
                                   object, given.allowed));
            p.allowed = static_cast<parameter_info::range>(given.allowed);
            p.required = std::isnan(given.default_value);
            if (!p.required) p.default_value = given.default_value;
            if (!p.required && !default_fits(p))
                refuse(fmt::format("{}: its default {} is out of the allowed range.", object, p.default_value));
            model_.parameters.push_back(std::move(p));
        }
    }

    static bool default_fits(const parameter_info& p) {
        using range = parameter_info::range;
        const double value = p.default_value;
        if (!std::isfinite(value)) return false;
        if (p.allowed == range::positive) return value > 0;
        if (p.allowed == range::not_negative) return value >= 0;
        return p.allowed != range::whole || (value >= 1 && value == std::floor(value));
    }

    void check_functions() const {
        const mdpcosim_plugin& f = model_.functions;
        const auto need = [](auto function, const char* name, const std::string& why) {
            if (function == nullptr) refuse(fmt::format("function '{}' is missing{}.", name, why));
        };
        const auto unwanted = [](auto function, const char* name, const char* why) {
            if (function != nullptr) refuse(fmt::format("function '{}' is given, but {}.", name, why));
        };
        need(f.create, "create", "");
        need(f.destroy, "destroy", "");
        need(f.initialise, "initialise", "");
        if (f.output_count > 0) need(f.output_values, "output_values", ": outputs are declared");
        if (f.state_count < 0) refuse(fmt::format("state_count is {}.", f.state_count));
        if (f.event_count < 0) refuse(fmt::format("event_count is {}.", f.event_count));
        if (f.advance != nullptr) {
            const char* why = "'advance' means an own solver. Give one of 'derivatives' and 'advance'";
            unwanted(f.derivatives, "derivatives", why);
            why = "a model with an own solver does not use it";
            unwanted(f.jacobian, "jacobian", why);
            unwanted(f.event_indicators, "event_indicators", why);
            unwanted(f.apply_event, "apply_event", why);
            unwanted(f.next_time_event, "next_time_event", why);
            if (f.state_count != 0)
                refuse(fmt::format("state_count is {}, but a model with an own solver keeps its state itself.",
                                   f.state_count));
            if (f.event_count != 0)
                refuse(fmt::format("event_count is {}, but a model with an own solver finds its events itself.",
                                   f.event_count));
            if (f.save_size != nullptr || f.save != nullptr || f.restore != nullptr) {
                const char* all = ": 'save_size', 'save' and 'restore' come together";
                need(f.save_size, "save_size", all);
                need(f.save, "save", all);
                need(f.restore, "restore", all);
            }
            return;
        }
        if (f.state_count > 0)
            need(f.derivatives, "derivatives",
                 fmt::format(": {} states are declared, and there is no 'advance'", f.state_count));
        if (f.event_count > 0) {
            need(f.event_indicators, "event_indicators", ": events are declared");
            need(f.apply_event, "apply_event", ": events are declared");
        } else {
            unwanted(f.event_indicators, "event_indicators", "event_count is 0");
            unwanted(f.apply_event, "apply_event", "event_count is 0");
        }
        const char* why = "only a model with an own solver ('advance') saves itself";
        unwanted(f.save_size, "save_size", why);
        unwanted(f.save, "save", why);
        unwanted(f.restore, "restore", why);
    }

    plugin_model model_;
    std::set<std::string> variables_;
};

}  // namespace

plugin_model read_plugin_table(const mdpcosim_plugin* table, const std::string& file) {
    return table_reader(table, file).read();
}

}  // namespace mdpcosim
