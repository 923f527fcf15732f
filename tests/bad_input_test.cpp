// Wrong scenarios: YAML, keys, types, values, subsystems. Couplings stand in bad_coupling_test.cpp, the command line in
// command_line_test.cpp.
#include "bad_input.hpp"

namespace mdpcosim {
namespace {

class bad_shape : public testing::TestWithParam<bad_scenario> {};
class bad_subsystem : public testing::TestWithParam<bad_scenario> {};
class bad_ode : public testing::TestWithParam<bad_scenario> {};

TEST_P(bad_shape, is_refused) { expect_refused(GetParam()); }
TEST_P(bad_subsystem, is_refused) { expect_refused(GetParam()); }
TEST_P(bad_ode, is_refused) { expect_refused(GetParam()); }

const std::string time_ = "time: {end: 1 s, step: 1 ms}\n";
const std::string a_ = "subsystems: {a: {model: mass-spring-damper, solver: rk4}}\n";

bad_scenario top(const std::string& name, const std::string& section, std::vector<std::string> message) {
    return {name, time_ + a_ + section + "\n", std::move(message)};
}

bad_scenario timed(const std::string& name, const std::string& section, std::vector<std::string> message) {
    return {name, section + "\n" + a_, std::move(message)};
}

bad_scenario subsystem(const std::string& name, const std::string& section, std::vector<std::string> message) {
    return {name, time_ + "subsystems:\n  " + section + "\n", std::move(message)};
}

/// An ode 'p' with one part changed.
bad_scenario ode(const std::string& name, const std::string& inside, const std::string& after, std::vector<std::string> message) {
    return {name, time_ + "subsystems:\n  p:\n    solver: rk4\n    ode: {" + inside + "}\n" + (after.empty() ? "" : "    " + after + "\n"),
            std::move(message)};
}

INSTANTIATE_TEST_SUITE_P(
    top, bad_shape,
    testing::Values(
        bad_scenario{"empty", "|>", {"a scenario is a map with 'time' and 'subsystems', not nothing."}},
        bad_scenario{"list", "|>- a\n- b\n", {"a scenario is a map", "not a list"}},
        bad_scenario{"text", "|>hello\n", {"a scenario is a map", "not a number or text"}},
        top("unknown_key", "|>tiem: 3", {"scenario: key 'tiem' is not known. Known keys: ", "record", "Did you mean 'time'?"}),
        bad_scenario{"no_time", "|>" + a_, {"scenario: key 'time' is missing."}},
        bad_scenario{"no_subsystems", "|>" + time_, {"scenario: key 'subsystems' is missing."}},
        bad_scenario{"duplicate_key", time_ + a_ + "|>time: {end: 1, step: 1}\n", {"key 'time' stands twice; the first is at line 1, column 1."}},
        top("version", "mdpcosim: |>2", {"this program reads version 1, not '2'"}),
        bad_scenario{"tab", "time:\n\tend|>: 1\n", {"not valid YAML", "tab", "blanks"}},
        bad_scenario{"unclosed_brace", "time: {end: 1\n|>", {"not valid YAML", "end of map flow not found"}},
        bad_scenario{"unclosed_quote", "time: \"|>x\n", {"time: a map is expected"}},
        bad_scenario{"binary", std::string("time: |>\0\0\x01", 11), {"this is no text: it holds the character 0x00."}},
        bad_scenario{"two_documents", time_ + a_ + "|>---\nx: 1\n", {"a second document begins here"}},
        bad_scenario{"colon_in_text", "a: b|>: c\n", {"not valid YAML", "quotes"}},
        top("let_list", "let: |>[1]", {"let: a map is expected ('key: value' entries), not a list."}),
        top("let_value_missing", "let:\n  |>c:\n", {"let value 'c': the value is missing."}),
        top("let_map", "let: {c: |>{d: 1}}", {"let value 'c': a number or text is expected, not a map."}),
        top("let_bad_name", "let: {|>2c: 1}", {"let value '2c': a name holds letters, digits"}),
        top("subsystems_twice", "|>subsystems: {}", {"key 'subsystems' stands twice", "line 2, column 1"}),
        bad_scenario{"subsystems_list", time_ + "subsystems: |>[a]\n", {"subsystems: a map is expected", "not a list"}},
        bad_scenario{"subsystems_empty", time_ + "subsystems: |>{}\n", {"at least one subsystem is needed"}},
        top("connections_list", "connections: |>[a]", {"connections: a map is expected", "not a list"}),
        top("signals_map", "signals: |>{a: b}", {"signals: a list of '- a.y -> b.u' is expected, not a map."}),
        top("method_list", "method: |>[explicit]", {"scenario: 'method': a number or text is expected, not a list."}),
        top("method_unknown", "method: |>explict", {"method 'explict' does not exist. Methods: explicit", "Did you mean 'explicit'?"}),
        top("method_missing", "|>method:\n", {"scenario: 'method': the value is missing."})),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    time, bad_shape,
    testing::Values(
        timed("number", "time: |>5", {"time: a map is expected ('key: value' entries), not a number or text."}),
        timed("unknown_key", "time: {end: 1, step: 1, |>stop: 2}", {"time: key 'stop' is not known. Known keys: start, end, step. Did you mean 'step'?"}),
        timed("misspelt_key", "time: {end: 1, |>stepp: 1}", {"time: key 'stepp' is not known. Did you mean 'step'?"}),
        timed("no_step", "time: |>{end: 1}", {"time: key 'step' is missing."}),
        timed("no_number", "time: {end: |>soon, step: 1}", {"time: end: 'soon' is not a number. Write a number, with or without a unit that fits 's'."}),
        timed("nan", "time: {end: |>nan, step: 1}", {"time: end: 'nan' is not a number."}),
        timed("infinite", "time: {end: |>inf, step: 1}", {"time: end: 'inf' is not a number."}),
        timed("too_large", "time: {end: |>1e308 h, step: 1}", {"time: end: '1e308 h' is too large"}),
        timed("unit", "time: {end: 1, step: |>1 m}", {"time: step: in '1 m' the unit 'm' does not fit 's'."}),
        timed("unknown_unit", "time: {end: 1, step: |>1 sek}", {"time: step: in '1 sek' the unit 'sek' is not known"}),
        timed("decimal_comma", "time:\n  end: |>1,5 s\n  step: 1", {"time: end: '1,5 s' is not a number. Write decimals with a point."}),
        timed("step_zero", "time: {end: 1, step: |>0}", {"time: step 0 s must be greater than zero."}),
        timed("step_negative", "time: {end: 1, step: |>-1 ms}", {"time: step -0.001 s must be greater than zero."}),
        timed("step_tiny", "time: {end: 1, step: |>1e-16}", {"time: step 1e-16 s is too small for 0 s to 1 s"}),
        timed("step_lost_in_rounding", "time: {start: 1e9, end: 1000000001, step: |>1 ns}", {"too small for 1000000000 s to 1000000001 s"}),
        timed("end_before_start", "time: {start: 2, end: |>1, step: 1}", {"time: end 1 s must lie after start 2 s."}),
        timed("end_at_start", "time: {start: 2 s, end: |>2000 ms, step: 1}", {"time: end 2 s must lie after start 2 s."})),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    record, bad_shape,
    testing::Values(
        top("list", "record: |>[a]", {"record: a map is expected", "not a list"}),
        top("unknown_key", "record: {|>evry: 1}", {"record: key 'evry' is not known. Known keys: every, only. Did you mean 'every'?"}),
        top("every_zero", "record: {every: |>0}", {"record: every 0 s must be greater than zero."}),
        top("every_negative", "record: {every: |>-1 ms}", {"record: every -0.001 s must be greater than zero."}),
        top("every_unit", "record: {every: |>1 Hz}", {"record: every: in '1 Hz' the unit 'Hz' does not fit 's'."}),
        top("only_map", "record: {only: |>{a: b}}", {"record: 'only': a number or text is expected, not a map."}),
        top("only_empty", "record: {only: |>[]}", {"record: 'only' is an empty list. Leave it out to record everything."}),
        top("only_misspelt", "record: {only: [|>a.mass.positon]}", {"record: 'a.mass.positon' matches nothing. Did you mean 'a.mass.position'?"}),
        top("only_matches_nothing", "record: {only: [a.*, |>b.*]}", {"record: 'b.*' matches nothing.", "'mdpcosim check' lists what can be recorded."})),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    entries, bad_subsystem,
    testing::Values(
        subsystem("nothing", "|>a:\n", {"subsystem 'a': a map is expected", "not nothing"}),
        subsystem("text", "a: |>inertia", {"subsystem 'a': a map is expected", "not a number or text"}),
        subsystem("no_source", "|>a: {solver: rk4}", {"subsystem 'a': key 'model' is missing. Exactly one of 'model', 'ode', 'file'"}),
        subsystem("two_sources", "|>a: {model: inertia, file: x.csv}", {"subsystem 'a': it has 2 of them. Exactly one of 'model', 'ode', 'file'"}),
        subsystem("misspelt_source", "a: {|>modell: inertia}", {"subsystem 'a': key 'modell' is not known.", "Did you mean 'model'?"}),
        subsystem("unknown_key", "a: {model: inertia, |>sett: {}}", {"subsystem 'a': key 'sett' is not known.", "Did you mean 'set'?"}),
        subsystem("fmu", "a: {fmu: |>x.fmu}", {"subsystem 'a': 'fmu' is not available in this version. Available: model, ode, file, plugin."}),
        subsystem("plugin", "a: {plugin: |>x.so}", {"subsystem 'a': plugin 'x.so': the file '", "x.so' does not exist."}),
        subsystem("plugin_and_model", "|>a: {model: inertia, plugin: x.so}", {"it has 2 of them. Exactly one of 'model', 'ode', 'file', 'plugin'"}),
        subsystem("program", "a: {program: |>x}", {"'program' is not available in this version"}),
        subsystem("ports_of_a_model", "a: {model: inertia, |>ports: {}}", {"subsystem 'a': key 'ports' is not known."}),
        subsystem("name_with_dot", "|>a.b: {model: inertia}", {"subsystem 'a.b': a name holds letters, digits, '_' and '-' and starts with a letter"}),
        subsystem("name_with_blank", "|>a b: {model: inertia}", {"subsystem 'a b': a name holds"}),
        subsystem("name_with_digit", "|>1a: {model: inertia}", {"subsystem '1a': a name holds"}),
        subsystem("name_empty", "\"|>\": {model: inertia}", {"subsystem '': a name holds"}),
        subsystem("model_list", "a: {model: |>[inertia]}", {"subsystem 'a': 'model': a number or text is expected, not a list."}),
        subsystem("model_missing", "a:\n    |>model:\n", {"subsystem 'a': 'model': the value is missing."}),
        subsystem("model_unknown", "a: {model: |>intertia, solver: rk4}",
                  {"subsystem 'a': model 'intertia' does not exist. Models: ", "inertia", "Did you mean 'inertia'?"}),
        subsystem("input_degree", "a: {model: inertia, solver: rk4, input-degree: |>1.5}",
                  {"subsystem 'a': input-degree: '1.5' must be a whole number of at least 0."})),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    parameters, bad_subsystem,
    testing::Values(
        subsystem("set_list", "a: {model: inertia, set: |>[1]}", {"subsystem 'a': set: a map is expected", "not a list"}),
        subsystem("value_missing", "a:\n    model: inertia\n    set:\n      |>inertia:\n", {"subsystem 'a': set: 'inertia': the value is missing."}),
        subsystem("value_map", "a: {model: inertia, set: {inertia: |>{x: 1}}}", {"subsystem 'a': set: 'inertia': a number or text is expected, not a map."}),
        subsystem("unknown", "a: {model: inertia, solver: rk4, set: {|>inerta: 1}}",
                  {"subsystem 'a' (model inertia): parameter 'inerta' does not exist. It has: inertia, damping", "Did you mean 'inertia'?"}),
        subsystem("text", "a: {model: inertia, solver: rk4, set: {inertia: |>heavy}}",
                  {"subsystem 'a' (model inertia): parameter 'inertia': 'heavy' is not a number.", "fits 'kg.m2'"}),
        subsystem("list", "a: {model: inertia, solver: rk4, set: {|>inertia: [1, 2]}}", {"parameter 'inertia': a single value is expected, not a list of 2."}),
        subsystem("empty_list", "a: {model: chain, solver: rk4, set: {|>x0: []}}", {"parameter 'x0': the list is empty."}),
        subsystem("list_of_another_length", "|>a: {model: chain, solver: rk4, set: {n: 3, x0: [1, 2]}}",
                  {"subsystem 'a' (model chain): parameter 'x0' has 2 values; 3 masses need"}),
        subsystem("unit", "a: {model: inertia, solver: rk4, set: {inertia: |>1 kg}}", {"parameter 'inertia': in '1 kg' the unit 'kg' does not fit 'kg.m2'."}),
        subsystem("number_as_unit", "a: {model: chain, solver: rk4, set: {n: |>1 000}}", {"parameter 'n': in '1 000' the unit '000' is not known"}),
        subsystem("cycles_for_angles", "a: {model: inertia, solver: rk4, set: {w0: |>50 Hz}}",
                  {"in '50 Hz' the unit 'Hz' does not fit 'rad/s': one counts cycles", "write the value in 'rad/s'"}),
        subsystem("any_unit", "a: {model: lag-1, solver: rk4, set: {gain: |>2 Nn}}", {"parameter 'gain': in '2 Nn' the unit 'Nn' is not known"}),
        subsystem("zero", "a: {model: inertia, solver: rk4, set: {inertia: |>0}}", {"parameter 'inertia': '0' must be greater than zero."}),
        subsystem("negative", "a: {model: mass-spring-damper, solver: rk4, set: {mass: |>-1 kg}}", {"parameter 'mass': '-1 kg' must be greater than zero."}),
        subsystem("not_whole", "a: {model: chain, solver: rk4, set: {n: |>2.5}}", {"parameter 'n': '2.5' must be a whole number of at least 1."}),
        subsystem("too_many", "|>a: {model: chain, solver: rk4, set: {n: 1e9}}", {"parameter 'n' is 1000000000; at most 1e8 masses"}),
        subsystem("choice", "a: {model: mass-spring-damper, solver: rk4, set: {excitation: |>harmonc}}",
                  {"parameter 'excitation': 'harmonc' is not allowed. Allowed: none, harmonic, step. Did you mean 'harmonic'?"}),
        subsystem("let", "a: {model: inertia, solver: rk4, set: {inertia: |>$J}}", {"subsystem 'a': set: 'inertia': let value 'J' does not exist. 'let' has: none."}),
        subsystem("let_unit", "a: {model: inertia, solver: rk4, set: {inertia: |>$m}}\nlet: {m: 1 kg}", {"parameter 'inertia': in '1 kg' the unit 'kg' does not fit 'kg.m2'."})),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    solver, bad_subsystem,
    testing::Values(
        subsystem("unknown", "a: {model: inertia, solver: |>rk5}", {"subsystem 'a': solver 'rk5' does not exist. Solvers: ", "Did you mean 'rk4'?"}),
        subsystem("missing", "a:\n    model: inertia\n    |>solver:\n", {"subsystem 'a': solver: the value is missing."}),
        subsystem("list", "a: {model: inertia, solver: |>[rk4]}", {"subsystem 'a': solver: a map is expected", "not a list"}),
        subsystem("unknown_option", "a: {model: inertia, solver: {name: rk4, |>stepp: 1}}",
                  {"subsystem 'a': solver rk4: parameter 'stepp' does not exist. It has: step. Did you mean 'step'?"}),
        subsystem("option_zero", "a: {model: inertia, solver: {name: rk4, step: |>0 s}}", {"solver rk4: parameter 'step': '0 s' must be greater than zero."}),
        subsystem("option_unit", "a: {model: inertia, solver: {name: rk4, step: |>1 m}}", {"solver rk4: parameter 'step': in '1 m' the unit 'm' does not fit 's'."})),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    equations, bad_ode,
    testing::Values(
        ode("unknown_key", "|>state: {x: 0}", "", {"subsystem 'p': 'ode': key 'state' is not known.", "Did you mean 'states'?"}),
        subsystem("list", "p: {ode: |>[x], solver: rk4}", {"subsystem 'p': 'ode': a map is expected", "not a list"}),
        subsystem("empty", "|>p: {ode: {}, solver: rk4}", {"subsystem 'p': ode: has neither states nor outputs."}),
        ode("states_list", "states: |>[x]", "", {"subsystem 'p': states: a map is expected", "not a list"}),
        ode("state_no_number", "states: {x: |>fast}, equations: {x: 1}", "", {"subsystem 'p': state 'x': 'fast' is not a number."}),
        ode("state_unit", "states: {x: |>1 mmm}, equations: {x: 1}", "", {"state 'x': in '1 mmm' the unit 'mmm' is not known"}),
        ode("bad_name", "states: {|>2x: 1}, equations: {2x: 1}", "", {"state '2x': a name consists of letters, digits and '_'"}),
        ode("reserved_name", "states: {|>sin: 1}, equations: {sin: 1}", "", {"state 'sin': the name is reserved for expressions."}),
        ode("same_name", "states: {x: 1}, inputs: {|>x: 1}, equations: {x: 1}", "", {"input 'x': the name is already that of a state (s.yaml:5:20)."}),
        ode("no_equation", "states: {|>x: 0}", "", {"state 'x' has no equation. Write its derivative under equations: x: ..."}),
        ode("equation_of_nothing", "states: {x: 0}, equations: {x: 1, |>y: 2}", "", {"equation of 'y': state 'y' does not exist. It has: x."}),
        ode("does_not_parse", "states: {x: 0}, equations: {x: 2 * |>) + x}", "", {"subsystem 'p': equation of 'x': expected a value but found ')'", "'2 * ) + x'"}),
        ode("does_not_parse_quoted", "states: {x: 0}, equations: {x: \"x + |>\"}", "", {"equation of 'x': expected a value but found the end"}),
        ode("unknown_name", "states: {speed: 0}, equations: {speed: 2*|>sped}", "", {"equation of 'speed':", "name 'sped' does not exist.", "Did you mean 'speed'?"}),
        ode("unknown_function", "states: {x: 0}, equations: {x: 1 + |>sine(x)}", "", {"function 'sine' does not exist. Did you mean 'sin'?"}),
        ode("unknown_let", "states: {x: 0}, equations: {x: 1 + |>$gg*x}", "", {"equation of 'x':", "'$gg' does not exist."}),
        ode("let_with_unknown_unit", "states: {x: 0}, equations: {x: $g*x}", "\nlet: {g: |>9.81 m/ss2}", {"let value 'g': in '9.81 m/ss2' the unit 'm/ss2' is not known"}),
        ode("output_unit", "states: {x: 0 m}, equations: {x: 1}, outputs: {y: {value: x, unit: |>mm}}", "", {"output 'y': unit 'mm' cannot be", "Write 'm'."}),
        ode("output_unknown_key", "states: {x: 0}, equations: {x: 1}, outputs: {y: {value: x, |>units: m}}", "", {"output 'y': key 'units' is not known.", "Did you mean 'unit'?"}),
        ode("outputs_in_a_circle", "outputs: {|>y: z, z: y}", "", {"outputs depend on each other in a circle: y -> z -> y."}),
        ode("events_map", "states: {x: 0}, equations: {x: 1}, events: |>{when: x}", "", {"'events' is a list of '- {when: ..., set: {...}}', not a map."}),
        ode("event_without_set", "states: {x: 0}, equations: {x: 1}, events: [|>{when: x}]", "", {"event 1: key 'set' is missing."}),
        ode("event_direction", "states: {x: 0}, equations: {x: 1}, events: [{when: x, direction: |>up, set: {x: 1}}]", "", {"event 1: direction 'up' is not allowed. Allowed: rising, falling, both."}),
        ode("set_unknown", "states: {x: 0}, equations: {x: 1}", "set: {|>y: 1}", {"set: parameter, state or input 'y' does not exist. It has: x."})),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    ports, bad_ode,
    testing::Values(
        ode("list", "states: {x: 0}, equations: {x: 1}", "ports: |>[a]", {"subsystem 'p': 'ports': a map is expected", "not a list"}),
        ode("no_kind", "states: {x: 0}, equations: {x: 1}", "ports: {s: |>{angle: x}}", {"subsystem 'p': port 's': key 'kind' is missing."}),
        ode("unknown_kind", "states: {x: 0}, equations: {x: 1}", "ports: {s: {kind: |>rotaton}}", {"port 's': kind 'rotaton' does not exist. Allowed: ", "Did you mean 'rotation'?"}),
        ode("unknown_causality", "states: {x: 0}, equations: {x: 1}", "ports: {s: {kind: rotation, causality: |>takes-loads}}", {"causality 'takes-loads' does not exist.", "Did you mean 'takes-load'?"}),
        ode("unknown_variable", "states: {x: 0}, equations: {x: 1}", "ports: {s: {kind: rotation, |>angel: x}}", {"port 's': variable 'angel' does not exist. A rotation port has: angle, speed, acceleration, torque. Did you mean 'angle'?"}),
        ode("unknown_target", "states: {phi: 0}, equations: {phi: 1}", "ports: {s: {kind: rotation, angle: |>ph}}", {"port 's': 'angle': state or output 'ph' does not exist.", "Did you mean 'phi'?"}),
        ode("unit", "states: {x: 0 m}, inputs: {T: 0 N.m}, equations: {x: T}", "ports: {s: {kind: rotation, angle: |>x, torque: T}}", {"port 's': 'angle' needs a variable in 'rad', but 'x' is in 'm'."}),
        ode("no_load", "states: {x: 0}, equations: {x: 1}", "ports: {|>s: {kind: rotation, angle: x}}", {"port 's': 'torque' is missing. A rotation port maps: angle, speed, acceleration, torque."}),
        ode("reverse", "states: {x: 0}, inputs: {T: 0}, equations: {x: T}", "ports: {s: {kind: rotation, angle: |>T, torque: x}}", {"port 's': 'angle' is mapped to 'T', which is an input, but must be a state or an output", "takes-motion"})),
    name_of);

// recorded data

TEST(bad_file, csv) {
    const scratch_folder folder("csv");
    folder.write("run.csv", "time,speed\n0,1\n1,fast\n");
    folder.write("good.csv", "time,speed\n0,1\n1,2\n");
    const auto message = [&](const std::string& entry) {
        return message_of(time_ + "subsystems:\n  c: {" + entry + "}\n", folder.path());
    };
    expect_message(message("file: rum.csv"), "s.yaml:3:13: ", {"subsystem 'c': file '", "rum.csv' cannot be read: No such file or directory.", "Did you mean 'run.csv'?"});
    expect_message(message("file: ."), "s.yaml:3:13: ", {"cannot be read: Is a directory."});
    expect_message(message("file: run.csv"), (folder.path() / "run.csv").string() + ":3:3: ", {"subsystem 'c': column 'speed' (column 2): 'fast' is not a finite number."});
    expect_message(message("file: good.csv, units: {sped: m/s}"), "s.yaml:3:31: ", {"subsystem 'c': units: column 'sped' does not exist.", "Did you mean 'speed'?"});
    expect_message(message("file: good.csv, units: {speed: m/ss}"), "s.yaml:3:38: ", {"column 'speed': the unit 'm/ss' is not known"});
    expect_message(message("file: good.csv, units: [speed]"), "s.yaml:3:30: ", {"subsystem 'c': units: a map is expected"});
    expect_message(message("file: good.csv, interpolation: cubik"), "s.yaml:3:38: ", {"interpolation 'cubik' is not allowed. Allowed: linear, hold, cubic. Did you mean 'cubic'?"});
    expect_message(message("file: good.csv, solver: rk4"), "s.yaml:3:23: ", {"subsystem 'c': key 'solver' is not known."});
    EXPECT_EQ(message("file: good.csv, units: {speed: m/s}"), "accepted");
}

}  // namespace
}  // namespace mdpcosim
