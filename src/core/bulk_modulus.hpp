#pragma once

#include <cmath>
#include <limits>

/// Bulk modulus of a fluid that carries air (Friedrich 2011, (2.94) with the exponents 1/kappa and -(1 + 1/kappa)):
///     E(p) = modulus (1 + air) / (1 + modulus air / kappa * reference_pressure^(1/kappa) * p^-(1 + 1/kappa))
///          = a / (1 + b p^-(1 + 1/kappa)) ,   p > 0 ;   E = modulus without air.
namespace mdpcosim {

struct fluid {
    double a, b, kappa;

    /// `modulus` of the airless fluid; `air` is the volume fraction of air at the reference pressure.
    fluid(double modulus, double air, double kappa_, double reference_pressure)
        : a(modulus * (1 + air)), b(modulus * air / kappa_ * std::pow(reference_pressure, 1 / kappa_)), kappa(kappa_) {}
};

/// p^(-1/kappa), the only power that modulus and compression need; not needed, and 0, without air.
inline double air_power(const fluid& f, double p) { return f.b == 0 ? 0 : std::pow(p, -1 / f.kappa); }

inline double bulk_modulus(const fluid& f, double p) { return f.a / (1 + f.b * air_power(f, p) / p); }

/// The pressure above zero at which the integral of dp/E(p) from p_0 is `strain` (2.95), by Newton's method from `p`; NaN: none was found.
/// The integral grows and is concave, so that the iteration approaches from below once it is there; a step that would leave p > 0
/// goes to p/10 instead. With air every strain has a pressure; without, only those above a limit. `power_0` is air_power(f, p_0).
inline double pressure_after(const fluid& f, double p_0, double power_0, double strain, double p) {
    constexpr int most_iterations = 200;
    constexpr double tolerance =
        1e-9;  // of the step, relative to p; the iteration is quadratic: the error left is its square
    const auto& [a, b, kappa] = f;
    for (int k = 0; k < most_iterations; ++k) {
        const double power = air_power(f, p);
        // a (integral - strain), written out so that an iteration costs one power
        const double residual = p - p_0 + kappa * b * (power_0 - power) - a * strain;
        const double step = -residual / (1 + b * power / p);
        if (!std::isfinite(step)) break;
        if (p + step > 0) {
            p += step;
            if (std::abs(step) <= tolerance * p) return p;
        } else {
            p /= 10;
        }
    }
    return std::numeric_limits<double>::quiet_NaN();
}

/// The integral of dp/E(p) between two pressures (2.95): the volume that flowed in over the volume of the node.
inline double compression(const fluid& f, double from, double to) {
    return (to - from + f.kappa * f.b * (air_power(f, from) - air_power(f, to))) / f.a;
}

}  // namespace mdpcosim
