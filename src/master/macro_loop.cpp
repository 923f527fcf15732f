#include "master/macro_loop.hpp"

#include <chrono>

namespace mdpcosim {

void run_macro_loop(coupled_system& system, method& how, const time_grid& grid, const loop_observers& observers,
                    loop_result& result) {
    record_grid rows(grid, observers.record_every);
    pacer pace;
    auto last_flush = pace.now();
    const auto look = [&](double t, bool last) {
        if (observers.range != nullptr) observers.range->widen(system.u);
        if (observers.rows != nullptr && (rows.due(t) || last)) observers.rows->row(t, system.subsystems->outputs(), system.u);
    };

    result.reached = grid.start();
    look(grid.start(), false);
    for (std::int64_t n = 0; n < grid.steps(); ++n) {
        const macro_step step = grid.step(n);
        how.step(system, step);
        result.reached = step.end;
        result.steps = n + 1;
        const bool stop = observers.interrupt != nullptr && observers.interrupt->load(std::memory_order_relaxed);
        look(step.end, stop || n + 1 == grid.steps());
        if (stop) {
            result.interrupted = n + 1 < grid.steps();
            return;
        }
        if (!pace.due(n + 1)) continue;
        pace.looked(n + 1);
        if (observers.shown != nullptr) observers.shown->update(step.end);
        if (observers.rows != nullptr && pace.now() - last_flush > std::chrono::seconds(1)) {
            observers.rows->flush();
            last_flush = pace.now();
        }
    }
}

}  // namespace mdpcosim
