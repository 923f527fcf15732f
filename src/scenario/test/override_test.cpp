#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/read.hpp"

namespace mdpcosim {
namespace {

using testing::HasSubstr;

const char* const base = R"(let: {c: 1 kN/m}
time: {end: 1, step: 0.1}
subsystems:
  a: {model: m, set: {mass: 1}, solver: rk4}
  b: {model: m}
  data: {file: run.csv}
connections:
  k: {law: spring, between: [a.x, b.x], stiffness: $c}
)";

scenario with(const std::string& address, const std::string& value) {
    return read_scenario_text(base, "f.yaml", {}, {{address, value, "--set " + address + "=" + value}});
}

std::string refusal(const std::string& address, const std::string& value) {
    try {
        with(address, value);
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

TEST(override, let_values) {
    const scenario s = with("c", "2 N/m");
    EXPECT_EQ(s.connections[0].parameters[0].values[0].value, "2 N/m");
    EXPECT_EQ(s.let[0].values[0].value, "2 N/m");
}

TEST(override, parameters_of_subsystems) {
    EXPECT_EQ(with("a.mass", "3 kg").subsystems[0].set.at(0).values[0].value, "3 kg");
    const scenario s = with("b.x0", "[1, 2 mm]");
    ASSERT_EQ(s.subsystems[1].set.size(), 1U);
    EXPECT_TRUE(s.subsystems[1].set[0].list);
    EXPECT_EQ(s.subsystems[1].set[0].values.at(1).value, "2 mm");
    EXPECT_EQ(to_string(s.subsystems[1].set[0].where), "--set b.x0=[1, 2 mm]");
    EXPECT_EQ(with("b.x0", "$c").subsystems[1].set[0].values[0].value, "1 kN/m");
}

TEST(override, solvers_and_their_options) {
    const solver_spec a = with("a.solver.rtol", "1e-8").subsystems[0].solver;
    EXPECT_EQ(a.name.value, "rk4");
    EXPECT_EQ(a.options.at(0).name, "rtol");
    EXPECT_EQ(a.options.at(0).values[0].value, "1e-8");
    EXPECT_EQ(with("b.solver.rtol", "1e-8").subsystems[1].solver.options.size(), 1U);
    EXPECT_EQ(with("a.solver", "euler").subsystems[0].solver.name.value, "euler");
    EXPECT_EQ(with("a.solver.name", "euler").subsystems[0].solver.name.value, "euler");
    EXPECT_EQ(with("a.input-degree", "1").subsystems[0].input_degree, 1);
}

TEST(override, recorded_data) {
    EXPECT_EQ(with("data.interpolation", "cubic").subsystems[2].file.interpolation.value, "cubic");
    EXPECT_EQ(with("data.outside", "repeat").subsystems[2].file.outside.value, "repeat");
    EXPECT_EQ(with("data.file", "other.csv").subsystems[2].file.path, "other.csv");
    EXPECT_THAT(refusal("data.speed", "1"), HasSubstr("--set data.speed=1: subsystem 'data': 'speed' cannot be set"));
}

TEST(override, connections) {
    EXPECT_EQ(with("k.stiffness", "5").connections[0].parameters.at(0).values[0].value, "5");
    EXPECT_EQ(with("k.length", "5 mm").connections[0].parameters.size(), 2U);
    EXPECT_EQ(with("k.extrapolation", "poly-1").connections[0].extrapolation.name.value, "poly-1");
    EXPECT_EQ(with("k.law", "stop").connections[0].law.value, "stop");
}

TEST(override, sections) {
    EXPECT_EQ(with("time.end", "20 ms").time.end, 0.02);
    EXPECT_EQ(with("time.start", "0.5").time.start, 0.5);
    EXPECT_EQ(with("record.every", "1 ms").record.every, 1e-3);
    EXPECT_EQ(with("record.only", "[a.*, k.u]").record.only.size(), 2U);
    EXPECT_EQ(with("method", "explicit").method.value, "explicit");
    EXPECT_EQ(with("extrapolation", "poly-2").extrapolation.name.value, "poly-2");
    EXPECT_EQ(with("extrapolation", "{degree: 0, a: [1]}").extrapolation.degree, 0);
}

TEST(override, mistakes_name_the_option) {
    EXPECT_EQ(refusal("aa.mass", "1"),
              "--set aa.mass=1: object 'aa' does not exist. The scenario has: a, b, data, k. Did you mean 'a'?");
    EXPECT_EQ(refusal("cc", "1"),
              "--set cc=1: let value 'cc' does not exist. 'let' has: c. Did you mean 'c'? A parameter is written "
              "'object.parameter=value'.");
    EXPECT_THAT(refusal("time.stop", "1"),
                HasSubstr("--set time.stop=1: time: key 'stop' is not known. Known keys: start, end, step."));
    EXPECT_THAT(refusal("time.end", ""), HasSubstr("--set time.end=: time: 'end': the value is missing."));
    EXPECT_THAT(refusal("time.end", "x"), HasSubstr("--set time.end=x: time: end: 'x' is not a number."));
    EXPECT_THAT(refusal("a.mass", "[1"), HasSubstr("--set a.mass=[1: this is not valid YAML"));
    EXPECT_THAT(refusal("a.mass", "{b: 1}"),
                HasSubstr("--set a.mass={b: 1}: subsystem 'a': set: 'mass': a number or text is expected"));
    EXPECT_THAT(refusal("a.mass", "{b: 1, b: 2}"), HasSubstr("key 'b' stands twice."));
    EXPECT_THAT(refusal("a.", "1"), HasSubstr("--set a.=1: a name is missing"));
    EXPECT_THAT(refusal(".a", "1"), HasSubstr("--set .a=1: object '' does not exist."));
    EXPECT_THAT(refusal("k.between", "a.x"), HasSubstr("connection 'k': 'between' is a list of ports"));
}

TEST(override, sections_of_another_shape_are_not_touched) {
    const auto refused = [](const std::string& text, const std::string& address) -> std::string {
        try {
            read_scenario_text(text, "f.yaml", {}, {{address, "1", "--set " + address + "=1"}});
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "accepted";
    };
    EXPECT_THAT(refused("time: 5\nsubsystems: {a: {model: m}}\n", "time.end"),
                HasSubstr("f.yaml:1:7: time: a map is expected"));
    EXPECT_THAT(refused("time: {end: 1, step: 1}\nsubsystems: [a]\n", "a.m"), HasSubstr("object 'a' does not exist"));
    EXPECT_THAT(refused("time: {end: 1, step: 1}\nsubsystems: {a: m}\n", "a.m"),
                HasSubstr("f.yaml:2:17: subsystem 'a': a map is expected"));
}

}  // namespace
}  // namespace mdpcosim
