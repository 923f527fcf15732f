#include "coupling/law.hpp"

/// Electric node with a capacitor to the ground: its branches take the potential u and give the currents into the node,
///     u = u_0 + (q - q_0)/capacitance ,   du/dt = v/capacitance ,
/// where q is the sum of the charges that flowed in, v the sum of the currents, u_0 = `potential` at the start.
namespace mdpcosim {

namespace {

class capacitance final : public law {
   public:
    explicit capacitance(const parameter_values& p) : capacitance_(p["capacitance"]), u_0_(p["potential"]) {}

    void start(double q) override { q_0_ = q; }
    void state(state_bytes& bytes) override { bytes(q_0_); }
    bool remembers() const override { return false; }
    law_value evaluate(double q, double v) const override {
        return {u_0_ + (q - q_0_) / capacitance_, v / capacitance_};
    }

   private:
    double capacitance_, u_0_, q_0_ = 0;
};

const law_registration registered{{
    .name = "capacitance",
    .summary = "electric node with a capacitor to the ground: potential from the charges that its branches bring",
    .kinds = {port_kind::electric},
    .parameters =
        {
            {.name = "capacitance",
             .unit = "F",
             .description = "capacitance to the ground",
             .allowed = parameter_info::range::positive,
             .required = true},
            {.name = "potential", .unit = "V", .description = "potential at the start"},
        },
    .make = [](const parameter_values& p) { return std::make_unique<capacitance>(p); },
    .join = law_join::node,
    .ports = causality::takes_motion,
}};

}  // namespace

}  // namespace mdpcosim
