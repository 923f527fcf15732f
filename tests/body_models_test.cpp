// Bodies with frames: rates against differences, invariants, exact solutions. The READMEs in models/ quote their numbers from here.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "core/error.hpp"
#include "scenario/resolve.hpp"
#include "subsystem/body_frame.hpp"
#include "subsystem/model.hpp"

namespace mdpcosim {
namespace {

using std::numbers::pi;
using values = std::vector<double>;
using settings = std::vector<std::pair<std::string, values>>;

std::unique_ptr<equations> make_body(const std::string& model, const settings& set) {
    const model_info* info = model_registry::instance().find(model);
    parameter_values p(info->parameters);
    for (const auto& [name, value] : set) p.set(name, value);
    return info->make(p);
}

values start(const equations& model) {
    values x(static_cast<std::size_t>(model.state_count()));
    model.initial_state(0, x.data());
    return x;
}

using loads_over_time = std::function<double(int, double)>;

values loads_at(const equations& model, const loads_over_time& u, double t) {
    values all(static_cast<std::size_t>(model.describe().input_count()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = u ? u(static_cast<int>(i), t) : 0;
    return all;
}

values outputs(const equations& model, double t, const values& x, const loads_over_time& u = {}) {
    values y(static_cast<std::size_t>(model.describe().output_count()), std::nan(""));
    model.outputs(t, x.data(), loads_at(model, u, t).data(), y.data());
    return y;
}

/// The classical Runge-Kutta method.
values integrate(const equations& model, values x, double t, double end, int steps, const loads_over_time& u = {}) {
    const double h = (end - t) / steps;
    const std::size_t n = x.size();
    for (int step = 0; step < steps; ++step) {
        const double begin = t + step * h;
        values k(n), sum(n), at = x;
        const double share[]{1, 2, 2, 1}, reach[]{0, 0.5, 0.5, 1};
        for (int stage = 0; stage < 4; ++stage) {
            for (std::size_t i = 0; i < n; ++i) at[i] = x[i] + reach[stage] * h * k[i];
            const double time = begin + reach[stage] * h;
            model.derivatives(time, at.data(), loads_at(model, u, time).data(), k.data());
            for (std::size_t i = 0; i < n; ++i) sum[i] += share[stage] * k[i];
        }
        for (std::size_t i = 0; i < n; ++i) x[i] += h / 6 * sum[i];
    }
    return x;
}

double output_named(const equations& model, const values& y, const std::string& name, int element = 0) {
    for (const auto& v : model.describe().outputs)
        if (v.name == name) return y[static_cast<std::size_t>(v.slot + element)];
    throw std::logic_error("no output " + name);
}

vector3 vector_named(const equations& model, const values& y, const std::string& name) {
    return {output_named(model, y, name, 0), output_named(model, y, name, 1), output_named(model, y, name, 2)};
}

const settings a_body{{"mass", {2}},
                      {"inertia", {0.3, 0.5, 0.4, 0.05, -0.02, 0.03}},
                      {"gravity", {0.5, 0, -9.81}},
                      {"position", {0.1, 0.2, 0.3}},
                      {"orientation", {1, 0.3, -0.5, 0.2}},
                      {"velocity", {1, -1, 0.5}},
                      {"angular-velocity", {2, -1, 1.5}},
                      {"first-position", {0.4, 0.1, -0.2}},
                      {"first-orientation", {0.3, -0.2, 1}},
                      {"second-position", {-0.3, 0.2, 0.1}},
                      {"second-orientation", {0.2, 1, 0.5, -0.3}}};
const settings a_rod{{"mass", {2}}, {"length", {0.7}}, {"angle", {0.4}}, {"speed", {-2}}, {"position", {0.3, 0.2}}};
settings with(settings set, const settings& more) {
    set.insert(set.end(), more.begin(), more.end());
    return set;
}

struct body_case {
    std::string name, model;
    settings set;
};

class every_body : public testing::TestWithParam<body_case> {
   protected:
    std::unique_ptr<equations> model_ = make_body(GetParam().model, GetParam().set);
    loads_over_time u_ = [](int i, double t) { return std::sin(3 * t + i) + 0.1 * i; };
    double t_ = 0.37;
};

INSTANTIATE_TEST_SUITE_P(
    models, every_body,
    testing::Values(body_case{"rigid_body", "rigid-body", a_body},
                    body_case{"free_rod", "planar-link", with(a_rod, {{"velocity", {1, -2}}})},
                    body_case{"hinged_rod", "planar-link", with(a_rod, {{"support", {1}}})},
                    body_case{"ground", "fixed-frame", {{"position", {1, 2, 3}}, {"orientation", {0, 0, pi / 2}}}}),
    [](const auto& tested) { return tested.param.name; });

TEST_P(every_body, gives_frames_whose_motion_fits_together) {
    const double h = 2e-5;
    const values before = integrate(*model_, start(*model_), 0, t_ - h, 4000, u_);
    const values now = integrate(*model_, before, t_ - h, t_, 1, u_),
                 after = integrate(*model_, now, t_, t_ + h, 1, u_);
    const values y0 = outputs(*model_, t_ - h, before, u_), y1 = outputs(*model_, t_, now, u_),
                 y2 = outputs(*model_, t_ + h, after, u_);
    const auto difference = [&](std::size_t at) { return (y2[at] - y0[at]) / (2 * h); };
    for (const port& p : model_->describe().ports) {
        ASSERT_EQ(p.motion_slots.size(), static_cast<std::size_t>(frame_motion::count));
        ASSERT_EQ(p.load_slots.size(), static_cast<std::size_t>(frame_load_count));
        const auto slot = [&](int k) { return static_cast<std::size_t>(p.motion_slots[static_cast<std::size_t>(k)]); };
        for (const auto& [value, rate] : frame_motion::rates)
            for (int k = 0; k < 3; ++k)
                EXPECT_NEAR(y1[slot(rate + k)], difference(slot(value + k)), 1e-6) << p.name << " " << rate;
        quaternion q, dq;
        for (int k = 0; k < 4; ++k) {
            q[static_cast<std::size_t>(k)] = y1[slot(frame_motion::orientation + k)];
            dq[static_cast<std::size_t>(k)] = difference(slot(frame_motion::orientation + k));
        }
        const quaternion omega = dq * conjugate(q);
        for (int k = 0; k < 3; ++k)
            EXPECT_NEAR(y1[slot(frame_motion::angular_velocity + k)], 2 * omega[static_cast<std::size_t>(k + 1)], 1e-6);
        EXPECT_NEAR(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-15);
    }
}

TEST_P(every_body, gains_the_work_of_its_loads) {
    const double h = 2e-5;
    const values before = integrate(*model_, start(*model_), 0, t_ - h, 4000, u_);
    const values now = integrate(*model_, before, t_ - h, t_, 1, u_),
                 after = integrate(*model_, now, t_, t_ + h, 1, u_);
    const auto energy = [&](double t, const values& x) {
        return x.empty() ? 0 : output_named(*model_, outputs(*model_, t, x, u_), "energy");
    };
    const values y = outputs(*model_, t_, now, u_);
    double power = 0;
    for (const port& p : model_->describe().ports)
        for (std::size_t k = 0; k < 6; ++k)
            power += u_(p.load_slots[k], t_) * y[static_cast<std::size_t>(p.motion_slots[frame_motion::velocity + k])];
    EXPECT_NEAR(power, (energy(t_ + h, after) - energy(t_ - h, before)) / (2 * h), 1e-5);
}

TEST_P(every_body, depends_on_no_other_inputs_than_described) {
    const values x = integrate(*model_, start(*model_), 0, t_, 200, u_), y = outputs(*model_, t_, x, u_);
    for (int i = 0; i < model_->describe().input_count(); ++i) {
        const values changed = outputs(*model_, t_, x, [&](int k, double t) { return u_(k, t) + (k == i ? 1 : 0); });
        for (const auto& v : model_->describe().outputs) {
            bool depends = false;
            for (int k = v.slot; k < v.slot + v.size; ++k)
                depends |= changed[static_cast<std::size_t>(k)] != y[static_cast<std::size_t>(k)];
            const bool described = std::find(v.direct.begin(), v.direct.end(), i) != v.direct.end();
            // The force on the centre does not turn the body, and what turns it does not move its centre.
            const bool centre = GetParam().name == "rigid_body" && (v.name == "centre.acceleration" || i < 3);
            EXPECT_TRUE(centre ? depends <= described : depends == described) << v.name << " input " << i;
        }
    }
}

TEST(rigid_body, keeps_energy_and_momenta_while_nothing_acts) {
    const values I{0.2, 0.5, 0.6};
    const auto model =
        make_body("rigid-body", {{"inertia", I}, {"angular-velocity", {0.01, 4, 0.02}}, {"velocity", {1, 2, 3}}});
    const auto momentum = [&](const values& x) {
        const values y = outputs(*model, 0, x);
        quaternion q;
        for (int k = 0; k < 4; ++k) q[static_cast<std::size_t>(k)] = output_named(*model, y, "centre.orientation", k);
        const vector3 w = rotated(conjugate(q), vector_named(*model, y, "centre.angular-velocity"));
        return rotated(q, {I[0] * w[0], I[1] * w[1], I[2] * w[2]});
    };
    const auto energy = [&](const values& x) { return output_named(*model, outputs(*model, 0, x), "energy"); };
    const values x0 = start(*model), x = integrate(*model, x0, 0, 10, 20000);
    // About the middle axis it turns over: the motion is far from trivial.
    EXPECT_GT(std::abs(x[10]) + std::abs(x[12]), 0.1);
    EXPECT_NEAR(energy(x), energy(x0), 1e-9);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(momentum(x)[k], momentum(x0)[k], 1e-9);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(x[k], 10 * (1. + static_cast<double>(k)), 1e-10);
}

// A symmetric body without loads: in its own axes w turns about the axis of symmetry with (I3 - I1) / I1 w3.
TEST(rigid_body, precesses_as_a_symmetric_top) {
    const double I1 = 0.4, I3 = 0.7, w1 = 1.5, w3 = 6, end = 2;
    const auto model = make_body("rigid-body", {{"inertia", {I1, I1, I3}}, {"angular-velocity", {w1, 0, w3}}});
    const values x = integrate(*model, start(*model), 0, end, 4000);
    const double angle = (I3 - I1) / I1 * w3 * end;
    EXPECT_NEAR(x[10], w1 * std::cos(angle), 1e-9);
    EXPECT_NEAR(x[11], w1 * std::sin(angle), 1e-9);
    EXPECT_NEAR(x[12], w3, 1e-12);
}

TEST(rigid_body, does_not_mind_the_length_of_its_quaternion) {
    const auto model = make_body("rigid-body", a_body);
    values x = integrate(*model, start(*model), 0, 0.2, 100), longer = x;
    for (std::size_t k = 3; k < 7; ++k) longer[k] *= 1.01;
    const loads_over_time u = [](int i, double) { return 1. + i; };
    x = integrate(*model, x, 0, 1, 1000, u), longer = integrate(*model, longer, 0, 1, 1000, u);
    const values y = outputs(*model, 1, x, u), z = outputs(*model, 1, longer, u);
    for (std::size_t k = 0; k < y.size(); ++k) EXPECT_NEAR(y[k], z[k], 1e-12 * (1 + std::abs(y[k])));
}

TEST(rigid_body, moves_as_a_planar_link_in_the_plane) {
    const double m = 2, l = 0.7, phi = 0.4, w = -2;
    const auto rod = make_body("planar-link", with(a_rod, {{"velocity", {1, -2}}}));
    const values at_start = outputs(*rod, 0, start(*rod));
    const vector3 centre = 0.5 * (vector_named(*rod, at_start, "first.position") +
                                  vector_named(*rod, at_start, "second.position")),
                  velocity = 0.5 * (vector_named(*rod, at_start, "first.velocity") +
                                    vector_named(*rod, at_start, "second.velocity"));
    const auto body = make_body("rigid-body", {{"mass", {m}},
                                               {"inertia", {1e-3, m * l * l / 12, m * l * l / 12}},
                                               {"gravity", {0, -9.81, 0}},
                                               {"position", {centre[0], centre[1], 0}},
                                               {"orientation", {0, 0, phi}},
                                               {"velocity", {velocity[0], velocity[1], 0}},
                                               {"angular-velocity", {0, 0, w}},
                                               {"first-position", {-l / 2, 0, 0}},
                                               {"second-position", {l / 2, 0, 0}}});
    const loads_over_time planar = [](int i, double t) {
        return i % 6 == 0 || i % 6 == 1 || i % 6 == 5 ? std::cos(2 * t + i) : 0.;
    };
    // The body's first port is its centre, which stays without load.
    const loads_over_time on_body = [&](int i, double t) { return i < 6 ? 0. : planar(i - 6, t); };
    const values y = outputs(*rod, 1, integrate(*rod, start(*rod), 0, 1, 2000, planar), planar);
    const values z = outputs(*body, 1, integrate(*body, start(*body), 0, 1, 2000, on_body), on_body);
    for (const auto& v : rod->describe().outputs) {
        if (v.name == "angle" || v.name == "speed" || v.name.ends_with("orientation")) continue;
        for (int k = 0; k < v.size; ++k)
            EXPECT_NEAR(output_named(*rod, y, v.name, k), output_named(*body, z, v.name, k), 1e-9) << v.name;
    }
}

// Let go at the height of its hinge, a rod is on the other side after half a period, 2 sqrt(2 l / (3 g)) K(sin(pi/4)).
TEST(planar_link, swings_with_the_period_of_a_pendulum) {
    const double l = 0.7, half = 2 * std::sqrt(2 * l / (3 * 9.81)) * std::comp_ellint_1(std::sin(pi / 4));
    const auto rod = make_body("planar-link", {{"support", {1}}, {"length", {l}}});
    const values x = integrate(*rod, start(*rod), 0, half, 4000);
    EXPECT_NEAR(half, 0.8088, 1e-4);
    EXPECT_NEAR(x[0], -pi, 1e-10);
    EXPECT_NEAR(x[1], 0, 1e-10);
}

void expect_refusal(const std::string& model, const settings& set, const std::string& message) {
    try {
        make_body(model, set);
        FAIL() << "taken: " << message;
    } catch (const std::invalid_argument& problem) {
        EXPECT_THAT(problem.what(), testing::HasSubstr(message));
    }
}

TEST(bodies, refuse_parameters_that_make_no_sense) {
    expect_refusal("rigid-body", {{"inertia", {1, 1}}}, "'inertia' takes 1 number");
    expect_refusal("rigid-body", {{"inertia", {1, 1, 1, 2, 0, 0}}}, "'inertia' is not positive definite");
    expect_refusal("rigid-body", {{"position", {1, 1}}}, "'position' has 2 numbers; 3 are needed");
    expect_refusal("rigid-body", {{"orientation", {1, 2}}}, "'orientation' has 2 numbers; 4 are a quaternion");
    expect_refusal("fixed-frame", {{"orientation", {0, 0, 0, 0}}}, "'orientation' is zero");
    expect_refusal("planar-link", {{"position", {1, 2, 3}}}, "'position' needs two numbers");
    expect_refusal("planar-link", {{"support", {1}}, {"velocity", {1, 0}}}, "which a hinge holds at rest");
}

}  // namespace
}  // namespace mdpcosim
