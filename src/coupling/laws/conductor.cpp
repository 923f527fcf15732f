#include "coupling/law.hpp"

/// Linear conductor (Friedrich 2011, Table 2.9): heat flow, current or flux from the first port to the second,
///     u = conductance q ,   q = first - second , the difference of temperatures or potentials.
/// For heat the conductance is lambda A / d, for current 1/R, for magnetic flux the permeance. No rate: it would need dq/dt, which
/// depends on the flows, that is, on the inputs of the subsystems (2.6.2 there).
namespace mdpcosim {

namespace {

class conductor final : public law {
   public:
    explicit conductor(const parameter_values& p) : conductance_(p["conductance"]) {}

    bool has_rate() const override { return false; }
    bool remembers() const override { return false; }
    law_value evaluate(double q, double /*v*/) const override { return {conductance_ * q, 0}; }

    law_slope slope(double /*q*/, double /*v*/) const override { return {conductance_, 0}; }

   private:
    double conductance_;
};

const law_registration registered{{
    .name = "conductor",
    .summary = "linear conductor of heat, current or magnetic flux, u = conductance (first - second)",
    .kinds = {port_kind::thermal, port_kind::electric, port_kind::magnetic},
    .parameters =
        {
            {.name = "conductance",
             .unit = "{load}/{motion}",
             .description = "heat conductance, electric conductance 1/R or permeance",
             .allowed = parameter_info::range::not_negative,
             .required = true},
        },
    .make = [](const parameter_values& p) { return std::make_unique<conductor>(p); },
}};

}  // namespace

}  // namespace mdpcosim
