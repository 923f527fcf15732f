#include "plugin/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include "plugin/declarations.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

namespace {

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

/// The declarations of a list whose elements may be longer than those we know, or shorter, but not shorter than `least`: members that were
/// appended later are zero.
template <class Declaration>
std::vector<Declaration> declarations(const Declaration* list, int count, int element_size, const char* kind,
                                      std::size_t least = sizeof(Declaration)) {
    if (count < 0) refuse(fmt::format("the number of {}s is {}.", kind, count));
    if (count > 0 && list == nullptr) refuse(fmt::format("{} {}s are declared, but their list is NULL.", count, kind));
    if (count > 0 && element_size < static_cast<int>(least))
        refuse(fmt::format("the layout gives {} bytes for one {}; version 1 has {}. Set 'layout' to MDPCOSIM_LAYOUT.",
                           element_size, kind, least));
    std::vector<Declaration> result(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < result.size(); ++i)
        std::memcpy(&result[i], reinterpret_cast<const char*>(list) + i * static_cast<std::size_t>(element_size),
                    std::min(static_cast<std::size_t>(element_size), sizeof(Declaration)));
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
        // Members that were appended later are missing in libraries compiled before: they stay zero.
        constexpr std::size_t least = offsetof(mdpcosim_plugin, set_parameter);
        if (table->layout.plugin_size < static_cast<int>(least))
            refuse(fmt::format(
                "the layout gives {} bytes for the table; version 1 has {}. Set 'layout' to MDPCOSIM_LAYOUT.",
                table->layout.plugin_size, least));
        std::memcpy(&model_.functions, table,
                    std::min(static_cast<std::size_t>(table->layout.plugin_size), sizeof(mdpcosim_plugin)));
    }

    plugin_model read() {
        const mdpcosim_plugin& f = model_.functions;
        declaration_reader reader("The plugin");
        reader.description().type = "plugin " + model_.file;
        reader.read_inputs(
            declarations(f.inputs, f.input_count, f.layout.input_size, "input", offsetof(mdpcosim_input, type)));
        reader.read_outputs(
            declarations(f.outputs, f.output_count, f.layout.output_size, "output", offsetof(mdpcosim_output, type)));
        reader.read_ports(declarations(f.ports, f.port_count, f.layout.port_size, "port"));
        for (const auto& p : declarations(f.parameters, f.parameter_count, f.layout.parameter_size, "parameter"))
            model_.parameters.push_back(reader.read_parameter(p));
        model_.description = std::move(reader.description());
        // For a resolved scenario whose process has not loaded the plugin itself.
        for (const parameter_info& p : model_.parameters)
            if (setting value; default_setting(p, value))
                model_.description.parameters.push_back({p.name, {value.values.front().value}});
        check_functions();
        return std::move(model_);
    }

   private:
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
        if (!model_.description.outputs.empty()) need(f.output_values, "output_values", ": outputs are declared");
        if (!model_.description.text_inputs.empty()) need(f.set_text, "set_text", ": text inputs are declared");
        if (!model_.description.text_outputs.empty()) need(f.get_text, "get_text", ": text outputs are declared");
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
        unwanted(f.set_parameter, "set_parameter", "equations are made again with new parameters");
    }

    plugin_model model_;
};

}  // namespace

plugin_model read_plugin_table(const mdpcosim_plugin* table, const std::string& file) {
    return table_reader(table, file).read();
}

}  // namespace mdpcosim
