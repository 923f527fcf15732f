// What an FMU looks like from outside, from its description alone: units, dependencies, rates, ports, settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "fmu/component.hpp"
#include "fmu/ports.hpp"
#include "fmu/report.hpp"
#include "fmu/test/fmu_spec.hpp"

namespace mdpcosim {
namespace {

using test::port_of;
using test::spec_of_fmu;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr double pi = std::numbers::pi;

std::vector<std::string> names(const auto& variables) {
    std::vector<std::string> all;
    for (const auto& v : variables) all.push_back(v.name);
    return all;
}

std::string message_of(const subsystem_spec& spec) {
    try {
        read_fmu(spec);
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

fmi::unit_definition unit(const std::string& name, double factor = 1, double offset = 0) {
    fmi::unit_definition u;
    u.name = name;
    u.factor = factor;
    u.offset = offset;
    return u;
}

fmu_unit unit_named(const std::string& name, const fmi::unit_definition& defined) {
    fmi::description d;
    d.units = {defined};
    fmi::variable v;
    v.unit = name;
    return unit_of(d, v);
}

TEST(fmu_units, are_those_that_the_fmu_defines) {
    fmi::unit_definition rpm = unit("rpm", pi / 30);
    rpm.has_base = true, rpm.rad = 1, rpm.s = -1;
    const fmu_unit speed = unit_named("rpm", rpm);
    EXPECT_EQ(speed.si, "rad/s");
    EXPECT_DOUBLE_EQ(speed.to_si(3000), 100 * pi);
    EXPECT_DOUBLE_EQ(speed.from_si(100 * pi), 3000);

    fmi::unit_definition celsius = unit("Grad", 1, 273.15);
    celsius.has_base = true, celsius.K = 1;
    EXPECT_EQ(unit_named("Grad", celsius).si, "K") << "a name that nobody else knows";
    EXPECT_DOUBLE_EQ(unit_named("Grad", celsius).to_si(20), 293.15);

    fmi::unit_definition torque = unit("Newtonmeter");
    torque.has_base = true, torque.kg = 1, torque.m = 2, torque.s = -2;
    EXPECT_EQ(unit_named("Newtonmeter", torque).si, "N.m");
    EXPECT_TRUE(unit_named("Newtonmeter", torque).plain());

    fmi::unit_definition without_angle = unit("rad/s");
    without_angle.has_base = true, without_angle.s = -1;
    EXPECT_EQ(unit_named("rad/s", without_angle).si, "rad/s") << "many tools leave out rad";
}

TEST(fmu_units, without_base_units_are_known_by_name) {
    const fmu_unit bar = unit_named("bar", unit("bar"));
    EXPECT_EQ(bar.si, "Pa");
    EXPECT_DOUBLE_EQ(bar.to_si(2), 2e5);
    EXPECT_DOUBLE_EQ(unit_named("degC", unit("other")).to_si(0), 273.15);
    const fmu_unit unknown = unit_named("Klafter", unit("Klafter"));
    EXPECT_EQ(unknown.si, "");
    EXPECT_EQ(unknown.to_si(7), 7);
    EXPECT_EQ(unit_named("", unit("m")).si, "");
}

TEST(fmu_layout, has_inputs_and_outputs_with_rates_and_dependencies) {
    for (const char* version : {"2", "3"}) {
        const fmu_model fmu = read_fmu(spec_of_fmu(std::string("inertia-") + version));
        const subsystem_description& d = fmu.layout.description;
        EXPECT_THAT(d.type, AllOf(StartsWith("fmu inertia-"), HasSubstr("co-simulation")));
        EXPECT_THAT(names(d.inputs), ElementsAre("tau"));
        EXPECT_THAT(names(d.outputs), ElementsAre("phi", "w", "a"));
        EXPECT_EQ(d.inputs[0].unit, "N.m");
        EXPECT_EQ(d.outputs[0].rate_slot, 1);
        EXPECT_FALSE(d.outputs[0].rate_needs_input);
        EXPECT_EQ(d.outputs[1].rate_slot, 2);
        EXPECT_TRUE(d.outputs[1].rate_needs_input);
        EXPECT_THAT(d.outputs[0].direct, IsEmpty());
        EXPECT_THAT(d.outputs[1].direct, IsEmpty());
        EXPECT_THAT(d.outputs[2].direct, ElementsAre(0));
    }
}

TEST(fmu_layout, input_degrees_follow_what_the_fmu_offers) {
    EXPECT_EQ(read_fmu(spec_of_fmu("inertia-2")).layout.description.inputs[0].max_degree, 1);
    EXPECT_EQ(read_fmu(spec_of_fmu("inertia-3")).layout.description.inputs[0].max_degree, max_degree);
    EXPECT_EQ(read_fmu(spec_of_fmu("plain-oscillator-2")).layout.description.inputs[0].max_degree, 0);
    EXPECT_EQ(read_fmu(spec_of_fmu("plain-oscillator-3")).layout.description.inputs[0].max_degree, 0);
    subsystem_spec spec = spec_of_fmu("inertia-2");
    spec.input_degree = 3;
    EXPECT_EQ(read_fmu(spec).layout.description.inputs[0].max_degree, 3);
    spec.input_degree = 0;
    EXPECT_EQ(read_fmu(spec).layout.description.inputs[0].max_degree, 0);
    spec.input_degree.reset();
    spec.fmu.interface.value = "model-exchange";
    EXPECT_EQ(read_fmu(spec).layout.description.inputs[0].max_degree, max_degree);
}

TEST(fmu_layout, discrete_variables_are_held_and_texts_have_slots_of_their_own) {
    const fmu_model fmu = read_fmu(spec_of_fmu("feedthrough-3"));
    const subsystem_description& d = fmu.layout.description;
    for (const auto& v : d.inputs) {
        EXPECT_EQ(v.sampled, v.name != "u") << v.name;
        EXPECT_EQ(v.max_degree, 0) << v.name;
    }
    const auto find = [&](const std::string& name) {
        return *std::find_if(d.inputs.begin(), d.inputs.end(), [&](const auto& v) { return v.name == name; });
    };
    EXPECT_EQ(find("boolean_in").type, variable_type::boolean);
    EXPECT_EQ(find("enumeration_in").type, variable_type::integer);
    EXPECT_EQ(find("enumeration_in").start, 1);
    EXPECT_EQ(find("int8_in").start, -8);
    EXPECT_EQ(find("float32_in").start, 0.5);
    EXPECT_THAT(fmu.layout.left_out, IsEmpty());
    ASSERT_EQ(d.text_inputs.size(), 1u);
    EXPECT_EQ(d.text_inputs[0].name, "string_in");
    EXPECT_EQ(d.text_inputs[0].type, variable_type::string);
    ASSERT_EQ(d.text_outputs.size(), 1u);
    EXPECT_EQ(d.text_outputs[0].name, "string_out");
    const subsystem_description bytes = read_fmu(spec_of_fmu("binary-3")).layout.description;
    ASSERT_EQ(bytes.text_outputs.size(), 2u);
    EXPECT_EQ(bytes.text_outputs[1].name, "told");
    EXPECT_EQ(bytes.text_outputs[1].type, variable_type::binary);
}

TEST(fmu_layout, arrays_are_elements_and_structural_parameters_give_their_size) {
    const subsystem_description d = read_fmu(spec_of_fmu("state-space-3")).layout.description;
    EXPECT_THAT(names(d.inputs), ElementsAre("u[0]"));
    EXPECT_THAT(names(d.outputs), ElementsAre("y[0]"));
    const fmu_model larger = read_fmu(spec_of_fmu("state-space-3", {{"n", "3"}, {"r", "2"}}));
    EXPECT_THAT(names(larger.layout.description.inputs), ElementsAre("u[0]", "u[1]"));
    EXPECT_THAT(names(larger.layout.description.outputs), ElementsAre("y[0]", "y[1]"));
    EXPECT_EQ(larger.description().find("A")->element_count(), 9u);
}

TEST(fmu_layout, elements_of_arrays_are_set_one_by_one_or_together) {
    subsystem_spec spec = spec_of_fmu("state-space-3", {{"A[2]", "-4"}});
    fmu_model fmu = read_fmu(spec);
    ASSERT_EQ(fmu.starts.size(), 1u);
    EXPECT_THAT(fmu.starts[0].numbers, ElementsAre(0, 1, -4, 0)) << "the others keep the FMU's start values";
    spec.set = {{"x0", {}, {{"3", {}}, {"4", {}}}, true}};
    EXPECT_THAT(read_fmu(spec).starts[0].numbers, ElementsAre(3, 4));
    spec.set[0].values.push_back({"5", {}});
    EXPECT_THAT(message_of(spec), HasSubstr("'x0' has 2 elements, but 3 are given."));
    EXPECT_THAT(message_of(spec_of_fmu("state-space-3", {{"x0[2]", "1"}})),
                HasSubstr("variable 'x0[2]' does not exist"));
}

TEST(fmu_layout, outputs_may_be_asked_for) {
    subsystem_spec spec = spec_of_fmu("workshop-2");
    EXPECT_THAT(names(read_fmu(spec).layout.description.outputs), ElementsAre("shaft.phi", "shaft.n"));
    spec.fmu.outputs = {{"T", {}}};
    EXPECT_THAT(names(read_fmu(spec).layout.description.outputs), ElementsAre("shaft.phi", "shaft.n", "T"));
    EXPECT_EQ(read_fmu(spec).layout.description.outputs[2].unit, "K");
    spec.fmu.outputs = {{"der(Z)", {"s.yaml", 9, 3}}};
    EXPECT_THAT(message_of(spec),
                AllOf(StartsWith("s.yaml:9:3: subsystem 'a': outputs: variable 'der(Z)' does not exist."),
                      HasSubstr("Did you mean 'der(T)'?")));
    spec.fmu.outputs = {{"shaft.tau", {}}};
    EXPECT_THAT(message_of(spec), HasSubstr("'shaft.tau' is an input"));
}

TEST(fmu_layout, where_the_structure_is_silent_the_interface_decides) {
    subsystem_spec spec = spec_of_fmu("workshop-2");
    spec.fmu.outputs = {{"der(shaft.n)", {}}};
    EXPECT_THAT(read_fmu(spec).layout.description.outputs[2].direct, IsEmpty());
    spec.fmu.interface.value = "model-exchange";
    EXPECT_THAT(read_fmu(spec).layout.description.outputs[2].direct, ElementsAre(0));
    EXPECT_THAT(read_fmu(spec).layout.description.outputs[0].direct, IsEmpty()) << "a state";
}

TEST(fmu_ports, are_mapped_with_units_and_rates) {
    subsystem_spec spec = spec_of_fmu("workshop-2");
    spec.ports = {
        port_of("shaft", "rotation", {{"angle", "shaft.phi"}, {"speed", "shaft.n"}, {"torque", "shaft.tau"}})};
    const fmu_model fmu = read_fmu(spec);
    const subsystem_description& d = fmu.layout.description;
    ASSERT_EQ(d.ports.size(), 1u);
    EXPECT_EQ(d.ports[0].motion[0], 0);
    EXPECT_EQ(d.ports[0].motion[1], 1);
    EXPECT_EQ(d.outputs[static_cast<std::size_t>(d.ports[0].motion[2])].name, "der(shaft.n)");
    EXPECT_EQ(d.ports[0].load, 0);
    EXPECT_EQ(d.outputs[0].unit, "rad");
    EXPECT_EQ(d.outputs[1].unit, "rad/s");
    EXPECT_EQ(d.inputs[0].unit, "N.m");
    EXPECT_DOUBLE_EQ(fmu.layout.outputs[0].unit.to_si(180), pi);
    EXPECT_DOUBLE_EQ(fmu.layout.inputs[0].unit.from_si(500), 0.5);
    EXPECT_EQ(d.outputs[1].rate_slot, d.ports[0].motion[2]);
    EXPECT_TRUE(d.outputs[1].rate_needs_input);
}

TEST(fmu_ports, may_map_local_variables) {
    subsystem_spec spec = spec_of_fmu("workshop-2");
    spec.ports = {port_of("body", "thermal", {{"temperature", "T"}, {"heat-flow", "shaft.tau"}})};
    EXPECT_THAT(message_of(spec), HasSubstr("'heat-flow' needs a variable in 'W', but 'shaft.tau' is in 'N.m'."));
    spec.ports = {port_of("body", "rotation", {{"angle", "T"}, {"torque", "shaft.tau"}})};
    EXPECT_THAT(message_of(spec), HasSubstr("'angle' needs a variable in 'rad', but 'T' is in 'K'."));
    spec.ports = {port_of("body", "rotation", {{"angle", "J"}, {"torque", "shaft.tau"}})};
    EXPECT_THAT(message_of(spec), HasSubstr("'angle' is mapped to 'J', which is a parameter, but must be a local "
                                            "variable or an output"));
    spec.ports = {port_of("body", "rotation", {{"angle", "shaft.phy"}, {"torque", "shaft.tau"}})};
    EXPECT_THAT(message_of(spec),
                AllOf(StartsWith("s.yaml:7:9: subsystem 'a': port 'body': 'angle': "), HasSubstr("'shaft.phi'")));
}

TEST(fmu_ports, may_name_aliases) {
    for (const char* fmu : {"plain-oscillator-2", "plain-oscillator-3"}) {
        subsystem_spec spec = spec_of_fmu(fmu);
        spec.ports = {port_of("mass", "translation", {{"position", "x"}, {"velocity", "v"}, {"force", "force"}})};
        const subsystem_description d = read_fmu(spec).layout.description;
        EXPECT_THAT(names(d.outputs), ElementsAre("position", "velocity", "acceleration"));
        EXPECT_THAT(d.ports.at(0).motion, ElementsAre(0, 1, 2));
    }
}

TEST(fmu_ports, terminals_are_ports) {
    const subsystem_description d = read_fmu(spec_of_fmu("inertia-3")).layout.description;
    ASSERT_EQ(d.ports.size(), 1u);
    EXPECT_EQ(d.ports[0].name, "shaft");
    EXPECT_EQ(d.ports[0].kind, port_kind::rotation);
    EXPECT_EQ(d.ports[0].causality, causality::takes_load);
    EXPECT_THAT(d.ports[0].motion, ElementsAre(0, 1, 2));
    EXPECT_EQ(d.ports[0].load, 0);
    const subsystem_description oscillator = read_fmu(spec_of_fmu("oscillator-3")).layout.description;
    ASSERT_EQ(oscillator.ports.size(), 1u);
    EXPECT_EQ(oscillator.ports[0].kind, port_kind::translation);
    subsystem_spec own = spec_of_fmu("inertia-3");
    own.ports = {port_of("mine", "rotation", {{"angle", "phi"}, {"torque", "tau"}})};
    const subsystem_description mapped = read_fmu(own).layout.description;
    ASSERT_EQ(mapped.ports.size(), 1u) << "the terminal's variables are the user's now";
    EXPECT_EQ(mapped.ports[0].name, "mine");
}

TEST(fmu_ports, are_proposed_from_units_and_names) {
    const auto text = [](const std::string& fmu) {
        std::vector<std::string> lines;
        for (const auto& p : propose_ports(fmi::open_fmu(test::test_fmu(fmu))->description()))
            lines.push_back(port_text(p));
        return lines;
    };
    EXPECT_THAT(text("inertia-2"), ElementsAre("rotation: {kind: rotation, angle: phi, speed: w, acceleration: a, "
                                               "torque: tau}"));
    EXPECT_THAT(text("oscillator-2"), ElementsAre("translation: {kind: translation, position: position, velocity: "
                                                  "velocity, acceleration: acceleration, force: force}"));
    EXPECT_THAT(text("workshop-3"),
                ElementsAre("shaft: {kind: rotation, angle: shaft.phi, speed: shaft.n, torque: shaft.tau}"));
    EXPECT_THAT(text("inertia-3"), ElementsAre(StartsWith("shaft: {kind: rotation, angle: phi")));
    EXPECT_THAT(text("decay-2"), IsEmpty());
    EXPECT_THAT(text("feedthrough-3"), IsEmpty());
}

/// Two shafts, no units: names decide, and what belongs together has the same beginning.
TEST(fmu_ports, proposals_keep_together_what_has_one_beginning) {
    fmi::description d;
    for (const char* side : {"left", "right"}) {
        for (const char* last : {"phi", "w"}) {
            fmi::variable v;
            v.name = std::string(side) + "." + last;
            v.causality = fmi::causality::output;
            d.variables.push_back(v);
        }
    }
    for (const char* name : {"right.tau", "left.tau"}) {
        fmi::variable v;
        v.name = name;
        v.causality = fmi::causality::input;
        d.variables.push_back(v);
    }
    d.build_index();
    const auto ports = propose_ports(d);
    ASSERT_EQ(ports.size(), 2u);
    EXPECT_EQ(port_text(ports[0]), "right: {kind: rotation, angle: right.phi, speed: right.w, torque: right.tau}");
    EXPECT_EQ(port_text(ports[1]), "left: {kind: rotation, angle: left.phi, speed: left.w, torque: left.tau}");
}

TEST(fmu_settings, take_units_items_and_texts) {
    const auto number = [](const std::string& fmu, const std::string& name, const std::string& value) {
        return read_fmu(spec_of_fmu(fmu, {{name, value}})).starts.at(0).numbers.at(0);
    };
    EXPECT_DOUBLE_EQ(number("workshop-2", "phi0", "0.5 rev"), 180);
    EXPECT_DOUBLE_EQ(number("workshop-2", "phi0", "90 deg"), 90);
    EXPECT_NEAR(number("workshop-2", "phi0", "1"), 180 / pi, 1e-13) << "a bare number is SI";
    EXPECT_DOUBLE_EQ(number("workshop-2", "n0", "3000 rpm"), 3000);
    EXPECT_DOUBLE_EQ(number("workshop-2", "J", "1e4 kg.cm2"), 1);
    EXPECT_EQ(number("feedthrough-2", "enumeration_in", "high"), 3);
    EXPECT_EQ(number("feedthrough-2", "enumeration_in", "2"), 2);
    EXPECT_EQ(number("feedthrough-3", "boolean_in", "true"), 1);
    EXPECT_EQ(number("feedthrough-3", "int8_in", "-128"), -128);
    const fmu_model text = read_fmu(spec_of_fmu("feedthrough-2", {{"text", "12 apples"}}));
    EXPECT_THAT(text.starts.at(0).texts, ElementsAre("12 apples"));
    const fmu_model input = read_fmu(spec_of_fmu("workshop-2", {{"shaft.tau", "500 N.m"}}));
    EXPECT_DOUBLE_EQ(input.layout.description.inputs[0].start, 500) << "outside everything is SI";
    EXPECT_DOUBLE_EQ(input.starts[0].numbers[0], 0.5) << "inside it is the FMU's";
}

TEST(fmu_settings, refuse_what_does_not_fit) {
    const auto refused = [](const std::string& fmu, const std::string& name, const std::string& value) {
        return message_of(spec_of_fmu(fmu, {{name, value}}));
    };
    EXPECT_THAT(refused("workshop-2", "phi_0", "1"),
                AllOf(StartsWith("s.yaml:7:5: subsystem 'a' (fmu workshop-2.fmu): variable 'phi_0' does not exist."),
                      HasSubstr("Did you mean 'phi0'?")));
    EXPECT_THAT(refused("workshop-2", "shaft.phi", "1"), HasSubstr("is an output that the FMU calculates"));
    EXPECT_THAT(refused("workshop-2", "time", "1"), HasSubstr("is the time"));
    EXPECT_THAT(refused("workshop-2", "phi0", "1 kg"), HasSubstr("unit 'kg' does not fit 'rad'"));
    EXPECT_THAT(refused("workshop-2", "phi0", "much"), HasSubstr("'much' is not a number"));
    EXPECT_THAT(refused("feedthrough-2", "enumeration_in", "hihg"),
                AllOf(HasSubstr("Items: low, middle, high."), HasSubstr("Did you mean 'high'?")));
    EXPECT_THAT(refused("feedthrough-3", "int8_in", "128"), HasSubstr("whole number from -128 to 127 (Int8)"));
    EXPECT_THAT(refused("feedthrough-3", "int8_in", "1.5"), HasSubstr("must be a whole number"));
    EXPECT_THAT(refused("feedthrough-3", "boolean_in", "yes"), HasSubstr("Allowed: true, false."));
    EXPECT_THAT(refused("binary-3", "data", "00"), HasSubstr("is of type Binary, which cannot be set"));
}

TEST(fmu_report, shows_conversions_and_proposals) {
    std::string text;
    for (const auto& [label, value] : fmu_report(spec_of_fmu("workshop-2", {{"phi0", "0.5 rev"}})))
        text += label + ": " + value + "\n";
    EXPECT_THAT(text, HasSubstr("interface: co-simulation (model-exchange is offered, too)"));
    EXPECT_THAT(text, HasSubstr("1 kN.m = 1000 N.m (shaft.tau)"));
    EXPECT_THAT(text, HasSubstr("set phi0: 0.5 rev = 180 deg"));
    EXPECT_THAT(text, HasSubstr("possible port: shaft: {kind: rotation"));
}

}  // namespace
}  // namespace mdpcosim
