#include "plugin/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

namespace mdpcosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A correct table to be spoilt: a mass with a force, a heater, vectors.
struct table {
    std::vector<mdpcosim_input> inputs{{"mass.force", "N", "the force", 0, 0, 0, MDPCOSIM_REAL},
                                       {"wind", "m/s", nullptr, 3, MDPCOSIM_CONSTANT, 2.5, MDPCOSIM_REAL}};
    std::vector<mdpcosim_output> outputs{{"mass.position", "m", nullptr, 0, "mass.velocity", nullptr, MDPCOSIM_REAL},
                                         {"mass.velocity", "m/s", nullptr, 0, "a", nullptr, MDPCOSIM_REAL},
                                         {"a", "m/s2", nullptr, 1, nullptr, "mass.force wind", MDPCOSIM_REAL},
                                         {"field", nullptr, nullptr, 4, nullptr, "*", MDPCOSIM_REAL}};
    std::vector<mdpcosim_port> ports{{"mass", "translation", nullptr, nullptr, "the mass"}};
    std::vector<mdpcosim_parameter> parameters{
        {"m", "kg", "mass", 2, MDPCOSIM_POSITIVE},
        {"n", "1", nullptr, std::numeric_limits<double>::quiet_NaN(), MDPCOSIM_WHOLE}};
    mdpcosim_plugin plugin{};

    table() {
        plugin.layout = MDPCOSIM_LAYOUT;
        plugin.state_count = 2;
        plugin.create = [](const double*, char*) -> void* { return nullptr; };
        plugin.destroy = [](void*) {};
        plugin.initialise = [](void*, double, double*) { return 0; };
        plugin.output_values = [](void*, double, const double*, const double*, double*) { return 0; };
        plugin.derivatives = plugin.output_values;
    }

    void give_own_solver() {
        plugin.state_count = 0;
        plugin.derivatives = nullptr;
        plugin.advance = [](void*, double, double, const double*) { return 0; };
    }

    plugin_model read() {
        plugin.inputs = inputs.data(), plugin.input_count += static_cast<int>(inputs.size());
        plugin.outputs = outputs.data(), plugin.output_count += static_cast<int>(outputs.size());
        plugin.ports = ports.data(), plugin.port_count += static_cast<int>(ports.size());
        plugin.parameters = parameters.data(), plugin.parameter_count += static_cast<int>(parameters.size());
        return read_plugin_table(&plugin, "p.so");
    }
};

TEST(plugin_table, is_read) {
    const plugin_model model = table().read();
    const subsystem_description& d = model.description;
    EXPECT_EQ(d.type, "plugin p.so");
    ASSERT_EQ(d.inputs.size(), 2u);
    EXPECT_EQ(d.inputs[0].description, "the force");
    EXPECT_EQ(d.inputs[0].max_degree, max_degree);
    EXPECT_EQ(d.inputs[1].max_degree, 0);
    EXPECT_EQ(d.inputs[1].start, 2.5);
    EXPECT_EQ(d.inputs[1].slot, 1);
    EXPECT_EQ(d.input_count(), 4);
    ASSERT_EQ(d.outputs.size(), 4u);
    EXPECT_EQ(d.outputs[0].rate_slot, 1);
    EXPECT_FALSE(d.outputs[0].rate_needs_input);
    EXPECT_EQ(d.outputs[1].rate_slot, 2);
    EXPECT_TRUE(d.outputs[1].rate_needs_input);
    EXPECT_THAT(d.outputs[2].direct, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(d.outputs[3].direct, ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(d.outputs[3].unit, "");
    EXPECT_EQ(d.output_count(), 7);
    ASSERT_EQ(d.ports.size(), 1u);
    EXPECT_EQ(d.ports[0].kind, port_kind::translation);
    EXPECT_THAT(d.ports[0].motion, ElementsAre(0, 1, -1));
    EXPECT_EQ(d.ports[0].load, 0);
    ASSERT_EQ(model.parameters.size(), 2u);
    EXPECT_EQ(model.parameters[0].default_value, 2);
    EXPECT_TRUE(model.parameters[1].required);
    EXPECT_FALSE(model.own_solver());
}

TEST(plugin_table, ports_may_map_variables_of_other_names_and_take_motion) {
    table t;
    t.outputs.push_back({"tau", nullptr, nullptr, 0, nullptr, nullptr, MDPCOSIM_REAL});
    t.inputs.push_back({"phi", "rad", nullptr, 0, 0, 0, MDPCOSIM_REAL});
    t.ports.push_back({"shaft", "rotation", "takes-motion", "angle=phi torque=tau", nullptr});
    const plugin_model model = t.read();
    const port& p = model.description.ports[1];
    EXPECT_EQ(p.causality, causality::takes_motion);
    EXPECT_THAT(p.motion, ElementsAre(4, -1, -1));
    EXPECT_EQ(p.load, 7);
    EXPECT_EQ(model.description.outputs[4].unit, "N.m") << "an unknown unit becomes that of the port";
}

TEST(plugin_table, integers_are_held_and_texts_stand_apart) {
    table t;
    t.inputs.push_back({"gear", "1", nullptr, 0, 3, 2, MDPCOSIM_INTEGER});
    t.inputs.push_back({"note", nullptr, "what to do", 0, 0, 0, MDPCOSIM_STRING});
    t.outputs.insert(t.outputs.begin(), {"frame", nullptr, nullptr, 2, nullptr, nullptr, MDPCOSIM_BINARY});
    t.outputs.push_back({"on", nullptr, nullptr, 0, nullptr, nullptr, MDPCOSIM_BOOLEAN});
    t.plugin.set_text = [](void*, int, const char*, std::size_t) { return 0; };
    t.plugin.get_text = [](void*, int, const char**, std::size_t*) { return 0; };
    const subsystem_description d = t.read().description;
    ASSERT_EQ(d.inputs.size(), 3u);
    EXPECT_EQ(d.inputs[2].type, variable_type::integer);
    EXPECT_TRUE(d.inputs[2].sampled);
    EXPECT_EQ(d.inputs[2].max_degree, 0);
    EXPECT_EQ(d.inputs[2].start, 2);
    ASSERT_EQ(d.text_inputs.size(), 1u);
    EXPECT_EQ(d.text_inputs[0].name, "note");
    ASSERT_EQ(d.text_outputs.size(), 2u);
    EXPECT_EQ(d.text_outputs[1].name, "frame[1]");
    EXPECT_EQ(d.text_outputs[1].type, variable_type::binary);
    EXPECT_EQ(d.outputs[0].name, "mass.position");
    EXPECT_EQ(d.outputs[0].rate_slot, 1) << "rates count numbers only";
    EXPECT_EQ(d.outputs.back().type, variable_type::boolean);
}

TEST(plugin_table, of_a_hydraulic_port_the_flow_is_enough) {
    table t;
    t.outputs.push_back({"p.flow", "m3/s", nullptr, 0, nullptr, nullptr, MDPCOSIM_REAL});
    t.inputs.push_back({"p.pressure", "Pa", nullptr, 0, 0, 0, MDPCOSIM_REAL});
    t.ports.push_back({"p", "hydraulic", nullptr, nullptr, nullptr});
    EXPECT_THAT(t.read().description.ports[1].motion, ElementsAre(-1, 7, -1));
}

TEST(plugin_table, frames_are_vectors) {
    table t;
    for (const char* name : {"position", "v", "w"})
        t.outputs.push_back({name, nullptr, nullptr, 3, nullptr, nullptr, MDPCOSIM_REAL});
    t.outputs.push_back({"q", "1", nullptr, 4, nullptr, nullptr, MDPCOSIM_REAL});
    for (const char* name : {"F", "T"}) t.inputs.push_back({name, nullptr, nullptr, 3, 0, 0, MDPCOSIM_REAL});
    t.ports.push_back({"tip", "frame", nullptr,
                       "position=position orientation=q velocity=v angular-velocity=w force=F torque=T", nullptr});
    const port p = t.read().description.ports[1];
    EXPECT_THAT(p.motion_slots, ElementsAre(7, 8, 9, 16, 17, 18, 19, 10, 11, 12, 13, 14, 15, -1, -1, -1, -1, -1, -1));
    EXPECT_THAT(p.load_slots, ElementsAre(4, 5, 6, 7, 8, 9));
}

TEST(plugin_table, longer_structures_of_later_versions_are_read) {
    struct longer_input : mdpcosim_input {
        double news[3];
    };
    struct longer_table {
        mdpcosim_plugin known;
        void* news[2];
    };
    const longer_input inputs[] = {{{"one", "N", nullptr, 0, 0, 1, 0}, {7, 7, 7}},
                                   {{"two", "m", nullptr, 0, 0, 2, 0}, {7, 7, 7}}};
    longer_table later{table().plugin, {}};
    later.known.layout.plugin_size = sizeof later;
    later.known.layout.input_size = sizeof(longer_input);
    later.known.inputs = inputs;
    later.known.input_count = 2;
    const plugin_model model = read_plugin_table(&later.known, "p.so");
    ASSERT_EQ(model.description.inputs.size(), 2u);
    EXPECT_EQ(model.description.inputs[1].name, "two");
    EXPECT_EQ(model.description.inputs[1].start, 2);
}

struct wrong_table {
    const char* name;
    std::function<void(table&)> spoil;
    const char* message;
};

void PrintTo(const wrong_table& wrong, std::ostream* out) { *out << wrong.name; }

class plugin_table_wrong : public testing::TestWithParam<wrong_table> {};

TEST_P(plugin_table_wrong, is_refused) {
    table t;
    GetParam().spoil(t);
    try {
        t.read();
        FAIL() << "accepted";
    } catch (const std::invalid_argument& problem) {
        EXPECT_THAT(problem.what(), HasSubstr(GetParam().message));
        EXPECT_TRUE(std::string(problem.what()).ends_with('.') || std::string(problem.what()).ends_with('?'))
            << problem.what();
    }
}

std::vector<wrong_table> wrong_tables() {
    return {
        {"version", [](table& t) { t.plugin.layout.version = 3; },
         "made for version 3 of the plugin interface; this mdpcosim has version 1"},
        {"table_too_short", [](table& t) { t.plugin.layout.plugin_size = 8; },
         "the layout gives 8 bytes for the table"},
        {"type", [](table& t) { t.inputs[0].type = 5; }, "input 'mass.force': its type is 5; it must be MDPCOSIM_REAL"},
        {"text_with_unit", [](table& t) { t.inputs[0].type = MDPCOSIM_STRING; },
         "input 'mass.force': a text has no unit"},
        {"text_without_function", [](table& t) { t.outputs[3].type = MDPCOSIM_BINARY, t.outputs[3].direct = nullptr; },
         "function 'get_text' is missing"},
        {"input_too_short", [](table& t) { t.plugin.layout.input_size = 8; }, "the layout gives 8 bytes for one input"},
        {"output_too_short", [](table& t) { t.plugin.layout.output_size = 0; },
         "the layout gives 0 bytes for one output"},
        {"port_too_short", [](table& t) { t.plugin.layout.port_size = 39; }, "the layout gives 39 bytes for one port"},
        {"parameter_too_short", [](table& t) { t.plugin.layout.parameter_size = -1; },
         "the layout gives -1 bytes for one parameter"},
        {"negative_count", [](table& t) { t.plugin.output_count = -9; }, "the number of outputs is -5."},
        {"list_missing", [](table& t) { t.ports.clear(), t.ports.shrink_to_fit(), t.plugin.port_count = 1; },
         "1 ports are declared, but their list is NULL"},
        {"no_name", [](table& t) { t.inputs[1].name = nullptr; }, "input 2 has no name"},
        {"empty_name", [](table& t) { t.parameters[0].name = ""; }, "parameter 1 has no name"},
        {"blank_in_name", [](table& t) { t.outputs[3].name = "my field"; }, "output 'my field': a name has letters"},
        {"point_at_the_end", [](table& t) { t.outputs[3].name = "field."; }, "output 'field.': a name has letters"},
        {"digit_first", [](table& t) { t.outputs[3].name = "x.1"; }, "output 'x.1': a name has letters"},
        {"input_twice", [](table& t) { t.inputs[1].name = "mass.force"; }, "input 'mass.force' is declared twice"},
        {"input_and_output", [](table& t) { t.outputs[3].name = "wind"; }, "output 'wind' is declared twice"},
        {"parameter_twice", [](table& t) { t.parameters[1].name = "m"; }, "parameter 'm' is declared twice"},
        {"port_twice", [](table& t) { t.ports.push_back(t.ports[0]); }, "port 'mass' is declared twice"},
        {"point_in_port", [](table& t) { t.ports[0].name = "a.b"; }, "port 'a.b': the name of a port has no points"},
        {"unknown_unit", [](table& t) { t.outputs[3].unit = "flurongs"; }, "output 'field': the unit 'flurongs'"},
        {"not_si", [](table& t) { t.inputs[0].unit = "kN"; }, "input 'mass.force': unit 'kN' is not SI; use 'N'"},
        {"celsius", [](table& t) { t.parameters[0].unit = "degC"; }, "parameter 'm': unit 'degC' is not SI; use 'K'"},
        {"negative_size", [](table& t) { t.inputs[1].size = -2; }, "input 'wind': size -2 is negative"},
        {"degree_too_high", [](table& t) { t.inputs[0].max_degree = 7; },
         "input 'mass.force': max_degree is 7; allowed: 1 to 6"},
        {"degree_too_low", [](table& t) { t.inputs[0].max_degree = -2; }, "input 'mass.force': max_degree is -2"},
        {"start_infinite", [](table& t) { t.inputs[0].start = INFINITY; },
         "input 'mass.force': its start value is inf"},
        {"rate_unknown", [](table& t) { t.outputs[0].rate = "mass.velocty"; },
         "output 'mass.position': rate: output 'mass.velocty' does not exist. The plugin has: mass.position, "
         "mass.velocity, a, field. Did you mean 'mass.velocity'?"},
        {"rate_of_itself", [](table& t) { t.outputs[0].rate = "mass.position"; },
         "output 'mass.position': it cannot be its own rate"},
        {"rate_of_other_size", [](table& t) { t.outputs[0].rate = "field"; },
         "output 'mass.position': it has 1 elements, but its rate 'field' has 4"},
        {"rate_of_other_unit", [](table& t) { t.outputs[0].rate = "a"; }, "its rate 'a' is in 'm/s2'"},
        {"direct_unknown", [](table& t) { t.outputs[2].direct = "wind force"; },
         "output 'a': direct: input 'force' does not exist"},
        {"kind_unknown", [](table& t) { t.ports[0].kind = "translational"; },
         "port 'mass': kind 'translational' does not exist. Allowed: translation, rotation, hydraulic, thermal, "
         "electric, magnetic, frame. Did you mean 'translation'?"},
        {"kind_missing", [](table& t) { t.ports[0].kind = nullptr; }, "port 'mass': kind '' does not exist"},
        {"kind_frame", [](table& t) { t.ports[0].kind = "frame"; }, "which has 1 elements; a port takes 3"},
        {"frame_without_orientation",
         [](table& t) {
             t.outputs.push_back({"r", "m", nullptr, 3, nullptr, nullptr, MDPCOSIM_REAL});
             t.ports[0] = {"tip", "frame", nullptr, "position=r", nullptr};
         },
         "port 'tip': its orientation is missing. A frame port has: position, orientation, velocity"},
        {"frame_that_takes_motion",
         [](table& t) {
             t.ports[0] = {"tip", "frame", "takes-motion", "position=r", nullptr};
         },
         "port 'tip': a frame takes force and torque"},
        {"causality_unknown", [](table& t) { t.ports[0].causality = "takes-force"; },
         "port 'mass': causality 'takes-force' does not exist. Allowed: takes-load, takes-motion"},
        {"causality_reversed", [](table& t) { t.ports[0].causality = "takes-motion"; },
         "port 'mass': position is 'mass.position', which is an output, but with this causality must be an input"},
        {"port_without_load",
         [](table& t) {
             t.inputs[0].name = "force";
             t.outputs[2].direct = "force";
         },
         "port 'mass': its force is missing. Declare 'mass.force', or give 'variables'."},
        {"port_without_motion", [](table& t) { t.ports[0].variables = "force=mass.force"; },
         "port 'mass': its position is missing. A translation port has: position, velocity, acceleration, force."},
        {"port_variable_unknown", [](table& t) { t.ports[0].variables = "position=x force=mass.force"; },
         "port 'mass': position: variable 'x' does not exist"},
        {"port_word_unknown", [](table& t) { t.ports[0].variables = "angle=a force=mass.force"; },
         "port 'mass': variable 'angle' does not exist. A translation port has: position"},
        {"port_word_twice", [](table& t) { t.ports[0].variables = "position=a position=a"; },
         "port 'mass': 'position' is given twice"},
        {"port_pair_broken", [](table& t) { t.ports[0].variables = "position= a"; },
         "port 'mass': 'position=' is not of the form 'force=variable'"},
        {"port_unit", [](table& t) { t.ports[0].variables = "position=a force=mass.force"; },
         "port 'mass': position needs a variable in 'm', but 'a' is in 'm/s2'"},
        {"port_vector", [](table& t) { t.ports[0].variables = "position=field force=mass.force"; },
         "port 'mass': position is 'field', which has 4 elements"},
        {"input_in_two_ports",
         [](table& t) {
             t.ports.push_back({"other", "translation", nullptr, "position=mass.position force=mass.force", nullptr});
         },
         "port 'other': force is 'mass.force', which belongs to port 'mass' already"},
        {"range_unknown", [](table& t) { t.parameters[0].allowed = 4; }, "parameter 'm': 'allowed' is 4"},
        {"default_out_of_range", [](table& t) { t.parameters[0].default_value = 0; },
         "parameter 'm': its default 0 is out of the allowed range"},
        {"default_not_whole", [](table& t) { t.parameters[1].default_value = 1.5; },
         "parameter 'n': its default 1.5 is out of the allowed range"},
        {"default_infinite", [](table& t) { t.parameters[0].default_value = INFINITY; },
         "parameter 'm': its default inf is out of"},
        {"no_create", [](table& t) { t.plugin.create = nullptr; }, "function 'create' is missing"},
        {"no_destroy", [](table& t) { t.plugin.destroy = nullptr; }, "function 'destroy' is missing"},
        {"no_initialise", [](table& t) { t.plugin.initialise = nullptr; }, "function 'initialise' is missing"},
        {"no_output_values", [](table& t) { t.plugin.output_values = nullptr; },
         "function 'output_values' is missing: outputs are declared"},
        {"no_derivatives", [](table& t) { t.plugin.derivatives = nullptr; },
         "function 'derivatives' is missing: 2 states are declared"},
        {"negative_states", [](table& t) { t.plugin.state_count = -1; }, "state_count is -1"},
        {"negative_events", [](table& t) { t.plugin.event_count = -1; }, "event_count is -1"},
        {"no_event_indicators", [](table& t) { t.plugin.event_count = 1; },
         "function 'event_indicators' is missing: events are declared"},
        {"no_apply_event",
         [](table& t) {
             t.plugin.event_count = 1;
             t.plugin.event_indicators = t.plugin.derivatives;
         },
         "function 'apply_event' is missing"},
        {"indicators_without_events", [](table& t) { t.plugin.event_indicators = t.plugin.derivatives; },
         "function 'event_indicators' is given, but event_count is 0"},
        {"two_forms", [](table& t) { t.plugin.advance = [](void*, double, double, const double*) { return 0; }; },
         "function 'derivatives' is given, but 'advance' means an own solver"},
        {"own_solver_with_states", [](table& t) { t.give_own_solver(), t.plugin.state_count = 1; },
         "state_count is 1, but a model with an own solver keeps its state itself"},
        {"own_solver_with_events", [](table& t) { t.give_own_solver(), t.plugin.event_count = 1; },
         "event_count is 1, but a model with an own solver"},
        {"own_solver_with_jacobian", [](table& t) { t.give_own_solver(), t.plugin.jacobian = t.plugin.output_values; },
         "function 'jacobian' is given, but a model with an own solver does not use it"},
        {"save_without_restore", [](table& t) { t.give_own_solver(), t.plugin.save = [](void*, void*) { return 0; }; },
         "function 'save_size' is missing: 'save_size', 'save' and 'restore' come together"},
        {"save_of_equations", [](table& t) { t.plugin.save = [](void*, void*) { return 0; }; },
         "function 'save' is given, but only a model with an own solver"},
    };
}

INSTANTIATE_TEST_SUITE_P(plugin_table, plugin_table_wrong, testing::ValuesIn(wrong_tables()),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace mdpcosim
