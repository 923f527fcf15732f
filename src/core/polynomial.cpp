#include "core/polynomial.hpp"

#include <utility>

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

/// The integral of P_n times a polynomial on [0, 1].
double moment_of(int n, const std::array<double, size>& scaled, int degree) {
    double moment = 0;
    for (int k = 0; k <= n; ++k)
        for (int m = 0; m <= degree; ++m) moment += legendre_coefficients[n][k] * scaled[m] / (k + m + 1);
    return moment;
}

/// The same where both are known when compiling: most divisions are by one, two or four.
template <int n, int degree>
double moment_of(const std::array<double, size>& scaled) {
    double moment = 0;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((moment += legendre_coefficients[n][i / (degree + 1)] * scaled[i % (degree + 1)] /
                    static_cast<double>(i / (degree + 1) + i % (degree + 1) + 1)),
         ...);
    }
    (std::make_index_sequence<std::size_t{(n + 1) * (degree + 1)}>{});
    return moment;
}

double moment(int n, const std::array<double, size>& scaled, int degree) {
    if (n == 0 && degree == 2) return moment_of<0, 2>(scaled);
    if (n == 1 && degree == 2) return moment_of<1, 2>(scaled);
    return moment_of(n, scaled, degree);
}

}  // namespace

polynomial project(const polynomial& p, double H, int degree) {
    if (p.degree <= degree) return p;
    std::array<double, size> scaled{};
    double power = 1;
    for (int n = 0; n <= p.degree; ++n, power *= H) scaled[n] = p.c[n] * power;

    polynomial result;
    result.degree = degree;
    for (int n = 0; n <= degree; ++n) {
        const double part = (2 * n + 1) * moment(n, scaled, p.degree);
        for (int k = 0; k <= n; ++k) result.c[k] += part * legendre_coefficients[n][k];
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
