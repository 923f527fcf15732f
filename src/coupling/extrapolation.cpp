#include "coupling/extrapolation.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <stdexcept>

/// Every weight set solves one kind of linear system. A functional L (the mean over the step, or the n-th coefficient
/// of the interpolating polynomial) is written as sum_k (a_k u(tau_k) + b_k u'(tau_k)) and made exact for the
/// monomials s^r, r = 0 .. R-1:
///     sum_k ( tau_k^r a_k + r tau_k^(r-1) b_k ) = L[s^r] ,
/// the confluent Vandermonde system; for the mean L[s^r] = 1/(r+1), which is r! times (2.28). Solved in extended
/// precision with complete pivoting and fixed maximal sizes, so that nothing allocates.
namespace mdpcosim {

namespace {

using real = long double;
using family = extrapolation_rule::family;

constexpr int max_unknowns = 2 * max_history;
using small_matrix = Eigen::Matrix<real, Eigen::Dynamic, Eigen::Dynamic, 0, max_unknowns, max_unknowns>;
using coefficients = std::array<double, max_history>;

constexpr double condition_tolerance = 1e-6;

/// Column of `tau_k^r` (values) or `r tau_k^(r-1)` (rates) for r = 0 .. R-1; columns 0 .. K-1 are values, then rates.
real moment(std::span<const double> tau, int column, int r) {
    const int K = static_cast<int>(tau.size());
    const real t = tau[column % K];
    const int exponent = column < K ? r : r - 1;
    if (exponent < 0) return 0;
    real power = column < K ? 1 : r;
    for (int i = 0; i < exponent; ++i) power *= t;
    return power;
}

small_matrix moments(std::span<const double> tau, int R) {
    small_matrix m(R, R);
    for (int r = 0; r < R; ++r)
        for (int column = 0; column < R; ++column) m(r, column) = moment(tau, column, r);
    return m;
}

/// The first R of a_0 .. a_{K-1}, b_0 .. b_{K-1} from the R order conditions, the others as they are.
void solve_mean(std::span<const double> tau, int R, std::span<double> a, std::span<double> b) {
    const int K = static_cast<int>(tau.size());
    small_matrix rhs(R, 1);
    for (int r = 0; r < R; ++r) {
        rhs(r, 0) = real{1} / (r + 1);
        for (int column = R; column < 2 * K; ++column)
            rhs(r, 0) -= moment(tau, column, r) * (column < K ? a[column] : b[column - K]);
    }
    const small_matrix x = moments(tau, R).fullPivLu().solve(rhs);
    for (int column = 0; column < R; ++column)
        (column < K ? a[column] : b[column - K]) = static_cast<double>(x(column, 0));
}

/// Interpolation of K values and, with rates, K rates: weights of all monomial coefficients.
void interpolation_weights(std::span<const double> tau, bool rates, extrapolation_weights& w) {
    const int K = static_cast<int>(tau.size());
    const int R = rates ? 2 * K : K;
    const small_matrix inverse = moments(tau, R).fullPivLu().inverse();
    w.degree = R - 1;
    for (int n = 0; n < R; ++n)
        for (int column = 0; column < R; ++column)
            (column < K ? w.A[n][column] : w.B[n][column - K]) = static_cast<double>(inverse(column, n));
}

/// (2.10), (2.34) to (2.36) and (2.38): the polynomial whose mean is sum_k (a_k u + b_k H du).
void mean_weights(const extrapolation_rule& rule, const coefficients& a, const coefficients& b,
                  extrapolation_weights& w) {
    const int n = rule.degree;
    w.degree = n;
    const double scale = n + 1;
    for (int k = 0; k < w.points; ++k) {
        w.A[n][k] = scale * a[k];
        w.B[n][k] = scale * b[k];
    }
    if (n == 0) return;
    if (rule.continuous) {
        w.C[0] = 1;
        w.C[n] = -scale;
    } else {
        w.A[0][0] = 1;
        w.A[n][0] = scale * (a[0] - 1);
    }
    if (n == 2) {
        w.B[1][0] = 1;
        w.B[2][0] = scale * (b[0] - 0.5);
    }
}

std::array<double, max_history> constant_grid() {
    std::array<double, max_history> tau{};
    for (int k = 0; k < max_history; ++k) tau[k] = -k;
    return tau;
}

}  // namespace

std::string_view family_name(family kind) {
    constexpr std::array<std::string_view, 5> names{"poly", "hermite", "const", "lin", "quad"};
    return names[static_cast<std::size_t>(kind)];
}

extrapolation_rule make_extrapolation(int degree, std::vector<double> a, std::vector<double> b, bool continuous) {
    if (degree < 0 || degree > 2)
        throw std::invalid_argument(
            fmt::format("own coefficients a, b fix the mean of degree 0, 1 or 2, not of degree {}", degree));
    if (a.empty() || a.size() > max_history || a.size() != b.size())
        throw std::invalid_argument(fmt::format(
            "a has {} coefficients and b has {}; both need the same number, 1 to {}", a.size(), b.size(), max_history));
    if (continuous && degree != 1)
        throw std::invalid_argument(
            fmt::format("forced continuity is a variant of degree 1, not of degree {}", degree));
    for (const auto& list : {a, b})
        for (const double value : list)
            if (!std::isfinite(value)) throw std::invalid_argument("the coefficients a and b must be finite numbers");

    extrapolation_rule rule;
    rule.kind = degree == 0 ? family::constant : degree == 1 ? family::linear : family::quadratic;
    rule.degree = degree;
    rule.K = static_cast<int>(a.size());
    rule.continuous = continuous;
    rule.a = std::move(a);
    rule.b = std::move(b);
    const bool b_is_zero = std::all_of(rule.b.begin(), rule.b.end(), [](double value) { return value == 0; });
    rule.uses_rates = degree == 2 || !b_is_zero;

    const auto grid = constant_grid();
    const auto tau = std::span(grid).first(rule.K);
    const auto holds = [&](int r) {
        real sum = -real{1} / (r + 1), size = real{1} / (r + 1);
        for (int column = 0; column < 2 * rule.K; ++column) {
            const real term = moment(tau, column, r) * (column < rule.K ? rule.a[column] : rule.b[column - rule.K]);
            sum += term;
            size += std::abs(term);
        }
        return std::abs(sum) <= condition_tolerance * size;
    };
    rule.R = 0;
    const int most = b_is_zero ? rule.K : 2 * rule.K;
    while (rule.R < most && holds(rule.R)) ++rule.R;
    if (rule.R == 0) {
        double sum = 0;
        for (const double value : rule.a) sum += value;
        throw std::invalid_argument(fmt::format(
            "the coefficients a must add up to 1 (2.28a), otherwise a constant u is not kept; their sum is {}", sum));
    }
    rule.name = fmt::format("{}-{}-{}-own{}", family_name(rule.kind), rule.K, rule.R, continuous ? "-continuous" : "");
    return rule;
}

void solve_order_conditions(std::span<const double> tau, int R, bool without_rates, std::vector<double>& a,
                            std::vector<double>& b) {
    const int K = static_cast<int>(tau.size());
    if (K < 1 || K > max_history || R < 1 || R > (without_rates ? K : 2 * K))
        throw std::invalid_argument(fmt::format("{} points cannot satisfy {} order conditions", K, R));
    a.resize(K, 0.0);
    b.resize(K, 0.0);
    if (without_rates) std::fill(b.begin(), b.end(), 0.0);
    solve_mean(tau, R, a, b);
}

double order_condition(std::span<const double> tau, std::span<const double> a, std::span<const double> b, int r) {
    const int K = static_cast<int>(tau.size());
    real sum = -real{1} / (r + 1);
    for (int column = 0; column < 2 * K; ++column)
        sum += moment(tau, column, r) * (column < K ? a[column] : b[column - K]);
    return static_cast<double>(sum / std::tgamma(real(r) + 1));
}

bool on_constant_grid(std::span<const double> tau) {
    for (std::size_t k = 0; k < tau.size(); ++k)
        if (!(std::abs(tau[k] + static_cast<double>(k)) < 1e-9)) return false;
    return true;
}

extrapolation_weights make_weights(const extrapolation_rule& rule, std::span<const double> tau) {
    extrapolation_weights w;
    w.points = std::min(rule.K, static_cast<int>(tau.size()));
    w.uses_rates = rule.uses_rates;
    w.uses_end = rule.continuous;
    tau = tau.first(w.points);
    const auto grid = constant_grid();
    const bool constant = on_constant_grid(tau);
    if (constant) tau = std::span(grid).first(w.points);

    if (rule.kind == family::poly || rule.kind == family::hermite) {
        interpolation_weights(tau, rule.uses_rates, w);
        return w;
    }
    coefficients a{}, b{};
    if (w.points < rule.K) {  // start: as many conditions as the points can satisfy
        const bool rates = rule.uses_rates;
        solve_mean(tau, rates ? 2 * w.points : w.points, std::span(a).first(w.points), std::span(b).first(w.points));
    } else {
        std::copy(rule.a.begin(), rule.a.end(), a.begin());
        std::copy(rule.b.begin(), rule.b.end(), b.begin());
        if (!constant) solve_mean(tau, rule.R, std::span(a).first(w.points), std::span(b).first(w.points));
    }
    mean_weights(rule, a, b, w);
    return w;
}

}  // namespace mdpcosim
