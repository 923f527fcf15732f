#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "core/error.hpp"
#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// y = offset + amplitude s(t - start), s = 0 before the start; the README lists the shapes s.
// Values and rates are those from the right, so that a step has its new value at the time of the step.

namespace mdpcosim {

namespace {

enum class shape { constant, step, ramp, sine, pulse, chirp };
const std::vector<std::string> shape_names{"constant", "step", "ramp", "sine", "pulse", "chirp"};

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model source";
        add_output(d, "y", "", "the signal");
        const int rate = add_output(d, "der(y)", "", "rate of y, without the jumps");
        output_named(d, "y").rate_slot = rate;
        return d;
    }();
    return shared;
}

struct value_and_rate {
    double value, rate;
};

class source final : public equations {
   public:
    explicit source(const parameter_values& p)
        : shape_(static_cast<shape>(static_cast<int>(p["kind"]))),
          offset_(p["offset"]),
          amplitude_(p["amplitude"]),
          start_(p["start"]),
          duration_(p["duration"]),
          period_(p["period"]),
          omega_(2 * std::numbers::pi * p["frequency"]),
          omega_end_(2 * std::numbers::pi * p["end-frequency"]),
          phase_(p["phase"]) {}

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return 0; }
    void initial_state(double /*t0*/, double* /*x*/) const override {}
    void derivatives(double /*t*/, const double* /*x*/, const double* /*u*/, double* /*dx*/) const override {}

    void outputs(double t, const double* /*x*/, const double* /*u*/, double* y) const override {
        const auto [value, rate] = t < start_ ? value_and_rate{0, 0} : after_start(t);
        y[0] = offset_ + amplitude_ * value;
        y[1] = amplitude_ * rate;
    }

    bool jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* /*dfdx*/) const override {
        return true;
    }

    /// Where y or its rate jumps. The times are computed as in outputs(), bit by bit.
    double next_time_event(double t) const override {
        const double never = equations::next_time_event(t);
        if (shape_ == shape::constant) return never;
        if (t < start_) return start_;
        if (shape_ == shape::ramp) return t < start_ + duration_ ? start_ + duration_ : never;
        if (shape_ != shape::pulse) return never;
        const double n = pulse_number(t);
        if (t < pulse_begin(n) + duration_) return pulse_begin(n) + duration_;
        return period_ > 0 ? pulse_begin(n + 1) : never;
    }

   private:
    value_and_rate after_start(double t) const {
        switch (shape_) {
            case shape::constant:
                return {0, 0};
            case shape::step:
                return {1, 0};
            case shape::ramp:
                return t < start_ + duration_ ? value_and_rate{(t - start_) / duration_, 1 / duration_}
                                              : value_and_rate{1, 0};
            case shape::sine: {
                const double angle = omega_ * (t - start_) + phase_;
                return {std::sin(angle), omega_ * std::cos(angle)};
            }
            case shape::pulse:
                return {t < pulse_begin(pulse_number(t)) + duration_ ? 1.0 : 0.0, 0};
            case shape::chirp:
                return chirp(t - start_);
        }
        return {0, 0};
    }

    /// The angular frequency goes linearly from omega to omega_end and stays there.
    value_and_rate chirp(double s) const {
        const double swept = std::min(s, duration_);
        const double slope = (omega_end_ - omega_) / duration_;
        const double omega = omega_ + slope * swept;
        const double angle = omega_ * swept + 0.5 * slope * swept * swept + omega * (s - swept) + phase_;
        return {std::sin(angle), omega * std::cos(angle)};
    }

    double pulse_begin(double n) const { return start_ + n * period_; }

    /// The pulse that began last; the quotient may be one off where t lies on a pulse's begin.
    double pulse_number(double t) const {
        if (!(period_ > 0)) return 0;
        double n = std::floor((t - start_) / period_);
        if (pulse_begin(n) > t) n -= 1;
        if (pulse_begin(n + 1) <= t) n += 1;
        return n;
    }

    shape shape_;
    double offset_, amplitude_, start_, duration_, period_, omega_, omega_end_, phase_;
};

std::unique_ptr<equations> make(const parameter_values& p) {
    const auto s = static_cast<shape>(static_cast<int>(p["kind"]));
    if (s == shape::pulse && p["period"] > 0 && p["duration"] >= p["period"])
        throw std::invalid_argument(fmt::format("the pulse's duration ({} s) must be shorter than its period ({} s)",
                                                p["duration"], p["period"]));
    return std::make_unique<source>(p);
}

using range = parameter_info::range;

const model_registration registered{{
    "source",
    "signal over time: constant, step, ramp, sine, pulse or chirp",
    {
        {"kind", "", "shape of the signal", 0, range::any, false, false, shape_names},
        {"offset", "", "value before the start, added to the shape", 0},
        {"amplitude", "", "factor of the shape", 1},
        {"start", "s", "begin of the shape", 0},
        {"duration", "s", "of the ramp, of one pulse, of the sweep of the chirp", 1, range::positive},
        {"period", "s", "from pulse to pulse; 0: a single pulse", 0, range::not_negative},
        {"frequency", "Hz", "of the sine; of the chirp at its start", 1, range::not_negative},
        {"end-frequency", "Hz", "of the chirp at the end of its sweep", 10, range::not_negative},
        {"phase", "rad", "phase of sine and chirp at the start", 0},
    },
    make,
}};

}  // namespace

}  // namespace mdpcosim
