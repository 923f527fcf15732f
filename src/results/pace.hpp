#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/state_bytes.hpp"
#include "core/time_grid.hpp"
#include "results/recorder.hpp"

/// When a loop (the macro loop, the reference) writes rows, looks at the clock and brings rows to the disk.
namespace mdpcosim {

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

/// Rows reach the disk about once a second.
class flush_timer {
   public:
    /// `now` is the time of the last look at the clock.
    void look(recorder& rows, pacer::clock::time_point now) {
        if (now - last_ <= std::chrono::seconds(1)) return;
        rows.flush_soon();
        // Many columns take long to write: at most a twentieth of the time goes there.
        const auto done = pacer::clock::now();
        last_ = done + 20 * (done - now);
    }

   private:
    pacer::clock::time_point last_ = pacer::clock::now();
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
    void begin_again() {
        count_ = 0;
        next_ = start_;
    }
    void state(state_bytes& bytes) { bytes(count_, next_); }

   private:
    double start_, slack_ = 0;
    std::optional<double> every_;
    std::int64_t count_ = 0;
    double next_ = start_;
};

}  // namespace mdpcosim
