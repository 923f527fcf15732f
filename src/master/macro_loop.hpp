#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/time_grid.hpp"
#include "master/coupling_watch.hpp"
#include "master/stepper.hpp"
#include "results/pace.hpp"
#include "results/progress.hpp"
#include "results/recorder.hpp"

namespace mdpcosim {

/// What looks on while the loop runs. Nothing here can change the solution.
struct loop_observers {
    recorder* rows = nullptr;
    std::optional<double> record_every;  ///< absent: every macro step
    progress* shown = nullptr;
    coupling_watch* watch = nullptr;
    const std::atomic<bool>* interrupt = nullptr;
};

/// Runs the macro steps of an initialised system, from grid.start() to grid.end(). `result` is kept up to date, so that it holds how far the run came when a
/// subsystem's failure leaves as an exception. Allocates nothing.
void run_macro_loop(coupled_system& system, method& how, const time_grid& grid, stepper& steps,
                    const loop_observers& observers, loop_result& result);
/// On the grid.
void run_macro_loop(coupled_system& system, method& how, const time_grid& grid, const loop_observers& observers,
                    loop_result& result);

}  // namespace mdpcosim
