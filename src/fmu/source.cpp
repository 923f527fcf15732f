// `fmu:` as a source of subsystems.
#include "subsystem/source.hpp"
#include "fmu/component.hpp"
#include "fmu/fmu_subsystem.hpp"

namespace mdpcosim {

namespace {

bool has_own_solver(const subsystem_spec& spec) { return fmu_interface(spec) == fmi::kind::co_simulation; }

const source_registration fmu_source{
    {.name = "fmu",
     .make = [](const subsystem_spec& spec) -> std::unique_ptr<subsystem> {
         return has_own_solver(spec) ? make_fmu_co_simulation(spec) : nullptr;
     },
     .make_equations = [](const subsystem_spec& spec) -> std::unique_ptr<equations> {
         return has_own_solver(spec) ? nullptr : make_fmu_equations(spec);
     },
     .write_defaults =
         [](subsystem_spec& spec) {
             const bool own = has_own_solver(spec);
             spec.fmu.interface.value = own ? "co-simulation" : "model-exchange";
             return !own;
         },
     .check_step = check_fmu_step,
     .way_to_equations = "Write 'interface: model-exchange' where the FMU offers it, or run"}};

}  // namespace

}  // namespace mdpcosim
