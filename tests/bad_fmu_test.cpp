// Wrong scenarios with FMUs: files, settings, ports, interfaces. Every message has its place in the scenario.
#include "bad_input.hpp"

namespace mdpcosim {
namespace {

class bad_fmu : public testing::TestWithParam<bad_scenario> {};

TEST_P(bad_fmu, is_refused) { expect_refused(GetParam()); }

std::string file(const std::string& name, const std::string& mark = "") {
    return "'" + mark + (std::filesystem::path(MDPCOSIM_BINARY_DIR) / "fmus" / (name + ".fmu")).string() + "'";
}

bad_scenario entry(const std::string& name, const std::string& inside, std::vector<std::string> message,
                   const std::string& step = "1 ms") {
    return {name, "time: {end: 1 s, step: " + step + "}\nsubsystems:\n  a: {" + inside + "}\n", std::move(message)};
}

bad_scenario inertia(const std::string& name, const std::string& inside, std::vector<std::string> message) {
    return entry(name, "fmu: " + file("inertia-2") + ", " + inside, std::move(message));
}

INSTANTIATE_TEST_SUITE_P(
    files, bad_fmu,
    testing::Values(
        entry("missing", "fmu: |>nothing.fmu", {"subsystem 'a': FMU '", "/nothing.fmu': the file does not exist."}),
        entry("no_archive", "fmu: '|>" MDPCOSIM_SOURCE_DIR "/README.md'", {"subsystem 'a': FMU '"}),
        entry("folder", "fmu: '|>" MDPCOSIM_SOURCE_DIR "'", {"subsystem 'a': FMU '"}),
        entry("wrong_token", "fmu: " + file("wrong-token-2", "|>"), {"gave no instance", "{another-model}"}),
        entry("missing_library", "fmu: " + file("missing-library-3", "|>"), {"libfmu_absent.so"}),
        entry("missing_symbol", "fmu: " + file("missing-symbol-2", "|>"), {"mdpcosim_absent_function"}),
        entry("missing_function", "fmu: " + file("missing-function-2", "|>"), {"fmi2DoStep"}),
        entry("throws_at_once", "fmu: " + file("throwing-instance-3", "|>"), {"an exception left fmi3Instantiate"}),
        entry("second_instance",
              "fmu: " + file("single-oscillator-2") + "}\n  b: {fmu: " + file("single-oscillator-2", "|>"),
              {"subsystem 'b'", "one instance per process", "isolate: true"}),
        entry("fixed_step", "fmu: " + file("fixed-step-oscillator-3", "|>"),
              {"fixed steps of 0.001 s", "The nearest allowed: 0.001 s and 0.002 s."}, "1.5 ms"),
        bad_scenario{"last_step",
                     "time: {end: 100.5 ms, step: 3 ms}\nsubsystems:\n  a: {fmu: " +
                         file("fixed-step-oscillator-3", "|>") + "}\n",
                     {"the last macro step, to 0.1005 s, is 0.0015 s long instead of 0.003 s", "fixed steps of 0.001 s",
                      "Let the run end at 0.099 s or 0.102 s"}}),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    keys, bad_fmu,
    testing::Values(
        inertia("interface", "interface: |>co-simulaton",
                {"interface: 'co-simulaton' is not allowed. Allowed: co-simulation, model-exchange.",
                 "Did you mean 'co-simulation'?"}),
        inertia("isolate", "isolate: |>maybe", {"isolate: 'maybe' is not allowed. Allowed: true, false"}),
        inertia("tolerance", "tolerance: |>0", {"tolerance: '0' must be greater than zero."}),
        inertia("solver", "solver: |>rk4", {"'solver' is not allowed: in co-simulation the FMU has its own solver."}),
        inertia("key", "|>port: {}", {"key 'port' is not known.", "Did you mean 'ports'?"}),
        inertia("sample", "sample: |>1 ms",
                {"'sample' belongs to a sampled 'model', a 'plugin' or a 'program'; an 'fmu' is continuous."}),
        inertia("output", "outputs: [|>phi_]",
                {"outputs: variable 'phi_' does not exist. FMU inertia-2.fmu has: phi, w, a."})),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    settings, bad_fmu,
    testing::Values(
        inertia("unknown", "set: {|>JJ: 1}", {"subsystem 'a' (fmu inertia-2.fmu): variable 'JJ' does not exist."}),
        inertia("suggestion", "set: {|>ph0: 1}", {"Did you mean 'phi0'?"}),
        inertia("output_set", "set: {|>phi: 1}", {"'phi' is an output that the FMU calculates and cannot be set."}),
        inertia("unit", "set: {J: |>1 m}", {"'J': in '1 m' the unit 'm' does not fit 'kg.m2'"}),
        inertia("text", "set: {J: |>heavy}", {"'heavy' is not a number"}),
        inertia("list", "set: {|>J: [1, 2]}", {"'J': a single value is expected, not a list of 2."}),
        entry("boolean", "fmu: " + file("feedthrough-3") + ", set: {boolean_in: |>maybe}",
              {"'maybe' is not allowed for a boolean. Allowed: true, false."}),
        entry("item", "fmu: " + file("feedthrough-2") + ", set: {enumeration_in: |>hihg}",
              {"'hihg' is no item of", "Items: low, middle, high.", "Did you mean 'high'?"}),
        entry("range_of_type", "fmu: " + file("feedthrough-3") + ", set: {uint8_in: |>256}",
              {"must be a whole number from 0 to 255 (UInt8)"}),
        entry("elements", "fmu: " + file("state-space-3") + ", set: {|>x0: [1, 2, 3]}",
              {"'x0' has 2 elements, but 3 are given."}),
        entry("element", "fmu: " + file("state-space-3") + ", set: {'|>x0[5]': 1}",
              {"variable 'x0[5]' does not exist"})),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    ports, bad_fmu,
    testing::Values(
        inertia("kind", "ports: {s: {kind: |>rotational, angle: phi, torque: tau}}",
                {"port 's': kind 'rotational' does not exist.", "Did you mean 'rotation'?"}),
        inertia("variable", "ports: {s: {kind: rotation, angle: |>phii, torque: tau}}",
                {"'angle': local variable or output 'phii' does not exist.", "Did you mean 'phi'?"}),
        inertia("input_as_output", "ports: {s: {kind: rotation, angle: |>tau, torque: tau}}",
                {"'angle' is mapped to 'tau', which is an input, but must be a local variable or an output"}),
        inertia("parameter", "ports: {s: {kind: rotation, angle: phi, torque: |>J}}",
                {"'torque' is mapped to 'J', which is a parameter, but must be an input"}),
        inertia("wrong_unit", "ports: {s: {kind: translation, position: |>phi, force: tau}}",
                {"'position' needs a variable in 'm', but 'phi' is in 'rad'."}),
        inertia("no_load", "ports: {|>s: {kind: rotation, angle: phi}}",
                {"'torque' is missing. A rotation port maps: angle, speed, acceleration, torque."})),
    scenario_name);

}  // namespace
}  // namespace mdpcosim
