#include "subsystem/body_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/port_kind.hpp"

namespace mdpcosim {

quaternion operator*(const quaternion& p, const quaternion& q) {
    return {
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
}

quaternion conjugate(const quaternion& q) { return {q[0], -q[1], -q[2], -q[3]}; }

quaternion normalised(const quaternion& q) {
    const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    return {q[0] / length, q[1] / length, q[2] / length, q[3] / length};
}

vector3 rotated(const quaternion& q, const vector3& v) {
    const vector3 n{q[1], q[2], q[3]}, n_v = cross(n, v);
    return v + 2 * (q[0] * n_v + cross(n, n_v));
}

quaternion turned_by(const vector3& v) {
    const double angle = std::sqrt(dot(v, v)), s = angle > 0 ? std::sin(angle / 2) / angle : 0;
    return {std::cos(angle / 2), s * v[0], s * v[1], s * v[2]};
}

void put_motion(const body_motion& body, const body_frame& frame, double* y) {
    const vector3 arm = rotated(body.orientation, frame.position), turning = cross(body.angular_velocity, arm);
    const auto put = [&](int at, const auto& values) { std::copy(values.begin(), values.end(), y + at); };
    put(frame_motion::position, body.position + arm);
    put(frame_motion::orientation, body.orientation * frame.orientation);
    put(frame_motion::velocity, body.velocity + turning);
    put(frame_motion::angular_velocity, body.angular_velocity);
    put(frame_motion::acceleration,
        body.acceleration + cross(body.angular_acceleration, arm) + cross(body.angular_velocity, turning));
    put(frame_motion::angular_acceleration, body.angular_acceleration);
}

vector3 read_vector(const parameter_values& p, const char* name) {
    const auto& given = p.list(name);
    if (given.size() == 1) return {given[0], given[0], given[0]};
    if (given.size() != 3)
        throw std::invalid_argument(
            fmt::format("'{}' has {} numbers; 3 are needed, or 1 for all three", name, given.size()));
    return {given[0], given[1], given[2]};
}

quaternion read_orientation(const parameter_values& p, const char* name) {
    const auto& given = p.list(name);
    if (given.size() != 4 && given.size() != 3 && !(given.size() == 1 && given[0] == 0))
        throw std::invalid_argument(
            fmt::format("'{}' has {} numbers; 4 are a quaternion w, x, y, z, 3 a vector of rotation (axis times "
                        "angle), 0 is no rotation",
                        name, given.size()));
    if (given.size() != 4) return turned_by(read_vector(p, name));
    const quaternion q{given[0], given[1], given[2], given[3]};
    if (q == quaternion{}) throw std::invalid_argument(fmt::format("'{}' is zero, which is no rotation", name));
    return normalised(q);
}

}  // namespace mdpcosim
