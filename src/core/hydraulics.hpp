#pragma once

#include <algorithm>

#include "core/bulk_modulus.hpp"
#include "core/differentiable.hpp"

/// Laws of fluids that several models share.
namespace mdpcosim::hydraulics {

using namespace differentiable;

/// What all parts know of the fluid but how it is compressed.
struct surroundings {
    double density, viscosity, transition, ambient;
};

/// Flow through an opening a at the pressure drop dp, laminar near zero: Q = alpha a dp sqrt(2/rho/(|dp| + dp_0)).
template <class T>
T orifice_flow(const T& area, double discharge, const T& dp, const surroundings& s) {
    return discharge * area * dp * root(2 / s.density / (magnitude(dp) + s.transition));
}

enum class modulus_model { constant, stepped, pressure_dependent };

struct pressure_value {
    double p = 0, slope = 0;  ///< slope: by the strain e/V
};

/// How the fluid is compressed.
struct compressible {
    modulus_model model;
    fluid law;
    double reference, vapour;
    double power_reference = air_power(law, reference);
    double strain_vapour = compression(law, reference, vapour);

    double strain(double p) const { return compression(law, reference, p); }
    double modulus(double p) const { return bulk_modulus(law, p); }
    /// Above the vapour pressure. The iteration begins at what the pressure would be were all air dissolved, or at the reference.
    double pressure(double strain) const {
        if (law.b == 0) return reference + law.a * strain;
        const double airless = reference - law.kappa * law.b * power_reference + law.a * strain;
        return pressure_after(law, reference, power_reference, strain, std::max(airless, reference));
    }
    /// The same with a void below the strain of the vapour pressure.
    pressure_value pressure_or_void(double strain) const {
        if (strain <= strain_vapour) return {vapour, 0};
        const double p = pressure(strain);
        return {p, modulus(p)};
    }
};

}  // namespace mdpcosim::hydraulics
