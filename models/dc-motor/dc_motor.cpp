#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// L i' = u - R i - k w ,   J w' = k i - d w + T: a motor with permanent magnets.

namespace mdpcosim {

namespace {

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model dc-motor";
        add_mechanical_port(d, "shaft", port_kind::rotation, "the rotor; a positive torque accelerates it");
        add_branch_port(d, "supply", "the terminal; its current into the node is -i; the ground when not connected");
        add_input(d, "voltage", "V", "voltage of a source, given as a signal; adds to the supply's potential");
        return d;
    }();
    return shared;
}

class dc_motor final : public equations {
   public:
    explicit dc_motor(const parameter_values& p)
        : inverse_L_(1 / p["inductance"]),
          R_(p["resistance"]),
          k_(p["constant"]),
          inverse_J_(1 / p["inertia"]),
          d_(p["damping"]),
          i0_(p["current0"]),
          phi0_(p["phi0"]),
          w0_(p["w0"]) {}

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return 4; }

    /// Angle, speed, the charge that flowed through the motor, current i.
    void initial_state(double /*t0*/, double* x) const override {
        x[0] = phi0_;
        x[1] = w0_;
        x[2] = 0;
        x[3] = i0_;
    }

    void derivatives(double /*t*/, const double* x, const double* u, double* dx) const override {
        dx[0] = x[1];
        dx[1] = acceleration(x, u);
        dx[2] = x[3];
        dx[3] = (u[1] + u[2] - R_ * x[3] - k_ * x[1]) * inverse_L_;
    }

    void outputs(double /*t*/, const double* x, const double* u, double* y) const override {
        y[0] = x[0];
        y[1] = x[1];
        y[2] = acceleration(x, u);
        // 0 - x has no negative zero, which would look odd in results.
        y[3] = 0 - x[2];
        y[4] = 0 - x[3];
    }

    bool jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* dfdx) const override {
        for (int i = 0; i < 16; ++i) dfdx[i] = 0;
        dfdx[0 + 4 * 1] = 1;
        dfdx[1 + 4 * 1] = -d_ * inverse_J_;
        dfdx[1 + 4 * 3] = k_ * inverse_J_;
        dfdx[2 + 4 * 3] = 1;
        dfdx[3 + 4 * 1] = -k_ * inverse_L_;
        dfdx[3 + 4 * 3] = -R_ * inverse_L_;
        return true;
    }

   private:
    double acceleration(const double* x, const double* u) const { return (k_ * x[3] - d_ * x[1] + u[0]) * inverse_J_; }

    double inverse_L_, R_, k_, inverse_J_, d_, i0_, phi0_, w0_;
};

using range = parameter_info::range;

const model_registration registered{{
    "dc-motor",
    "motor with permanent magnets: electric port or voltage signal to a turning shaft",
    {
        {"inductance", "H", "inductance L of the winding", 1e-3, range::positive},
        {"resistance", "Ohm", "resistance R of the winding", 1, range::not_negative},
        {"constant", "N.m/A", "motor constant k, torque per current and voltage per speed", 0.1},
        {"inertia", "kg.m2", "moment of inertia J of the rotor", 1e-3, range::positive},
        {"damping", "N.m.s/rad", "damping d against the ground", 0},
        {"current0", "A", "current i at the start", 0},
        {"phi0", "rad", "angle at the start", 0},
        {"w0", "rad/s", "speed at the start", 0},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<dc_motor>(p); },
}};

}  // namespace

}  // namespace mdpcosim
