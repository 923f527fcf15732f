#pragma once

#include <array>
#include <optional>
#include <span>

#include "coupling/extrapolation.hpp"

/// Coefficients of the rules with K = 2 that allow the largest macro steps; docs/methods/stability.md says how they were found.
namespace mdpcosim {

/// The free coefficients of const-2-R and lin-2-R; b_0 is free for R = 2 only.
struct optimised_set {
    extrapolation_rule::family kind;
    int R;
    std::array<double, 2> b;
};

/// -opt-2011: (2.64), (2.65), (2.67), (2.68) of the source.
std::span<const optimised_set> optimised_2011();
/// -opt: the best compromise for stiff couplings, F = 10^1/2 .. 10^2, that keeps a limit for soft ones.
std::span<const optimised_set> optimised_for_stiff();
/// -opt-F: for one F, the stiffness of a connection over that of its ports; nothing where the best set does not depend on F.
std::optional<optimised_set> optimised_for(extrapolation_rule::family kind, int R, double F);

}  // namespace mdpcosim
