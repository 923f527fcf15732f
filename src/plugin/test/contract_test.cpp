#include "subsystem/factory.hpp"
#include "support/plugin_spec.hpp"
#include "support/subsystem_contract.hpp"

namespace mdpcosim::test {

namespace {

/// The same oscillator from every example plugin; those with equations with a one-step, an implicit and a fixed-step solver.
std::vector<subsystem_case> plugin_cases() {
    std::vector<subsystem_case> all;
    const settings values{{"mass", "1 kg"}, {"stiffness", "40 N/m"}, {"damping", "0.5 N.s/m"}, {"x0", "1 m"}};
    for (const char* name : {"oscillator_c", "oscillator_cpp", "oscillator_fortran"})
        for (const char* solver : {"erk-5", "dirk-4", "rk4"}) {
            subsystem_spec spec = plugin_spec(example_plugins / (std::string(name) + ".so"), values);
            spec.solver.name.value = solver;
            spec.solver.options =
                to_settings(solver == std::string("rk4") ? settings{{"step", "1 ms"}}
                                                         : settings{{"rtol", "1e-8"}, {"atol", "1e-9"}});
            std::string solver_name = solver;
            std::erase(solver_name, '-');
            all.push_back({std::string(name) + "_" + solver_name, [spec] { return make_subsystem(spec); }, 0.02, 3e-5});
        }
    for (const char* name : {"oscillator_cpp_solver", "oscillator_fortran_solver"}) {
        const subsystem_spec spec = plugin_spec(example_plugins / (std::string(name) + ".so"), values);
        all.push_back({name, [spec] { return make_subsystem(spec); }, 0.02, 3e-5});
    }
    // No fault asked for: state and time events, and a solver that takes inputs up to degree 2.
    subsystem_spec events = plugin_spec(test_plugins / "faulty.so", {{"needed", "1 m"}});
    all.push_back({"events", [events] { return make_subsystem(events); }, 0.02, 3e-5});
    const subsystem_spec degree_2 = plugin_spec(test_plugins / "faulty_solver.so", {{"needed", "1 m"}});
    all.push_back({"degree_2", [degree_2] { return make_subsystem(degree_2); }, 0.02, 1e-6});
    return all;
}

INSTANTIATE_TEST_SUITE_P(plugin, subsystem_contract, testing::ValuesIn(plugin_cases()), case_name);

}  // namespace

}  // namespace mdpcosim::test
