#pragma once

#include <optional>

#include "coupling/fixed_point.hpp"
#include "master/method.hpp"
#include "results/summary.hpp"
#include "scenario/spec.hpp"

namespace mdpcosim {

/// How algebraic loops are solved; nothing where the scenario does not say so. Throws user_error.
std::optional<fixed_point_options> loop_options(const scenario& s);
iteration_spec with_defaults(const iteration_spec& spec);

/// The initialisation as a phase of its own: measured, and its failures say that they happened there.
run_summary::initialisation_phase initialise(coupled_system& system, double t0);
/// What was iterated after the initialisation.
std::vector<run_summary::iteration> iterations_of(const coupled_system& system, const method& chosen);

/// The coupling variables of a loop that iterate.
std::vector<std::string> variables_of(const algebraic_loop& loop, const network& coupling);

}  // namespace mdpcosim
