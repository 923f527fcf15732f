#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "monolithic_fixture.hpp"
#include "subsystem/body_frame.hpp"

/// examples/spatial-linkage: what holds in every position, and its motion without joints, as a function of the crank's angle.
namespace mdpcosim::test {

inline const fs::path linkage_file = examples / "spatial-linkage/scenario.yaml";

inline vector3 vector_in(const result_table& t, std::size_t row, const std::string& name) {
    vector3 v;
    for (std::size_t k = 0; k < 3; ++k) v[k] = t.value(row, column(t, name + "[" + std::to_string(k) + "]"));
    return v;
}

inline double largest(const vector3& v) { return std::max({std::abs(v[0]), std::abs(v[1]), std::abs(v[2])}); }

/// Largest violation of the four joints in a row (m, or 1 for axes).
inline double violation(const result_table& t, std::size_t row) {
    const auto at = [&](const std::string& name) { return vector_in(t, row, name); };
    const auto turned = [&](const std::string& frame, const vector3& axis) {
        quaternion q;
        for (std::size_t k = 0; k < 4; ++k)
            q[k] = t.value(row, column(t, frame + ".orientation[" + std::to_string(k) + "]"));
        return rotated(q, axis);
    };
    const vector3 slider = at("slider.centre.position");
    return std::max({largest(at("crank.first.position") - vector3{0, 0.1, 0.12}),
                     largest(at("crank.second.position") - at("rod.first.position")),
                     largest(at("rod.second.position") - slider), std::abs(slider[1]), std::abs(slider[2]),
                     largest(turned("crank.first", {1, 0, 0}) - vector3{1, 0, 0}),
                     largest(turned("slider.centre", {1, 0, 0}) - vector3{1, 0, 0}),
                     largest(turned("slider.centre", {0, 1, 0}) - vector3{0, 1, 0}),
                     std::abs(dot(turned("slider.centre", {0, 1, 0}), turned("rod.second", {0, 0, 1})))});
}

inline double energy(const result_table& t, std::size_t row) {
    return t.value(row, column(t, "crank.energy")) + t.value(row, column(t, "rod.energy")) +
           t.value(row, column(t, "slider.energy"));
}

/// One degree of freedom: theta' follows from the energy.
struct linkage {
    double slider, inertia, potential;  ///< inertia: twice the kinetic energy at theta' = 1

    explicit linkage(double theta) {
        const double radius = 0.08, length = 0.3, g = 9.81;
        const vector3 bearing{0, 0.1, 0.12}, arm{0, -radius * std::sin(theta), radius * std::cos(theta)};
        const vector3 crank = bearing + arm, y{0, 1, 0};
        slider = std::sqrt(length * length - crank[1] * crank[1] - crank[2] * crank[2]);
        const vector3 end{slider, 0, 0}, along = (1 / length) * (end - crank), across = cross(along, y);
        const vector3 z = (1 / std::sqrt(dot(across, across))) * across;
        const vector3 v_crank = cross({1, 0, 0}, arm),
                      v_end{-(crank[1] * v_crank[1] + crank[2] * v_crank[2]) / slider, 0, 0};
        // The rod turns as its ends say; its spin keeps z at right angles to y.
        vector3 w = (1 / length) * cross(along, v_end - v_crank);
        const vector3 n = cross(z, y);
        w = w - (dot(w, n) / dot(along, n)) * along;
        const double spin = dot(w, along), v_rod = dot(v_crank + v_end, v_crank + v_end) / 4;
        inertia = 1e-4 + 0.12 * dot(v_crank, v_crank) / 4 + 4e-4 * spin * spin + 4e-3 * (dot(w, w) - spin * spin) +
                  0.5 * v_rod + 2 * dot(v_end, v_end);
        potential = g * (0.12 * (bearing[2] + crank[2]) / 2 + 0.5 * crank[2] / 2);
    }
};

/// The position of the slider at `end`, by the classical Runge-Kutta method; the crank begins with 6 rad/s and never stands still.
inline double slider_after(double end, int steps) {
    const linkage start(0);
    const double energy = 18 * start.inertia + start.potential, h = end / steps;
    const auto rate = [&](double theta) {
        const linkage l(theta);
        return std::sqrt(2 * (energy - l.potential) / l.inertia);
    };
    double theta = 0;
    for (int n = 0; n < steps; ++n) {
        const double k1 = rate(theta), k2 = rate(theta + h / 2 * k1), k3 = rate(theta + h / 2 * k2),
                     k4 = rate(theta + h * k3);
        theta += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return linkage(theta).slider;
}

}  // namespace mdpcosim::test
