#pragma once

#include <array>

#include "core/parameter.hpp"

/// Vectors and quaternions (w, x, y, z) of native bodies, and the motion of frames that are fixed in them.
namespace mdpcosim {

using vector3 = std::array<double, 3>;
using quaternion = std::array<double, 4>;

inline vector3 operator+(const vector3& a, const vector3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline vector3 operator-(const vector3& a, const vector3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline vector3 operator*(double f, const vector3& a) { return {f * a[0], f * a[1], f * a[2]}; }
inline double dot(const vector3& a, const vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline vector3 cross(const vector3& a, const vector3& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

quaternion operator*(const quaternion& p, const quaternion& q);
quaternion conjugate(const quaternion& q);
quaternion normalised(const quaternion& q);
/// The vector from the axes that q, of length 1, belongs to into the outer ones.
vector3 rotated(const quaternion& q, const vector3& v);
/// By the angle |v| about v.
quaternion turned_by(const vector3& v);

/// Of a body's origin, in inertial axes.
struct body_motion {
    vector3 position{};
    quaternion orientation{1, 0, 0, 0};
    vector3 velocity{}, angular_velocity{}, acceleration{}, angular_acceleration{};
};

/// A frame at rest in a body, in the body's axes.
struct body_frame {
    vector3 position{};
    quaternion orientation{1, 0, 0, 0};
};

/// Its motion in the order of frame_motion.
void put_motion(const body_motion& body, const body_frame& frame, double* y);

/// A parameter of three numbers, or one for all three. Throws std::invalid_argument for other lengths, as the next does.
vector3 read_vector(const parameter_values& p, const char* name);
/// A quaternion of any length but zero, or a vector of rotation.
quaternion read_orientation(const parameter_values& p, const char* name);

}  // namespace mdpcosim
