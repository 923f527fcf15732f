#pragma once

#include "coupling/law.hpp"

/// A law with corners (a stop, a flank) over a macro step in which it may cross one, for who solves for constant coupling variables.
///
/// With constant u the relative motion of free bodies is v' = r - Q u, so that q changes by D = H v + H^2/2 (r - Q u). The mean of the law
/// over the straight way from q to q + D,
///     u = M(D) = integral over s in [0, 1] of law(q + s D, D/H) ,
/// is, for a spring, the change of its energy over the way: the work u D of the constant force is what the spring takes up or gives
/// back, however stiff it is (discrete gradient; O. Gonzalez, Time integration and discrete Hamiltonian systems, J. Nonlinear Sci. 6,
/// 1996). A mean of values that never pull does not pull. M rises with D and D falls with u: there is one solution.
namespace mdpcosim {

/// The mean of u over the straight way from q to q + by with the rate v; pieces between corners by themselves.
double mean_on_way(const law& l, double q, double by, double v);

struct contact_step {
    double H, q, v;
    double rate;  ///< r
    double own;   ///< Q, not negative
};

/// u = M(D). Throws what the law throws.
double contact_mean(const law& l, const contact_step& step);

}  // namespace mdpcosim
