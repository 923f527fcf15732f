#pragma once

#include "subsystem/solvers/newton_matrix.hpp"

namespace mdpcosim {

/// Solves 0 = f_a(t, x_d, x_a, u) for the algebraic states x_a, the others x_d being given, by Newton's method with damping:
///     (df_a/dx_a) delta = -f_a,   x_a += lambda delta,
/// lambda = 1, 1/2, 1/4 ... until the next simplified correction is smaller (natural monotonicity test; Deuflhard: Newton
/// Methods for Nonlinear Problems, 3.3). Converged when a correction is 1e-4 of the tolerance. Allocates nothing in solve().
class algebraic_equations {
   public:
    enum class outcome { solved, singular, not_finite, no_convergence };

    algebraic_equations(const equations& model, linear_solver_choice choice, double rtol, double atol, N_Vector like,
                        SUNContext context, double t, const double* x, const double* u);

    outcome solve(double t, const double* u, double* x);

    /// The algebraic state whose equation was worst at the end of the last solve(), and its residual.
    std::size_t worst() const { return worst_; }
    double residual() const { return residual_; }
    std::int64_t evaluations() const { return evaluations_; }
    const std::vector<char>& which() const { return which_; }

   private:
    bool residual_of(double t, const double* x, const double* u, double* into);
    double size(const double* delta, const double* x) const;

    const equations* model_;
    double rtol_, atol_;
    std::vector<char> which_;
    newton_matrix newton_;
    vector_handle f_, delta_, trial_, next_;
    std::size_t worst_ = 0;
    double residual_ = 0;
    std::int64_t evaluations_ = 0;
};

/// For messages.
std::string explain(algebraic_equations::outcome outcome);

}  // namespace mdpcosim
