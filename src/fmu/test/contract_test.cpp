#include "fmu/test/fmu_spec.hpp"
#include "subsystem/factory.hpp"
#include "support/subsystem_contract.hpp"

namespace mdpcosim::test {

namespace {

/// Co-simulation of all versions: FMUs that take polynomials, that hold their inputs, with events, with time limits, with
/// arrays, with every type, in other units.
std::vector<subsystem_case> cases() {
    std::vector<subsystem_case> all;
    const auto add = [&](const std::string& fmu, const settings& set, double H, double tolerance, int degree = -1) {
        subsystem_spec spec = spec_of_fmu(fmu, set);
        if (degree >= 0) spec.input_degree = degree;
        std::string name = fmu + (degree >= 0 ? "_degree_" + std::to_string(degree) : "");
        std::replace(name.begin(), name.end(), '-', '_');
        all.push_back({name, [spec] { return make_subsystem(spec); }, H, tolerance});
    };
    const settings oscillator{{"m", "1 kg"}, {"c", "40 N/m"}, {"d", "0.5 N.s/m"}, {"x0", "1 m"}};
    for (const std::string version : {"-2", "-3"}) {
        for (const char* kind : {"oscillator", "plain-oscillator", "limited-oscillator", "busy-oscillator"})
            add(kind + version, oscillator, 0.02, 1e-5);
        add("inertia" + version, {{"J", "0.3 kg.m2"}, {"d", "0.2 N.m.s/rad"}, {"w0", "60 rpm"}}, 0.02, 1e-5);
        add("workshop" + version, {{"d", "0.2 N.m.s/rad"}, {"n0", "60 rpm"}}, 0.02, 1e-5);
        for (const char* kind : {"van-der-pol", "decay", "gauge", "stairs", "bouncing-ball", "sawtooth"})
            add(kind + version, {}, 0.02, 1e-5);
        add("feedthrough" + version, {{"gain", "3"}}, 0.02, 1e-12);
        all.back().input_scale = 0.1;  // unsigned numbers take nothing below -0.5
        add("wide" + version, {}, 0.02, 1e-12);
    }
    for (const char* kind : {"oscillator", "plain-oscillator", "limited-oscillator"})
        add(kind + std::string("-1-cs"), oscillator, 0.02, 1e-5);
    add("inertia-1-cs", {{"J", "0.3 kg.m2"}, {"d", "0.2 N.m.s/rad"}, {"w0", "60 rpm"}}, 0.02, 1e-5);
    for (const char* kind : {"decay", "stairs", "bouncing-ball", "sawtooth"})
        add(kind + std::string("-1-cs"), {}, 0.02, 1e-5);
    add("feedthrough-1-cs", {{"gain", "3"}}, 0.02, 1e-12);
    add("oscillator-2", oscillator, 0.02, 1e-5, max_degree);
    add("oscillator-3", oscillator, 0.02, 1e-5, 0);
    add("state-space-3", {}, 0.02, 1e-5);
    return all;
}

INSTANTIATE_TEST_SUITE_P(fmu, subsystem_contract, testing::ValuesIn(cases()), case_name);

}  // namespace

}  // namespace mdpcosim::test
