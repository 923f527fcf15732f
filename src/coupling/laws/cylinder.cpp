#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "core/bulk_modulus.hpp"
#include "coupling/law.hpp"

/// Chamber of a hydraulic cylinder: a node whose volume follows its pistons,
///     dp/dt = E(p)/V (Q - dV/dt) ,   V = V_0 +- A (x - x_0) ,   u = p ;   a piston is pushed with +-A p ,
/// + for a chamber at the head of the cylinder, which grows with x, - for one at the rod's side. With q = sum of the volumes that flowed in,
/// s = -+A x the pistons' part of it and w = q - s the rest, dq/dt = Q - dV/dt is v, and with the strain z
///     integral of dp/E(p) from p_0 to u  =  z ,   dz = v/V dt = dw/V + ds/V ,   du/dt = E/V v .
/// ds/V = -d ln V is integrated exactly. The integral of dw/V depends on the way that w and V have taken: from the last accepted time (0) to the present
/// one (1), H later, it is that of g = 1/V and w as cubic polynomials with their slopes at both ends (fourth order; w straight where flows are not known),
///     (g_0 + g_1)/2 (w_1 - w_0) + (dg F - D dw)/5 + (D N - M F)/30 ,
///     dg = g_1 - g_0 , M, N = H times the mean slopes, D, F = H/2 times the differences of the slopes, of g and w .
/// For integrating the coupled system as one the same by parts, z = w/V - y + ln(V_0/V), with the state dy/dt = w dg/dt.
/// The fluid:
///     constant             u = p_0 + E z
///     pressure-dependent   the air-laden fluid of bulk_modulus.hpp, by Newton's method
///     quadratic-density    density ~ D(p) = 1 + p/modulus + b p^2 (Cardona, Geradin 1990): D(u) = D(p_0) e^z , E = D/D'
namespace mdpcosim {

namespace {

enum class fluid_model { constant, pressure_dependent, quadratic_density };

class cylinder final : public law {
   public:
    explicit cylinder(const parameter_values& p)
        : model_(static_cast<fluid_model>(static_cast<int>(p["model"]))),
          fluid_(p["modulus"], model_ == fluid_model::pressure_dependent ? p["air"] : 0, p["kappa"],
                 p["reference-pressure"]),
          V_0_(p["volume"]),
          p_0_(p["pressure"]),
          power_0_(air_power(fluid_, p_0_)),
          a_(1 / p["modulus"]),
          b_(p["density-curvature"]),
          D_0_(1 + (a_ + b_ * p_0_) * p_0_) {
        start_at({});
        if (model_ == fluid_model::pressure_dependent && !p.given("air"))
            throw std::invalid_argument(
                "a modulus that depends on the pressure needs 'air', the volume fraction of air at the reference "
                "pressure");
        if (model_ == fluid_model::pressure_dependent && !(p_0_ > 0))
            throw std::invalid_argument(fmt::format(
                "a modulus that depends on the pressure needs an initial 'pressure' above zero; it is {} Pa", p_0_));
        if (model_ == fluid_model::quadratic_density && !(D_0_ > 0 && a_ + 2 * b_ * p_0_ > 0))
            throw std::invalid_argument(
                fmt::format("the density 1 + p/modulus + b p^2 must be positive and grow with p; at the initial "
                            "'pressure' {} Pa it is {:.6g} and changes by {:.6g} 1/Pa (modulus {:.6g} Pa, b = "
                            "'density-curvature' = {:.6g} 1/Pa2)",
                            p_0_, D_0_, a_ + 2 * b_ * p_0_, 1 / a_, b_));
    }

    bool has_state() const override { return true; }
    void use_limit() override { state_is_told_ = true; }

    void start_at(const piston_motion& m) override {
        s_0_ = m.s;
        last_ = {.t = m.t, .w = m.q - m.s, .V = V_0_};
        w_0_ = last_.w;
        z_last_ = 0;
        p_last_ = p_0_;
    }

    law_value evaluate_at(const piston_motion& m) const override {
        const double V = volume(m), p = pressure(strain(m));
        return {p, modulus(p) / V * m.v};
    }
    law_value evaluate(double /*q*/, double /*v*/) const override {
        throw std::logic_error("a cylinder is evaluated with its pistons");
    }
    /// At the last accepted time: all that it needs besides q changes little within a macro step.
    law_slope slope(double /*q*/, double /*v*/) const override { return {modulus(p_last_) / last_.V, 0}; }

    double state_rate(const piston_motion& m) const override {
        const double V = volume(m);
        return (m.q - m.s - w_0_) * m.ds / (V * V);
    }

    void accept_at(const piston_motion& m, double /*u*/) override {
        z_last_ = strain(m);
        p_last_ = pressure(z_last_);
        last_ = point_at(m);
    }
    void state(state_bytes& bytes) override { bytes(s_0_, w_0_, last_, z_last_, p_last_); }

   private:
    struct point {
        double t = 0, w = 0, dw = 0, V = 0, dV = 0;
        bool has_dw = false;
    };

    point point_at(const piston_motion& m) const { return {m.t, m.q - m.s, m.v - m.ds, volume(m), -m.ds, m.has_rates}; }

    double volume(const piston_motion& m) const {
        const double V = V_0_ - (m.s - s_0_);
        if (!(V > 0))
            throw law_failure(
                fmt::format("the piston has left the chamber: its volume, {:.6g} m3 at the start, would be {:.6g} m3. "
                            "Give the volume of chamber and lines at the start, or hold the piston by a stop before",
                            V_0_, V));
        return V;
    }

    double strain(const piston_motion& m) const {
        const point now = point_at(m);
        if (state_is_told_) return (now.w - w_0_) / now.V - m.state + std::log(V_0_ / now.V);
        const double H = now.t - last_.t, g_0 = 1 / last_.V, g_1 = 1 / now.V;
        const double m_0 = -H * last_.dV * g_0 * g_0, m_1 = -H * now.dV * g_1 * g_1;
        const double dw = now.w - last_.w, dg = g_1 - g_0;
        const bool rates = now.has_dw && last_.has_dw;
        const double n_0 = rates ? H * last_.dw : dw, n_1 = rates ? H * now.dw : dw;
        const double M = (m_0 + m_1) / 2, D = (m_1 - m_0) / 2, N = (n_0 + n_1) / 2, F = (n_1 - n_0) / 2;
        const double flowed = (g_0 + g_1) / 2 * dw + (dg * F - D * dw) / 5 + (D * N - M * F) / 30;
        return z_last_ + flowed + std::log1p((last_.V - now.V) * g_1);
    }

    double pressure(double z) const {
        if (model_ == fluid_model::constant) return p_0_ + fluid_.a * z;
        double p = NAN;
        if (model_ == fluid_model::pressure_dependent) {
            p = pressure_after(fluid_, p_0_, power_0_, z, p_last_);
        } else {
            const double denser = D_0_ * std::exp(z) - 1;
            p = 2 * denser / (a_ + std::sqrt(a_ * a_ + 4 * b_ * denser));
        }
        if (std::isfinite(p)) return p;
        throw law_failure(
            fmt::format("no pressure fits the fluid in the chamber, which is compressed by {:.6g} of its volume since "
                        "the start; the "
                        "last pressure was {:.6g} Pa. Take a smaller macro step, or another 'model' of the fluid",
                        z, p_last_));
    }

    double modulus(double p) const {
        if (model_ == fluid_model::quadratic_density) return (1 + (a_ + b_ * p) * p) / (a_ + 2 * b_ * p);
        return bulk_modulus(fluid_, p);
    }

    fluid_model model_;
    fluid fluid_;
    double V_0_, p_0_, power_0_, a_, b_, D_0_;
    bool state_is_told_ = false;
    double s_0_ = 0, w_0_ = 0;  ///< at the start
    point last_;                ///< at the last accepted time
    double z_last_ = 0, p_last_ = 0;
};

using range = parameter_info::range;

const law_registration registered{{
    .name = "cylinder",
    .summary =
        "chamber of a hydraulic cylinder: a node whose volume follows the translation ports that are its pistons",
    .kinds = {port_kind::hydraulic},
    .parameters =
        {
            {.name = "volume",
             .unit = "m3",
             .description = "volume of chamber and lines at the start",
             .allowed = range::positive,
             .required = true},
            {.name = "area",
             .unit = "m2",
             .description = "area of the piston; a piston is pushed with area * u",
             .allowed = range::positive,
             .required = true},
            {.name = "side",
             .unit = "",
             .description = "head: the chamber grows with the position of the piston; rod: it shrinks",
             .choices = {"head", "rod"}},
            {.name = "modulus",
             .unit = "Pa",
             .description = "bulk modulus of the fluid, without air; for quadratic-density at zero pressure",
             .allowed = range::positive,
             .required = true},
            {.name = "pressure", .unit = "Pa", .description = "pressure at the start", .default_value = 1e5},
            {.name = "model",
             .unit = "",
             .description = "how the modulus depends on the pressure",
             .choices = {"constant", "pressure-dependent", "quadratic-density"}},
            {.name = "air",
             .unit = "1",
             .description = "volume fraction of air at the reference pressure, for pressure-dependent",
             .allowed = range::not_negative},
            {.name = "kappa",
             .unit = "1",
             .description = "isentropic exponent of the air",
             .default_value = 1.4,
             .allowed = range::positive},
            {.name = "reference-pressure",
             .unit = "Pa",
             .description = "pressure at which the fraction of air is given",
             .default_value = 1e5,
             .allowed = range::positive},
            {.name = "density-curvature",
             .unit = "1/Pa2",
             .description = "b of the density 1 + p/modulus + b p^2, for quadratic-density"},
        },
    .make = [](const parameter_values& p) { return std::make_unique<cylinder>(p); },
    .join = law_join::node,
    .piston = law_info::pistons{port_kind::translation,
                                [](const parameter_values& p) -> port_role {
                                    const double area = p["side"] == 0 ? p["area"] : -p["area"];
                                    return {-area, area};
                                }},
}};

}  // namespace

}  // namespace mdpcosim
