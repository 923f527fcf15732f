#include <cmath>
#include <numbers>
#include <stdexcept>

#include "subsystem/body_frame.hpp"
#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// A uniform rod of length l in the plane of x and y, phi from the x axis, gravity g against y; F_i, T_i: loads on the ends e_i:
//     free:    m x'' = sum F_x ,   m y'' = sum F_y - m g ,   m l^2/12 phi'' = sum T_i + (e_i - c) x F_i
//     hinged:  m l^2/3 phi'' = sum T_i + (e_2 - e_1) x F_2 - m g l/2 cos phi ,   e_1 at rest

namespace mdpcosim {

namespace {

enum class support { free, hinged };

const subsystem_description& description(support held) {
    return shared_description(held == support::free ? "planar-link free" : "planar-link hinged", [&](auto& d) {
        d.type = "model planar-link";
        add_frame_port(d, "first", "the first end; x along the rod");
        add_frame_port(d, "second", "the second end; x along the rod");
        // In the plane force x, y and torque z of both ends act; a hinge holds the first end.
        const std::vector<int> loads =
            held == support::free ? std::vector<int>{0, 1, 5, 6, 7, 11} : std::vector<int>{5, 6, 7, 11};
        for (auto& output : d.outputs)
            if (!output.direct.empty()) output.direct = loads;
        if (held == support::hinged) {
            output_named(d, "first.acceleration").direct.clear();
            output_named(d, "first.velocity").rate_needs_input = false;
        }
        add_output(d, "angle", "rad", "angle phi of the rod from the x axis");
        const int speed = add_output(d, "speed", "rad/s", "its rate");
        output_named(d, "angle").rate_slot = speed;
        add_output(d, "energy", "J", "kinetic and potential energy; zero at rest with the centre at y = 0");
    });
}

class planar_link final : public equations {
   public:
    explicit planar_link(const parameter_values& p)
        : held_(static_cast<support>(static_cast<int>(p["support"]))),
          mass_(p["mass"]),
          length_(p["length"]),
          gravity_(p["gravity"]),
          angle_(p["angle"]),
          speed_(p["speed"]),
          position_(in_plane(p, "position")),
          velocity_(in_plane(p, "velocity")) {
        if (held_ == support::hinged && velocity_ != vector3{})
            throw std::invalid_argument("'velocity' is that of the first end, which a hinge holds at rest");
    }

    const subsystem_description& describe() const noexcept override { return description(held_); }
    int state_count() const override { return held_ == support::free ? 6 : 2; }

    void initial_state(double /*t0*/, double* x) const override {
        x[0] = angle_;
        x[1] = speed_;
        if (held_ == support::hinged) return;
        const vector3 arm = to_centre(angle_), turning = cross({0, 0, speed_}, arm);
        for (std::size_t k = 0; k < 2; ++k) {
            x[2 + k] = position_[k] + arm[k];
            x[4 + k] = velocity_[k] + turning[k];
        }
    }

    void derivatives(double /*t*/, const double* x, const double* u, double* dx) const override {
        const body_motion m = motion(x, u);
        dx[0] = x[1];
        dx[1] = m.angular_acceleration[2];
        if (held_ == support::hinged) return;
        dx[2] = x[4];
        dx[3] = x[5];
        dx[4] = m.acceleration[0];
        dx[5] = m.acceleration[1];
    }

    void outputs(double /*t*/, const double* x, const double* u, double* y) const override {
        const body_motion m = motion(x, u);
        put_motion(m, {.position = {-length_ / 2, 0, 0}}, y);
        put_motion(m, {.position = {length_ / 2, 0, 0}}, y + frame_motion::count);
        y += 2 * frame_motion::count;
        y[0] = x[0];
        y[1] = x[1];
        y[2] =
            mass_ * (dot(m.velocity, m.velocity) / 2 + length_ * length_ / 24 * x[1] * x[1] + gravity_ * m.position[1]);
    }

   private:
    static vector3 in_plane(const parameter_values& p, const char* name) {
        const auto& given = p.list(name);
        if (given.size() != 2 && !(given.size() == 1 && given[0] == 0))
            throw std::invalid_argument(std::string("'") + name + "' needs two numbers, x and y");
        return given.size() == 2 ? vector3{given[0], given[1], 0} : vector3{};
    }

    vector3 to_centre(double angle) const { return {length_ / 2 * std::cos(angle), length_ / 2 * std::sin(angle), 0}; }

    /// Of the centre.
    body_motion motion(const double* x, const double* u) const {
        const vector3 arm = to_centre(x[0]), omega{0, 0, x[1]};
        const vector3 first{u[0], u[1], 0}, second{u[6], u[7], 0}, weight{0, -mass_ * gravity_, 0};
        const double torque = u[5] + u[11], inertia = mass_ * length_ * length_ / 12;
        body_motion m;
        m.orientation = turned_by({0, 0, x[0]});
        m.angular_velocity = omega;
        const vector3 turning = cross(omega, arm);
        if (held_ == support::free) {
            m.position = {x[2], x[3], 0};
            m.velocity = {x[4], x[5], 0};
            m.acceleration = (1 / mass_) * (first + second + weight);
            m.angular_acceleration = {0, 0, (torque + cross(arm, second - first)[2]) / inertia};
        } else {
            m.position = position_ + arm;
            m.velocity = turning;
            m.angular_acceleration = {0, 0, (torque + cross(arm, 2 * second + weight)[2]) / (4 * inertia)};
            m.acceleration = cross(m.angular_acceleration, arm) + cross(omega, turning);
        }
        return m;
    }

    support held_;
    double mass_, length_, gravity_, angle_, speed_;
    vector3 position_, velocity_;
};

using range = parameter_info::range;

const model_registration registered{{
    "planar-link",
    "uniform rod in the plane of x and y, free or hinged at its first end",
    {
        {"support", "", "what holds the first end", 0, range::any, false, false, {"free", "hinged"}},
        {"mass", "kg", "mass m", 1, range::positive, false, false, {}, "m"},
        {"length", "m", "length l", 1, range::positive, false, false, {}, "l"},
        {"gravity", "m/s2", "acceleration g of free fall, against y", 9.81, range::any, false, false, {}, "g"},
        {"angle", "rad", "angle at the start, from the x axis", 0},
        {"speed", "rad/s", "its rate at the start", 0},
        {"position", "m", "x and y of the first end at the start", 0, range::any, false, true},
        {"velocity", "m/s", "velocity of the first end at the start, x and y", 0, range::any, false, true},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<planar_link>(p); },
    {},
    [](const parameter_values&) {
        return model_scene{false,
                           {{"rod",
                             {{"first_position_0", "first_position_1"}, {"second_position_0", "second_position_1"}},
                             {},
                             {},
                             {"first"}},
                            {"ball", {{"second_position_0", "second_position_1"}}, {"0.02"}, {}, {"second"}}}};
    },
}};

}  // namespace

}  // namespace mdpcosim
