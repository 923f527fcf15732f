#pragma once

#include "simulation/run.hpp"

namespace mdpcosim {

/// Every communication step `factor` times as long; where steps follow tolerances, these are what changes.
scenario with_steps(scenario s, double factor);

/// run(), and at the same time the same scenario with half the macro step, then with twice, on threads, into `half-step` and `twice-step` inside
/// the run's folder. What they tell of the errors stands in the summary and in its verdict. Subsystems are made three times: none may wait for
/// a partner elsewhere.
run_summary run_verified(const scenario& s, run_options options);

}  // namespace mdpcosim
