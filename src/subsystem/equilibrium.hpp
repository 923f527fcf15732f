#pragma once

#include "subsystem/equations.hpp"

namespace mdpcosim {

/// Brings x, from where it is, to rest with inputs and time held: f(t, x, u) = 0 in all states that rest (equations::rests); the others
/// stay. By steps of implicit Euler in a time of their own, which grow as long as Newton's method needs few iterations: the system is let
/// go and damped, so that it finds a rest that it would come to, and keeps what the equations keep (fluid that is shut in).
/// Throws run_error where it comes to none, with the state that still moves. Kelley, Keyes: Convergence analysis of pseudo-transient
/// continuation, SIAM J. Numer. Anal. 35 (1998).
void find_equilibrium(const equations& model, double t, const double* u, double* x);

}  // namespace mdpcosim
