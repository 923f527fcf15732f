#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// T y' + y = k u.

namespace mdpcosim {

namespace {

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model lag-1";
        const int u = add_input(d, "u", "", "input signal");
        add_output(d, "y", "", "delayed signal");
        const int rate = add_output(d, "der(y)", "", "rate of y");
        output_named(d, "y").rate_slot = rate;
        output_named(d, "y").rate_needs_input = true;
        output_named(d, "der(y)").direct = {u};
        return d;
    }();
    return shared;
}

class lag_1 final : public equations {
   public:
    explicit lag_1(const parameter_values& p) : inverse_T_(1 / p["time-constant"]), k_(p["gain"]), y0_(p["y0"]) {}

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return 1; }
    void initial_state(double /*t0*/, double* x) const override { x[0] = y0_; }

    void derivatives(double /*t*/, const double* x, const double* u, double* dx) const override {
        dx[0] = (k_ * u[0] - x[0]) * inverse_T_;
    }

    void outputs(double t, const double* x, const double* u, double* y) const override {
        y[0] = x[0];
        derivatives(t, x, u, y + 1);
    }

    bool jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* dfdx) const override {
        dfdx[0] = -inverse_T_;
        return true;
    }

   private:
    double inverse_T_, k_, y0_;
};

using range = parameter_info::range;

const model_registration registered{{
    "lag-1",
    "first-order lag of a signal",
    {
        {"time-constant", "s", "time constant T", 1, range::positive},
        {"gain", "", "gain k, unit of y over unit of u", 1},
        {"y0", "", "output at the start", 0},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<lag_1>(p); },
}};

}  // namespace

}  // namespace mdpcosim
