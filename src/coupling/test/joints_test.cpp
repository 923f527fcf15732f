// Joints between frames: rates, loads and freedom, against differences along motions of two bodies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/units.hpp"
#include "coupling/joint.hpp"

namespace mdpcosim {
namespace {

using vector = std::array<double, 3>;
using quaternion = std::array<double, 4>;
using motion = std::array<double, frame_motion::count>;

quaternion times(const quaternion& p, const quaternion& q) {
    return {
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
}

quaternion conjugate(const quaternion& q) { return {q[0], -q[1], -q[2], -q[3]}; }

quaternion turn(const vector& axis_times_angle) {
    const double angle = std::hypot(axis_times_angle[0], axis_times_angle[1], axis_times_angle[2]);
    const double s = angle > 0 ? std::sin(angle / 2) / angle : 0.5;
    return {std::cos(angle / 2), s * axis_times_angle[0], s * axis_times_angle[1], s * axis_times_angle[2]};
}

struct pose {
    vector r{};
    quaternion q{1, 0, 0, 0};
};

/// A frame that is fixed at `relative` in a frame at `base`.
pose combined(const pose& base, const pose& relative) {
    const vector& r = relative.r;
    const quaternion turned = times(times(base.q, {0, r[0], r[1], r[2]}), conjugate(base.q));
    return {{base.r[0] + turned[1], base.r[1] + turned[2], base.r[2] + turned[3]}, times(base.q, relative.q)};
}

using path = std::function<pose(double)>;

/// Position and orientation with their rates by differences of sixth order.
motion motion_of(const path& p, double t) {
    const double h = 4e-3;
    const std::array<pose, 7> at{p(t - 3 * h), p(t - 2 * h), p(t - h), p(t), p(t + h), p(t + 2 * h), p(t + 3 * h)};
    const std::array<double, 7> first{-1, 9, -45, 0, 45, -9, 1}, second{2, -27, 270, -490, 270, -27, 2};
    motion m{};
    quaternion dq{}, ddq{};
    for (std::size_t k = 0; k < 7; ++k) {
        const double a = first[k] / (60 * h), b = second[k] / (180 * h * h);
        for (std::size_t i = 0; i < 3; ++i) {
            m[frame_motion::velocity + i] += a * at[k].r[i];
            m[frame_motion::acceleration + i] += b * at[k].r[i];
        }
        for (std::size_t i = 0; i < 4; ++i) dq[i] += a * at[k].q[i], ddq[i] += b * at[k].q[i];
    }
    const quaternion omega = times(dq, conjugate(at[3].q)), alpha = times(ddq, conjugate(at[3].q));
    std::copy_n(at[3].r.begin(), 3, m.begin());
    std::copy_n(at[3].q.begin(), 4, m.begin() + frame_motion::orientation);
    for (std::size_t i = 0; i < 3; ++i) {
        m[frame_motion::angular_velocity + i] = 2 * omega[i + 1];
        m[frame_motion::angular_acceleration + i] = 2 * alpha[i + 1];
    }
    return m;
}

pose first_body(double t) {
    return {{0.3 + std::sin(t), 0.2 * t * t, std::cos(2 * t)},
            times(turn({0.4 + t, 0.3 * t, -0.2}), turn({0, std::sin(t), 0.5 * t}))};
}

pose second_body(double t) {
    return {{0.5 * t, std::cos(t) - 0.4, 0.7}, times(turn({-0.7, t * t, 0.6 * t}), turn({std::cos(t), 0, -0.3}))};
}

struct evaluation {
    std::vector<jet> g;
    std::array<std::vector<jet>, 2> loads;
};

evaluation evaluate(const joint& j, const motion& first, const motion& second) {
    const auto m = static_cast<std::size_t>(j.equations());
    evaluation e{std::vector<jet>(m), {std::vector<jet>(6 * m), std::vector<jet>(6 * m)}};
    j.evaluate(first.data(), second.data(), e.g.data(), e.loads[0].data(), e.loads[1].data());
    return e;
}

struct made_joint {
    std::string name;
    std::vector<std::pair<std::string, double>> set;
    int equations;
    std::function<pose(double)> freedom;  ///< of the second frame in the first
};

std::unique_ptr<joint> make(const made_joint& m) {
    const joint_info* info = joint_registry::instance().find(m.name);
    parameter_values values(info->parameters);
    for (const auto& [name, value] : m.set) values.set(name, {value});
    return info->make(values, port_kind::frame);
}

constexpr double x = 0, y = 1, z = 2;

const std::vector<made_joint>& all() {
    static const std::vector<made_joint> joints{
        {"atpoint",
         {},
         3,
         [](double t) {
             return pose{{}, turn({t, 0.5 - t, t * t})};
         }},
        {"spherical",
         {},
         3,
         [](double t) {
             return pose{{}, turn({t, 0.5 - t, t * t})};
         }},
        {"inplane",
         {{"normal", y}},
         1,
         [](double t) {
             return pose{{t, 0, t * t}, turn({t, 1, -t})};
         }},
        {"perpendicular",
         {{"first-axis", z}, {"second-axis", x}},
         1,
         [](double t) {
             return pose{{1, t, t * t}, times(turn({0, 0, 1 + t}), turn({t * t, 0, 0}))};
         }},
        {"planar-revolute",
         {},
         2,
         [](double t) {
             return pose{{}, turn({0, 0, 0.1 + 2 * t})};
         }},
        {"revolute",
         {{"axis", x}},
         5,
         [](double t) {
             return pose{{}, turn({0.3 + t * t, 0, 0})};
         }},
        {"revolute",
         {},
         5,
         [](double t) {
             return pose{{}, turn({0, 0, 1 + t * t})};
         }},
        {"universal",
         {{"first-axis", y}, {"second-axis", z}},
         4,
         [](double t) {
             return pose{{}, times(turn({0, t * t, 0}), turn({0, 0, 1 + t}))};
         }},
        {"prismatic",
         {{"axis", y}},
         5,
         [](double t) {
             return pose{{0, 0.4 + t * t, 0}, {1, 0, 0, 0}};
         }},
        {"cylindrical",
         {{"axis", y}},
         4,
         [](double t) {
             return pose{{0, 2 * t, 0}, turn({0, 1 + t * t, 0})};
         }},
        {"fixed", {}, 6, [](double) { return pose{}; }},
    };
    return joints;
}

TEST(joints, have_the_rates_of_their_equations_and_loads) {
    const double t = 0.7, h = 1e-4;
    for (const auto& made : all()) {
        const auto j = make(made);
        ASSERT_EQ(j->equations(), made.equations) << made.name;
        const auto at = [&](double time) {
            return evaluate(*j, motion_of(first_body, time), motion_of(second_body, time));
        };
        const evaluation now = at(t), before = at(t - h), after = at(t + h);
        const auto expect_rates = [&](const jet& p, const jet& q, const jet& r) {
            EXPECT_NEAR(q.v, (r.x - p.x) / (2 * h), 1e-6) << made.name;
            EXPECT_NEAR(q.a, (r.v - p.v) / (2 * h), 1e-6) << made.name;
        };
        for (std::size_t i = 0; i < now.g.size(); ++i) expect_rates(before.g[i], now.g[i], after.g[i]);
        for (const std::size_t side : {0, 1})
            for (std::size_t i = 0; i < now.loads[side].size(); ++i)
                expect_rates(before.loads[side][i], now.loads[side][i], after.loads[side][i]);
    }
}

TEST(joints, load_their_ports_by_minus_the_gradient) {
    const double delta = 1e-5;
    const pose bodies[2]{first_body(0.7), second_body(0.7)};
    for (const auto& made : all()) {
        const auto j = make(made);
        const auto g_at = [&](std::size_t side, std::size_t direction, double by) {
            pose moved[2]{bodies[0], bodies[1]};
            vector turned{};
            (direction < 3 ? moved[side].r[direction] : turned[direction - 3]) += by;
            moved[side].q = times(turn(turned), moved[side].q);
            return evaluate(*j, motion_of([&](double) { return moved[0]; }, 0),
                            motion_of([&](double) { return moved[1]; }, 0));
        };
        const evaluation now = g_at(0, 0, 0);
        for (std::size_t side = 0; side < 2; ++side)
            for (std::size_t k = 0; k < 6; ++k) {
                const evaluation before = g_at(side, k, -delta), after = g_at(side, k, delta);
                for (std::size_t i = 0; i < now.g.size(); ++i)
                    EXPECT_NEAR(now.loads[side][6 * i + k].x, -(after.g[i].x - before.g[i].x) / (2 * delta), 1e-9)
                        << made.name << " equation " << i << " side " << side << " direction " << k;
            }
    }
}

/// The length of what is left of each row after the rows before it are taken out: zero where a row depends on them.
double least_remainder(std::vector<std::vector<double>> rows) {
    double least = 1e300;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            double along = 0;
            for (std::size_t c = 0; c < rows[i].size(); ++c) along += rows[i][c] * rows[k][c];
            for (std::size_t c = 0; c < rows[i].size(); ++c) rows[i][c] -= along * rows[k][c];
        }
        double square = 0;
        for (const double c : rows[i]) square += c * c;
        least = std::min(least, std::sqrt(square));
        for (double& c : rows[i]) c /= std::sqrt(square);
    }
    return least;
}

TEST(joints, leave_their_freedom_and_do_no_work_on_it) {
    const path planar = [](double t) { return pose{{std::sin(t), t * t, 0.3}, turn({0, 0, 0.4 + t})}; };
    for (const auto& made : all()) {
        const auto j = make(made);
        const path first = made.name == "planar-revolute" ? planar : path(first_body);
        const path second = [&](double t) { return combined(first(t), made.freedom(t)); };
        const motion m[2]{motion_of(first, 0.7), motion_of(second, 0.7)};
        const evaluation e = evaluate(*j, m[0], m[1]);
        std::vector<std::vector<double>> rows;
        for (std::size_t i = 0; i < e.g.size(); ++i) {
            EXPECT_NEAR(e.g[i].x, 0, 1e-15) << made.name;
            EXPECT_NEAR(e.g[i].v, 0, 1e-11) << made.name;
            EXPECT_NEAR(e.g[i].a, 0, 1e-9) << made.name;
            double power = 0;
            rows.emplace_back();
            for (std::size_t side = 0; side < 2; ++side)
                for (std::size_t k = 0; k < 6; ++k) {
                    const double load = e.loads[side][6 * i + k].x;
                    power += load * m[side][frame_motion::velocity + k];
                    rows.back().push_back(load);
                }
            EXPECT_NEAR(power, 0, 1e-11) << made.name << " equation " << i;
        }
        EXPECT_GT(least_remainder(rows), 0.1) << made.name << ": equations that depend on each other";
    }
}

TEST(joints, have_units_that_fit_their_work) {
    for (const auto& made : all()) {
        const auto j = make(made);
        for (int i = 0; i < j->equations(); ++i)
            EXPECT_NO_THROW(find_conversion(j->multiplier_unit(i) + "." + j->unit(i), "J")) << made.name;
    }
}

}  // namespace
}  // namespace mdpcosim
