#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// v = kp (b r - m) + I + D,  D = kd/Tf (c r - m - z),  y = v within the limits
// I' = ki (r - m) + (y - v)/Tt,  z' = (c r - m - z)/Tf
// Parallel form with filtered derivative, setpoint weights and anti-windup by back-calculation (Astrom and Hagglund,
// Advanced PID Control, chapter 3). States I, z.

namespace mdpcosim {

namespace {

const subsystem_description& description(bool setpoint_acts, bool measurement_acts) {
    return shared_description(
        fmt::format("model pid {} {}", setpoint_acts, measurement_acts), [&](subsystem_description& d) {
            d.type = "model pid";
            const int r = add_input(d, "setpoint", "", "the value that the measurement shall have");
            const int m = add_input(d, "measurement", "", "the measured value");
            add_output(d, "y", "", "control signal");
            if (setpoint_acts) output_named(d, "y").direct.push_back(r);
            if (measurement_acts) output_named(d, "y").direct.push_back(m);
        });
}

class pid final : public equations {
   public:
    explicit pid(const parameter_values& p)
        : kp_(p["kp"]),
          ki_(p["ki"]),
          N_(p["kd"] / p["filter-time"]),
          inverse_Tf_(1 / p["filter-time"]),
          b_(p["setpoint-weight"]),
          c_(p["derivative-weight"]),
          lower_(p["lower"]),
          upper_(p["upper"]),
          I0_(p["integral0"]),
          z0_(p["filtered0"]) {
        if (!(lower_ < upper_))
            throw std::invalid_argument(fmt::format("lower ({}) must be less than upper ({})", lower_, upper_));
        if (p.given("tracking-time")) {
            inverse_Tt_ = 1 / p["tracking-time"];
        } else if (ki_ != 0 && (std::isfinite(lower_) || std::isfinite(upper_))) {
            if (kp_ == 0)
                throw std::invalid_argument(
                    "limits with kp = 0 need 'tracking-time', how fast the integral part comes back from a limit; with "
                    "kp it would be kp/ki");
            inverse_Tt_ = std::abs(ki_ / kp_);
        }
    }

    const subsystem_description& describe() const noexcept override {
        return description(kp_ * b_ + N_ * c_ != 0, kp_ + N_ != 0);
    }
    int state_count() const override { return 2; }
    void initial_state(double /*t0*/, double* x) const override { x[0] = I0_, x[1] = z0_; }

    void derivatives(double /*t*/, const double* x, const double* u, double* dx) const override {
        const double v = unlimited(x, u);
        dx[0] = ki_ * (u[0] - u[1]);
        if (inverse_Tt_ != 0) dx[0] += (std::clamp(v, lower_, upper_) - v) * inverse_Tt_;
        dx[1] = (c_ * u[0] - u[1] - x[1]) * inverse_Tf_;
    }

    void outputs(double /*t*/, const double* x, const double* u, double* y) const override {
        y[0] = std::clamp(unlimited(x, u), lower_, upper_);
    }

    bool jacobian(double /*t*/, const double* x, const double* u, double* dfdx) const override {
        const double v = unlimited(x, u);
        const double back = v < lower_ || v > upper_ ? inverse_Tt_ : 0;
        dfdx[0] = -back, dfdx[1] = 0;
        dfdx[2] = N_ * back, dfdx[3] = -inverse_Tf_;
        return true;
    }

   private:
    double unlimited(const double* x, const double* u) const {
        return kp_ * (b_ * u[0] - u[1]) + x[0] + N_ * (c_ * u[0] - u[1] - x[1]);
    }

    double kp_, ki_, N_, inverse_Tf_, b_, c_, lower_, upper_, I0_, z0_;
    double inverse_Tt_ = 0;
};

using range = parameter_info::range;
constexpr double infinity = std::numeric_limits<double>::infinity();

const model_registration registered{{
    "pid",
    "continuous PID controller with filtered derivative, limits and anti-windup",
    {
        {"kp", "", "proportional gain", 1},
        {"ki", "", "integral gain, per second", 0},
        {"kd", "", "derivative gain, times second", 0},
        {"filter-time", "s", "time constant Tf of the derivative's filter", 0.01, range::positive},
        {"setpoint-weight", "1", "share b of the setpoint in the proportional part", 1},
        {"derivative-weight", "1", "share c of the setpoint in the derivative part", 1},
        {"lower", "", "lower limit of y; no limit when left out", -infinity},
        {"upper", "", "upper limit of y; no limit when left out", infinity},
        {"tracking-time", "s", "time constant Tt of the anti-windup; kp/ki when left out", 0, range::positive},
        {"integral0", "", "integral part I at the start", 0},
        {"filtered0", "", "filtered difference z at the start", 0},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<pid>(p); },
}};

}  // namespace

}  // namespace mdpcosim
