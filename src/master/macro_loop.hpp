#pragma once

#include "core/time_grid.hpp"
#include "master/method.hpp"
#include "results/observers.hpp"

namespace mdpcosim {

/// Runs the macro steps of an initialised system. `result` is kept up to date, so that it holds how far the run came when a
/// subsystem's failure leaves as an exception. Allocates nothing.
void run_macro_loop(coupled_system& system, method& how, const time_grid& grid, const loop_observers& observers,
                    loop_result& result);

}  // namespace mdpcosim
