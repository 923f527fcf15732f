#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// L i' = u_left - u_right + e - R i: coil, resistor and voltage source in series between two nodes.

namespace mdpcosim {

namespace {

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model rl-branch";
        add_branch_port(d, "left", "one end; its current into the node is -i; the ground when not connected");
        add_branch_port(d, "right", "the other end; its current into the node is +i; the ground when not connected");
        add_input(d, "voltage", "V", "voltage e of a source in the branch, given as a signal; drives i to the right");
        return d;
    }();
    return shared;
}

class rl_branch final : public equations {
   public:
    explicit rl_branch(const parameter_values& p)
        : inverse_L_(1 / p["inductance"]), R_(p["resistance"]), i0_(p["current0"]) {}

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return 2; }

    /// The charge that flowed from left to right, and the current i.
    void initial_state(double /*t0*/, double* x) const override {
        x[0] = 0;
        x[1] = i0_;
    }

    void derivatives(double /*t*/, const double* x, const double* u, double* dx) const override {
        dx[0] = x[1];
        dx[1] = (u[0] - u[1] + u[2] - R_ * x[1]) * inverse_L_;
    }

    void outputs(double /*t*/, const double* x, const double* /*u*/, double* y) const override {
        // 0 - x has no negative zero, which would look odd in results.
        y[0] = 0 - x[0];
        y[1] = 0 - x[1];
        y[2] = x[0];
        y[3] = x[1];
    }

    bool jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* dfdx) const override {
        dfdx[0] = 0;
        dfdx[1] = 0;
        dfdx[2] = 1;
        dfdx[3] = -R_ * inverse_L_;
        return true;
    }

   private:
    double inverse_L_, R_, i0_;
};

using range = parameter_info::range;

const model_registration registered{{
    "rl-branch",
    "electric branch between two nodes: coil, resistor and voltage signal in series",
    {
        {"inductance", "H", "inductance L", 1e-3, range::positive},
        {"resistance", "Ohm", "resistance R", 0},
        {"current0", "A", "current i from left to right at the start", 0},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<rl_branch>(p); },
}};

}  // namespace

}  // namespace mdpcosim
