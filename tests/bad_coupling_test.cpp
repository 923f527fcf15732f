// Wrong scenarios: connections, signals, extrapolations, algebraic loops.
#include "bad_input.hpp"

namespace mdpcosim {
namespace {

class bad_connection : public testing::TestWithParam<bad_scenario> {};
class bad_signal : public testing::TestWithParam<bad_scenario> {};

TEST_P(bad_connection, is_refused) { expect_refused(GetParam()); }
TEST_P(bad_signal, is_refused) { expect_refused(GetParam()); }

const std::string system_ = R"(time: {end: 1 s, step: 1 ms}
subsystems:
  a: {model: mass-spring-damper, solver: rk4}
  b: {model: mass-spring-damper, solver: rk4}
  motor: {model: inertia, solver: rk4}
  load: {model: inertia, solver: rk4}
  lag: {model: lag-1, solver: rk4}
  wall:
    ode: {inputs: {q: 0 m, v: 0 m/s}, outputs: {F: {value: 10*q, unit: N}}}
    ports: {face: {kind: translation, causality: takes-motion, position: q, velocity: v, force: F}}
    solver: rk4
  place:
    ode: {inputs: {F: 0 N}, outputs: {x: {value: 0.1*F, unit: m}}}
    ports: {end: {kind: translation, position: x, force: F}}
    solver: rk4
)";

bad_scenario connection(const std::string& name, const std::string& entry, std::vector<std::string> message) {
    return {name, system_ + "connections:\n  " + entry + "\n", std::move(message)};
}

bad_scenario signal(const std::string& name, const std::string& entry, std::vector<std::string> message) {
    return {name, system_ + "signals:\n  - " + entry + "\n", std::move(message)};
}

INSTANTIATE_TEST_SUITE_P(
    entries, bad_connection,
    testing::Values(
        connection("nothing", "|>k:\n", {"connection 'k': a map is expected", "not nothing"}),
        connection("list", "k: |>[a.mass, b.mass]", {"connection 'k': a map is expected", "not a list"}),
        connection("no_law", "k: |>{between: [a.mass, b.mass]}", {"connection 'k': key 'law' is missing."}),
        connection("misspelt_between", "k: {law: spring, |>betwen: [a.mass, b.mass]}",
                   {"connection 'k': key 'betwen' is not known. Did you mean 'between'?"}),
        connection("between_text", "k: {law: spring, between: |>a.mass}",
                   {"connection 'k': 'between' is a list of ports, [first.port, second.port], not a number or text."}),
        connection("between_map", "k: {law: spring, between: [a.mass, |>{b: mass}]}",
                   {"connection 'k': 'between': a number or text is expected, not a map."}),
        connection("law_unknown", "k: {law: |>sprng, between: [a.mass, b.mass]}",
                   {"connection 'k': law 'sprng' does not exist. Laws: ", "spring-damper", "Did you mean 'spring'?"}),
        connection("law_list", "k: {law: |>[spring], between: [a.mass, b.mass]}",
                   {"connection 'k': 'law': a number or text is expected, not a list."}),
        connection("same_name", "|>a: {law: spring, between: [a.mass, b.mass], stiffness: 1}",
                   {"connection 'a': a subsystem has the same name. Names must differ."}),
        connection("bad_name", "|>a.b: {law: spring, between: [a.mass, b.mass]}",
                   {"connection 'a.b': a name holds letters"}),
        connection("one_port", "|>k: {law: spring, between: [a.mass], stiffness: 1}",
                   {"connection 'k': law 'spring' joins two ports; 'between' has 1."}),
        connection("three_ports", "|>k: {law: spring, between: [a.mass, b.mass, a.mass], stiffness: 1}",
                   {"connection 'k': law 'spring' joins two ports; 'between' has 3."}),
        connection("no_port", "|>k: {law: spring, between: [], stiffness: 1}", {"'between' has 0."}),
        connection("itself", "k: {law: spring, between: [a.mass, |>a.mass], stiffness: 1}",
                   {"connection 'k': port 'a.mass' is joined to itself; a connection joins different ports."}),
        connection("no_address", "k: {law: spring, between: [|>a, b.mass], stiffness: 1}",
                   {"connection 'k': 'a' is not an address. Write 'subsystem.port'."}),
        connection("unknown_subsystem", "k: {law: spring, between: [a.mass, |>motr.shaft], stiffness: 1}",
                   {"connection 'k': subsystem 'motr' does not exist. The scenario has: a, b, motor, load",
                    "Did you mean 'motor'?"}),
        connection("unknown_port", "k: {law: spring, between: [a.mass, |>motor.shat], stiffness: 1}",
                   {"connection 'k': port 'motor.shat' does not exist. Subsystem 'motor' has: shaft, end. Did you mean "
                    "'motor.shaft'?"}),
        connection("kinds_differ", "k: {law: spring, between: [a.mass, |>motor.shaft], stiffness: 1}",
                   {"connection 'k': port 'a.mass' is of kind translation, but port 'motor.shaft' is of kind rotation; "
                    "all must be of one kind."}),
        connection("causality", "k: {law: spring, between: [a.mass, |>wall.face], stiffness: 1}",
                   {"connection 'k': port 'wall.face' takes position and gives force, but law 'spring' needs a port "
                    "that gives position and takes force."}),
        connection("no_velocity", "k: {law: spring-damper, between: [a.mass, |>place.end], stiffness: 1, damping: 1}",
                   {"connection 'k': law 'spring-damper' needs the velocity of port 'place.end', which gives none."})),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    parameters, bad_connection,
    testing::Values(
        connection("unknown", "k: {law: spring, between: [a.mass, b.mass], |>stifness: 1}",
                   {"connection 'k' (law spring): parameter 'stifness' does not exist. It has: stiffness, length. Did "
                    "you mean 'stiffness'?"}),
        connection("required", "|>k: {law: spring, between: [a.mass, b.mass]}",
                   {"connection 'k' (law spring): parameter 'stiffness' (spring constant, in N/m) is missing."}),
        connection("missing_value", "k:\n    law: spring\n    between: [a.mass, b.mass]\n    |>stiffness:\n",
                   {"connection 'k': 'stiffness': the value is missing."}),
        connection("negative", "k: {law: spring, between: [a.mass, b.mass], stiffness: |>-1}",
                   {"connection 'k' (law spring): parameter 'stiffness': '-1' must be zero or greater."}),
        connection("unit", "k: {law: spring, between: [a.mass, b.mass], stiffness: |>1 N.m/rad}",
                   {"parameter 'stiffness': in '1 N.m/rad' the unit 'N.m/rad' does not fit 'N/m'."}),
        connection("unit_of_the_kind", "k: {law: spring, between: [motor.shaft, load.shaft], stiffness: |>1 N/m}",
                   {"in '1 N/m' the unit 'N/m' does not fit 'N.m/rad'."}),
        connection("reciprocal", "k: {law: spring, between: [a.mass, b.mass], stiffness: |>1 m/N}",
                   {"the unit 'm/N' does not fit 'N/m'."}),
        connection("limits", "|>k: {law: stop, between: [a.mass, b.mass], stiffness: 1, lower: 2, upper: 1}",
                   {"connection 'k': the stop's lower limit 2 lies above its upper limit 1"}),
        connection("let", "k: {law: spring, between: [a.mass, b.mass], stiffness: |>$c}\nlet: {k1: 2}",
                   {"connection 'k': 'stiffness': let value 'c' does not exist. 'let' has: k1."})),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    extrapolation, bad_connection,
    testing::Values(
        connection("unknown", "k: {law: spring, between: [a.mass, b.mass], stiffness: 1, extrapolation: |>hermit-2}",
                   {"connection 'k': extrapolation 'hermit-2' does not exist.", "Did you mean 'hermite-2'?"}),
        connection("impossible", "k: {law: spring, between: [a.mass, b.mass], stiffness: 1, extrapolation: |>lin-2-7}",
                   {"connection 'k': extrapolation 'lin-2-7' does not exist: ", "Allowed: "}),
        connection("missing", "k:\n    law: spring\n    between: [a.mass, b.mass]\n    |>extrapolation:\n",
                   {"connection 'k': extrapolation: the value is missing."}),
        connection("list", "k: {law: spring, between: [a.mass, b.mass], extrapolation: |>[poly-1]}",
                   {"connection 'k': extrapolation: a number or text, or a map", "not a list"}),
        connection("no_degree", "k: {law: spring, between: [a.mass, b.mass], extrapolation: |>{a: [1]}}",
                   {"connection 'k': extrapolation: key 'degree' is missing."}),
        connection("no_a", "k: {law: spring, between: [a.mass, b.mass], extrapolation: |>{degree: 1}}",
                   {"connection 'k': extrapolation: key 'a' (a list of numbers) is missing."}),
        connection("degree",
                   "k: {law: spring, between: [a.mass, b.mass], stiffness: 1, extrapolation: |>{degree: 5, a: [1]}}",
                   {"connection 'k': own coefficients a, b fix the mean of degree 0, 1 or 2, not of degree 5."}),
        connection("sum",
                   "k: {law: spring, between: [a.mass, b.mass], stiffness: 1, extrapolation: |>{degree: 0, a: [1, 1]}}",
                   {"connection 'k': the coefficients a must add up to 1", "their sum is 2."}),
        connection("lengths",
                   "k: {law: spring, between: [a.mass, b.mass], stiffness: 1, extrapolation: |>{degree: 0, a: [1], b: "
                   "[1, 2]}}",
                   {"connection 'k': a has 1 coefficients and b has 2"}),
        connection(
            "continuous",
            "k: {law: spring, between: [a.mass, b.mass], extrapolation: {degree: 1, a: [1], continuous: |>maybe}}",
            {"continuous: 'maybe' is not allowed. Allowed: true, false, yes, no."}),
        connection("unknown_key",
                   "k: {law: spring, between: [a.mass, b.mass], extrapolation: {degree: 1, a: [1], |>contnuous: true}}",
                   {"extrapolation: key 'contnuous' is not known.", "Did you mean 'continuous'?"}),
        connection("rates_of_a_damper",
                   "k: {law: spring-damper, between: [a.mass, place.end], stiffness: 1, damping: 1, extrapolation: "
                   "|>hermite-2}",
                   {"connection 'k': extrapolation 'hermite-2' uses rates, but law 'spring-damper' needs velocities, "
                    "so that its "
                    "rate needs accelerations, and port 'place.end' gives none",
                    "for example 'lin-3-3-b0'."}),
        connection(
            "rates_of_a_stop",
            "k: {law: stop, between: [a.mass, b.mass], upper: 1, stiffness: 1, damping: 1, extrapolation: |>hermite-2}",
            {"connection 'k': extrapolation 'hermite-2' uses rates, but the rate of law 'stop' jumps at its corners",
             "for example 'lin-3-3-b0'."}),
        connection("rates_of_a_port",
                   "k: {law: spring, between: [a.mass, place.end], stiffness: 1, extrapolation: |>hermite-2}",
                   {"connection 'k': extrapolation 'hermite-2' uses rates, but "}),
        bad_scenario{
            "of_the_scenario",
            system_ +
                "extrapolation: |>polly-2\nconnections: {k: {law: spring, between: [a.mass, b.mass], stiffness: 1}}\n",
            {"scenario: extrapolation 'polly-2' does not exist.", "Did you mean 'poly-2'?"}},
        bad_scenario{"of_the_scenario_unused",
                     system_ + "extrapolation: |>polly-2\n",
                     {"scenario: extrapolation 'polly-2' does not exist.", "Did you mean 'poly-2'?"}}),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    entries, bad_signal,
    testing::Values(
        bad_scenario{"nothing", system_ + "signals:\n  |>-\n", {"signal: the value is missing."}},
        signal("list", "|>[a.mass.position, lag.u]",
               {"signal: a number or text, or a map ('key: value' entries), is expected, not a list."}),
        signal("unknown_key", "{connect: a.mass.position -> lag.u, |>nam: x}",
               {"key 'nam' is not known.", "Did you mean 'name'?"}),
        signal("no_arrow", "|>a.mass.position lag.u",
               {"signal 'a.mass.position lag.u': exactly one '->' is expected, as in 'a.y -> b.u'."}),
        signal("unknown_subsystem", "|>c.y -> lag.u",
               {"signal to 'lag.u': subsystem 'c' does not exist. The scenario has: a, b, motor"}),
        signal("unknown_target_subsystem", "|>a.mass.position -> lga.u",
               {"subsystem 'lga' does not exist.", "Did you mean 'lag'?"}),
        signal("unknown_output", "|>a.mass.postion -> lag.u",
               {"signal to 'lag.u': variable 'a.mass.postion' does not exist. Outputs of subsystem 'a': mass.position",
                "Did you mean 'a.mass.position'?"}),
        signal("unknown_input", "|>a.mass.position -> motor.torqe",
               {"variable 'motor.torqe' does not exist. Inputs of subsystem 'motor': ",
                "Did you mean 'motor.torque'?"}),
        signal("negative_element", "|>lag.y[-1] -> lag.u", {"variable 'lag.y[-1]' does not exist."}),
        signal("no_address", "|>y -> lag.u", {"signal to 'lag.u': 'y' is not an address. Write 'subsystem.output'."}),
        signal("input_as_source", "|>motor.torque -> lag.u",
               {"signal to 'lag.u': 'motor.torque' is an input, but an output is needed here. Outputs of subsystem "
                "'motor': "}),
        signal("port_input_as_source", "|>place.end.force -> lag.u",
               {"'place.end.force' is an input, but an output is needed here."}),
        signal("output_as_target", "|>lag.y -> a.mass.position",
               {"signal to 'a.mass.position': 'a.mass.position' is an output, but an input is needed here. Inputs of "
                "subsystem 'a': mass.force."}),
        signal("driven_twice", "a.mass.position -> lag.u\n  - |>b.mass.position -> lag.u",
               {"signal to 'lag.u': the input is driven already by the signal at line 17, column 5.",
                "('a.y + b.y -> lag.u')"}),
        signal("unit", "|>a.mass.position -> motor.torque",
               {"signal to 'motor.torque': 'a.mass.position' in 'm' does not fit the input's unit 'N.m'. Give a gain "
                "whose unit fits, as in '2 N/m*a.mass.position'."}),
        signal("gain_unit", "|>2 N*a.mass.velocity -> motor.torque",
               {"'2 N*a.mass.velocity' in '(N).(m/s)' does not fit the input's unit 'N.m'."}),
        signal("offset_unit", "|>2 N -> motor.torque",
               {"signal to 'motor.torque': the offset's unit 'N' does not fit the input's unit 'N.m'."}),
        signal("unknown_gain_unit", "|>2 NN*a.mass.position -> lag.u", {"in '2 NN' the unit 'NN' is not known"}),
        signal("rates", "{connect: a.mass.acceleration -> lag.u, extrapolation: |>hermite-1}",
               {"signal to 'lag.u': extrapolation 'hermite-1' uses rates, but 'a.mass.acceleration' gives no rate."}),
        signal("name_of_a_subsystem", "{connect: |>a.mass.position -> lag.u, name: a}",
               {"signal 'a': a subsystem has the same name. Names must differ."}),
        signal("name_of_a_signal",
               "{connect: a.mass.position -> lag.u, name: s}\n  - {connect: |>lag.y -> motor.torque, name: s}",
               {"signal 's': a signal has the same name."}),
        signal("let", "|>$k*a.mass.position -> lag.u\nlet: {kk: 2}",
               {"let value 'k' does not exist. 'let' has: kk. Did you mean 'kk'?"})),
    scenario_name);

// algebraic loops

/// Two inputs, two outputs: y1 depends on u1 at once, y2 on u2, z on a state only.
std::string through(const std::string& name) {
    return "  " + name +
           ":\n    ode: {states: {x: 0}, inputs: {u1: 0, u2: 0}, equations: {x: u1 + u2}, outputs: {y1: 2*u1 + x, y2: "
           "3*u2, z: x}}\n    solver: rk4\n";
}

const std::string three_ =
    "time: {end: 1, step: 0.1}\nsubsystems:\n" + through("a") + through("b") + through("c") + "signals:\n";

TEST(algebraic_loop, of_one_subsystem) {
    expect_message(message_of(three_ + "  - a.y1 -> a.u1\n"), "s.yaml:13:5: ",
                   {"signal to 'a.u1': algebraic loop a.y1 -> a.u1 -> a.y1.",
                    "for example a lag-1 subsystem, or have it solved at every macro point: 'iteration: newton'."});
}

TEST(algebraic_loop, of_two_subsystems_is_named_port_by_port) {
    expect_message(message_of(three_ + "  - a.y1 -> b.u1\n  - b.y1 -> a.u1\n"), "s.yaml:1",
                   {"algebraic loop", "a.y1 -> b.u1 -> b.y1", "b.y1 -> a.u1"});
}

TEST(algebraic_loop, of_three_subsystems_is_named_port_by_port) {
    const std::string message = message_of(three_ + "  - a.y1 -> b.u1\n  - b.y1 -> c.u2\n  - 0.5*c.y2 + 1 -> a.u1\n");
    expect_message(message, "s.yaml:1",
                   {"algebraic loop", "a.y1 -> b.u1 -> b.y1", "-> c.u2 -> c.y2", "Put a state into the loop"});
}

TEST(algebraic_loop, no_loop_at_the_level_of_variables_is_accepted) {
    EXPECT_EQ(message_of(three_ + "  - a.y1 -> b.u1\n  - b.y2 -> a.u1\n"), "accepted");  // y2 does not depend on u1
    EXPECT_EQ(message_of(three_ + "  - a.y1 -> b.u1\n  - b.z -> a.u1\n"), "accepted");   // a state lies between
    EXPECT_EQ(message_of(three_ + "  - a.y1 -> a.u2\n"), "accepted");                    // through itself, once
    EXPECT_EQ(message_of(three_ + "  - a.y1 -> b.u1\n  - b.y1 -> c.u1\n  - c.y2 -> a.u1\n"), "accepted");
}

TEST(algebraic_loop, through_a_connection) {
    // The velocity of this port follows the force at once, and the damper's force the velocity.
    const std::string text = R"(time: {end: 1, step: 0.1}
subsystems:
  a:
    ode: {states: {x: 0 m}, inputs: {F: 0 N}, equations: {x: 0.1*F}, outputs: {v: {value: 0.1*F, unit: m/s}}}
    ports: {end: {kind: translation, position: x, velocity: v, force: F}}
    solver: rk4
  b: {model: mass-spring-damper, solver: rk4}
connections:
  k: {law: spring-damper, between: [a.end, b.mass], stiffness: 1, damping: 1}
)";
    expect_message(message_of(text), "s.yaml:9:3: ", {"connection 'k': algebraic loop a.v -> a.F -> a.v."});
}

}  // namespace
}  // namespace mdpcosim
