#include <algorithm>

#include "coupling/law.hpp"

/// Elastic gear (rotation) or lever (translation) with transmission `ratio` and the dead zone |q| <= backlash:
///     q = first - ratio second ,   v = dq/dt ,   d = q - clamp(q, -backlash, backlash) ,
///     u = stiffness d + damping v    without backlash,
///     u = the same, clamped so that a flank never pulls, and 0 inside the dead zone, with backlash.
/// The first port receives -u, the second +ratio u: the power of both ports together is -u v, which the spring stores
/// and the damper dissipates, and which is zero for a rigid motion (v = 0). The rate exists for damping = 0 only.
namespace mdpcosim {

namespace {

class gear final : public law {
   public:
    explicit gear(const parameter_values& p)
        : stiffness_(p["stiffness"]), damping_(p["damping"]), backlash_(p["backlash"]) {}

    bool needs_velocity() const override { return damping_ != 0; }
    bool remembers() const override { return false; }
    law_value evaluate(double q, double v) const override {
        const double d = q - std::clamp(q, -backlash_, backlash_);
        if (backlash_ > 0 && d == 0) return {0, 0};
        if (damping_ == 0) return {stiffness_ * d, stiffness_ * v};
        const double u = stiffness_ * d + damping_ * v;
        if (backlash_ == 0) return {u, 0};
        return {d > 0 ? std::max(0.0, u) : std::min(0.0, u), 0};
    }

    /// Touching both flanks; damped flanks also part where they would pull.
    int corner_count() const override { return backlash_ == 0 ? 0 : damping_ != 0 ? 4 : 2; }
    void corners(double q, double v, double* z) const override {
        z[0] = q + backlash_;
        z[1] = q - backlash_;
        if (damping_ == 0) return;
        z[2] = stiffness_ * (q + backlash_) + damping_ * v;
        z[3] = stiffness_ * (q - backlash_) + damping_ * v;
    }

    law_range range(double q) const override {
        if (backlash_ == 0) return {};
        law_range of{0, 0};
        if (q > backlash_) of.highest = law_range{}.highest;
        if (q < -backlash_) of.lowest = law_range{}.lowest;
        return of;
    }

    law_slope slope(double q, double v) const override {
        const bool acts = backlash_ == 0 || evaluate(q, v).u != 0;
        return acts ? law_slope{stiffness_, damping_} : law_slope{};
    }

   private:
    double stiffness_, damping_, backlash_;
};

using range = parameter_info::range;

const law_registration registered{{
    .name = "gear",
    .summary = "elastic gear, q = first - ratio second; torques -u and +ratio u",
    .kinds = {port_kind::translation, port_kind::rotation},
    .parameters =
        {
            {.name = "ratio",
             .unit = "1",
             .description =
                 "motion of the first port per motion of the second; negative where they turn against each other",
             .required = true,
             .choices = {}},
            {.name = "stiffness",
             .unit = "{load}/{motion}",
             .description = "stiffness at the first port",
             .allowed = range::not_negative,
             .required = true,
             .choices = {}},
            {.name = "damping",
             .unit = "{load}.s/{motion}",
             .description = "damping at the first port",
             .allowed = range::not_negative,
             .choices = {}},
            {.name = "backlash",
             .unit = "{motion}",
             .description = "half width of the dead zone at the first port",
             .allowed = range::not_negative,
             .choices = {}},
        },
    .make = [](const parameter_values& p) { return std::make_unique<gear>(p); },
    .roles = [](const parameter_values& p) -> std::vector<port_role> {
        return {{1, -1}, {-p["ratio"], p["ratio"]}};
    },
}};

}  // namespace

}  // namespace mdpcosim
