#include "coupling/law.hpp"

/// Linear spring and damper in parallel, with the unloaded offset `length`:
///     u = stiffness (q - length) + damping v ,   q = first - second , v = dq/dt .
/// The rate exists for damping = 0 only (du/dt = stiffness v): otherwise it would need dv/dt.
namespace mdpcosim {

namespace {

class spring_damper final : public law {
   public:
    explicit spring_damper(const parameter_values& p)
        : stiffness_(p["stiffness"]), damping_(p["damping"]), length_(p["length"]) {}

    bool needs_velocity() const override { return damping_ != 0; }
    bool remembers() const override { return false; }
    std::optional<double> stiffness() const override { return stiffness_; }
    law_value evaluate(double q, double v) const override {
        if (damping_ == 0) return {stiffness_ * (q - length_), stiffness_ * v};
        return {stiffness_ * (q - length_) + damping_ * v, 0};
    }

    law_slope slope(double /*q*/, double /*v*/) const override { return {stiffness_, damping_}; }

   private:
    double stiffness_, damping_, length_;
};

using range = parameter_info::range;

const law_registration registered{{
    .name = "spring-damper",
    .summary = "linear spring and damper in parallel, u = stiffness (q - length) + damping v",
    .kinds = {port_kind::translation, port_kind::rotation},
    .parameters =
        {
            {.name = "stiffness",
             .unit = "{load}/{motion}",
             .description = "spring constant",
             .allowed = range::not_negative,
             .required = true,
             .choices = {}},
            {.name = "damping",
             .unit = "{load}.s/{motion}",
             .description = "damping constant",
             .allowed = range::not_negative,
             .required = true,
             .choices = {}},
            {.name = "length",
             .unit = "{motion}",
             .description = "first - second of the unloaded spring",
             .choices = {}},
        },
    .make = [](const parameter_values& p) { return std::make_unique<spring_damper>(p); },
}};

}  // namespace

}  // namespace mdpcosim
