#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// The equations of model pid by the backward Euler method with the sample time T; e = r - m, w = c r - m:
//   I_k = I_{k-1}^+ + ki T e_k,  D_k = kd (w_k - z_{k-1})/(Tf + T),  v_k = kp (b r_k - m_k) + I_k + D_k
//   y_k = v_k within the limits
//   I_k^+ = I_k + min(1, T/Tt)(y_k - v_k),  z_k = z_{k-1} + T (w_k - z_{k-1})/(Tf + T)
// States I_{k-1}^+, z_{k-1}.

namespace mdpcosim {

namespace {

const subsystem_description& description(bool setpoint_acts, bool measurement_acts) {
    return shared_description(
        fmt::format("model pid-sampled {} {}", setpoint_acts, measurement_acts), [&](subsystem_description& d) {
            d.type = "model pid-sampled";
            const int r = add_input(d, "setpoint", "", "the value that the measurement shall have");
            const int m = add_input(d, "measurement", "", "the measured value");
            add_output(d, "y", "", "control signal, held between samples");
            if (setpoint_acts) output_named(d, "y").direct.push_back(r);
            if (measurement_acts) output_named(d, "y").direct.push_back(m);
        });
}

class pid_sampled final : public sampled_equations {
   public:
    pid_sampled(const parameter_values& p, double T)
        : kp_(p["kp"]),
          ki_T_(p["ki"] * T),
          N_(p["kd"] / (p["filter-time"] + T)),
          filter_(T / (p["filter-time"] + T)),
          b_(p["setpoint-weight"]),
          c_(p["derivative-weight"]),
          lower_(p["lower"]),
          upper_(p["upper"]),
          I0_(p["integral0"]),
          z0_(p["filtered0"]) {
        if (!(lower_ < upper_))
            throw std::invalid_argument(fmt::format("lower ({}) must be less than upper ({})", lower_, upper_));
        if (p.given("tracking-time")) {
            back_ = std::min(1.0, T / p["tracking-time"]);
        } else if (ki_T_ != 0 && (std::isfinite(lower_) || std::isfinite(upper_))) {
            if (kp_ == 0)
                throw std::invalid_argument(
                    "limits with kp = 0 need 'tracking-time', how fast the integral part comes back from a limit; with "
                    "kp it would be kp/ki");
            back_ = std::min(1.0, std::abs(ki_T_ / kp_));
        }
    }

    const subsystem_description& describe() const noexcept override {
        return description(kp_ * b_ + ki_T_ + N_ * c_ != 0, kp_ + ki_T_ + N_ != 0);
    }
    int state_count() const override { return 2; }
    void initial_state(double /*t0*/, double* x) const override { x[0] = I0_, x[1] = z0_; }
    void initial_outputs(double /*t0*/, const double* x, double* y) const override {
        y[0] = std::clamp(x[0], lower_, upper_);
    }

    void outputs(double /*t*/, const double* x, const double* u, double* y) const override {
        y[0] = std::clamp(unlimited(x, u), lower_, upper_);
    }

    void update(double /*t*/, const double* x, const double* u, double* x_next) const override {
        x_next[0] = x[0] + ki_T_ * (u[0] - u[1]);
        if (back_ != 0) {
            const double v = unlimited(x, u);
            x_next[0] += back_ * (std::clamp(v, lower_, upper_) - v);
        }
        x_next[1] = x[1] + filter_ * (c_ * u[0] - u[1] - x[1]);
    }

   private:
    double unlimited(const double* x, const double* u) const {
        return kp_ * (b_ * u[0] - u[1]) + (x[0] + ki_T_ * (u[0] - u[1])) + N_ * (c_ * u[0] - u[1] - x[1]);
    }

    double kp_, ki_T_, N_, filter_, b_, c_, lower_, upper_, I0_, z0_;
    double back_ = 0;
};

using range = parameter_info::range;
constexpr double infinity = std::numeric_limits<double>::infinity();

const model_registration registered{{
    .name = "pid-sampled",
    .summary = "sampled PID controller with filtered derivative, limits and anti-windup (backward Euler)",
    .parameters =
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
            {"integral0", "", "integral part I at the start, and y until the first sample appears", 0},
            {"filtered0", "", "filtered difference z at the start", 0},
        },
    .make_sampled = [](const parameter_values& p, const sampling& clock) -> std::unique_ptr<sampled_equations> {
        return std::make_unique<pid_sampled>(p, clock.period);
    },
}};

}  // namespace

}  // namespace mdpcosim
