#include "master/macro_loop.hpp"

namespace mdpcosim {

void run_macro_loop(coupled_system& system, method& how, const time_grid& grid, const loop_observers& observers,
                    loop_result& result) {
    constant_stepper steps(grid);
    run_macro_loop(system, how, grid, steps, observers, result);
}

void run_macro_loop(coupled_system& system, method& how, const time_grid& grid, stepper& steps,
                    const loop_observers& observers, loop_result& result) {
    record_grid rows(grid, observers.record_every);
    pacer pace;
    flush_timer flush;
    constexpr std::span<const double> no_values;
    const auto look = [&](double t, bool last) {
        if (observers.rows == nullptr || !(rows.due(t) || last)) return;
        const coupling_monitor* monitor = observers.watch == nullptr ? nullptr : &observers.watch->monitor();
        observers.rows->row(t, system.outputs(), system.u, monitor == nullptr ? no_values : monitor->jumps(),
                            monitor == nullptr ? no_values : monitor->energy_errors());
    };

    result.reached = grid.start();
    if (observers.watch != nullptr) observers.watch->start(system, grid.start());
    look(grid.start(), false);
    for (std::int64_t n = 0; !steps.done(); ++n) {
        const macro_step step = steps.step(system, how);
        result.reached = step.end;
        result.steps = n + 1;
        if (observers.watch != nullptr && observers.watch->after(system, step)) {
            look(step.end, true);
            throw run_error(observers.watch->divergence());
        }
        const bool stop = observers.interrupt != nullptr && observers.interrupt->load(std::memory_order_relaxed);
        look(step.end, stop || steps.done());
        if (stop) {
            result.interrupted = !steps.done();
            return;
        }
        if (!pace.due(n + 1)) continue;
        pace.looked(n + 1);
        if (observers.shown != nullptr) observers.shown->update(step.end);
        if (observers.rows != nullptr) flush.look(*observers.rows, pace.now());
    }
}

}  // namespace mdpcosim
