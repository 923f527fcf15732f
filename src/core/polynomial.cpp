#include "core/polynomial.hpp"

namespace mdpcosim {

namespace {

constexpr int size = max_degree + 1;
using matrix = std::array<std::array<double, size>, size>;

/// Shifted Legendre polynomials on [0, 1]: row n holds the monomial coefficients of P_n,
/// P_n(x) = sum_k (-1)^(n+k) C(n,k) C(n+k,k) x^k.
constexpr matrix legendre() {
    matrix p{};
    for (int n = 0; n < size; ++n) {
        double term = n % 2 == 0 ? 1.0 : -1.0;
        for (int k = 0; k <= n; ++k) {
            p[n][k] = term;
            term = -term * (n - k) * (n + k + 1) / ((k + 1.0) * (k + 1.0));
        }
    }
    return p;
}

constexpr matrix legendre_coefficients = legendre();

}  // namespace

polynomial project(const polynomial& p, double H, int degree) {
    if (p.degree <= degree) return p;
    std::array<double, size> scaled{};
    double power = 1;
    for (int n = 0; n <= p.degree; ++n, power *= H) scaled[n] = p.c[n] * power;

    polynomial result;
    result.degree = degree;
    for (int n = 0; n <= degree; ++n) {
        double moment = 0;
        for (int k = 0; k <= n; ++k)
            for (int m = 0; m <= p.degree; ++m) moment += legendre_coefficients[n][k] * scaled[m] / (k + m + 1);
        for (int k = 0; k <= n; ++k) result.c[k] += (2 * n + 1) * moment * legendre_coefficients[n][k];
    }
    power = 1;
    for (int n = 0; n <= degree; ++n, power *= H) result.c[n] /= power;
    return result;
}

polynomial shifted(const polynomial& of, double by) {
    polynomial p = of;
    for (int i = 0; i < p.degree; ++i)
        for (int k = p.degree - 1; k >= i; --k) p.c[k] += by * p.c[k + 1];
    return p;
}

}  // namespace mdpcosim
