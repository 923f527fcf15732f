#include <cmath>
#include <numbers>

#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// m x'' = F - c x - c3 x^3 - d v - d3 v^3 + F_e(t): a mass against the ground; without any term a free mass.

namespace mdpcosim {

namespace {

enum class excitation { none, harmonic, step };

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model mass-spring-damper";
        add_mechanical_port(d, "mass", port_kind::translation,
                            "the mass; a positive force accelerates it in positive direction");
        return d;
    }();
    return shared;
}

class mass_spring_damper final : public equations {
   public:
    explicit mass_spring_damper(const parameter_values& p)
        : inverse_mass_(1 / p["mass"]),
          c_(p["stiffness"]),
          d_(p["damping"]),
          c3_(p["cubic-stiffness"]),
          d3_(p["cubic-damping"]),
          x0_(p["x0"]),
          v0_(p["v0"]),
          amplitude_(p["amplitude"]),
          omega_(2 * std::numbers::pi * p["frequency"]),
          phase_(p["phase"]),
          step_time_(p["step-time"]),
          excitation_(static_cast<excitation>(static_cast<int>(p["excitation"]))),
          free_(c_ == 0 && d_ == 0 && c3_ == 0 && d3_ == 0 && excitation_ == excitation::none) {}

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return 2; }
    double port_stiffness(int /*port*/) const override { return c_; }

    void initial_state(double /*t0*/, double* x) const override {
        x[0] = x0_;
        x[1] = v0_;
    }

    void derivatives(double t, const double* x, const double* u, double* dx) const override {
        dx[0] = x[1];
        dx[1] = acceleration(t, x, u);
    }

    void outputs(double t, const double* x, const double* u, double* y) const override {
        y[0] = x[0];
        y[1] = x[1];
        y[2] = acceleration(t, x, u);
    }

    void port_outputs(double /*t*/, const double* x, const double* /*u*/, double* y) const override {
        y[0] = x[0];
        y[1] = x[1];
    }

    bool jacobian(double /*t*/, const double* x, const double* /*u*/, double* dfdx) const override {
        dfdx[0] = 0;
        dfdx[1] = -(c_ + 3 * c3_ * x[0] * x[0]) * inverse_mass_;
        dfdx[2] = 1;
        dfdx[3] = -(d_ + 3 * d3_ * x[1] * x[1]) * inverse_mass_;
        return true;
    }

    double next_time_event(double t) const override {
        return excitation_ == excitation::step && t < step_time_ ? step_time_ : equations::next_time_event(t);
    }

   private:
    double acceleration(double t, const double* x, const double* u) const {
        // The free mass is what schedulers and transports are measured with: nothing but the division's substitute.
        if (free_) return u[0] * inverse_mass_;
        const double q = x[0], v = x[1];
        const double force = u[0] - (c_ + c3_ * q * q) * q - (d_ + d3_ * v * v) * v;
        return (force + excitation_force(t)) * inverse_mass_;
    }

    double excitation_force(double t) const {
        switch (excitation_) {
            case excitation::none:
                return 0;
            case excitation::harmonic:
                return amplitude_ * std::sin(omega_ * t + phase_);
            case excitation::step:
                return t < step_time_ ? 0 : amplitude_;
        }
        return 0;
    }

    double inverse_mass_, c_, d_, c3_, d3_;
    double x0_, v0_;
    double amplitude_, omega_, phase_, step_time_;
    excitation excitation_;
    bool free_;
};

std::unique_ptr<equations> make(const parameter_values& p) { return std::make_unique<mass_spring_damper>(p); }

model_scene scene(const parameter_values& p) {
    model_scene out{true, {}};
    const bool held = p["stiffness"] != 0 || p["cubic-stiffness"] != 0;
    if (held || p["damping"] != 0 || p["cubic-damping"] != 0)
        out.shapes = {{"ground", {}}, {held ? "spring" : "damper", {}}};
    out.shapes.push_back({"block", {{"mass_position"}}, {}, {}, {"mass"}});
    return out;
}

using range = parameter_info::range;

const model_registration registered{{
    "mass-spring-damper",
    "mass on a linear and cubic spring and damper against the ground, with optional excitation; a free mass by default",
    {
        {"mass", "kg", "mass m", 1, range::positive, false, false, {}, "m"},
        {"stiffness", "N/m", "linear stiffness c", 0, range::any, false, false, {}, "c"},
        {"damping", "N.s/m", "linear damping d", 0, range::any, false, false, {}, "d"},
        {"cubic-stiffness", "N/m3", "cubic stiffness c3", 0},
        {"cubic-damping", "N.s3/m3", "cubic damping d3", 0},
        {"x0", "m", "position at the start", 0},
        {"v0", "m/s", "velocity at the start", 0},
        {"excitation",
         "",
         "force that acts besides the port's",
         0,
         range::any,
         false,
         false,
         {"none", "harmonic", "step"}},
        {"amplitude", "N", "amplitude of the excitation", 1},
        {"frequency", "Hz", "frequency of the harmonic excitation", 1, range::not_negative},
        {"phase", "rad", "phase of the harmonic excitation at t = 0", 0},
        {"step-time", "s", "time of the step", 0},
    },
    make,
    {},
    scene,
}};

}  // namespace

}  // namespace mdpcosim
