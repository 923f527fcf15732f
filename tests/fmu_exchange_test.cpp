#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>

#include "api/mdpcosim.hpp"
#include "coupled_run.hpp"
#include "results/result_table.hpp"

/// FMUs through model exchange beside native models, in whole runs.
namespace mdpcosim {
namespace {

std::string fmu(const std::string& name) { return std::string(MDPCOSIM_BINARY_DIR) + "/fmus/" + name + ".fmu"; }

/// Two oscillators and a spring; the second is native, the first what `entry` says.
std::string two_mass(const std::string& entry, const std::string& port, const std::string& solver) {
    return fmt::format(R"(
mdpcosim: 1
time: {{end: 0.5 s, step: 1 ms}}
extrapolation: lin-2-3-opt
subsystems:
  a: {}
  b:
    model: mass-spring-damper
    set: {{mass: 2 kg, stiffness: 300 N/m, damping: 1 N.s/m, x0: 20 mm}}
    solver: {}
connections:
  s: {{law: spring, between: [a.{}, b.mass], stiffness: 1e4 N/m}}
)",
                       entry, solver, port);
}

std::string native_entry(const std::string& solver) {
    return fmt::format(
        "{{model: mass-spring-damper, set: {{mass: 1.5 kg, stiffness: 200 N/m, damping: 0.3 N.s/m, x0: 10 mm}}, "
        "solver: {}}}",
        solver);
}

std::string fmu_entry(const std::string& version, const std::string& solver, const std::string& more = "") {
    return fmt::format(
        "{{fmu: {}, interface: model-exchange, set: {{m: 1.5 kg, c: 200 N/m, d: 0.3 N.s/m, x0: 10 mm}}, solver: {}, "
        "ports: {{p: {{kind: translation, position: position, velocity: velocity, acceleration: acceleration, force: "
        "force}}}}{}}}",
        fmu("oscillator-" + version), solver, more);
}

std::vector<std::vector<double>> positions(const std::string& text, const std::string& first) {
    test::coupled_run run(read_scenario_text(text, "s.yaml"));
    run.watch(first);
    run.watch("b.mass.position");
    return run.rows();
}

class exchange_run : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(exchange_run, equals_the_native_model_bitwise) {
    const auto [version, solver] = GetParam();
    const auto native = positions(two_mass(native_entry(solver), "mass", solver), "a.mass.position");
    EXPECT_EQ(positions(two_mass(fmu_entry(version, solver), "p", solver), "a.position"), native);
    EXPECT_EQ(positions(two_mass(fmu_entry(version, solver, ", isolate: true"), "p", solver), "a.position"), native);
}

INSTANTIATE_TEST_SUITE_P(versions, exchange_run,
                         testing::Combine(testing::Values("2", "3"),
                                          testing::Values("euler", "rk4", "trapezoidal", "erk-2", "erk-5", "erk-8",
                                                          "dirk-3", "cvode-adams", "cvode-bdf", "ida")),
                         [](const auto& tested) {
                             std::string name = "fmi" + std::get<0>(tested.param) + "_" + std::get<1>(tested.param);
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace mdpcosim
