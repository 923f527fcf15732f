#include <cmath>

#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// (rho L / A) Q' = p_left - p_right - R Q - K Q |Q|: the fluid in a line as one body, with losses.

namespace mdpcosim {

namespace {

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model hydraulic-line";
        add_hydraulic_port(d, "left", "one end; its flow into the node is -Q");
        add_hydraulic_port(d, "right", "the other end; its flow into the node is +Q");
        return d;
    }();
    return shared;
}

class hydraulic_line final : public equations {
   public:
    explicit hydraulic_line(const parameter_values& p)
        : inverse_inertia_(p["area"] / (p["density"] * p["length"])),
          R_(p["linear-loss"]),
          K_(p["quadratic-loss"]),
          Q0_(p["flow0"]) {}

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return 2; }

    /// The volume V that flowed from left to right, and the flow Q.
    void initial_state(double /*t0*/, double* x) const override {
        x[0] = 0;
        x[1] = Q0_;
    }

    void derivatives(double /*t*/, const double* x, const double* u, double* dx) const override {
        const double Q = x[1];
        dx[0] = Q;
        dx[1] = (u[0] - u[1] - (R_ + K_ * std::abs(Q)) * Q) * inverse_inertia_;
    }

    void outputs(double /*t*/, const double* x, const double* /*u*/, double* y) const override {
        // 0 - x has no negative zero, which would look odd in results.
        y[0] = 0 - x[0];
        y[1] = 0 - x[1];
        y[2] = x[0];
        y[3] = x[1];
    }

    bool jacobian(double /*t*/, const double* x, const double* /*u*/, double* dfdx) const override {
        dfdx[0] = 0;
        dfdx[1] = 0;
        dfdx[2] = 1;
        dfdx[3] = -(R_ + 2 * K_ * std::abs(x[1])) * inverse_inertia_;
        return true;
    }

   private:
    double inverse_inertia_, R_, K_, Q0_;
};

using range = parameter_info::range;

const model_registration registered{{
    "hydraulic-line",
    "hydraulic line between two nodes: inertia of the fluid, linear and quadratic losses",
    {
        {"density", "kg/m3", "density rho of the fluid", 850, range::positive},
        {"length", "m", "length L", 1, range::positive},
        {"area", "m2", "cross section A", 1e-4, range::positive},
        {"linear-loss", "Pa.s/m3", "laminar loss R", 0, range::not_negative},
        {"quadratic-loss", "Pa.s2/m6", "turbulent loss K", 0, range::not_negative},
        {"flow0", "m3/s", "flow Q from left to right at the start", 0},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<hydraulic_line>(p); },
}};

}  // namespace

}  // namespace mdpcosim
