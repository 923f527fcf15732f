#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// y'' + 2 D omega0 y' + omega0^2 y = k omega0^2 u.

namespace mdpcosim {

namespace {

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model lag-2";
        add_input(d, "u", "", "input signal");
        add_output(d, "y", "", "delayed signal");
        const int rate = add_output(d, "der(y)", "", "rate of y");
        output_named(d, "y").rate_slot = rate;
        return d;
    }();
    return shared;
}

class lag_2 final : public equations {
   public:
    explicit lag_2(const parameter_values& p)
        : omega0_squared_(p["omega0"] * p["omega0"]),
          two_D_omega0_(2 * p["damping-ratio"] * p["omega0"]),
          k_(p["gain"]),
          y0_(p["y0"]),
          dy0_(p["dy0"]) {}

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return 2; }

    void initial_state(double /*t0*/, double* x) const override {
        x[0] = y0_;
        x[1] = dy0_;
    }

    void derivatives(double /*t*/, const double* x, const double* u, double* dx) const override {
        dx[0] = x[1];
        dx[1] = omega0_squared_ * (k_ * u[0] - x[0]) - two_D_omega0_ * x[1];
    }

    void outputs(double /*t*/, const double* x, const double* /*u*/, double* y) const override {
        y[0] = x[0];
        y[1] = x[1];
    }

    bool jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* dfdx) const override {
        dfdx[0] = 0;
        dfdx[1] = -omega0_squared_;
        dfdx[2] = 1;
        dfdx[3] = -two_D_omega0_;
        return true;
    }

   private:
    double omega0_squared_, two_D_omega0_, k_, y0_, dy0_;
};

using range = parameter_info::range;

const model_registration registered{{
    "lag-2",
    "second-order lag of a signal",
    {
        {"omega0", "rad/s", "undamped natural angular frequency", 1, range::positive},
        {"damping-ratio", "1", "damping ratio D; 1 is the aperiodic limit", 1, range::not_negative},
        {"gain", "", "gain k, unit of y over unit of u", 1},
        {"y0", "", "output at the start", 0},
        {"dy0", "", "rate of the output at the start, per second", 0},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<lag_2>(p); },
}};

}  // namespace

}  // namespace mdpcosim
