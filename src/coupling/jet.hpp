#pragma once

#include <array>

/// A quantity with its first and second rate in time, and vectors of three such: what is written for positions gives velocities and
/// accelerations, too.
namespace mdpcosim {

struct jet {
    double x = 0, v = 0, a = 0;

    jet operator-() const { return {-x, -v, -a}; }
    jet& operator+=(const jet& o) {
        x += o.x, v += o.v, a += o.a;
        return *this;
    }
};

inline jet operator+(jet p, const jet& q) { return p += q; }
inline jet operator-(const jet& p, const jet& q) { return {p.x - q.x, p.v - q.v, p.a - q.a}; }
inline jet operator*(const jet& p, const jet& q) {
    return {p.x * q.x, p.v * q.x + p.x * q.v, p.a * q.x + 2 * p.v * q.v + p.x * q.a};
}

using jet3 = std::array<jet, 3>;

inline jet3 operator-(const jet3& p) { return {-p[0], -p[1], -p[2]}; }
inline jet3 operator-(const jet3& p, const jet3& q) { return {p[0] - q[0], p[1] - q[1], p[2] - q[2]}; }
inline jet dot(const jet3& p, const jet3& q) { return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]; }
inline jet3 cross(const jet3& p, const jet3& q) {
    return {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]};
}

}  // namespace mdpcosim
