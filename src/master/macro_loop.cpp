#include "master/macro_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

/// Says when to look at the clock: about 20 times a second, whatever a macro step costs.
class pacer {
   public:
    bool due(std::int64_t step) { return step >= next_; }

    void looked(std::int64_t step) {
        const auto now = clock::now();
        const double passed = std::chrono::duration<double>(now - last_).count();
        last_ = now;
        const double ratio = std::clamp(0.05 / std::max(passed, 1e-9), 0.25, 4.0);
        interval_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(static_cast<double>(interval_) * ratio)), 1, 1 << 24);
        next_ = step + interval_;
    }

    clock::time_point now() const { return last_; }

   private:
    clock::time_point last_ = clock::now();
    std::int64_t interval_ = 1, next_ = 1;
};

/// Rows on the record grid: the first macro point at or after each multiple of `every`.
class record_grid {
   public:
    record_grid(const time_grid& grid, std::optional<double> every) : start_(grid.start()), every_(every) {
        slack_ = 1e-6 * grid.step_size();
    }

    bool due(double t) {
        if (!every_) return true;
        if (t < next_ - slack_) return false;
        count_ = static_cast<std::int64_t>(std::floor((t - start_ + slack_) / *every_)) + 1;
        next_ = start_ + static_cast<double>(count_) * *every_;
        return true;
    }

   private:
    double start_, slack_ = 0;
    std::optional<double> every_;
    std::int64_t count_ = 0;
    double next_ = start_;
};

}  // namespace

void run_macro_loop(coupled_system& system, method& how, const time_grid& grid, const loop_observers& observers,
                    loop_result& result) {
    record_grid rows(grid, observers.record_every);
    pacer pace;
    auto last_flush = pace.now();
    constexpr std::span<const double> no_values;
    const auto look = [&](double t, bool last) {
        if (observers.rows == nullptr || !(rows.due(t) || last)) return;
        const coupling_monitor* monitor = observers.watch == nullptr ? nullptr : &observers.watch->monitor();
        observers.rows->row(t, system.subsystems->outputs(), system.u, monitor == nullptr ? no_values : monitor->jumps(),
                            monitor == nullptr ? no_values : monitor->energy_errors());
    };

    result.reached = grid.start();
    if (observers.watch != nullptr) observers.watch->start(system, grid.start());
    look(grid.start(), false);
    for (std::int64_t n = 0; n < grid.steps(); ++n) {
        const macro_step step = grid.step(n);
        how.step(system, step);
        result.reached = step.end;
        result.steps = n + 1;
        if (observers.watch != nullptr && observers.watch->after(system, step)) {
            look(step.end, true);
            throw run_error(observers.watch->divergence());
        }
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
            // Many columns take long to write: at most a twentieth of the time goes there.
            last_flush = clock::now() + 20 * (clock::now() - pace.now());
        }
    }
}

}  // namespace mdpcosim
