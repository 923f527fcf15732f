#include <cmath>

#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// m x'' = p_head A_head - p_ring A_ring - p_a (A_head - A_ring) + F - d v - F_c tanh(v / v_c).

namespace mdpcosim {

namespace {

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model piston";
        add_mechanical_port(d, "rod", port_kind::translation, "the rod; a positive force pulls it out");
        add_hydraulic_port(d, "head", "the chamber that grows when the rod comes out");
        add_hydraulic_port(d, "ring", "the chamber around the rod, which shrinks when the rod comes out");
        output_named(d, "rod.acceleration").direct = {d.ports[0].load, d.ports[1].load, d.ports[2].load};
        return d;
    }();
    return shared;
}

class piston final : public equations {
   public:
    explicit piston(const parameter_values& p)
        : inverse_mass_(1 / p["mass"]),
          A_head_(p["head-area"]),
          A_ring_(p["ring-area"]),
          p_a_(p["ambient-pressure"]),
          d_(p["damping"]),
          F_c_(p["friction"]),
          v_c_(p["friction-speed"]),
          x0_(p["x0"]),
          v0_(p["v0"]) {}

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return 2; }

    void initial_state(double /*t0*/, double* x) const override {
        x[0] = x0_;
        x[1] = v0_;
    }

    void derivatives(double /*t*/, const double* x, const double* u, double* dx) const override {
        dx[0] = x[1];
        dx[1] = acceleration(x, u);
    }

    void outputs(double /*t*/, const double* x, const double* u, double* y) const override {
        y[0] = x[0];
        y[1] = x[1];
        y[2] = acceleration(x, u);
        // 0 - x has no negative zero, which would look odd in results.
        y[3] = 0 - A_head_ * x[0];
        y[4] = 0 - A_head_ * x[1];
        y[5] = A_ring_ * x[0];
        y[6] = A_ring_ * x[1];
    }

    bool jacobian(double /*t*/, const double* x, const double* /*u*/, double* dfdx) const override {
        const double s = std::tanh(x[1] / v_c_);
        dfdx[0] = 0;
        dfdx[1] = 0;
        dfdx[2] = 1;
        dfdx[3] = -(d_ + F_c_ * (1 - s * s) / v_c_) * inverse_mass_;
        return true;
    }

   private:
    double acceleration(const double* x, const double* u) const {
        const double pressure_force = (u[1] - p_a_) * A_head_ - (u[2] - p_a_) * A_ring_;
        return (u[0] + pressure_force - d_ * x[1] - F_c_ * std::tanh(x[1] / v_c_)) * inverse_mass_;
    }

    double inverse_mass_, A_head_, A_ring_, p_a_, d_, F_c_, v_c_, x0_, v0_;
};

using range = parameter_info::range;

const model_registration registered{{
    "piston",
    "hydraulic piston with one or two chambers and a rod: pressures to motion, motion to flows",
    {
        {"mass", "kg", "mass m of piston and rod", 1, range::positive},
        {"head-area", "m2", "area A_head on the side without rod", 1e-3, range::not_negative},
        {"ring-area", "m2", "area A_ring on the side of the rod; 0: a single chamber", 0, range::not_negative},
        {"ambient-pressure", "Pa", "pressure p_a on the rod", 1e5},
        {"damping", "N.s/m", "viscous friction d", 0},
        {"friction", "N", "Coulomb friction F_c", 0, range::not_negative},
        {"friction-speed", "m/s", "speed v_c over which the Coulomb friction turns round", 1e-3, range::positive},
        {"x0", "m", "position at the start", 0},
        {"v0", "m/s", "velocity at the start", 0},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<piston>(p); },
}};

}  // namespace

}  // namespace mdpcosim
