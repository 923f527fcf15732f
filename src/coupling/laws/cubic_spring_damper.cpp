#include "coupling/law.hpp"

/// Spring and damper with cubic parts, the coupling of the nonlinear oscillator chain (Kraft, Meyer, Schweizer,
/// Efficiency of Different Co-Simulation Approaches, equation (2)):
///     u = stiffness q + cubic-stiffness q^3 + damping v + cubic-damping v^3 ,   q = first - second , v = dq/dt .
/// With the left body as first port, the paper's coupling force is lambda = -u: it acts as +lambda = -u on the left
/// body and as -lambda = +u on the right one. The rate exists where both damping parts are zero:
///     du/dt = (stiffness + 3 cubic-stiffness q^2) v .
namespace mdpcosim {

namespace {

class cubic_spring_damper final : public law {
   public:
    explicit cubic_spring_damper(const parameter_values& p)
        : stiffness_(p["stiffness"]),
          damping_(p["damping"]),
          cubic_stiffness_(p["cubic-stiffness"]),
          cubic_damping_(p["cubic-damping"]) {}

    bool needs_velocity() const override { return damping_ != 0 || cubic_damping_ != 0; }
    bool remembers() const override { return false; }
    law_value evaluate(double q, double v) const override {
        const double elastic = (stiffness_ + cubic_stiffness_ * q * q) * q;
        if (needs_velocity()) return {elastic + (damping_ + cubic_damping_ * v * v) * v, 0};
        return {elastic, (stiffness_ + 3 * cubic_stiffness_ * q * q) * v};
    }

    law_slope slope(double q, double v) const override {
        return {stiffness_ + 3 * cubic_stiffness_ * q * q, damping_ + 3 * cubic_damping_ * v * v};
    }

   private:
    double stiffness_, damping_, cubic_stiffness_, cubic_damping_;
};

using range = parameter_info::range;

const law_registration registered{{
    .name = "cubic-spring-damper",
    .summary = "spring and damper with linear and cubic parts",
    .kinds = {port_kind::translation, port_kind::rotation},
    .parameters =
        {
            {.name = "stiffness",
             .unit = "{load}/{motion}",
             .description = "linear spring constant",
             .allowed = range::not_negative,
             .required = true,
             .choices = {}},
            {.name = "damping",
             .unit = "{load}.s/{motion}",
             .description = "linear damping constant",
             .allowed = range::not_negative,
             .choices = {}},
            {.name = "cubic-stiffness", .unit = "{load}/{motion}3", .description = "factor of q^3", .choices = {}},
            {.name = "cubic-damping",
             .unit = "{load}.s3/{motion}3",
             .description = "factor of v^3",
             .allowed = range::not_negative,
             .choices = {}},
        },
    .make = [](const parameter_values& p) { return std::make_unique<cubic_spring_damper>(p); },
}};

}  // namespace

}  // namespace mdpcosim
