#include <gtest/gtest.h>

#include "scenario/read.hpp"

// What write_scenario() writes reads back as the same scenario, and is written again as the same text.

namespace mdpcosim {
namespace {

std::string written_again(const scenario& s) {
    return write_scenario(read_scenario_text(write_scenario(s), "again.yaml"));
}

scenario read(const std::string& text) { return read_scenario_text(text, "f.yaml", "/data"); }

TEST(write_scenario, a_full_scenario_is_written_again_as_the_same_text) {
    const scenario s = read(R"y(
let: {c: 1 kN/m, word: rk4}
time: {start: -1 ms, end: 2 s, step: 20 us}
method: explicit
extrapolation: {degree: 1, a: [1.5, -0.5], b: [0, 0.1], continuous: true}
subsystems:
  a-1:
    model: chain
    set: {n: 3, x0: [1 mm, -2e-3, 3 mm], left: fixed}
    solver: {step: 1 us}
    input-degree: 2
  "null":
    ode:
      parameters: {L: 1 m}
      states: {phi: 60 deg, w: 0}
      inputs: {T: 0 N.m}
      equations: {phi: w, w: "-$c/L*sin(phi) + T"}
      outputs: {x: L*sin(phi), E: {value: w^2, unit: 1/s2}}
      events: [{when: phi - 1, set: {w: -w, phi: "if(w > 0, 1, -1)"}}, {when: w, direction: falling, set: {w: 0}}]
      contacts: {stop: {gap: 2 - phi, impulse: {w: -1}}}
    ports: {shaft: {kind: rotation, causality: takes-load, angle: phi, torque: T}}
    solver: {name: rk4, step: 10 us}
  cycle: {file: "a #1: run.csv", units: {"demand: x": N.m, "*": m}, interpolation: hold, outside: repeat}
connections:
  k: {law: spring, between: [a-1.right, cycle.x], stiffness: $c, length: [1, 2], extrapolation: poly-2}
signals:
  - "-a-1.y + 2 kN/m*cycle.x - 3 kN - 0.1 -> null.T"
  - {connect: "3 -> null.u", name: demand, extrapolation: {degree: 0, a: [1]}}
record: {every: 1 ms, only: [a-1.*, "*.u"]}
)y");
    const std::string first = write_scenario(s);
    EXPECT_EQ(written_again(s), first);
    const scenario t = read_scenario_text(first, "again.yaml");
    EXPECT_EQ(t.time.start, s.time.start);
    EXPECT_EQ(t.time.step, s.time.step);
    EXPECT_EQ(t.extrapolation.a, s.extrapolation.a);
    EXPECT_EQ(t.extrapolation.b, s.extrapolation.b);
    EXPECT_TRUE(t.extrapolation.continuous);
    ASSERT_EQ(t.subsystems.size(), 3U);
    EXPECT_EQ(t.subsystems[0].set[1].values.size(), 3U);
    EXPECT_EQ(t.subsystems[0].solver.options.at(0).values[0].value, "1 us");
    EXPECT_EQ(t.subsystems[1].name, "null");
    EXPECT_EQ(t.subsystems[1].ode.equations[1].values[0].value, "-$c/L*sin(phi) + T");
    EXPECT_EQ(t.subsystems[1].ode.events[0].set[1].values[0].value, "if(w > 0, 1, -1)");
    EXPECT_EQ(t.subsystems[1].ode.lets, s.subsystems[1].ode.lets);
    EXPECT_EQ(t.subsystems[2].file.path, "/data/a #1: run.csv");
    EXPECT_EQ(t.subsystems[2].file.units[0].name, "demand: x");
    EXPECT_EQ(t.connections[0].parameters[1].values.size(), 2U);
    ASSERT_EQ(t.signals.size(), 2U);
    EXPECT_EQ(t.signals[0].terms[0].gain, -1);
    EXPECT_EQ(t.signals[0].terms[1].gain, 2000);
    EXPECT_EQ(t.signals[0].terms[1].gain_unit, "N/m");
    EXPECT_EQ(t.signals[0].offset, -3000.1);
    EXPECT_EQ(t.signals[0].offset_unit, "N");
    EXPECT_EQ(t.signals[1].name, "demand");
    EXPECT_EQ(t.signals[1].extrapolation.degree, 0);
    EXPECT_EQ(t.record.only[1].value, "*.u");
}

class text_round_trip : public testing::TestWithParam<std::string> {};

TEST_P(text_round_trip, is_kept_as_value_key_and_list_item) {
    scenario s = read(
        "time: {end: 1, step: 1}\nsubsystems: {a: {model: m}}\nconnections: {k: {law: spring, between: [a.x, a.y]}}\n");
    const text value{GetParam(), {}};
    s.let.push_back({"word", {}, {value}, false});
    s.subsystems[0].source = value;
    s.subsystems[0].set.push_back({"p", {}, {value}, false});
    s.subsystems[0].set.push_back({"list", {}, {value, value}, true});
    s.subsystems[0].set.push_back({GetParam() + "!", {}, {value}, false});
    s.subsystems[0].solver.name = value;
    s.connections[0].law = value;
    s.connections[0].between = {value, value};
    s.connections[0].parameters.push_back({"q", {}, {value}, false});
    s.method = value;
    s.record.only = {value};
    const scenario t = read_scenario_text(write_scenario(s), "again.yaml");
    EXPECT_EQ(t.let[0].values[0].value, GetParam());
    EXPECT_EQ(t.subsystems[0].source.value, GetParam());
    EXPECT_EQ(t.subsystems[0].set[0].values[0].value, GetParam());
    EXPECT_EQ(t.subsystems[0].set[1].values.at(1).value, GetParam());
    EXPECT_EQ(t.subsystems[0].set[2].name, GetParam() + "!");
    EXPECT_EQ(t.subsystems[0].solver.name.value, GetParam());
    EXPECT_EQ(t.connections[0].law.value, GetParam());
    EXPECT_EQ(t.connections[0].between[1].value, GetParam());
    EXPECT_EQ(t.connections[0].parameters[0].values[0].value, GetParam());
    EXPECT_EQ(t.method.value, GetParam());
    EXPECT_EQ(t.record.only[0].value, GetParam());
    EXPECT_EQ(written_again(s), write_scenario(s));
}

INSTANTIATE_TEST_SUITE_P(texts, text_round_trip,
                         testing::Values("plain", "two words", "a: b", "a:b", "#x", "a #b", "a, b", "[a]", "{a}", "-x",
                                         "- x", "-", "--", "---", "-3.5", "- 3", "-.5 m", "?x", "? x", "=x", "!x", "&x",
                                         "*x", "*", "%x", "@x", "`x", "|", ">", "|x", "it's", "say \"x\"", "'", "\"",
                                         "back\\slash", "~", "null", "Null", "NULL", "true", "no", "1e-3", "0x10",
                                         "1_000", "...", " lead", "trail ", "tab\tx", "\tx", "two\nlines", "end\n",
                                         "\r", "é", "Wärme", "日本", "x > 0", "a ? b : c", "<<", "\x01", "\x7f"));

TEST(write_scenario, numbers_keep_every_digit) {
    for (const double number : {0.1, 1.0 / 3, 1e-300, 123456789.123456789, 2.2250738585072014e-308, 1e22, 0.1 + 0.2}) {
        scenario s = read("time: {end: 1, step: 1}\nsubsystems: {a: {model: m}}\nsignals: [2*a.y -> a.u]\n");
        s.time = {-number, 10 + number, number};
        s.time.step = 0.5 * (s.time.end - s.time.start) / 3;
        s.signals[0].terms[0].gain = -number;
        s.signals[0].offset = number;
        s.extrapolation.degree = 0;
        s.extrapolation.a = {1 - number, number};
        s.extrapolation.b = {0, -number};
        s.record.every = number;
        const scenario t = read_scenario_text(write_scenario(s), "again.yaml");
        EXPECT_EQ(t.time.start, s.time.start);
        EXPECT_EQ(t.time.end, s.time.end);
        EXPECT_EQ(t.time.step, s.time.step);
        EXPECT_EQ(t.signals[0].terms[0].gain, -number);
        EXPECT_EQ(t.signals[0].offset, number);
        EXPECT_EQ(t.extrapolation.a, s.extrapolation.a);
        EXPECT_EQ(t.extrapolation.b, s.extrapolation.b);
        EXPECT_EQ(t.record.every, number);
    }
}

}  // namespace
}  // namespace mdpcosim
