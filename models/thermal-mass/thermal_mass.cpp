#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// C T' = Q_body + Q: a body of one temperature.

namespace mdpcosim {

namespace {

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model thermal-mass";
        add_potential_port(d, "body", port_kind::thermal, "the body; a positive heat flow warms it");
        add_input(d, "heat", "W", "heat of a source, given as a signal");
        return d;
    }();
    return shared;
}

class thermal_mass final : public equations {
   public:
    explicit thermal_mass(const parameter_values& p) : inverse_C_(1 / p["heat-capacity"]), T0_(p["temperature0"]) {}

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return 1; }
    void initial_state(double /*t0*/, double* x) const override { x[0] = T0_; }

    void derivatives(double /*t*/, const double* /*x*/, const double* u, double* dx) const override {
        dx[0] = (u[0] + u[1]) * inverse_C_;
    }

    void outputs(double /*t*/, const double* x, const double* /*u*/, double* y) const override { y[0] = x[0]; }

    bool jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* dfdx) const override {
        dfdx[0] = 0;
        return true;
    }

   private:
    double inverse_C_, T0_;
};

using range = parameter_info::range;

const model_registration registered{{
    "thermal-mass",
    "body of one temperature with a heat capacity, a thermal port and a heat signal",
    {
        {"heat-capacity", "J/K", "heat capacity C", 1000, range::positive},
        {"temperature0", "K", "temperature at the start", 293.15, range::not_negative},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<thermal_mass>(p); },
}};

}  // namespace

}  // namespace mdpcosim
