#pragma once

#include <memory>

#include "subsystem/equations.hpp"
#include "subsystem/solver.hpp"
#include "subsystem/tuning.hpp"

namespace mdpcosim {

/// Equations and a solver make a subsystem. Throws std::invalid_argument with the reason of solver::why_not(). Without `tuning` it neither
/// changes parameters nor begins anew.
std::unique_ptr<subsystem> make_native_subsystem(std::unique_ptr<equations> model, std::unique_ptr<solver> integrator,
                                                 std::unique_ptr<tuning<equations>> how_tuned = nullptr);

}  // namespace mdpcosim
