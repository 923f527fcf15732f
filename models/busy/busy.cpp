#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>

#include "core/error.hpp"
#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// m x'' = F with a given amount of arithmetic in every evaluation: a load for measurements of scheduling and transport.

namespace mdpcosim {

namespace {

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model busy";
        add_mechanical_port(d, "mass", port_kind::translation,
                            "the mass; a positive force accelerates it in positive direction");
        return d;
    }();
    return shared;
}

class busy final : public equations {
   public:
    explicit busy(const parameter_values& p)
        : inverse_mass_(1 / p["mass"]), x0_(p["x0"]), v0_(p["v0"]), work_(static_cast<std::int64_t>(p["work"])) {}

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return 2; }

    void initial_state(double /*t0*/, double* x) const override {
        x[0] = x0_;
        x[1] = v0_;
    }

    void derivatives(double /*t*/, const double* x, const double* u, double* dx) const override {
        dx[0] = x[1];
        // Adding zero times the result keeps the loop alive under the rules of IEEE arithmetic and changes nothing.
        dx[1] = u[0] * inverse_mass_ + 0.0 * burn(x[1]);
    }

    void outputs(double /*t*/, const double* x, const double* u, double* y) const override {
        y[0] = x[0];
        y[1] = x[1];
        y[2] = u[0] * inverse_mass_;
    }

    bool jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* dfdx) const override {
        dfdx[0] = dfdx[1] = dfdx[3] = 0;
        dfdx[2] = 1;
        return true;
    }

   private:
    /// Every iteration waits for the one before; the iterates tend to 2, so that no overflow and no denormals arise.
    double burn(double z) const {
        for (std::int64_t i = 0; i < work_; ++i) z = 0.5 * z + 1;
        return z;
    }

    double inverse_mass_, x0_, v0_;
    std::int64_t work_;
};

std::unique_ptr<equations> make(const parameter_values& p) {
    if (p["work"] > 1e12)
        throw std::invalid_argument(
            fmt::format("parameter 'work' is {}; one evaluation must end: at most 1e12", p["work"]));
    return std::make_unique<busy>(p);
}

using range = parameter_info::range;

const model_registration registered{{
    "busy",
    "free mass whose evaluation takes a chosen time, for measurements",
    {
        {"mass", "kg", "mass m", 1, range::positive},
        {"work", "1", "iterations of the idle loop per evaluation of the right-hand side", 1000, range::whole},
        {"x0", "m", "position at the start", 0},
        {"v0", "m/s", "velocity at the start", 0},
    },
    make,
}};

}  // namespace

}  // namespace mdpcosim
