#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "core/bulk_modulus.hpp"
#include "coupling/law.hpp"

/// Hydraulic node (Friedrich 2011, 2.4): the pressure of a volume V_K that the flows of all its ports enter,
///     dp/dt = E(p)/V_K v ,   q = sum of the volumes that flowed in , v = dq/dt ,   u = p ,
/// as an algebraic law of q, with u = `pressure` at the start:
///     constant             u = p_0 + E/V_K (q - q_0)                                                      (2.89)
///     stepped              u = p_l + E(p_l)/V_K (q - q_l) , l the last accepted time; first order in H    (2.93)
///     pressure-dependent   integral of dp/E(p) from p_0 to u = (q - q_0)/V_K , by Newton's method from p_l (2.95)
///     du/dt = E/V_K v with the same E.
namespace mdpcosim {

namespace {

enum class modulus_model { constant, stepped, pressure_dependent };

class node final : public law {
   public:
    explicit node(const parameter_values& p)
        : model_(static_cast<modulus_model>(static_cast<int>(p["model"]))),
          fluid_(p["modulus"], model_ == modulus_model::constant ? 0 : p["air"], p["kappa"], p["reference-pressure"]),
          volume_(p["volume"]),
          p_0_(p["pressure"]),
          power_0_(air_power(fluid_, p_0_)) {
        start(0);
        if (model_ == modulus_model::constant) return;
        if (!p.given("air"))
            throw std::invalid_argument(
                "a modulus that depends on the pressure needs 'air', the volume fraction of air at the reference "
                "pressure");
        if (!(p_0_ > 0))
            throw std::invalid_argument(fmt::format(
                "a modulus that depends on the pressure needs an initial 'pressure' above zero; it is {} Pa", p_0_));
    }

    void use_limit() override {
        if (model_ == modulus_model::stepped) model_ = modulus_model::pressure_dependent;
    }

    void start(double q) override {
        q_0_ = q_last_ = q;
        p_last_ = p_0_;
    }

    law_value evaluate(double q, double v) const override {
        if (model_ == modulus_model::pressure_dependent) {
            const double p = solve((q - q_0_) / volume_);
            return {p, bulk_modulus(fluid_, p) / volume_ * v};
        }
        if (model_ == modulus_model::constant) {
            const double stiffness = fluid_.a / volume_;
            return {p_0_ + stiffness * (q - q_0_), stiffness * v};
        }
        const double stiffness = bulk_modulus(fluid_, p_last_) / volume_;
        const double p = p_last_ + stiffness * (q - q_last_);
        if (!(p > 0))
            throw law_failure(fmt::format(
                "the stepped modulus takes the pressure from {:.6g} Pa to {:.6g} Pa within one macro step, and "
                "it exists above zero only; take a smaller macro step or 'model: pressure-dependent'",
                p_last_, p));
        return {p, stiffness * v};
    }

    void accept(double q, double /*v*/, double u) override {
        q_last_ = q;
        p_last_ = u;
    }

    bool remembers() const override { return model_ != modulus_model::constant; }
    void state(state_bytes& bytes) override { bytes(q_0_, p_last_, q_last_); }

   private:
    double solve(double strain) const {
        const double p = pressure_after(fluid_, p_0_, power_0_, strain, p_last_);
        if (std::isfinite(p)) return p;
        throw law_failure(
            fmt::format("no pressure above zero fits the fluid in the node, which changed by {:.6g} m3 in a volume of "
                        "{:.6g} m3 since the start; Newton's method, begun at {:.6g} Pa, did not converge",
                        strain * volume_, volume_, p_last_));
    }

    modulus_model model_;
    fluid fluid_;
    double volume_;
    double p_0_, power_0_, q_0_ = 0;  ///< at the start
    double p_last_ = 0, q_last_ = 0;  ///< at the last accepted time
};

using range = parameter_info::range;

const law_registration registered{{
    .name = "node",
    .summary = "hydraulic node: pressure of a volume that all its ports' flows enter, with constant or varying modulus",
    .kinds = {port_kind::hydraulic},
    .parameters =
        {
            {.name = "volume",
             .unit = "m3",
             .description = "volume V_K of the node",
             .allowed = range::positive,
             .required = true},
            {.name = "modulus",
             .unit = "Pa",
             .description = "bulk modulus of the fluid, without air",
             .allowed = range::positive,
             .required = true},
            {.name = "pressure", .unit = "Pa", .description = "pressure at the start", .default_value = 1e5},
            {.name = "model",
             .unit = "",
             .description = "how the modulus depends on the pressure",
             .choices = {"constant", "stepped", "pressure-dependent"}},
            {.name = "air",
             .unit = "1",
             .description = "volume fraction of air at the reference pressure; without effect on a constant modulus",
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
        },
    .make = [](const parameter_values& p) { return std::make_unique<node>(p); },
    .join = law_join::node,
}};

}  // namespace

}  // namespace mdpcosim
