#include "lift_law.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mdpcosim::valve_train {

lift_law::lift_law(std::vector<knot> knots) : begin_(knots.front().angle), end_(knots.back().angle) {
    for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
        const knot &l = knots[i], &r = knots[i + 1];
        const double w = r.angle - l.angle;
        // Hermite's polynomial of fifth degree in s = (angle - begin)/w.
        const double rise = r.h - l.h - w * l.slope - w * w * l.bend / 2,
                     steeper = w * (r.slope - l.slope - w * l.bend), more_bent = w * w * (r.bend - l.bend);
        const double c3 = 10 * rise - 4 * steeper + more_bent / 2, c4 = -15 * rise + 7 * steeper - more_bent,
                     c5 = 6 * rise - 3 * steeper + more_bent / 2;
        pieces_.push_back(
            {l.angle, {l.h, l.slope, l.bend / 2, c3 / (w * w * w), c4 / (w * w * w * w), c5 / (w * w * w * w * w)}});
        constexpr int samples = 50;
        for (int k = 0; k <= samples; ++k) highest_ = std::max(highest_, at(l.angle + w * k / samples).h);
    }
}

lift_value lift_law::at(double angle) const {
    constexpr double turn = 2 * std::numbers::pi;
    const double own = angle - turn * std::floor((angle - begin_) / turn);
    if (!(own < end_)) return {};
    auto next = std::upper_bound(pieces_.begin(), pieces_.end(), own,
                                 [](double value, const piece& p) { return value < p.begin; });
    if (next != pieces_.begin()) --next;
    const auto& a = next->a;
    const double s = own - next->begin;
    return {a[0] + s * (a[1] + s * (a[2] + s * (a[3] + s * (a[4] + s * a[5])))),
            a[1] + s * (2 * a[2] + s * (3 * a[3] + s * (4 * a[4] + s * 5 * a[5]))),
            2 * a[2] + s * (6 * a[3] + s * (12 * a[4] + s * 20 * a[5]))};
}

std::vector<knot> knots_of_shape(const lift_shape& shape) {
    const double end = shape.duration / 2, top = shape.dwell / 2;
    std::vector<knot> knots{{-end, 0, 0, 0}};
    // A ramp h_r (2 s^3 - s^4) of the way s ends with the slope 2 h_r/ramp and no curvature.
    const double slope = shape.ramp_lift > 0 ? 2 * shape.ramp_lift / shape.ramp : 0;
    if (shape.ramp_lift > 0) knots.push_back({-end + shape.ramp, shape.ramp_lift, slope, 0});
    knots.push_back({-top, shape.lift, 0, 0});
    if (top > 0) knots.push_back({top, shape.lift, 0, 0});
    if (shape.ramp_lift > 0) knots.push_back({end - shape.ramp, shape.ramp_lift, -slope, 0});
    knots.push_back({end, 0, 0, 0});
    return knots;
}

std::vector<knot> knots_of_points(const std::vector<double>& angles, const std::vector<double>& lifts) {
    const std::size_t n = angles.size();
    std::vector<knot> knots(n);
    for (std::size_t i = 0; i < n; ++i) knots[i] = {angles[i], lifts[i], 0, 0};
    // Slopes m of the cubic spline: m_(i-1)/w_(i-1) + 2 m_i (1/w_(i-1) + 1/w_i) + m_(i+1)/w_i = 3 (d_(i-1)/w_(i-1)^2 + d_i/w_i^2),  m = 0 at both ends.
    const auto w = [&](std::size_t i) { return angles[i + 1] - angles[i]; };
    const auto d = [&](std::size_t i) { return lifts[i + 1] - lifts[i]; };
    std::vector<double> above(n), right(n);
    for (std::size_t i = 1; i + 1 < n; ++i) {
        const double below = 1 / w(i - 1), after = 1 / w(i);
        const double middle = 2 * (below + after) - below * above[i - 1];
        above[i] = after / middle;
        right[i] = (3 * (d(i - 1) * below * below + d(i) * after * after) - below * right[i - 1]) / middle;
    }
    for (std::size_t i = n - 1; i-- > 1;) knots[i].slope = right[i] - above[i] * knots[i + 1].slope;
    for (std::size_t i = 1; i + 1 < n; ++i)
        knots[i].bend = 6 * d(i) / (w(i) * w(i)) - (4 * knots[i].slope + 2 * knots[i + 1].slope) / w(i);
    return knots;
}

}  // namespace mdpcosim::valve_train
