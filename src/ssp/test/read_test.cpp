// What the files say, and what is wrong with those that say nothing sensible: places, names, the way out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ssp/read.hpp"
#include "support/fuzz.hpp"

namespace mdpcosim::ssp {
namespace {

using testing::AllOf;
using testing::HasSubstr;

template <class Read>
std::string problem_of(const Read& read) {
    try {
        read();
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "nothing is wrong";
}

std::string nested() { return test::corpus("ssp/test/corpus/description").front(); }

std::string changed(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

std::string problem_of_description(const std::string& text) {
    return problem_of([&] { parse_description(text, "s.ssd"); });
}

TEST(ssp_read, a_description_with_any_prefix) {
    const description d = parse_description(nested(), "s.ssd");
    EXPECT_EQ(d.name, "nested");
    EXPECT_EQ(d.version, "1.0");
    EXPECT_EQ(d.stop, 2.0);
    EXPECT_EQ(d.annotation.text, "method: explicit");
    EXPECT_EQ(d.annotation.where.line, 86);
    ASSERT_EQ(d.system.elements.size(), 5u);
    const element& inner = d.system.elements[0];
    EXPECT_EQ(inner.name, "inner");
    EXPECT_EQ(inner.id, "s1");
    ASSERT_EQ(inner.elements.size(), 1u);
    EXPECT_EQ(inner.elements[0].uri, "resources/mass.fmu");
    EXPECT_EQ(inner.elements[0].implementation, "CoSimulation");
    EXPECT_EQ(inner.elements[0].annotation.text, "solver: erk-5");
    EXPECT_EQ(inner.elements[0].connectors[1].kind, kind::output);
    EXPECT_EQ(d.system.elements[3].dictionary, "bus");
    EXPECT_TRUE(inner.connections[1].keep_number);
    EXPECT_EQ(d.system.connections[0].transformation.factor, -1);
    EXPECT_EQ(d.system.connections[0].transformation.offset, 2);
    ASSERT_EQ(d.system.dictionaries.size(), 1u);
    EXPECT_EQ((*d.system.dictionaries[0].entries.content)[0].unit->factor, 0.001);
}

TEST(ssp_read, units_hold_in_their_file) {
    const description d = parse_description(nested(), "s.ssd");
    const unit& kN = *d.system.connectors[0].unit;
    EXPECT_TRUE(kN.defined);
    EXPECT_EQ(kN.factor, 1000);
    EXPECT_EQ(kN.exponents, (std::array<int, 8>{1, 1, -2, 0, 0, 0, 0, 0}));
    const parameter& mass = d.system.bindings[0].values.content->parameters[0];
    EXPECT_EQ(mass.unit->factor, 0.001);
    EXPECT_EQ(mass.unit->exponents[0], 1);
    const parameter_set other = parse_parameters(
        R"(<ParameterSet><Parameters><Parameter name="m"><Real value="1" unit="kN"/></Parameter></Parameters></ParameterSet>)",
        "x.ssv");
    EXPECT_FALSE(other.parameters[0].unit->defined);
}

TEST(ssp_read, values_of_every_type) {
    const parameter_set set = parse_parameters(test::corpus("ssp/test/corpus/parameters").front(), "all.ssv");
    ASSERT_EQ(set.parameters.size(), 6u);
    EXPECT_EQ(set.parameters[1].values, (std::vector<std::string>{"1", "2", "3", "4"}));
    EXPECT_TRUE(set.parameters[1].array);
    EXPECT_EQ(set.parameters[2].type, value_type::integer);
    EXPECT_EQ(set.parameters[3].values, (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(set.parameters[4].values.front(), "eco");
    EXPECT_EQ(parse_description(nested(), "s.ssd").system.bindings[0].values.content->parameters[3].values.front(),
              "a & b");
}

TEST(ssp_read, mistakes_have_their_place) {
    const std::string text = nested();
    EXPECT_THAT(problem_of_description("no xml"), AllOf(HasSubstr("s.ssd:1:1:"), HasSubstr("not well-formed")));
    EXPECT_THAT(problem_of_description("<!DOCTYPE a><a/>"), HasSubstr("DTD"));
    EXPECT_THAT(problem_of_description("<ssd:Other/>"),
                HasSubstr("s.ssd:1:2: the root is <ssd:Other>; <SystemStructureDescription> is expected."));
    EXPECT_THAT(problem_of_description(changed(text, "<x:System name=\"all\"", "<x:System name=\"\"")),
                HasSubstr("s.ssd:5:4: <x:System> has no attribute 'name'."));
    EXPECT_THAT(problem_of_description(
                    changed(text, "kind=\"input\"><c:Real unit=\"kN\"", "kind=\"inputs\"><c:Real unit=\"kN\"")),
                HasSubstr("s.ssd:7:8: connector 'drive': kind 'inputs' is not known."));
    EXPECT_THAT(problem_of_description(changed(text, "name=\"stiff\"", "name=\"drive\"")),
                HasSubstr("s.ssd:8:8: connector 'drive' stands twice."));
    EXPECT_THAT(problem_of_description(changed(text, "offset=\"2\"", "offset=\"two\"")),
                HasSubstr("\"two\", which is not a number"));
    EXPECT_THAT(
        problem_of_description(changed(text, "suppressUnitConversion=\"true\"", "suppressUnitConversion=\"yes\"")),
        HasSubstr("allowed are true and false"));
    EXPECT_THAT(problem_of_description(changed(text, "name=\"gauge\"", "name=\"again\"")),
                HasSubstr("element 'again' stands twice"));
    EXPECT_THAT(problem_of_description(changed(text, "implementation=\"CoSimulation\"", "implementation=\"Both\"")),
                AllOf(HasSubstr("implementation 'Both' is not known"), HasSubstr("ScheduledExecution")));
    EXPECT_THAT(problem_of_description(changed(text, "m=\"1\" factor=\"1e-3\"", "m=\"1\" factor=\"0\"")),
                HasSubstr("unit 'mm' has the factor 0"));
    EXPECT_THAT(
        problem_of([] {
            parse_mapping(
                R"(<ParameterMapping><MappingEntry source="a" target="t"/><MappingEntry source="b" target="t"/></ParameterMapping>)",
                "m.ssm");
        }),
        HasSubstr("m.ssm:1:57: mapping: 't' is the target of two entries."));
    std::string deep = "<SystemStructureDescription>";
    for (int i = 0; i < 100; ++i) deep += "<System name=\"s\"><Elements>";
    for (int i = 0; i < 100; ++i) deep += "</Elements></System>";
    EXPECT_THAT(problem_of_description(deep + "</SystemStructureDescription>"), HasSubstr("nested more than 64 deep"));
}

TEST(ssp_read, paths_stay_where_they_belong) {
    const location where{"s.ssd", 3, 4};
    EXPECT_EQ(resolve("resources/my%20engine.fmu", "folder/s.ssd", where, "x"), "folder/resources/my engine.fmu");
    EXPECT_EQ(resolve("../x.fmu", "folder/inner/s.ssd", where, "x"), "folder/x.fmu");
    EXPECT_EQ(resolve("file:///opt/x.fmu", "folder/s.ssd", where, "x"), "/opt/x.fmu");
    EXPECT_THAT(problem_of([&] { resolve("https://a.org/x.fmu", "s.ssd", where, "component 'x'"); }),
                AllOf(HasSubstr("s.ssd:3:4: component 'x': 'https://a.org/x.fmu' lies elsewhere"),
                      HasSubstr("on this machine")));
    EXPECT_THAT(problem_of([&] { resolve("", "s.ssd", where, "component 'x'"); }),
                HasSubstr("name of a file is missing"));
}

}  // namespace
}  // namespace mdpcosim::ssp
