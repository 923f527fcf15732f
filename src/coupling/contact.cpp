#include "coupling/contact.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace mdpcosim {

namespace {

constexpr int most_corners = 8;

/// Gauss's rule with three points: exact for laws up to the fifth power.
double mean_between(const law& l, double q, double by, double v, double first, double last) {
    constexpr double to_side = 0.3872983346207417;  // sqrt(0.15)
    const double middle = (first + last) / 2, length = last - first;
    const auto u = [&](double at) { return l.evaluate(q + by * at, v).u; };
    return (5 * u(middle - to_side * length) + 8 * u(middle) + 5 * u(middle + to_side * length)) / 18;
}

}  // namespace

double mean_on_way(const law& l, double q, double by, double v) {
    if (by == 0) return l.evaluate(q, v).u;
    const int count = std::min(l.corner_count(), most_corners);
    std::array<double, most_corners> begin{}, end{};
    std::array<double, most_corners + 2> at{};
    std::size_t points = 0;
    at[points++] = 0;
    if (count == l.corner_count() && count > 0) {
        l.corners(q, v, begin.data());
        l.corners(q + by, v, end.data());
        for (int k = 0; k < count; ++k)
            if ((begin[k] < 0) != (end[k] < 0)) at[points++] = begin[k] / (begin[k] - end[k]);
    }
    at[points++] = 1;
    std::sort(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(points));
    double sum = 0;
    for (std::size_t k = 0; k + 1 < points; ++k)
        if (at[k + 1] > at[k]) sum += (at[k + 1] - at[k]) * mean_between(l, q, by, v, at[k], at[k + 1]);
    return sum;
}

double contact_mean(const law& l, const contact_step& step) {
    const auto mean = [&](double u) {
        const double by = step.H * (step.v + step.H / 2 * (step.rate - step.own * u));
        return mean_on_way(l, step.q, by, by / step.H);
    };
    const double alone = mean(0);
    if (alone == 0 || step.own == 0) return alone;
    // u - M(u) rises from -alone at 0. Regula falsi that halves the weight of an end that stays, bisection where that is slow.
    double low = 0, high = alone, at_low = -alone, at_high = alone - mean(alone);
    for (int k = 0; k < 100 && std::abs(high - low) > 1e-13 * std::abs(high) && at_high != 0; ++k) {
        const double width = std::abs(high - low);
        double next = high - at_high * (high - low) / (at_high - at_low);
        if (k % 4 == 3 || !std::isfinite(next)) next = (low + high) / 2;
        const double value = next - mean(next);
        if (value == 0) return next;
        if ((value > 0) == (at_high > 0)) {
            high = next;
            at_high = value;
            at_low /= 2;
        } else {
            low = next;
            at_low = value;
            at_high /= 2;
        }
        if (std::abs(high - low) == width) break;
    }
    return high;
}

}  // namespace mdpcosim
