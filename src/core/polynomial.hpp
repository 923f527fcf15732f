#pragma once

#include <algorithm>
#include <array>

namespace mdpcosim {

inline constexpr int max_degree = 6;

/// Monomials in `s = t - t_n`: value(s) = c[0] + c[1] s + ... . One cache line, so that inputs stream well.
struct alignas(64) polynomial {
    std::array<double, max_degree + 1> c{};
    int degree = 0;

    double operator()(double s) const {
        double value = c[degree];
        for (int n = degree - 1; n >= 0; --n) value = value * s + c[n];
        return value;
    }

    double derivative(double s) const {
        double value = 0;
        for (int n = degree; n >= 1; --n) value = value * s + n * c[n];
        return value;
    }
};

/// The polynomial of degree `degree` closest to `p` over [0, H] in the mean square. It keeps the integral over the step
/// (the impulse of a force) and all moments up to its degree; for degree 0 it is the mean.
polynomial project(const polynomial& p, double H, int degree);

/// The same polynomial in s - by.
polynomial shifted(const polynomial& of, double by);

}  // namespace mdpcosim
