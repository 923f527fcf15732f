#pragma once

#include <vector>

#include "core/differentiable.hpp"

/// Lift of a cam over its own angle, of period 2 pi: pieces of fifth degree between knots that know the lift and its first two derivatives. So
/// it has two continuous derivatives. From the last knot on to the first of the next turn the lift is zero.
namespace mdpcosim::valve_train {

struct knot {
    double angle, h, slope, bend;  ///< slope = dh/dangle, bend = d2h/dangle2
};

struct lift_value {
    double h = 0, slope = 0, bend = 0;
};

class lift_law {
   public:
    explicit lift_law(std::vector<knot> knots);

    lift_value at(double angle) const;
    double highest() const { return highest_; }

   private:
    struct piece {
        double begin;
        double a[6];  ///< of powers of (angle - begin)
    };
    std::vector<piece> pieces_;
    double begin_, end_, highest_ = 0;
};

/// Rises and falls by polynomials, symmetric about angle zero: half of `duration` is a ramp, with no curvature at its end, a flank, and half of the dwell.
struct lift_shape {
    double lift, duration, dwell, ramp_lift, ramp;
};
std::vector<knot> knots_of_shape(const lift_shape& shape);

/// Through points: slopes and curvatures at the knots are those of the cubic spline, which begins and ends flat.
std::vector<knot> knots_of_points(const std::vector<double>& angles, const std::vector<double>& lifts);

/// Lift and slope of an angle, as numbers of equations.
template <class T>
struct lift_of {
    T h, slope;
};

inline lift_of<double> lift(const lift_law& law, double angle) {
    const lift_value l = law.at(angle);
    return {l.h, l.slope};
}
template <std::size_t N>
lift_of<differentiable::dual<N>> lift(const lift_law& law, const differentiable::dual<N>& angle) {
    const lift_value l = law.at(angle.v);
    return {angle.with(l.h, l.slope), angle.with(l.slope, l.bend)};
}
inline lift_of<differentiable::dependence> lift(const lift_law&, const differentiable::dependence& angle) {
    return {angle, angle};
}

}  // namespace mdpcosim::valve_train
