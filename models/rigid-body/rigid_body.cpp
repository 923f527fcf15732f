#include <cmath>
#include <stdexcept>

#include "subsystem/body_frame.hpp"
#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// Newton and Euler for a free body, r the centre of mass, q its orientation, w the angular velocity in the body's axes:
//     r' = v ,   m v' = m g + sum F_i
//     q' = q w / 2 ,   I w' = sum R'(T_i + R p_i x F_i) - w x I w ,   R = R(q / |q|)
// Nothing but q / |q| is used, so that an error of the solver in |q| does no harm.

namespace mdpcosim {

namespace {

constexpr int port_count = 3;
enum { r_at = 0, q_at = 3, v_at = 7, w_at = 10, states = 13 };

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model rigid-body";
        add_frame_port(d, "centre", "the centre of mass with the axes of the body");
        add_frame_port(d, "first", "a frame of the body at 'first-position'");
        add_frame_port(d, "second", "a frame of the body at 'second-position'");
        std::vector<int> all_loads;
        for (int k = 0; k < d.input_count(); ++k) all_loads.push_back(k);
        for (auto& output : d.outputs)
            if (!output.direct.empty()) output.direct = all_loads;
        add_output(d, "energy", "J", "kinetic and potential energy; zero at rest in the origin");
        return d;
    }();
    return shared;
}

using matrix3 = std::array<vector3, 3>;

vector3 times(const matrix3& m, const vector3& v) { return {dot(m[0], v), dot(m[1], v), dot(m[2], v)}; }

/// From 1 (all axes), 3 (principal) or 6 numbers: xx, yy, zz, xy, xz, yz.
matrix3 read_inertia(const std::vector<double>& i) {
    if (i.size() != 6 && i.size() != 3 && i.size() != 1)
        throw std::invalid_argument(
            "'inertia' takes 1 number for all axes, 3 for the axes, or 6: xx, yy, zz, xy, xz, yz of the tensor");
    const bool full = i.size() == 6, one = i.size() == 1;
    const double xy = full ? i[3] : 0, xz = full ? i[4] : 0, yz = full ? i[5] : 0;
    return {{{i[0], xy, xz}, {xy, one ? i[0] : i[1], yz}, {xz, yz, one ? i[0] : i[2]}}};
}

/// The inverse by the rows' cross products, of a positive definite matrix.
matrix3 inverse(const matrix3& m) {
    const matrix3 columns{cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1])};
    const double determinant = dot(m[0], columns[0]);
    if (!(m[0][0] > 0 && columns[2][2] > 0 && determinant > 0))
        throw std::invalid_argument("'inertia' is not positive definite");
    matrix3 result;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t k = 0; k < 3; ++k) result[i][k] = columns[k][i] / determinant;
    return result;
}

vector3 vector_at(const double* x) { return {x[0], x[1], x[2]}; }

class rigid_body final : public equations {
   public:
    explicit rigid_body(const parameter_values& p)
        : mass_(p["mass"]),
          inertia_(read_inertia(p.list("inertia"))),
          inverse_inertia_(inverse(inertia_)),
          gravity_(read_vector(p, "gravity")),
          frames_{body_frame{}, body_frame{read_vector(p, "first-position"), read_orientation(p, "first-orientation")},
                  body_frame{read_vector(p, "second-position"), read_orientation(p, "second-orientation")}},
          start_{.position = read_vector(p, "position"),
                 .orientation = read_orientation(p, "orientation"),
                 .velocity = read_vector(p, "velocity"),
                 .angular_velocity = read_vector(p, "angular-velocity")} {}

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return states; }

    void initial_state(double /*t0*/, double* x) const override {
        const vector3 w = rotated(conjugate(start_.orientation), start_.angular_velocity);
        std::copy(start_.position.begin(), start_.position.end(), x + r_at);
        std::copy(start_.orientation.begin(), start_.orientation.end(), x + q_at);
        std::copy(start_.velocity.begin(), start_.velocity.end(), x + v_at);
        std::copy(w.begin(), w.end(), x + w_at);
    }

    void derivatives(double /*t*/, const double* x, const double* u, double* dx) const override {
        const quaternion q{x[q_at], x[q_at + 1], x[q_at + 2], x[q_at + 3]};
        const quaternion dq = q * quaternion{0, x[w_at] / 2, x[w_at + 1] / 2, x[w_at + 2] / 2};
        const auto [a, alpha] = accelerations(x, normalised(q), u);
        std::copy_n(x + v_at, 3, dx + r_at);
        std::copy(dq.begin(), dq.end(), dx + q_at);
        std::copy(a.begin(), a.end(), dx + v_at);
        std::copy(alpha.begin(), alpha.end(), dx + w_at);
    }

    void outputs(double /*t*/, const double* x, const double* u, double* y) const override {
        body_motion m;
        m.position = vector_at(x + r_at);
        m.orientation = normalised({x[q_at], x[q_at + 1], x[q_at + 2], x[q_at + 3]});
        m.velocity = vector_at(x + v_at);
        const vector3 w = vector_at(x + w_at);
        m.angular_velocity = rotated(m.orientation, w);
        const auto [a, alpha] = accelerations(x, m.orientation, u);
        m.acceleration = a;
        m.angular_acceleration = rotated(m.orientation, alpha);
        for (int i = 0; i < port_count; ++i) put_motion(m, frames_[i], y + i * frame_motion::count);
        y[port_count * frame_motion::count] =
            mass_ * (dot(m.velocity, m.velocity) / 2 - dot(gravity_, m.position)) + dot(w, times(inertia_, w)) / 2;
    }

   private:
    /// Of the centre in inertial axes, and angular in the body's.
    std::pair<vector3, vector3> accelerations(const double* x, const quaternion& q, const double* u) const {
        vector3 force{}, torque{};
        for (const auto& frame : frames_) {
            const vector3 f = vector_at(u);
            force = force + f;
            torque = torque + vector_at(u + 3) + cross(rotated(q, frame.position), f);
            u += frame_load_count;
        }
        const vector3 w = vector_at(x + w_at);
        return {gravity_ + (1 / mass_) * force,
                times(inverse_inertia_, rotated(conjugate(q), torque) - cross(w, times(inertia_, w)))};
    }

    double mass_;
    matrix3 inertia_, inverse_inertia_;
    vector3 gravity_;
    body_frame frames_[port_count];
    body_motion start_;
};

/// A rod between the two frames, a box at the centre where they are one.
model_scene scene(const parameter_values& p) {
    const auto place = [](const std::string& port) -> std::vector<std::string> {
        return {port + "_position_0", port + "_position_1", port + "_position_2"};
    };
    if (read_vector(p, "first-position") != read_vector(p, "second-position"))
        return {false,
                {{"rod", {place("first"), place("second")}, {}, {}, {"first"}},
                 {"ball", {place("second")}, {"0.01"}, {}, {"second"}}}};
    return {false,
            {{"box",
              {place("centre")},
              {"0.1", "0.1", "0.1"},
              {"centre_orientation_0", "centre_orientation_1", "centre_orientation_2", "centre_orientation_3"},
              {"centre", "first", "second"}}}};
}

using range = parameter_info::range;

parameter_info vector(const char* name, const char* unit, const char* description) {
    return {name, unit, description, 0, range::any, false, true};
}

const model_registration registered{{
    "rigid-body",
    "free rigid body in space with three frames",
    {
        {"mass", "kg", "mass m", 1, range::positive, false, false, {}, "m"},
        {"inertia", "kg.m2",
         "inertia I about the centre in the body's axes: one for all axes, three, or six (xx, yy, zz, xy, xz, yz)", 1,
         range::any, false, true},
        vector("gravity", "m/s2", "acceleration g of free fall, in inertial axes"),
        vector("position", "m", "position of the centre at the start"),
        vector("orientation", "rad", "of the body's axes at the start: quaternion, or vector of rotation"),
        vector("velocity", "m/s", "velocity of the centre at the start"),
        vector("angular-velocity", "rad/s", "angular velocity at the start, in inertial axes"),
        vector("first-position", "m", "position of port 'first' in the body"),
        vector("first-orientation", "rad",
               "orientation of port 'first' in the body: quaternion, or vector of rotation"),
        vector("second-position", "m", "position of port 'second' in the body"),
        vector("second-orientation", "rad",
               "orientation of port 'second' in the body: quaternion, or vector of rotation"),
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<rigid_body>(p); },
    {},
    scene,
}};

}  // namespace

}  // namespace mdpcosim
