#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// J phi'' = T_shaft + T_end + T - d w: one rigid rotor with two ports and a torque signal.

namespace mdpcosim {

namespace {

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model inertia";
        add_mechanical_port(d, "shaft", port_kind::rotation,
                            "one side of the rotor; a positive torque accelerates in positive direction");
        add_mechanical_port(d, "end", port_kind::rotation,
                            "the other side of the same rotor, with the same angle and sign");
        const int torque = add_input(d, "torque", "N.m", "torque of a motor or a brake, given as a signal");
        for (const char* name : {"shaft.acceleration", "end.acceleration"})
            output_named(d, name).direct = {d.ports[0].load, d.ports[1].load, torque};
        return d;
    }();
    return shared;
}

class inertia final : public equations {
   public:
    explicit inertia(const parameter_values& p)
        : inverse_inertia_(1 / p["inertia"]), d_(p["damping"]), phi0_(p["phi0"]), w0_(p["w0"]) {}

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return 2; }

    void initial_state(double /*t0*/, double* x) const override {
        x[0] = phi0_;
        x[1] = w0_;
    }

    void derivatives(double /*t*/, const double* x, const double* u, double* dx) const override {
        dx[0] = x[1];
        dx[1] = acceleration(x, u);
    }

    void outputs(double /*t*/, const double* x, const double* u, double* y) const override {
        y[0] = y[3] = x[0];
        y[1] = y[4] = x[1];
        y[2] = y[5] = acceleration(x, u);
    }

    void port_outputs(double /*t*/, const double* x, const double* /*u*/, double* y) const override {
        y[0] = y[3] = x[0];
        y[1] = y[4] = x[1];
    }

    bool jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* dfdx) const override {
        dfdx[0] = 0;
        dfdx[1] = 0;
        dfdx[2] = 1;
        dfdx[3] = -d_ * inverse_inertia_;
        return true;
    }

   private:
    double acceleration(const double* x, const double* u) const {
        return (u[0] + u[1] + u[2] - d_ * x[1]) * inverse_inertia_;
    }

    double inverse_inertia_, d_, phi0_, w0_;
};

using range = parameter_info::range;

const model_registration registered{{
    "inertia",
    "rigid rotor with two shaft ends and a torque signal",
    {
        {"inertia", "kg.m2", "moment of inertia J", 1, range::positive, false, false, {}, "J"},
        {"damping", "N.m.s/rad", "damping d against the ground", 0},
        {"phi0", "rad", "angle at the start", 0},
        {"w0", "rad/s", "speed at the start", 0},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<inertia>(p); },
    {},
    [](const parameter_values&) {
        return model_scene{true, {{"wheel", {}, {}, {"shaft_angle"}, {"shaft", "end"}}}};
    },
}};

}  // namespace

}  // namespace mdpcosim
