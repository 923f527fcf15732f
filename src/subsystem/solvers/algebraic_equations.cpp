#include "subsystem/solvers/algebraic_equations.hpp"

#include "core/error.hpp"
#include "subsystem/solvers/interval.hpp"

namespace mdpcosim {

std::string explain(algebraic_equations::outcome outcome) {
    using kind = algebraic_equations::outcome;
    switch (outcome) {
        case kind::singular:
            return "they do not determine the algebraic variables: df_a/dx_a is singular (the index is higher than 1, "
                   "or an "
                   "equation lacks its variable)";
        case kind::not_finite:
            return "they are not finite there";
        case kind::no_convergence:
            return "the Newton iteration does not converge; give better start values of the algebraic variables";
        default:
            return "solved";
    }
}

algebraic_equations::algebraic_equations(const equations& model, linear_solver_choice choice, double rtol, double atol,
                                         N_Vector like, SUNContext context, double t, const double* x, const double* u)
    : model_(&model),
      rtol_(rtol),
      atol_(atol),
      which_(static_cast<std::size_t>(model.state_count())),
      newton_(model, choice, like, context, t, x, u),
      f_(N_VClone(like)),
      delta_(N_VClone(like)),
      trial_(N_VClone(like)),
      next_(N_VClone(like)) {
    for (std::size_t i = 0; i < which_.size(); ++i) which_[i] = model.is_algebraic(static_cast<int>(i));
    if (!f_ || !delta_ || !trial_ || !next_) throw run_error("no memory for the algebraic equations");
    if (SUNLinSolInitialize(newton_.linear_solver()) != 0) throw run_error("the linear solver cannot be initialised");
    newton_.choose_pivots(t, x, u);
}

/// f_a, zero for the others; false when not finite.
bool algebraic_equations::residual_of(double t, const double* x, const double* u, double* into) {
    model_->derivatives(t, x, u, into);
    ++evaluations_;
    worst_ = 0;
    residual_ = 0;
    bool finite = true;
    for (std::size_t i = 0; i < which_.size(); ++i) {
        if (!which_[i]) continue;
        finite = finite && std::isfinite(into[i]);
        if (std::fabs(into[i]) <= std::fabs(residual_)) continue;
        worst_ = i;
        residual_ = into[i];
    }
    return finite;
}

/// Largest correction relative to the tolerance.
double algebraic_equations::size(const double* delta, const double* x) const {
    double most = 0;
    for (std::size_t i = 0; i < which_.size(); ++i)
        if (which_[i]) most = std::max(most, std::fabs(delta[i]) / (rtol_ * std::fabs(x[i]) + atol_));
    return most;
}

algebraic_equations::outcome algebraic_equations::solve(double t, const double* u, double* x) {
    constexpr int most_iterations = 50;
    constexpr double small = 1e-4, least_damping = 1.0 / 1024;
    const std::size_t n = which_.size();
    double *f = N_VGetArrayPointer(f_.get()), *delta = N_VGetArrayPointer(delta_.get()),
           *trial = N_VGetArrayPointer(trial_.get()), *next = N_VGetArrayPointer(next_.get());
    // A delta = f_a in the algebraic rows and delta = 0 in the others, A having the rows of -df_a/dx and of the unit matrix.
    const auto correct = [&](N_Vector into) {
        for (std::size_t i = 0; i < n; ++i)
            if (!which_[i]) f[i] = 0;
        return SUNLinSolSolve(newton_.linear_solver(), newton_.matrix(), into, f_.get(), 0) == 0;
    };
    std::copy_n(x, n, trial);
    for (int iteration = 0; iteration < most_iterations; ++iteration) {
        if (!residual_of(t, x, u, f)) return outcome::not_finite;
        evaluations_ += newton_.evaluate(t, x, u, f, 0);
        if (!newton_.fill_algebraic(newton_.matrix())) return outcome::not_finite;
        if (SUNLinSolSetup(newton_.linear_solver(), newton_.matrix()) != 0) return outcome::singular;
        if (!correct(delta_.get()) || !all_finite(delta, n)) return outcome::singular;
        const double before = size(delta, x);
        double lambda = 1;
        for (;; lambda /= 2) {
            if (lambda < least_damping) return outcome::no_convergence;
            for (std::size_t i = 0; i < n; ++i)
                if (which_[i]) trial[i] = x[i] + lambda * delta[i];
            if (!residual_of(t, trial, u, f)) continue;
            if (!correct(next_.get())) return outcome::singular;
            const double after = size(next, trial);
            if (after <= small && lambda == 1) {
                for (std::size_t i = 0; i < n; ++i)
                    if (which_[i]) x[i] = trial[i] + next[i];
                return outcome::solved;
            }
            if (after <= (1 - lambda / 2) * before) break;
        }
        for (std::size_t i = 0; i < n; ++i)
            if (which_[i]) x[i] = trial[i];
    }
    return outcome::no_convergence;
}

}  // namespace mdpcosim
