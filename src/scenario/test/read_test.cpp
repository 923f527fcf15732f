#include "scenario/read.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mdpcosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

scenario read(const std::string& text) { return read_scenario_text(text, "f.yaml", "/data"); }

/// A scenario around one section, so that tests show what they are about.
scenario around(const std::string& section) {
    return read("time: {end: 1, step: 0.1}\nsubsystems: {a: {model: m}, b: {model: m}}\n" + section);
}

std::string refusal(const std::string& text) {
    try {
        read(text);
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

TEST(read_scenario, the_smallest) {
    const scenario s = read("time: {end: 2 s, step: 20 us}\nsubsystems: {a: {model: inertia}}\n");
    EXPECT_EQ(s.time.start, 0);
    EXPECT_EQ(s.time.end, 2);
    EXPECT_EQ(s.time.step, 2e-5);
    EXPECT_TRUE(s.method.empty());
    EXPECT_FALSE(s.extrapolation.given());
    EXPECT_FALSE(s.record.every);
    ASSERT_EQ(s.subsystems.size(), 1U);
    EXPECT_EQ(s.subsystems[0].name, "a");
    EXPECT_EQ(s.subsystems[0].source.value, "inertia");
    EXPECT_EQ(to_string(s.subsystems[0].where), "f.yaml:2:14");
    EXPECT_EQ(to_string(s.subsystems[0].source.where), "f.yaml:2:25");
}

TEST(read_scenario, a_model_with_everything) {
    const scenario s = read(R"(
time: {start: 1 ms, end: 1 min, step: 0.5}
method: explicit
subsystems:
  a-1:
    model: chain
    set: {n: 3, x0: [1 mm, 2 mm, 3 mm]}
    solver: {name: rk4, step: 1 us}
    input-degree: 2
    limit: 500 ms
)");
    const subsystem_spec& a = s.subsystems.at(0);
    EXPECT_EQ(s.time.start, 1e-3);
    EXPECT_EQ(s.time.end, 60);
    EXPECT_EQ(a.kind, subsystem_spec::source_kind::model);
    ASSERT_EQ(a.set.size(), 2U);
    EXPECT_FALSE(a.set[0].list);
    EXPECT_TRUE(a.set[1].list);
    EXPECT_EQ(a.set[1].values[2].value, "3 mm");
    EXPECT_EQ(a.solver.name.value, "rk4");
    EXPECT_EQ(a.solver.options.at(0).name, "step");
    EXPECT_EQ(a.input_degree, 2);
    EXPECT_EQ(a.limit, 0.5);
}

TEST(read_scenario, equations) {
    const scenario s = read(R"(
let: {g: 9.81 m/s2, word: rk4}
time: {end: 1, step: 0.1}
subsystems:
  p:
    ode:
      parameters: {L: 1 m}
      states: {phi: 60 deg, w: 0}
      inputs: {T: 0 N.m}
      equations: {phi: w, w: "$g/L*sin(phi) + T"}
      outputs: {x: L*sin(phi), E: {value: w^2, unit: 1/s2}}
      events: [{when: phi - 1, direction: rising, set: {w: -w}}]
    ports: {shaft: {kind: rotation, causality: takes-load, angle: phi, torque: T}}
    solver: $word
)");
    const ode_spec& ode = s.subsystems.at(0).ode;
    EXPECT_EQ(ode.states.at(0).values[0].value, "60 deg");
    EXPECT_EQ(ode.equations.at(1).values[0].value, "$g/L*sin(phi) + T");
    EXPECT_EQ(ode.outputs.at(0).expression.value, "L*sin(phi)");
    EXPECT_EQ(ode.outputs.at(1).unit.value, "1/s2");
    EXPECT_EQ(ode.events.at(0).direction.value, "rising");
    EXPECT_EQ(ode.events.at(0).set.at(0).values[0].value, "-w");
    EXPECT_EQ(ode.lets, (std::map<std::string, double>{{"g", 9.81}}));
    EXPECT_EQ(s.subsystems[0].solver.name.value, "rk4");
    const port_spec& port = s.subsystems[0].ports.at(0);
    EXPECT_EQ(port.kind.value, "rotation");
    EXPECT_EQ(port.causality.value, "takes-load");
    EXPECT_EQ(port.variables.at(1).name, "torque");
    EXPECT_EQ(port.variables.at(1).values[0].value, "T");
}

TEST(read_scenario, recorded_data) {
    const scenario s = read(
        "time: {end: 1, step: 1}\n"
        "subsystems: {c: {file: run.csv, units: {demand: N.m}, interpolation: cubic, outside: repeat}, d: {file: "
        "/x/y.csv}}\n");
    EXPECT_EQ(s.subsystems[0].file.path, "/data/run.csv");
    EXPECT_EQ(s.subsystems[0].file.units.at(0).values[0].value, "N.m");
    EXPECT_EQ(s.subsystems[0].file.interpolation.value, "cubic");
    EXPECT_EQ(s.subsystems[0].file.outside.value, "repeat");
    EXPECT_EQ(s.subsystems[1].file.path, "/x/y.csv");
}

TEST(read_scenario, connections_keep_their_parameters) {
    const scenario s = around(
        "let: {c: 1 kN/m}\nconnections: {k: {law: spring, between: [a.x, b.y], stiffness: $c, extrapolation: "
        "poly-2}}\n");
    const connection_spec& k = s.connections.at(0);
    EXPECT_EQ(k.law.value, "spring");
    EXPECT_EQ(k.between.at(1).value, "b.y");
    EXPECT_EQ(to_string(k.between.at(1).where), "f.yaml:4:47");
    EXPECT_EQ(k.parameters.at(0).name, "stiffness");
    EXPECT_EQ(k.parameters.at(0).values[0].value, "1 kN/m");
    EXPECT_EQ(k.extrapolation.name.value, "poly-2");
}

TEST(read_scenario, own_extrapolations) {
    const scenario s = around("extrapolation: {degree: 1, a: [1.5, -0.5], b: [0, 0.1], continuous: true}\n");
    EXPECT_EQ(s.extrapolation.degree, 1);
    EXPECT_THAT(s.extrapolation.a, ElementsAre(1.5, -0.5));
    EXPECT_THAT(s.extrapolation.b, ElementsAre(0, 0.1));
    EXPECT_TRUE(s.extrapolation.continuous);
    EXPECT_THAT(around("extrapolation: {degree: 0, a: 1}\n").extrapolation.b, ElementsAre(0));
}

TEST(read_scenario, record) {
    const scenario s = around("record: {every: 2 ms, only: [a.*, \"*.u\"]}\n");
    EXPECT_EQ(s.record.every, 2e-3);
    EXPECT_EQ(s.record.only.at(1).value, "*.u");
    EXPECT_EQ(around("record: {only: a.x}\n").record.only.at(0).value, "a.x");
}

// let

TEST(read_let, values_reach_every_place_and_earlier_values) {
    const scenario s = read(
        "let: {h: 1 ms, H: $h, n: rk4, rule: poly-1, law: spring, p: a.x, all: \"*\"}\n"
        "time: {end: 1, step: $H}\n"
        "extrapolation: $rule\n"
        "subsystems: {a: {model: m, set: {x0: [$h, 2]}, solver: $n}, b: {model: m}}\n"
        "connections: {k: {law: $law, between: [$p, b.x]}}\n"
        "record: {every: $h, only: $all}\n");
    EXPECT_EQ(s.time.step, 1e-3);
    EXPECT_EQ(s.extrapolation.name.value, "poly-1");
    EXPECT_EQ(s.subsystems[0].set.at(0).values.at(0).value, "1 ms");
    EXPECT_EQ(s.subsystems[0].solver.name.value, "rk4");
    EXPECT_EQ(s.connections[0].law.value, "spring");
    EXPECT_EQ(s.connections[0].between[0].value, "a.x");
    EXPECT_EQ(s.record.only.at(0).value, "*");
    EXPECT_EQ(s.let.at(1).values.at(0).value, "1 ms");
}

TEST(read_let, references_stand_alone_or_in_expressions) {
    const std::string head =
        "let: {c: 2, c-x: 5}\ntime: {end: 1, step: 1}\nsubsystems: {a: {ode: {states: {x: 0}, equations: {x: ";
    const auto equation = [&](const std::string& text) {
        return read(head + text + "}}}}\n").subsystems[0].ode.equations[0].values[0].value;
    };
    EXPECT_EQ(equation("$c"), "2");
    EXPECT_EQ(equation("$c*x"), "$c*x");
    EXPECT_EQ(equation("$c - x"), "$c - x");
    EXPECT_EQ(equation("$c-y"), "$c-y");
    EXPECT_EQ(equation("$c-x"), "5");
}

TEST(read_let, unknown_names_are_refused) {
    EXPECT_EQ(refusal("let: {stiff: 1}\ntime: {end: $stif, step: 1}\nsubsystems: {a: {model: m}}\n"),
              "f.yaml:2:13: time: 'end': let value 'stif' does not exist. 'let' has: stiff. Did you mean 'stiff'?");
    EXPECT_EQ(refusal("let: {a: $b, b: 1}\n"),
              "f.yaml:1:10: let value 'a': let value 'b' does not exist. 'let' has: none.");
    EXPECT_THAT(refusal("let: {a.b: 1}\n"), HasSubstr("f.yaml:1:7: let value 'a.b': a name holds letters"));
    EXPECT_THAT(refusal("let: {a: [1]}\n"),
                HasSubstr("f.yaml:1:10: let value 'a': a number or text is expected, not a list."));
}

}  // namespace
}  // namespace mdpcosim
