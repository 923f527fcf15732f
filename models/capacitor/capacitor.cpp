#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// C u' = i_pin + i - G u: a capacitor to the ground with leakage.

namespace mdpcosim {

namespace {

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model capacitor";
        add_potential_port(d, "pin", port_kind::electric,
                           "the plate that is not grounded; a positive current charges it");
        add_input(d, "current", "A", "current of a source into the pin, given as a signal");
        return d;
    }();
    return shared;
}

class capacitor final : public equations {
   public:
    explicit capacitor(const parameter_values& p)
        : inverse_C_(1 / p["capacitance"]), G_(p["leakage"]), u0_(p["potential0"]) {}

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return 1; }
    void initial_state(double /*t0*/, double* x) const override { x[0] = u0_; }

    void derivatives(double /*t*/, const double* x, const double* u, double* dx) const override {
        dx[0] = (u[0] + u[1] - G_ * x[0]) * inverse_C_;
    }

    void outputs(double /*t*/, const double* x, const double* /*u*/, double* y) const override { y[0] = x[0]; }

    bool jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* dfdx) const override {
        dfdx[0] = -G_ * inverse_C_;
        return true;
    }

   private:
    double inverse_C_, G_, u0_;
};

using range = parameter_info::range;

const model_registration registered{{
    "capacitor",
    "capacitor to the ground with leakage: takes current, gives potential",
    {
        {"capacitance", "F", "capacitance C", 1e-3, range::positive},
        {"leakage", "S", "conductance G to the ground, in parallel", 0},
        {"potential0", "V", "potential at the start", 0},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<capacitor>(p); },
}};

}  // namespace

}  // namespace mdpcosim
