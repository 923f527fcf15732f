#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/polynomial.hpp"

/// Extrapolations: the polynomial that stands for u over the next macro step (M. Friedrich, Parallel Co-Simulation for
/// Mechatronic Systems, dissertation, TU Muenchen, 2011, section 2.2; equation numbers are those of this work).
///
/// Every family is linear in the history, so that a rule comes down to weights that all connections with the same
/// rule share: with H the coming step and tau_k = (t_{l-k} - t_l)/H,
///     e_n H^n = sum_k ( A[n][k] u^{l-k} + B[n][k] H du^{l-k} ) + C[n] u_end ,
/// u_end being the value of the last polynomial at its end (forced continuity (2.36) only).
///   poly-K      interpolation of K values (2.6)
///   hermite-K   interpolation of K values and rates (2.8)
///   const-K-R   e_0 = m, lin-K-R: e_0 = u^l and mean m (2.34, 2.35), quad-K-R: also slope du^l (2.38),
///               with the mean m = sum_k (a_k u^{l-k} + b_k H du^{l-k}), where a, b satisfy R order conditions (2.28)
namespace mdpcosim {

inline constexpr int max_history = 7;

struct extrapolation_rule {
    enum class family { poly, hermite, constant, linear, quadratic };

    std::string name;
    family kind = family::poly;
    int degree = 0;  ///< N, of the polynomial
    int K = 1;       ///< supporting points
    int R = 1;       ///< order conditions (2.28) that the mean over the step fulfils
    bool uses_rates = false;
    bool continuous = false;   ///< forced continuity (2.36)
    std::vector<double> a, b;  ///< mean over the step on a constant grid, K each
};

/// "poly", "hermite", "const", "lin", "quad"
std::string_view family_name(extrapolation_rule::family kind);

/// The rule with this name; throws std::invalid_argument with the reason and a suggestion.
extrapolation_rule make_extrapolation(std::string_view name);

/// The same for names that end in -opt-F, whose coefficients depend on F, the stiffness of the connection over that of its ports;
/// other names do not look at F.
extrapolation_rule make_extrapolation(std::string_view name, double F);
bool needs_stiffness_ratio(std::string_view name);

/// Own coefficients (degree 0, 1 or 2; a and b of equal length); throws std::invalid_argument when not even the first
/// order condition holds. R is the number of leading conditions that hold to 1e-6, published decimals being rounded.
extrapolation_rule make_extrapolation(int degree, std::vector<double> a, std::vector<double> b, bool continuous);

/// Every name that make_extrapolation() knows, families in order; without and with an F.
std::vector<std::string> extrapolation_names();
std::vector<std::string> extrapolation_names_over_F();

/// a_k and b_k that satisfy the first R order conditions on the history tau_0 = 0, tau_1, ...; the free coefficients
/// (the last 2K - R of the list a_0 .. a_{K-1}, b_0 .. b_{K-1}, as in (2.62) and (2.66)) keep the values in `a` and
/// `b`. Without rates all b_k are zero and R <= K.
void solve_order_conditions(std::span<const double> tau, int R, bool without_rates, std::vector<double>& a,
                            std::vector<double>& b);

/// Residual of order condition r = 0, 1, ... (2.28 a, b, ...) on the history tau:
///     sum_k ( tau_k^r / r! a_k + tau_k^(r-1) / (r-1)! b_k ) - 1/(r+1)! .
double order_condition(std::span<const double> tau, std::span<const double> a, std::span<const double> b, int r);

struct extrapolation_weights {
    int degree = 0;
    int points = 0;
    bool uses_rates = false;
    bool uses_end = false;
    std::array<std::array<double, max_history>, max_degree + 1> A{};
    std::array<std::array<double, max_history>, max_degree + 1> B{};
    std::array<double, max_degree + 1> C{};
};

/// True where |tau_k + k| < 1e-9 for all k: times made as t0 + n*H round differently in every step, the weights stay.
bool on_constant_grid(std::span<const double> tau);

/// Weights for a history tau_0 = 0, tau_1, ... (tau.size() points, at most rule.K are used). With fewer than K points
/// (the first macro steps) the same family with as many points as there are takes over: see
/// docs/methods/extrapolations.md. Forced continuity multiplies C with the end of the last polynomial; before the first
/// step that is u itself. Allocates nothing.
extrapolation_weights make_weights(const extrapolation_rule& rule, std::span<const double> tau);

}  // namespace mdpcosim
