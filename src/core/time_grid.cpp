#include "core/time_grid.hpp"

#include <algorithm>
#include <cmath>

namespace mdpcosim {

time_grid::time_grid(double start, double end, double step) : start_(start), end_(end), step_(step), steps_(0) {
    // A remainder below 1e-9 of a step is rounding in the user's numbers, not a step of its own.
    const double count = (end - start) / step;
    steps_ =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(count - 1e-9 * std::max(1.0, 1e-6 * count))));
}

}  // namespace mdpcosim
