#pragma once

#include <span>

/// Leading errors of one macro step, from the difference that a correction of the input polynomials made.
///
/// With u = u_p + a prod_{k <= n} (s - s_k) + ..., u_p of degree n through the accepted values at s_0 = 0 > s_1 > ... > s_n, correcting the
/// polynomial at the end of the step (network::correct) by what u_p misses there, a prod_{k <= n} (H - s_k), adds
///     a (H - s_n) prod_{k < n} (s - s_k) ,
/// which is the interpolation of u at the end and the n newest accepted times. What is left of u is then
///     a prod_{k <= n} (s - s_k)          under the extrapolation u_p,
///     a (s - H) prod_{k < n} (s - s_k)   under the interpolation.
/// An input acts on a rate by its integral over the step, on the value of this rate by the integral of (H - s) times it: the constants
/// are ratios of such integrals. On a constant grid and for n = 0, 1, 2 they are 1/3, 3/4, 38/45 for values and 1/2, 5/6, 9/10 for rates
/// under extrapolation, 2/3, 1/4, 7/45 and 1/2, 1/6, 1/10 in modulus under interpolation.
namespace mdpcosim {

struct correction_constants {
    double value, rate;
};

/// `history`: (t_k - t_n)/H, newest first, more than n entries.
correction_constants extrapolation_constants(std::span<const double> history, int n);
correction_constants interpolation_constants(std::span<const double> history, int n);

}  // namespace mdpcosim
