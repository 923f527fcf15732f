#pragma once

#include <cmath>

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

/// The integral of dp/E(p) between two pressures (2.95): the volume that flowed in over the volume of the node.
inline double compression(const fluid& f, double from, double to) {
    return (to - from + f.kappa * f.b * (air_power(f, from) - air_power(f, to))) / f.a;
}

}  // namespace mdpcosim
