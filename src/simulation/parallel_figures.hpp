#pragma once

#include <optional>

#include "results/summary.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

/// Where the time of the macro steps went, from the transport's profile. `seconds_per_step`: wall time of a macro step with
/// everything. Nothing where no step was sampled.
std::optional<run_summary::parallel> parallel_figures(const transport& subsystems, double seconds_per_step,
                                                      double cpu_seconds);

}  // namespace mdpcosim
