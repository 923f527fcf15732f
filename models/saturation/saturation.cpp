#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// y = u within [lower, upper], else the limit; no states.

namespace mdpcosim {

namespace {

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model saturation";
        const int u = add_input(d, "u", "", "input signal");
        add_output(d, "y", "", "limited signal");
        output_named(d, "y").direct = {u};
        return d;
    }();
    return shared;
}

class saturation final : public equations {
   public:
    explicit saturation(const parameter_values& p) : lower_(p["lower"]), upper_(p["upper"]) {
        if (!(lower_ < upper_))
            throw std::invalid_argument(fmt::format("lower ({}) must be less than upper ({})", lower_, upper_));
    }

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return 0; }
    void initial_state(double /*t0*/, double* /*x*/) const override {}
    void derivatives(double /*t*/, const double* /*x*/, const double* /*u*/, double* /*dx*/) const override {}
    void outputs(double /*t*/, const double* /*x*/, const double* u, double* y) const override {
        y[0] = std::clamp(u[0], lower_, upper_);
    }
    bool jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* /*dfdx*/) const override {
        return true;
    }

   private:
    double lower_, upper_;
};

const model_registration registered{{
    "saturation",
    "signal kept between two limits",
    {
        {"lower", "", "lower limit", -1},
        {"upper", "", "upper limit", 1},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<saturation>(p); },
}};

}  // namespace

}  // namespace mdpcosim
