#pragma once

#include <cmath>
#include <limits>
#include <span>

#include "core/polynomial.hpp"

/// Small things about time and inputs that every solver needs.
namespace mdpcosim {

/// u = inputs(s), s = t - begin of the macro step.
inline void input_values(std::span<const polynomial> inputs, double s, double* u) {
    for (std::size_t i = 0; i < inputs.size(); ++i) u[i] = inputs[i](s);
}

/// Times closer than this are the same to a solver.
inline double time_resolution(double t) { return 16 * std::numeric_limits<double>::epsilon() * std::fabs(t); }

/// Where the integration towards a time event stops: just before it, so that the right-hand side is still the old one.
inline double just_before(double event) { return std::nextafter(event, -std::numeric_limits<double>::infinity()); }

/// False as soon as one value is infinite or not a number.
inline bool all_finite(const double* x, std::size_t n) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += x[i] * 0.0;
    return sum == 0;
}

}  // namespace mdpcosim
