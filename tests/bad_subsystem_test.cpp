// Wrong scenarios: models, parameters, solvers, equations and their ports.
#include "bad_input.hpp"

namespace mdpcosim {
namespace {

class bad_subsystem : public testing::TestWithParam<bad_scenario> {};
class bad_ode : public testing::TestWithParam<bad_scenario> {};

TEST_P(bad_subsystem, is_refused) { expect_refused(GetParam()); }
TEST_P(bad_ode, is_refused) { expect_refused(GetParam()); }

const std::string time_ = "time: {end: 1 s, step: 1 ms}\n";

bad_scenario subsystem(const std::string& name, const std::string& section, std::vector<std::string> message) {
    return {name, time_ + "subsystems:\n  " + section + "\n", std::move(message)};
}

/// An ode 'p' with one part changed.
bad_scenario ode(const std::string& name, const std::string& inside, const std::string& after,
                 std::vector<std::string> message) {
    return {name,
            time_ + "subsystems:\n  p:\n    solver: rk4\n    ode: {" + inside + "}\n" +
                (after.empty() ? "" : "    " + after + "\n"),
            std::move(message)};
}

INSTANTIATE_TEST_SUITE_P(
    entries, bad_subsystem,
    testing::Values(
        subsystem("nothing", "|>a:\n", {"subsystem 'a': a map is expected", "not nothing"}),
        subsystem("text", "a: |>inertia", {"subsystem 'a': a map is expected", "not a number or text"}),
        subsystem(
            "no_source", "|>a: {solver: rk4}",
            {"subsystem 'a': one of the keys 'model', 'ode', 'file', 'plugin', 'fmu', 'program', 'system' is missing"}),
        subsystem(
            "two_sources", "|>a: {model: inertia, file: x.csv}",
            {"subsystem 'a': of the keys 'model', 'ode', 'file', 'plugin', 'fmu', 'program', 'system' only one can say "
             "what it is."}),
        subsystem("misspelt_source", "a: {|>modell: inertia}",
                  {"subsystem 'a': key 'modell' is not known.", "Did you mean 'model'?"}),
        subsystem("unknown_key", "a: {model: inertia, |>sett: {}}",
                  {"subsystem 'a': key 'sett' is not known.", "Did you mean 'set'?"}),
        subsystem("fmu", "a: {fmu: |>x.fmu}", {"subsystem 'a': FMU '", "/x.fmu': the file does not exist."}),
        subsystem("system", "a: {system: |>x.yaml}",
                  {"subsystem 'a': system 'x.yaml': the file '", "x.yaml' does not exist."}),
        subsystem("plugin", "a: {plugin: |>x.so}",
                  {"subsystem 'a': plugin 'x.so': the file '", "x.so' does not exist."}),
        subsystem("plugin_and_model", "|>a: {model: inertia, plugin: x.so}",
                  {"'fmu', 'program', 'system' only one can say what it is."}),
        subsystem("program", "a: {program: |>./x}", {"subsystem 'a': program './x' does not exist: neither as '"}),
        subsystem("program_folder", "a: {program: |>/tmp -x}", {"subsystem 'a': program '/tmp' is a folder."}),
        subsystem("program_in_path", "a: {program: |>no-such-program -x}",
                  {"'no-such-program' does not exist", "nor in PATH"}),
        subsystem("program_quote", "a: {program: \"|>./x 'y\"}",
                  {"subsystem 'a': 'program': in './x 'y' the quote ' is not closed."}),
        subsystem("program_solver", "a: {program: ./x, solver: |>rk4}",
                  {"'solver' is not allowed: a program brings its own."}),
        subsystem("program_limit", "a: {program: ./x, limit: |>0 s}",
                  {"subsystem 'a': limit: '0 s' must be greater than zero."}),
        subsystem("folder_of_a_model", "a: {model: inertia, |>folder: x}", {"key 'folder'"}),
        subsystem("ports_of_a_model", "a: {model: inertia, |>ports: {}}", {"subsystem 'a': key 'ports' is not known."}),
        subsystem("name_with_dot", "|>a.b: {model: inertia}",
                  {"subsystem 'a.b': a name holds letters, digits, '_' and '-' and starts with a letter"}),
        subsystem("name_with_blank", "|>a b: {model: inertia}", {"subsystem 'a b': a name holds"}),
        subsystem("name_with_digit", "|>1a: {model: inertia}", {"subsystem '1a': a name holds"}),
        subsystem("name_empty", "\"|>\": {model: inertia}", {"subsystem '': a name holds"}),
        subsystem("model_list", "a: {model: |>[inertia]}",
                  {"subsystem 'a': 'model': a number or text is expected, not a list."}),
        subsystem("model_missing", "a:\n    |>model:\n", {"subsystem 'a': 'model': the value is missing."}),
        subsystem("model_unknown", "a: {model: |>intertia, solver: rk4}",
                  {"subsystem 'a': model 'intertia' does not exist. Models: ", "inertia", "Did you mean 'inertia'?"}),
        subsystem("limit_of_no_time", "a: {model: inertia, solver: rk4, limit: |>0 s}",
                  {"subsystem 'a': limit: '0 s' must be greater than zero."}),
        subsystem("limit_without_time", "a: {model: inertia, solver: rk4, limit: |>3 kg}", {"subsystem 'a': limit"}),
        subsystem("input_degree", "a: {model: inertia, solver: rk4, input-degree: |>1.5}",
                  {"subsystem 'a': input-degree: '1.5' must be a whole number of at least 0."})),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    parameters, bad_subsystem,
    testing::Values(
        subsystem("set_list", "a: {model: inertia, set: |>[1]}",
                  {"subsystem 'a': set: a map is expected", "not a list"}),
        subsystem("value_missing", "a:\n    model: inertia\n    set:\n      |>inertia:\n",
                  {"subsystem 'a': set: 'inertia': the value is missing."}),
        subsystem("value_map", "a: {model: inertia, set: {inertia: |>{x: 1}}}",
                  {"subsystem 'a': set: 'inertia': a number or text is expected, not a map."}),
        subsystem("unknown", "a: {model: inertia, solver: rk4, set: {|>inerta: 1}}",
                  {"subsystem 'a' (model inertia): parameter 'inerta' does not exist. It has: inertia, damping",
                   "Did you mean 'inertia'?"}),
        subsystem("text", "a: {model: inertia, solver: rk4, set: {inertia: |>heavy}}",
                  {"subsystem 'a' (model inertia): parameter 'inertia': 'heavy' is not a number.", "fits 'kg.m2'"}),
        subsystem("list", "a: {model: inertia, solver: rk4, set: {|>inertia: [1, 2]}}",
                  {"parameter 'inertia': a single value is expected, not a list of 2."}),
        subsystem("empty_list", "a: {model: chain, solver: rk4, set: {|>x0: []}}",
                  {"parameter 'x0': the list is empty."}),
        subsystem("list_of_another_length", "|>a: {model: chain, solver: rk4, set: {n: 3, x0: [1, 2]}}",
                  {"subsystem 'a' (model chain): parameter 'x0' has 2 values; 3 masses need"}),
        subsystem("unit", "a: {model: inertia, solver: rk4, set: {inertia: |>1 kg}}",
                  {"parameter 'inertia': in '1 kg' the unit 'kg' does not fit 'kg.m2'."}),
        subsystem("number_as_unit", "a: {model: chain, solver: rk4, set: {n: |>1 000}}",
                  {"parameter 'n': in '1 000' the unit '000' is not known"}),
        subsystem("cycles_for_angles", "a: {model: inertia, solver: rk4, set: {w0: |>50 Hz}}",
                  {"in '50 Hz' the unit 'Hz' does not fit 'rad/s': one counts cycles", "write the value in 'rad/s'"}),
        subsystem("any_unit", "a: {model: lag-1, solver: rk4, set: {gain: |>2 Nn}}",
                  {"parameter 'gain': in '2 Nn' the unit 'Nn' is not known"}),
        subsystem("zero", "a: {model: inertia, solver: rk4, set: {inertia: |>0}}",
                  {"parameter 'inertia': '0' must be greater than zero."}),
        subsystem("negative", "a: {model: mass-spring-damper, solver: rk4, set: {mass: |>-1 kg}}",
                  {"parameter 'mass': '-1 kg' must be greater than zero."}),
        subsystem("not_whole", "a: {model: chain, solver: rk4, set: {n: |>2.5}}",
                  {"parameter 'n': '2.5' must be a whole number of at least 1."}),
        subsystem("too_many", "a: {model: chain, solver: rk4, set: {n: |>1e9}}",
                  {"parameter 'n': '1e9' is too high; at most 1000000."}),
        subsystem("choice", "a: {model: mass-spring-damper, solver: rk4, set: {excitation: |>harmonc}}",
                  {"parameter 'excitation': 'harmonc' is not allowed. Allowed: none, harmonic, step. Did you mean "
                   "'harmonic'?"}),
        subsystem("let", "a: {model: inertia, solver: rk4, set: {inertia: |>$J}}",
                  {"subsystem 'a': set: 'inertia': let value 'J' does not exist. 'let' has: none."}),
        subsystem("let_unit", "a: {model: inertia, solver: rk4, set: {inertia: |>$m}}\nlet: {m: 1 kg}",
                  {"parameter 'inertia': in '1 kg' the unit 'kg' does not fit 'kg.m2'."})),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    solver, bad_subsystem,
    testing::Values(
        subsystem("unknown", "a: {model: inertia, solver: |>rk5}",
                  {"subsystem 'a': solver 'rk5' does not exist. Solvers: ", "Did you mean 'rk4'?"}),
        subsystem("missing", "a:\n    model: inertia\n    |>solver:\n",
                  {"subsystem 'a': solver: the value is missing."}),
        subsystem("list", "a: {model: inertia, solver: |>[rk4]}",
                  {"subsystem 'a': solver: a number or text, or a map", "not a list"}),
        subsystem("unknown_option", "a: {model: inertia, solver: {name: rk4, |>stepp: 1}}",
                  {"subsystem 'a': solver rk4: parameter 'stepp' does not exist. It has: step. Did you mean 'step'?"}),
        subsystem("option_zero", "a: {model: inertia, solver: {name: rk4, step: |>0 s}}",
                  {"solver rk4: parameter 'step': '0 s' must be greater than zero."}),
        subsystem("option_unit", "a: {model: inertia, solver: {name: rk4, step: |>1 m}}",
                  {"solver rk4: parameter 'step': in '1 m' the unit 'm' does not fit 's'."})),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    equations, bad_ode,
    testing::Values(
        ode("unknown_key", "|>state: {x: 0}", "",
            {"subsystem 'p': 'ode': key 'state' is not known.", "Did you mean 'states'?"}),
        subsystem("list", "p: {ode: |>[x], solver: rk4}", {"subsystem 'p': 'ode': a map is expected", "not a list"}),
        subsystem("empty", "|>p: {ode: {}, solver: rk4}", {"subsystem 'p': ode: has neither states nor outputs."}),
        ode("states_list", "states: |>[x]", "", {"subsystem 'p': states: a map is expected", "not a list"}),
        ode("state_no_number", "states: {x: |>fast}, equations: {x: 1}", "",
            {"subsystem 'p': state 'x': 'fast' is not a number."}),
        ode("state_unit", "states: {x: |>1 mmm}, equations: {x: 1}", "",
            {"state 'x': in '1 mmm' the unit 'mmm' is not known"}),
        ode("bad_name", "states: {|>2x: 1}, equations: {2x: 1}", "",
            {"state '2x': a name consists of letters, digits and '_'"}),
        ode("reserved_name", "states: {|>sin: 1}, equations: {sin: 1}", "",
            {"state 'sin': the name is reserved for expressions."}),
        ode("same_name", "states: {x: 1}, inputs: {|>x: 1}, equations: {x: 1}", "",
            {"input 'x': the name is already that of a state (s.yaml:5:20)."}),
        ode("no_equation", "states: {|>x: 0}", "",
            {"state 'x' has no equation. Write its derivative under equations: x: ..."}),
        ode("equation_of_nothing", "states: {x: 0}, equations: {x: 1, |>y: 2}", "",
            {"equation of 'y': state 'y' does not exist. It has: x."}),
        ode("does_not_parse", "states: {x: 0}, equations: {x: 2 * |>) + x}", "",
            {"subsystem 'p': equation of 'x': expected a value but found ')'", "'2 * ) + x'"}),
        ode("does_not_parse_quoted", "states: {x: 0}, equations: {x: \"x + |>\"}", "",
            {"equation of 'x': expected a value but found the end"}),
        ode("unknown_name", "states: {speed: 0}, equations: {speed: 2*|>sped}", "",
            {"equation of 'speed':", "name 'sped' does not exist.", "Did you mean 'speed'?"}),
        ode("unknown_function", "states: {x: 0}, equations: {x: 1 + |>sine(x)}", "",
            {"function 'sine' does not exist. Did you mean 'sin'?"}),
        ode("unknown_let", "states: {x: 0}, equations: {x: 1 + |>$gg*x}", "",
            {"equation of 'x':", "'$gg' does not exist."}),
        ode("let_with_unknown_unit", "states: {x: 0}, equations: {x: $g*x}", "\nlet: {g: |>9.81 m/ss2}",
            {"let value 'g': in '9.81 m/ss2' the unit 'm/ss2' is not known"}),
        ode("output_unit", "states: {x: 0 m}, equations: {x: 1}, outputs: {y: {value: x, unit: |>mm}}", "",
            {"output 'y': unit 'mm' cannot be", "Write 'm'."}),
        ode("output_unknown_key", "states: {x: 0}, equations: {x: 1}, outputs: {y: {value: x, |>units: m}}", "",
            {"output 'y': key 'units' is not known.", "Did you mean 'unit'?"}),
        ode("outputs_in_a_circle", "outputs: {|>y: z, z: y}", "",
            {"outputs depend on each other in a circle: y -> z -> y."}),
        ode("events_map", "states: {x: 0}, equations: {x: 1}, events: |>{when: x}", "",
            {"'events' is a list of '- {when: ..., set: {...}}', not a map."}),
        ode("event_without_set", "states: {x: 0}, equations: {x: 1}, events: [|>{when: x}]", "",
            {"event 1: key 'set' is missing."}),
        ode("event_direction", "states: {x: 0}, equations: {x: 1}, events: [{when: x, direction: |>up, set: {x: 1}}]",
            "", {"event 1: direction: 'up' is not allowed. Allowed: rising, falling, both."}),
        ode("set_unknown", "states: {x: 0}, equations: {x: 1}", "set: {|>y: 1}",
            {"set: parameter, state or input 'y' does not exist. It has: x."})),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    ports, bad_ode,
    testing::Values(ode("list", "states: {x: 0}, equations: {x: 1}", "ports: |>[a]",
                        {"subsystem 'p': 'ports': a map is expected", "not a list"}),
                    ode("no_kind", "states: {x: 0}, equations: {x: 1}", "ports: {s: |>{angle: x}}",
                        {"subsystem 'p': port 's': key 'kind' is missing."}),
                    ode("unknown_kind", "states: {x: 0}, equations: {x: 1}", "ports: {s: {kind: |>rotaton}}",
                        {"port 's': kind 'rotaton' does not exist. Allowed: ", "Did you mean 'rotation'?"}),
                    ode("unknown_causality", "states: {x: 0}, equations: {x: 1}",
                        "ports: {s: {kind: rotation, causality: |>takes-loads}}",
                        {"causality 'takes-loads' does not exist.", "Did you mean 'takes-load'?"}),
                    ode("unknown_variable", "states: {x: 0}, equations: {x: 1}",
                        "ports: {s: {kind: rotation, |>angel: x}}",
                        {"port 's': variable 'angel' does not exist. A rotation port has: angle, speed, acceleration, "
                         "torque. Did you mean 'angle'?"}),
                    ode("unknown_target", "states: {phi: 0}, equations: {phi: 1}",
                        "ports: {s: {kind: rotation, angle: |>ph}}",
                        {"port 's': 'angle': state or output 'ph' does not exist.", "Did you mean 'phi'?"}),
                    ode("unit", "states: {x: 0 m}, inputs: {T: 0 N.m}, equations: {x: T}",
                        "ports: {s: {kind: rotation, angle: |>x, torque: T}}",
                        {"port 's': 'angle' needs a variable in 'rad', but 'x' is in 'm'."}),
                    ode("no_load", "states: {x: 0}, equations: {x: 1}", "ports: {|>s: {kind: rotation, angle: x}}",
                        {"port 's': 'torque' is missing. A rotation port maps: angle, speed, acceleration, torque."}),
                    ode("reverse", "states: {x: 0}, inputs: {T: 0}, equations: {x: T}",
                        "ports: {s: {kind: rotation, angle: |>T, torque: x}}",
                        {"port 's': 'angle' is mapped to 'T', which is an input, but must be a state or an output",
                         "takes-motion"})),
    scenario_name);

}  // namespace
}  // namespace mdpcosim
