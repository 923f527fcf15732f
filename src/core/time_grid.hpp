#pragma once

#include <cstdint>

namespace mdpcosim {

/// One macro step as every subsystem sees it. Both times are made once, by the master.
struct macro_step {
    double begin = 0;
    double end = 0;
    std::int64_t counter = 0;
};

/// The constant macro grid `start + n*H`, its last step shorter where H does not divide the span.
class time_grid {
   public:
    time_grid(double start, double end, double step);

    std::int64_t steps() const { return steps_; }
    double step_size() const { return step_; }
    double start() const { return start_; }
    double end() const { return end_; }
    double time(std::int64_t n) const { return n < steps_ ? start_ + static_cast<double>(n) * step_ : end_; }
    macro_step step(std::int64_t n) const { return {time(n), time(n + 1), n}; }

   private:
    double start_, end_, step_;
    std::int64_t steps_;
};

}  // namespace mdpcosim
