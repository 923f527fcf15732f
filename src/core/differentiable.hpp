#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

/// What the equations of parts are written in, once for all three: double; `dual`, a value with its derivatives by the N variables of a
/// part, of which the exact Jacobian is made; `dependence`, which of them a result depends on at all, for its structure. So equations
/// have no branches but positive(), magnitude(), limited().
namespace mdpcosim::differentiable {

inline double positive(double x) { return std::max(x, 0.0); }
inline double magnitude(double x) { return std::fabs(x); }
inline double root(double x) { return std::sqrt(x); }
inline double limited(double x, double low, double high) { return std::clamp(x, low, high); }

template <std::size_t N>
struct dual {
    double v = 0;
    std::array<double, N> d{};

    dual() = default;
    dual(double value) : v(value) {}  // NOLINT: constants are numbers, too

    /// f(x) with the derivative f'(x).
    dual with(double value, double slope) const {
        dual y(value);
        for (std::size_t i = 0; i < N; ++i) y.d[i] = slope * d[i];
        return y;
    }
    friend dual operator-(const dual& a) { return a.with(-a.v, -1); }
    friend dual operator+(const dual& a, const dual& b) {
        dual y(a.v + b.v);
        for (std::size_t i = 0; i < N; ++i) y.d[i] = a.d[i] + b.d[i];
        return y;
    }
    friend dual operator-(const dual& a, const dual& b) { return a + -b; }
    friend dual operator*(const dual& a, const dual& b) {
        dual y(a.v * b.v);
        for (std::size_t i = 0; i < N; ++i) y.d[i] = a.d[i] * b.v + a.v * b.d[i];
        return y;
    }
    friend dual operator/(const dual& a, const dual& b) { return a * b.with(1 / b.v, -1 / (b.v * b.v)); }
    friend dual positive(const dual& x) { return x.v > 0 ? x : dual(0); }
    friend dual magnitude(const dual& x) { return x.v < 0 ? -x : x; }
    friend dual root(const dual& x) { return x.with(std::sqrt(x.v), 0.5 / std::sqrt(x.v)); }
    friend dual limited(const dual& x, double low, double high) {
        return x.v < low ? dual(low) : x.v > high ? dual(high) : x;
    }
};

struct dependence {
    std::uint32_t on = 0;  ///< a bit for each variable

    dependence() = default;
    dependence(double) {}  // NOLINT
    static dependence of(std::size_t variable) {
        dependence made;
        made.on = std::uint32_t{1} << variable;
        return made;
    }
    dependence with(const dependence& other) const {
        dependence made;
        made.on = on | other.on;
        return made;
    }
    friend dependence operator-(const dependence& a) { return a; }
    friend dependence operator+(const dependence& a, const dependence& b) { return a.with(b); }
    friend dependence operator-(const dependence& a, const dependence& b) { return a.with(b); }
    friend dependence operator*(const dependence& a, const dependence& b) { return a.with(b); }
    friend dependence operator/(const dependence& a, const dependence& b) { return a.with(b); }
    friend dependence positive(const dependence& x) { return x; }
    friend dependence magnitude(const dependence& x) { return x; }
    friend dependence root(const dependence& x) { return x; }
    friend dependence limited(const dependence& x, double, double) { return x; }
};

/// Force of a contact that is overlapped by `depth`, growing by `rate`: it never pulls, and begins and ends with zero
/// (Hunt, Crossley, J. Applied Mechanics 42 (1975), with exponent 1).
template <class T>
T contact_force(const T& depth, const T& rate, double stiffness, double damping) {
    return stiffness * positive(depth) * positive(1 + damping * rate);
}

/// Both stops of a way.
template <class T>
T stop_force(const T& x, const T& v, double low, double high, double stiffness, double damping) {
    return contact_force(T(low - x), T(-v), stiffness, damping) - contact_force(T(x - high), v, stiffness, damping);
}

}  // namespace mdpcosim::differentiable
