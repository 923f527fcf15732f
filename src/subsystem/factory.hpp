#pragma once

#include <limits>
#include <memory>

#include "core/parameter.hpp"
#include "scenario/spec.hpp"
#include "subsystem/equations.hpp"
#include "subsystem/sampled_equations.hpp"
#include "subsystem/solver.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// The subsystem a scenario's entry describes, with parameters, ports and solver. Mistakes are user errors with the
/// place in the scenario.
std::unique_ptr<subsystem> make_subsystem(const subsystem_spec& spec);

/// Whether it lives in a process of its own under every transport: a program, an isolated FMU, whatever has a limit.
bool lives_apart(const subsystem_spec& spec);

/// The equations alone, without a solver, of an entry that is not sampled: recorded data, too, are equations (without states).
/// A subsystem that shows no equations is a user error that names it.
std::unique_ptr<equations> make_equations(const subsystem_spec& spec);

/// The solver of that name with its options. `owner` names whose it is in messages, `where` is the owner's place.
std::unique_ptr<solver> make_solver(const solver_spec& spec, const location& where, const std::string& owner);
solver_spec with_defaults(const solver_spec& spec, const std::string& owner);

/// The entry with its sample times exactly on the macro grid of step H; a user error with the nearest allowed values where
/// they are not whole multiples of H. No macro step is longer than the run.
subsystem_spec on_macro_grid(subsystem_spec spec, double H, double run = std::numeric_limits<double>::infinity());

/// The discrete-time equations of an entry whose model is sampled, for those who run them with a clock of their own.
std::unique_ptr<sampled_equations> make_sampled_equations(const subsystem_spec& spec);
bool is_sampled(const subsystem_spec& spec);
/// A plugin or a program with `sample`.
bool is_held(const subsystem_spec& spec);
sampling sampling_of(const subsystem_spec& spec);

/// The entry with every default of its model and solver written out.
subsystem_spec with_defaults(const subsystem_spec& spec);

/// The settings, and those of declared parameters that are not given at their defaults.
std::vector<setting> with_defaults(const std::vector<parameter_info>& infos, std::vector<setting> given);
/// `name: value unit` for a parameter at its default; false where "not given" has a meaning of its own.
bool default_setting(const parameter_info& info, setting& result);

}  // namespace mdpcosim
