#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "coupling/law.hpp"

/// End stops of the relative motion q = first - second. Free between the limits, unilateral contact beyond them:
///     q > upper:  u = max(0, stiffness (q - upper) + damping v)
///     q < lower:  u = min(0, stiffness (q - lower) + damping v)
///     otherwise   u = 0 .
/// The clamp keeps a damped contact from pulling while it opens. With damping, u jumps by damping * v at the touch. The
/// rate (stiffness v in contact, else 0) exists for damping = 0 only.
namespace mdpcosim {

namespace {

constexpr double no_limit = 1e300;

class stop final : public law {
   public:
    explicit stop(const parameter_values& p)
        : stiffness_(p["stiffness"]), damping_(p["damping"]), lower_(p["lower"]), upper_(p["upper"]) {
        if (lower_ > upper_)
            throw std::invalid_argument(
                fmt::format("the stop's lower limit {} lies above its upper limit {}; exchange them", lower_, upper_));
        if (lower_ <= -no_limit && upper_ >= no_limit)
            throw std::invalid_argument("the stop has no limit; give 'lower', 'upper' or both");
    }

    bool needs_velocity() const override { return damping_ != 0; }
    bool remembers() const override { return false; }
    law_value evaluate(double q, double v) const override {
        if (q >= lower_ && q <= upper_) return {0, 0};
        const bool above = q > upper_;
        const double elastic = stiffness_ * (q - (above ? upper_ : lower_));
        if (damping_ == 0) return {elastic, stiffness_ * v};
        const double u = elastic + damping_ * v;
        return {above ? std::max(0.0, u) : std::min(0.0, u), 0};
    }

    /// Touching both limits; damped contacts also open where they would pull.
    int corner_count() const override { return damping_ != 0 ? 4 : 2; }
    void corners(double q, double v, double* z) const override {
        z[0] = q - lower_;
        z[1] = q - upper_;
        if (damping_ == 0) return;
        z[2] = stiffness_ * (q - lower_) + damping_ * v;
        z[3] = stiffness_ * (q - upper_) + damping_ * v;
    }

    law_range range(double q) const override {
        law_range of{0, 0};
        if (q > upper_) of.highest = law_range{}.highest;
        if (q < lower_) of.lowest = law_range{}.lowest;
        return of;
    }

    law_slope slope(double q, double v) const override {
        const bool acts = evaluate(q, v).u != 0;
        return acts ? law_slope{stiffness_, damping_} : law_slope{};
    }

   private:
    double stiffness_, damping_, lower_, upper_;
};

using range = parameter_info::range;

const law_registration registered{{
    .name = "stop",
    .summary = "end stops: spring and damper beyond the limits of first - second, never pulling",
    .kinds = {port_kind::translation, port_kind::rotation},
    .parameters =
        {
            {.name = "stiffness",
             .unit = "{load}/{motion}",
             .description = "contact stiffness",
             .allowed = range::not_negative,
             .required = true,
             .choices = {}},
            {.name = "damping",
             .unit = "{load}.s/{motion}",
             .description = "contact damping",
             .allowed = range::not_negative,
             .choices = {}},
            {.name = "lower",
             .unit = "{motion}",
             .description = "smallest free value of first - second; none unless given",
             .default_value = -no_limit,
             .choices = {}},
            {.name = "upper",
             .unit = "{motion}",
             .description = "largest free value of first - second; none unless given",
             .default_value = no_limit,
             .choices = {}},
        },
    .make = [](const parameter_values& p) { return std::make_unique<stop>(p); },
}};

}  // namespace

}  // namespace mdpcosim
