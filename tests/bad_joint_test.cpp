// Wrong scenarios: joints. What only the initial state shows is told before the first step.
#include "bad_input.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

class bad_joint : public testing::TestWithParam<bad_scenario> {};
TEST_P(bad_joint, is_refused) { expect_refused(GetParam()); }

/// What concerns the whole scenario or a default has no place in it.
class unfit_for_joints : public testing::TestWithParam<bad_scenario> {};
TEST_P(unfit_for_joints, is_refused) { expect_message(message_of(GetParam().text), "", GetParam().message); }

class bad_joint_start : public testing::TestWithParam<bad_scenario> {};
TEST_P(bad_joint_start, is_refused) {
    const test::temporary_folder folder;
    std::string message = "accepted";
    try {
        run(read_scenario_text(GetParam().text, "s.yaml"), {.out = folder / "out", .workers = 1});
    } catch (const user_error& problem) {
        message = problem.what();
    }
    expect_message(message, "", GetParam().message);
}

std::string joint_system(const std::string& method) {
    return "time: {end: 1 s, step: 1 ms}\nmethod: " + method + R"(
subsystems:
  a: {model: mass-spring-damper}
  b: {model: mass-spring-damper, set: {mass: 2 kg}}
  far: {model: mass-spring-damper, set: {x0: 1 mm, v0: 2 m/s}}
  fixed: {model: mass-spring-damper, solver: rk4}
  coarse: {model: mass-spring-damper, solver: {name: rk4, step: 0.5 ms}}
  plain: {model: mass-spring-damper, input-degree: 0}
  motor: {model: inertia}
  silent:
    ode: {inputs: {F: 0 N}, states: {x: 0 m, v: 0 m/s}, equations: {x: v, v: F}}
    ports: {end: {kind: translation, position: x, force: F}}
  wall:
    ode: {inputs: {q: 0 m, v: 0 m/s}, outputs: {F: {value: 10*q, unit: N}}}
    ports: {face: {kind: translation, causality: takes-motion, position: q, velocity: v, force: F}}
)";
}

bad_scenario joint(const std::string& name, const std::string& entry, std::vector<std::string> message,
                   const std::string& method = "index-1") {
    return {name, joint_system(method) + "connections:\n  " + entry + "\n", std::move(message)};
}

INSTANTIATE_TEST_SUITE_P(
    entries, bad_joint,
    testing::Values(
        joint("unknown", "k: {joint: |>rigit, between: [a.mass, b.mass]}",
              {"connection 'k': joint 'rigit' does not exist. Joints: ", "revolute", "Did you mean 'rigid'?"}),
        joint("law_too", "k: {joint: rigid, law: |>spring, between: [a.mass, b.mass]}",
              {"connection 'k': it has a joint and a law; give one of the two."}),
        joint("one_port", "|>k: {joint: rigid, between: [a.mass]}",
              {"connection 'k': joint 'rigid' joins two ports; 'between' has 1."}),
        joint("itself", "k: {joint: rigid, between: [a.mass, |>a.mass]}",
              {"connection 'k': port 'a.mass' is joined to itself"}),
        joint("kinds", "k: {joint: rigid, between: [a.mass, |>motor.shaft]}",
              {"connection 'k': port 'a.mass' is of kind translation, but port 'motor.shaft' is of kind rotation"}),
        joint(
            "not_a_frame", "k: {joint: revolute, between: [|>a.mass, b.mass]}",
            {"connection 'k': port 'a.mass' is of kind translation, but joint 'revolute' joins ports of kind frame."}),
        joint("takes_motion", "k: {joint: rigid, between: [a.mass, |>wall.face]}",
              {"connection 'k': port 'wall.face' takes position and gives force"}),
        joint("parameter", "k: {joint: rigid, between: [a.mass, b.mass], |>ofset: 1}",
              {"connection 'k' (joint rigid): ", "'ofset'", "Did you mean 'offset'?"}),
        joint("unit", "k: {joint: rigid, between: [a.mass, b.mass], offset: |>1 rad}",
              {"connection 'k' (joint rigid): parameter 'offset'", "rad"}),
        joint("extrapolation", "k: {joint: rigid, between: [a.mass, b.mass], extrapolation: |>poly-2}",
              {"connection 'k': a joint's multipliers are found by the method, nothing is extrapolated."}),
        joint("other_method", "k: {joint: rigid, between: [a.mass, b.mass]}",
              {"method 'explicit' cannot hold joint 'k'. Methods that hold joints: index-1"}, "|>explicit"),
        joint("degree", "k: {joint: rigid, between: [a.mass, b.mass]}",
              {"method index-1: parameter 'degree'", "'4'", "2, 3"}, "{name: index-1, degree: |>4}"),
        joint("option", "k: {joint: rigid, between: [a.mass, b.mass]}",
              {"method index-1: ", "'tolerence'", "Did you mean 'tolerance'?"}, "{name: index-1, |>tolerence: 1}")),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    systems, unfit_for_joints,
    testing::Values(joint("no_joint", "k: {law: spring, between: [a.mass, b.mass], stiffness: 1}",
                          {"method 'index-1' holds joints, and this scenario has none."}),
                    joint("one_micro_step", "k: {joint: rigid, between: [a.mass, fixed.mass]}",
                          {"subsystem 'fixed': solver rk4 does micro steps of 0.001 s",
                           "at least 3 in a macro step of 0.001 s"}),
                    joint("coarse_micro_steps", "k: {joint: rigid, between: [coarse.mass, a.mass]}",
                          {"subsystem 'coarse': solver rk4 does micro steps of 0.0005 s", "step: 0.000333"}),
                    joint("constant_inputs", "k: {joint: rigid, between: [a.mass, plain.mass]}",
                          {"joint 'k': the loads of subsystem 'plain' take polynomials of degree 0 only", "one-pass"})),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    starts, bad_joint_start,
    testing::Values(
        joint("violated", "k: {joint: rigid, between: [a.mass, far.mass]}",
              {"the initial state violates joints", "joint 'k': position by -0.001 m",
               "joint 'k': velocity by -2 m/s"}),
        joint("repeated",
              "k: {joint: rigid, between: [a.mass, b.mass]}\n  l: {joint: rigid, between: [b.mass, a.mass]}",
              {"1 of 2 equations of joints", "repeat what others say already", "joint '"})),
    scenario_name);

}  // namespace
}  // namespace mdpcosim
