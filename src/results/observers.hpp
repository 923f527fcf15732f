#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/time_grid.hpp"
#include "results/progress.hpp"
#include "results/recorder.hpp"

/// What looks on while a loop runs (the macro loop, the reference), and when. Nothing here can change the solution.
namespace mdpcosim {

/// Smallest and largest value of every coupling variable at the points the loop stops at.
struct coupling_range {
    std::vector<double> low, high;

    void widen(std::span<const double> u) {
        for (std::size_t i = 0; i < u.size(); ++i) {
            low[i] = std::min(low[i], u[i]);
            high[i] = std::max(high[i], u[i]);
        }
    }
};

struct loop_result {
    double reached = 0;
    std::int64_t steps = 0;
    bool interrupted = false;
};

struct loop_observers {
    recorder* rows = nullptr;
    std::optional<double> record_every;  ///< absent: every macro step
    progress* shown = nullptr;
    coupling_range* range = nullptr;
    const std::atomic<bool>* interrupt = nullptr;
};

/// Says when to look at the clock: about 20 times a second, whatever a step costs.
class pacer {
   public:
    using clock = std::chrono::steady_clock;

    bool due(std::int64_t step) { return step >= next_; }

    void looked(std::int64_t step) {
        const auto now = clock::now();
        const double passed = std::chrono::duration<double>(now - last_).count();
        last_ = now;
        const double ratio = std::clamp(0.05 / std::max(passed, 1e-9), 0.25, 4.0);
        interval_ = std::clamp<std::int64_t>(
            static_cast<std::int64_t>(std::ceil(static_cast<double>(interval_) * ratio)), 1, 1 << 24);
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

}  // namespace mdpcosim
