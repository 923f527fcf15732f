#include "fmi/description.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/error.hpp"
#include "fmi/test/descriptions.hpp"

namespace mdpcosim::fmi {
namespace {

using testing::HasSubstr;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

std::string told(const std::vector<violation>& violations) {
    std::string text;
    for (const violation& v : violations)
        text += v.file + ":" + std::to_string(v.line) + ": " + v.message + (v.fatal ? " (fatal)\n" : "\n");
    return text;
}

TEST(description, reads_1) {
    std::vector<violation> violations;
    const description d = read_description(good_1, "", "p.fmu", &violations);
    EXPECT_EQ(told(violations), "");
    EXPECT_EQ(d.version, version::v1);
    EXPECT_EQ(name(d.version), "1.0");
    EXPECT_EQ(d.token, "{1234}");
    EXPECT_EQ(d.state_count(), 2u);
    EXPECT_EQ(d.event_indicator_count, 3u);
    EXPECT_FALSE(d.model_exchange);
    ASSERT_TRUE(d.co_simulation);
    EXPECT_EQ(d.co_simulation->model_identifier, "pump");
    EXPECT_TRUE(d.co_simulation->variable_step && d.co_simulation->input_derivatives);
    EXPECT_TRUE(d.co_simulation->once_per_process);
    EXPECT_EQ(d.co_simulation->output_derivatives, 2);
    EXPECT_FALSE(d.co_simulation->state || d.co_simulation->serialise || d.co_simulation->directional_derivatives);
    EXPECT_FALSE(d.co_simulation->initialisation_mode);
    EXPECT_EQ(d.experiment.start, 0.5);
    EXPECT_EQ(d.experiment.tolerance, 1e-6);

    ASSERT_EQ(d.variables.size(), 14u);
    EXPECT_EQ(d.find("J")->causality, causality::parameter);
    EXPECT_EQ(d.find("J")->variability, variability::fixed);
    EXPECT_EQ(d.find("i")->causality, causality::calculated_parameter);
    EXPECT_EQ(d.find("guess")->causality, causality::calculated_parameter);
    EXPECT_EQ(d.find("mode")->causality, causality::parameter);
    EXPECT_EQ(d.find("pi")->variability, variability::constant);
    const variable& w = *d.find("w");
    EXPECT_EQ(w.causality, causality::output);
    EXPECT_EQ(w.unit, "rad/s");  // from its type
    EXPECT_EQ(w.nominal, 100);
    EXPECT_EQ(w.initial, initial::exact);
    EXPECT_EQ(w.line, 19);
    EXPECT_EQ(d.find("x")->initial, initial::approx);
    EXPECT_EQ(d.find("p")->initial, initial::none);
    EXPECT_EQ(d.find("speed")->alias_of, d.index_of("w"));
    EXPECT_EQ(d.find("back")->alias_of, -1);  // another value: that with the other sign
    EXPECT_TRUE(d.find("back")->negated);
    EXPECT_EQ(d.find("on")->variability, variability::discrete);
    EXPECT_EQ(d.find("mode")->type, base_type::enumeration);
    EXPECT_EQ(d.find_type("Mode")->items[1].value, 2);  // counted from one
    EXPECT_EQ(d.find("count")->min, 0);
    EXPECT_EQ(d.find("file")->start[0], "a b & c");
    EXPECT_EQ(d.find_unit("rad/s")->display_units[0].name, "rpm");
    EXPECT_EQ(d.find_unit("K")->display_units[0].offset, -273.15);

    ASSERT_EQ(d.outputs.size(), 4u);
    EXPECT_EQ(d.outputs[0].dependencies, std::vector<int>{});
    EXPECT_EQ(d.outputs[1].dependencies, std::nullopt);  // nothing is said
    EXPECT_EQ(d.outputs[2].dependencies, (std::vector<int>{d.index_of("torque"), d.index_of("on")}));
}

TEST(description, of_1_without_implementation_is_for_model_exchange) {
    const std::size_t from = good_1.find("  <Implementation>"), to = good_1.find("</fmiModelDescription>");
    const description d = read_description(std::string(good_1).erase(from, to - from), "", "p.fmu");
    EXPECT_FALSE(d.co_simulation);
    ASSERT_TRUE(d.model_exchange);
    EXPECT_TRUE(d.model_exchange->completed_step);
}

TEST(description, reads_2) {
    std::vector<violation> violations;
    const description d = read_description(good_2, "", "p.fmu", &violations);
    EXPECT_EQ(told(violations), "");
    EXPECT_EQ(d.version, version::v2);
    EXPECT_EQ(d.token, "{4711}");
    EXPECT_TRUE(d.structured_names);
    EXPECT_EQ(d.event_indicator_count, 2u);
    ASSERT_TRUE(d.co_simulation && d.model_exchange);
    EXPECT_EQ(d.co_simulation->model_identifier, "pendulum_cs");
    EXPECT_TRUE(d.co_simulation->variable_step);
    EXPECT_TRUE(d.co_simulation->input_derivatives);
    EXPECT_TRUE(d.co_simulation->once_per_process);
    EXPECT_TRUE(d.co_simulation->directional_derivatives);
    EXPECT_EQ(d.co_simulation->output_derivatives, 2);
    EXPECT_FALSE(d.co_simulation->state);
    EXPECT_TRUE(d.model_exchange->state);
    EXPECT_TRUE(d.model_exchange->completed_step);
    EXPECT_EQ(d.experiment.start, 0.5);
    EXPECT_EQ(d.experiment.stop, 10);
    EXPECT_EQ(d.experiment.tolerance, 1e-6);
    EXPECT_EQ(d.experiment.step, 0.01);
    EXPECT_EQ(d.log_categories, std::vector<std::string>{"logAll"});

    ASSERT_EQ(d.variables.size(), 9u);
    const variable& phi = *d.find("phi");
    EXPECT_EQ(phi.unit, "rad");  // from its type
    EXPECT_EQ(phi.display_unit, "deg");
    EXPECT_EQ(phi.min, -100);
    EXPECT_EQ(phi.nominal, 2);
    EXPECT_EQ(phi.initial, initial::exact);
    EXPECT_EQ(phi.start, std::vector<std::string>{"0.1"});
    EXPECT_EQ(phi.line, 18);
    EXPECT_EQ(d.find("w")->derivative_of, d.index_of("phi"));
    EXPECT_EQ(d.find("der(w)")->derivative_of, d.index_of("w"));
    EXPECT_EQ(d.find("der(w)")->initial, initial::calculated);
    EXPECT_EQ(d.find("torque")->max, 10);
    EXPECT_EQ(d.find("torque")->description, "on the joint");
    EXPECT_EQ(d.find("torque")->initial, initial::none);
    EXPECT_EQ(d.find("mode")->type, base_type::enumeration);
    EXPECT_EQ(d.find("mode")->initial, initial::exact);
    EXPECT_EQ(d.find("count")->type, base_type::int32);
    EXPECT_EQ(d.find("file")->start[0], "a b & c");
    EXPECT_EQ(d.find("angle")->alias_of, d.index_of("phi"));
    EXPECT_EQ(d.find("mode")->alias_of, -1);  // another type, so another set of references
    EXPECT_EQ(d.find("psi"), nullptr);
    EXPECT_EQ(d.index_of("psi"), -1);

    EXPECT_EQ(d.find_type("Mode")->items[1].value, 5);
    EXPECT_EQ(d.find_unit("rad")->rad, 1);
    EXPECT_EQ(d.find_unit("rad")->display_units[0].factor, 57.295779513082323);
    EXPECT_EQ(d.find_unit("degC")->offset, 273.15);
    EXPECT_EQ(d.find_unit("rad/s")->s, -1);

    ASSERT_EQ(d.outputs.size(), 2u);
    EXPECT_EQ(d.outputs[0].dependencies, std::vector<int>{});
    EXPECT_EQ(d.outputs[1].dependencies, std::vector<int>{1});
    EXPECT_EQ(d.derivatives[1].dependencies, std::nullopt);
    EXPECT_EQ(d.initial_unknowns[0].dependencies, (std::vector<int>{0, 3}));
}

TEST(description, reads_3_with_terminals) {
    std::vector<violation> violations;
    const description d = read_description(good_3, good_terminals, "p.fmu", &violations);
    EXPECT_EQ(told(violations), "");
    EXPECT_EQ(d.version, version::v3);
    EXPECT_EQ(d.token, "{0815}");
    EXPECT_TRUE(d.co_simulation->event_mode);
    EXPECT_TRUE(d.co_simulation->intermediate_update);
    EXPECT_TRUE(d.co_simulation->early_return);
    EXPECT_TRUE(d.co_simulation->state);
    EXPECT_TRUE(d.co_simulation->serialise);
    EXPECT_EQ(d.co_simulation->fixed_step, 1e-3);
    EXPECT_TRUE(d.model_exchange->completed_step);
    EXPECT_TRUE(d.model_exchange->directional_derivatives);

    const variable& x = *d.find("x");
    EXPECT_EQ(x.element_count(), 3u);
    EXPECT_EQ(x.dimensions[0].parameter, 10u);
    EXPECT_EQ(x.start, (std::vector<std::string>{"1", "2", "3"}));
    EXPECT_EQ(x.unit, "m");
    EXPECT_EQ(d.find("A")->element_count(), 6u);
    EXPECT_EQ(d.find("n")->variability, variability::fixed);
    EXPECT_EQ(d.find("der(x)")->derivative_of, d.index_of("x"));
    const variable& alias = *d.find("length");
    EXPECT_EQ(alias.alias_of, d.index_of("x"));
    EXPECT_EQ(alias.reference, x.reference);
    EXPECT_EQ(alias.display_unit, "mm");
    EXPECT_EQ(d.find("u")->type, base_type::float32);
    EXPECT_TRUE(d.find("u")->intermediate_update);
    EXPECT_EQ(d.find("small")->variability, variability::discrete);
    EXPECT_EQ(d.find("texts")->start, (std::vector<std::string>{"one two", "three"}));
    EXPECT_EQ(d.find("flags")->start.size(), 2u);
    EXPECT_EQ(d.find("blob")->type, base_type::binary);
    EXPECT_EQ(d.find("tick")->type, base_type::clock);
    EXPECT_EQ(d.outputs[0].dependencies, (std::vector<int>{d.index_of("u"), d.index_of("x")}));
    EXPECT_EQ(d.event_indicator_count, 4u);

    ASSERT_EQ(d.terminals.size(), 1u);
    EXPECT_EQ(d.terminals[0].kind, "translational");
    EXPECT_EQ(d.terminals[0].members[0].variable, d.index_of("length"));
    EXPECT_EQ(d.terminals[0].members[1].kind, "inflow");
    EXPECT_EQ(d.terminals[0].parts[0].members[0].variable, d.index_of("z"));
}

struct spoiled {
    const std::string& good;
    std::string from, to;
    std::string what;  ///< part of "file:line: text"
    bool fatal = false;
};

void PrintTo(const spoiled& s, std::ostream* out) { *out << s.to; }

class violations_of : public testing::TestWithParam<spoiled> {};

TEST_P(violations_of, are_told_with_their_line) {
    const std::string xml = replaced(GetParam().good, GetParam().from, GetParam().to);
    std::vector<violation> violations;
    read_description(xml, "", "p.fmu", &violations);
    EXPECT_THAT(told(violations), HasSubstr(GetParam().what));
    bool fatal = false;
    for (const violation& v : violations) fatal = fatal || v.fatal;
    EXPECT_EQ(fatal, GetParam().fatal) << told(violations);
    if (!fatal) {
        EXPECT_NO_THROW(read_description(xml, "", "p.fmu"));
        return;
    }
    try {
        read_description(xml, "", "p.fmu");
        FAIL() << "no exception";
    } catch (const user_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("FMU 'p.fmu': modelDescription.xml"));
    }
}

const spoiled spoiled_1[] = {
    {good_1, R"(guid="{1234}")", "", "xml:2: <fmiModelDescription> has no attribute 'guid'", true},
    {good_1, R"(modelIdentifier="pump")", "", "has no attribute 'modelIdentifier'", true},
    {good_1, R"(fmiVersion="1.0")", R"(fmiVersion="1.5")", "it is read as 1.0"},
    {good_1, R"(numberOfContinuousStates="2")", R"(numberOfContinuousStates="-2")",
     "numberOfContinuousStates=\"-2\", which is not a whole number"},
    {good_1, R"(unit="K")", R"(unit="rad/s")", "xml:6: unit 'rad/s' is defined twice"},
    {good_1, R"(displayUnit="rpm" gain)", R"(displayUnit="1/min" gain)", "unit 'rad/s' has no display unit 'rpm'"},
    {good_1, "<IntegerType", "<WordType", "xml:11: type 'Count' has no known base type"},
    {good_1, R"(declaredType="Speed")", R"(declaredType="Sped")", "xml:19: variable 'w': type 'Sped' is not defined"},
    {good_1, R"(name="torque")", R"(name="J")", "xml:24: the name 'J' is taken by the variable in line 16"},
    {good_1, R"(valueReference="6")", R"(valueReference="six")", "variable 'torque' has no usable valueReference",
     true},
    {good_1, R"(causality="input")", R"(causality="local")",
     "xml:24: variable 'torque' has causality=\"local\". Allowed are: internal, input, output, none.", true},
    {good_1, R"(variability="discrete")", R"(variability="fixed")",
     "variability=\"fixed\". Allowed are: continuous, constant, parameter, discrete.", true},
    {good_1, R"(alias="alias")", R"(alias="other")", "xml:21: variable 'speed' has alias=\"other\"", true},
    {good_1, R"(variability="discrete"><Boolean/>)", R"(variability="continuous"><Boolean/>)", "cannot be continuous"},
    {good_1, R"(causality="input")", R"(causality="input" variability="constant")",
     "causality input and variability constant do not go"},
    {good_1, "<Boolean/>", "<Bool/>", "xml:25: variable 'on' has no known type", true},
    {good_1, "<Name>on</Name>", "<Name>of</Name>", "xml:22: output 'p' depends on 'of', which is no input"},
    {good_1, "<Name>on</Name>", "<Name>w</Name>", "output 'p' depends on 'w', which is no input"},
    {good_1, R"(start="0.1")", R"(start="a tenth")", "xml:16: variable 'J': start value 'a tenth' is not a number"},
    {good_1, R"(fixed="false")", R"(fixed="no")", "has fixed=\"no\""},
    {good_1, R"(name="file" valueReference="0")", R"(name="file" valueReference="0" alias="negatedAlias")",
     "variable 'file' is a text and cannot be a negated alias", true},
};
INSTANTIATE_TEST_SUITE_P(version_1, violations_of, testing::ValuesIn(spoiled_1));

TEST(description, of_an_fmu_coupled_to_a_tool_says_the_way_out) {
    const std::size_t from = good_1.find("<CoSimulation_StandAlone>"), to = good_1.find("  </Implementation>");
    const std::string xml = std::string(good_1).replace(
        from, to - from,
        "<CoSimulation_Tool><Capabilities/><Model entryPoint=\"start.sh\" type=\"x/y\"/></CoSimulation_Tool>\n");
    try {
        read_description(xml, "", "p.fmu");
        FAIL() << "no exception";
    } catch (const user_error& error) {
        EXPECT_THAT(error.what(),
                    testing::StartsWith("FMU 'p.fmu': modelDescription.xml, line 33: it needs the tool that made "
                                        "it (a tool) to run beside it"));
        EXPECT_THAT(error.what(), HasSubstr("entry point 'start.sh'"));
        EXPECT_THAT(error.what(), HasSubstr("Export it as stand-alone co-simulation"));
    }
}

const spoiled spoiled_2[] = {
    {good_2, R"(fmiVersion="2.0")", R"(fmiVersion="1.0")", "has no attribute 'modelIdentifier'", true},
    {good_2, R"(fmiVersion="2.0")", R"(fmiVersion="0.9")", "Supported are 1.0, 2.0 and 3.0", true},
    {good_2, R"(fmiVersion="2.0")", R"(fmiVersion="4.0")", "fmiVersion=\"4.0\" is not supported", true},
    {good_2, R"(fmiVersion="2.0")", R"(fmiVersion="3.0-beta.2")", "not a released version", true},
    {good_2, R"(fmiVersion="2.0")", "", "xml:2: <fmiModelDescription> has no attribute 'fmiVersion'", true},
    {good_2, R"(fmiVersion="2.0")", R"(fmiVersion="2.7")", "it is read as 2.0"},
    {good_2, R"(guid="{4711}")", "", "has no attribute 'guid'", true},
    {good_2, R"(modelIdentifier="pendulum_cs")", "", "xml:4: <CoSimulation> has no attribute 'modelIdentifier'", true},
    {good_2, R"(canGetAndSetFMUstate="true")", R"(canGetAndSetFMUstate="yes")",
     "xml:3: <ModelExchange> has canGetAndSetFMUstate=\"yes\""},
    {good_2, "fmiModelDescription ", "fmiModelDescriptio ", "not well-formed", true},
    {good_2, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<!DOCTYPE a [<!ENTITY b \"bbbb\">]>",
     "xml:1: it has a document type", true},
    {good_2, R"(encoding="UTF-8")", R"(encoding="ISO-8859-1")", "not written in UTF-8"},
    {good_2, "<DisplayUnit name=\"deg\"", "<DisplayUnit name=\"degree\"", "unit 'rad' has no display unit 'deg'"},
    {good_2, R"(unit="rad/s")", R"(unit="rpm")", "xml:19: variable 'w': unit 'rpm' is not defined"},
    {good_2, R"(<Unit name="degC">)", R"(<Unit name="rad">)", "xml:8: unit 'rad' is defined twice"},
    {good_2, R"(K="1")", R"(K="one")", "xml:8: <BaseUnit> has K=\"one\", which is not a whole number"},
    {good_2, R"(declaredType="Angle")", R"(declaredType="Angel")", "type 'Angel' is not defined"},
    {good_2, R"(declaredType="Angle")", R"(declaredType="Mode")", "declared type 'Mode' is of type Enumeration"},
    {good_2, R"(declaredType="Mode" )", "", "xml:22: enumeration 'mode' names no declaredType"},
    {good_2, R"(value="5")", R"(value="1")", "gives the value 1 to two of its items"},
    {good_2, R"(name="torque")", R"(name="phi")", "xml:21: the name 'phi' is taken by the variable in line 18"},
    {good_2, R"(valueReference="2")", R"(valueReference="-2")", "variable 'der(w)' has no usable valueReference", true},
    {good_2, R"(valueReference="2")", R"(valueReference="4294967296")", "'der(w)' has no usable valueReference", true},
    {good_2, R"(valueReference="2")", "", "'der(w)' has no usable valueReference", true},
    {good_2, R"(name="torque" )", "", "xml:21: <ScalarVariable> has no attribute 'name'", true},
    {good_2, R"(causality="input")", R"(causality="inout")", "has causality=\"inout\". Allowed are: parameter, ", true},
    {good_2, R"(causality="input")", R"(causality="structuralParameter")", "has causality=\"structuralParameter\"",
     true},
    {good_2, R"(variability="fixed")", R"(variability="continuous")",
     "causality parameter and variability continuous do not go"},
    {good_2, R"(causality="input")", R"(causality="input" variability="fixed")",
     "causality input and variability fixed do not go"},
    {good_2, R"(variability="discrete"><Integer/>)", R"(variability="continuous"><Integer/>)", "cannot be continuous"},
    {good_2, R"(causality="input")", R"(causality="input" initial="exact")",
     "initial=\"exact\" is not allowed for causality input"},
    {good_2, R"(variability="fixed">)", R"(variability="fixed" initial="calculated">)",
     "initial=\"calculated\" is not allowed"},
    {good_2, R"(<Real start="0" max="10"/>)", "<Real/>",
     "xml:21: variable 'torque' (input, continuous) has no start value"},
    {good_2, R"(start="5")", "", "xml:22: variable 'mode' (parameter, fixed) has no start value"},
    {good_2, R"(<Real derivative="2"/>)", R"(<Real derivative="2" start="1"/>)",
     "'der(w)' is calculated and must not have a start"},
    {good_2, R"(start="0" max="10")", R"(start="11" max="10")", "start value 11 lies outside its limits"},
    {good_2, R"(start="0" max="10")", R"(start="zero" max="10")", "start value 'zero' is not a number"},
    {good_2, R"(start="5")", R"(start="5.5")", "start value '5.5' is not a whole number"},
    {good_2, R"(start="true")", R"(start="maybe")", "'maybe' is not true or false"},
    {good_2, R"(min="-100")", R"(min="-100" max="-200")", "min -100 is above max -200"},
    {good_2, R"(nominal="2")", R"(nominal="0")", "nominal value is zero"},
    {good_2, R"(<Integer/>)", "<Complex/>", "variable 'count' has no known type", true},
    {good_2, R"(derivative="1")", R"(derivative="77")",
     "xml:19: variable 'w' is the derivative of variable 77, but there are 9"},
    {good_2, R"(derivative="1")", R"(derivative="0")", "variable 'w' is the derivative of variable 0"},
    {good_2, R"(derivative="2")", R"(derivative="7")",
     "'der(w)' is the derivative of 'file', but one of them is no continuous"},
    {good_2, R"(derivative="2")", R"(derivative="3")", "'der(w)' is its own derivative"},
    {good_2, R"(derivative="1")", "", "derivatives: variable 'w' is not declared as the derivative of a state"},
    {good_2, R"(<Unknown index="1" dependencies=""/>)", "", "output 'phi' is missing among the outputs"},
    {good_2, R"(<Unknown index="1" dependencies=""/>)", R"(<Unknown index="4"/>)",
     "xml:30: outputs: variable 'torque' has causality input"},
    {good_2, R"(<Unknown index="1" dependencies=""/>)", R"(<Unknown index="2"/>)",
     "outputs: variable 'w' is listed twice"},
    {good_2, R"(<Unknown index="1" dependencies=""/>)", R"(<Unknown index="10"/>)",
     "<Outputs>: there is no variable 10 (there are 9)", true},
    {good_2, R"(<Unknown index="1" dependencies=""/>)", R"(<Unknown index="0"/>)", "<Outputs>: there is no variable 0",
     true},
    {good_2, R"(dependencies="1 4")", R"(dependencies="1 44")",
     "xml:38: <InitialUnknowns>: 'der(w)' depends on variable 44"},
    {good_2, R"(<Unknown index="3" dependencies="1 4"/>)", "",
     "variable 'der(w)' is missing among the initial unknowns"},
    {good_2, R"(valueReference="3" causality="input")", R"(valueReference="1" causality="input")",
     "have one value but the units"},
    {good_2, R"(name="on" valueReference="0" causality="input" variability="discrete"><Boolean start="true"/>)",
     R"(name="on" valueReference="3" causality="input"><Real start="0"/>)",
     "'torque' and 'on' have one value, and both can be set"},
    {good_2, R"(tolerance="1e-6")", R"(tolerance="0")", "tolerance and stepSize must be above zero"},
    {good_2, R"(stopTime="10")", R"(stopTime="0")", "starts after its stopTime"},
};
INSTANTIATE_TEST_SUITE_P(version_2, violations_of, testing::ValuesIn(spoiled_2));

const spoiled spoiled_3[] = {
    {good_3, R"(valueReference="14" causality="input")", R"(valueReference="13" causality="input")",
     "xml:21: variable 'u' has the valueReference 13 of variable 'A'"},
    {good_3, R"(<Dimension start="4"/>)", R"(<Dimension start="4294967296"/>)", "xml:26: variable 'z' has more than",
     true},
    {good_3, R"(<Dimension start="4"/>)", R"(<Dimension start="4294967295"/><Dimension start="4294967295"/>)",
     "has more than", true},
    {good_3, R"(<Dimension start="4"/>)", R"(<Dimension/>)", "a <Dimension> has either start or valueReference", true},
    {good_3, R"(<Dimension start="4"/>)", R"(<Dimension valueReference="14"/>)",
     "valueReference 14 is no structural parameter"},
    {good_3, R"(start="1 2 3")", R"(start="1 2")", "xml:15: variable 'x' has 3 elements, but 2 start values"},
    {good_3, R"(derivative="11")", R"(derivative="99")", "derivative of valueReference 99, which does not exist"},
    {good_3, R"(<Output valueReference="15")", R"(<Output valueReference="99")",
     "<Output>: there is no variable with valueReference 99", true},
    {good_3, R"(dependencies="14 11")", R"(dependencies="14 99")", "<Output>: 'small' depends on valueReference 99"},
    {good_3, R"(fixedInternalStepSize="1e-3")", R"(fixedInternalStepSize="-1")",
     "fixedInternalStepSize must be above zero"},
    {good_3, R"(<Float64 name="time" valueReference="20" causality="independent"/>)",
     R"(<Foat64 name="time" valueReference="20"/>)", "<Foat64> is not a type of variable"},
    {good_3, R"(name="z" valueReference="19">)", R"(name="z" valueReference="19" causality="independent">)",
     "'z' and 'time' are both independent"},
    {good_3, R"(<InitialUnknown valueReference="12"/>)", "", "'der(x)' is missing among the initial unknowns"},
    {good_3, R"(unit="m" min)", R"(unit="cm" min)", "unit 'cm' is not defined"},
};
INSTANTIATE_TEST_SUITE_P(version_3, violations_of, testing::ValuesIn(spoiled_3));

TEST(description, without_the_interfaces_we_run) {
    std::string xml = replaced(good_3, "<ModelExchange ", "<ScheduledExecution ");
    xml.erase(xml.find("<CoSimulation"), xml.find("<ScheduledExecution") - xml.find("<CoSimulation"));
    try {
        read_description(xml, "", "p.fmu");
        FAIL() << "no exception";
    } catch (const user_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("scheduled execution only"));
    }
}

TEST(description, broken_terminals_leave_the_fmu_usable) {
    std::vector<violation> violations;
    const std::string terminals = replaced(good_terminals, R"(variableName="u")", R"(variableName="uu")");
    const description d = read_description(good_3, terminals, "p.fmu", &violations);
    EXPECT_EQ(told(violations),
              "terminalsAndIcons/terminalsAndIcons.xml:6: terminal 'flange': variable 'uu' does not exist.\n");
    EXPECT_EQ(d.terminals[0].members.size(), 1u);
    EXPECT_NO_THROW(read_description(good_3, "<fmiTerminalsAndIcons>", "p.fmu"));
    EXPECT_NO_THROW(read_description(good_3, "<!DOCTYPE x><fmiTerminalsAndIcons/>", "p.fmu"));
    std::string deep = "<fmiTerminalsAndIcons><Terminals>";
    for (int i = 0; i < 100000; ++i) deep += "<Terminal name='t' matchingRule='bus'>";
    for (int i = 0; i < 100000; ++i) deep += "</Terminal>";
    violations.clear();
    read_description(good_3, deep + "</Terminals></fmiTerminalsAndIcons>", "p.fmu", &violations);
    EXPECT_THAT(told(violations), HasSubstr("nested more than 32 deep"));
}

TEST(description, bytes_that_are_no_text) {
    std::vector<violation> violations;
    const std::string xml = replaced(good_2, "on the joint", "St\xfctze \xc3\xa9");
    const description d = read_description(xml, "", "p.fmu", &violations);
    EXPECT_EQ(told(violations), "modelDescription.xml:21: a byte that is not UTF-8 is read as '?'.\n");
    EXPECT_EQ(d.find("torque")->description, "St?tze \xc3\xa9");
}

TEST(description, entities_are_not_expanded) {
    std::string bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE b [<!ENTITY a0 \"ha\">";
    for (int i = 1; i < 40; ++i) {
        const std::string before = "&a" + std::to_string(i - 1) + ";";
        bomb += "<!ENTITY a" + std::to_string(i) + " \"" + before + before + "\">";
    }
    bomb += "]><fmiModelDescription fmiVersion=\"2.0\" modelName=\"&a39;\"/>";
    std::vector<violation> violations;
    const description d = read_description(bomb, "", "p.fmu", &violations);
    EXPECT_THAT(told(violations), HasSubstr("document type definition"));
    EXPECT_EQ(d.model_name, "");
}

TEST(description, what_is_no_description) {
    for (const std::string text :
         {"", "   ", "no xml", "<a/>", "<fmiModelDescription/>", "\0\0", "<?xml version='1.0'?>"}) {
        std::vector<violation> violations;
        read_description(text, "", "p.fmu", &violations);
        ASSERT_FALSE(violations.empty()) << text;
        EXPECT_TRUE(violations[0].fatal) << text;
        EXPECT_THROW(read_description(text, "", "p.fmu"), user_error) << text;
    }
}

TEST(description, clocks_and_what_they_let_change) {
    const std::string xml = R"(<fmiModelDescription fmiVersion="3.0" modelName="m" instantiationToken="g">
<CoSimulation modelIdentifier="m" hasEventMode="true"/><ModelVariables>
<Clock name="a" valueReference="1" causality="input" intervalVariability="constant" intervalDecimal="0.25"/>
<Clock name="b" valueReference="2" causality="input" intervalVariability="constant" intervalCounter="3" shiftCounter="1" resolution="1000"/>
<Clock name="c" valueReference="3" causality="input" intervalVariability="countdown"/>
<Clock name="d" valueReference="4" causality="output" intervalVariability="triggered"/>
<Clock name="e" valueReference="5" causality="input" intervalVariability="constant"/>
<Clock name="f" valueReference="6" causality="input" intervalVariability="sometimes"/>
<Float64 name="u" valueReference="7" causality="input" variability="discrete" start="0" clocks="1 2 99 7"/>
</ModelVariables><ModelStructure/></fmiModelDescription>)";
    std::vector<violation> violations;
    const description d = read_description(xml, "", "p.fmu", &violations);
    ASSERT_EQ(d.clocks.size(), 6u);
    EXPECT_EQ(d.clocks[0].interval, 0.25);
    EXPECT_EQ(d.clocks[0].shift, 0);
    EXPECT_DOUBLE_EQ(d.clocks[1].interval, 0.003);
    EXPECT_DOUBLE_EQ(d.clocks[1].shift, 0.001);
    EXPECT_EQ(d.clocks[2].interval_kind, clock_interval::countdown);
    for (const std::size_t i : {3, 4, 5}) EXPECT_EQ(d.clocks[i].interval_kind, clock_interval::triggered) << i;
    ASSERT_EQ(d.clocked.size(), 1u);
    EXPECT_EQ(d.clocked[0].variable, 6);
    EXPECT_EQ(d.clocked[0].clocks, (std::vector{0, 1}));
    EXPECT_THAT(told(violations),
                testing::AllOf(HasSubstr("clock 'e' has interval 0 s"), HasSubstr("'sometimes'"),
                               HasSubstr("'u' names the clock 99"), HasSubstr("'u' names the clock 7")));
}

/// What takes little room in an archive and much in memory.
TEST(description, bombs_are_refused) {
    const auto all = [](const std::string& in_variables, const std::string& behind) {
        return "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"g\"><CoSimulation "
               "modelIdentifier=\"m\"/><ModelVariables>" +
               in_variables + "</ModelVariables>" + behind + "</fmiModelDescription>";
    };
    const auto repeated = [](const std::string& text, std::size_t count) {
        std::string made;
        made.reserve(text.size() * count);
        for (std::size_t i = 0; i < count; ++i) made += text;
        return made;
    };
    const auto refused = [](const std::string& xml) {
        std::vector<violation> violations;
        read_description(xml, "", "p.fmu", &violations);
        return told(violations).substr(0, 2000);
    };
    const std::string list = "<Float64 name=\"x\" valueReference=\"1\" causality=\"parameter\" start=\"";
    EXPECT_THAT(refused(all("", repeated("<a/>", 11'100'000))),
                HasSubstr("it would take 754 MB of memory; at most 750"));
    EXPECT_THAT(refused(all(repeated("<a/>", 2'000'001), "")),
                HasSubstr("it has more than 2000000 variables. (fatal)"));
    EXPECT_THAT(refused(all(list + repeated("1 ", 8'000'001) + "\"/>", "")),
                HasSubstr("<Float64>: with it the file has more than 8000000 words in lists"));
    EXPECT_THAT(
        refused(all(list + repeated("1 ", 80'000) + "\">" + repeated("<Alias name=\"y\"/>", 100) + "</Float64>", "")),
        HasSubstr("<Alias>: with it the file has more than 8000000 words in lists"));
}

TEST(description, of_very_many_violations_some_are_told) {
    std::string variables;
    for (int i = 0; i < 3000; ++i) variables += "<Unknown/>";
    std::vector<violation> violations;
    read_description(
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"g\"><CoSimulation "
        "modelIdentifier=\"m\"/><ModelVariables>" +
            variables + "</ModelVariables><ModelStructure/></fmiModelDescription>",
        "", "p.fmu", &violations);
    ASSERT_EQ(violations.size(), 1001u);
    EXPECT_EQ(violations.back().message, "more than 1000 violations: the rest is not told.");
}

TEST(description, names_are_found_among_many) {
    std::string variables, outputs;
    const int count = 20000;
    for (int i = 0; i < count; ++i) {
        variables += "<ScalarVariable name=\"v" + std::to_string(i) + "\" valueReference=\"" + std::to_string(i) +
                     "\" causality=\"output\"><Real/></ScalarVariable>\n";
        outputs += "<Unknown index=\"" + std::to_string(i + 1) + "\"/>";
    }
    const std::string xml =
        "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\" guid=\"g\"><CoSimulation modelIdentifier=\"m\"/>"
        "<ModelVariables>" +
        variables + "</ModelVariables><ModelStructure><Outputs>" + outputs + "</Outputs><InitialUnknowns>" + outputs +
        "</InitialUnknowns></ModelStructure></fmiModelDescription>";
    std::vector<violation> violations;
    const description d = read_description(xml, "", "p.fmu", &violations);
    EXPECT_EQ(told(violations), "");
    for (const int i : {0, 1, 9999, 19999}) EXPECT_EQ(d.index_of("v" + std::to_string(i)), i);
    EXPECT_EQ(d.index_of("v20000"), -1);
    EXPECT_EQ(d.variables[7].line, 8);
}

}  // namespace
}  // namespace mdpcosim::fmi
