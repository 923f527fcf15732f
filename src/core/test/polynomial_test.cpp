#include "core/polynomial.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace mdpcosim {
namespace {

polynomial some_polynomial(int degree, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> number(-2, 2);
    polynomial p;
    p.degree = degree;
    for (int n = 0; n <= degree; ++n) p.c[n] = number(random);
    return p;
}

/// The integral of s^k p(s) over [0, H].
double moment(const polynomial& p, double H, int k) {
    double sum = 0;
    for (int n = 0; n <= p.degree; ++n) sum += p.c[n] * std::pow(H, n + k + 1) / (n + k + 1);
    return sum;
}

TEST(polynomial, value_and_derivative) {
    polynomial p;
    p.degree = 3;
    p.c = {1, -2, 0.5, 4};
    EXPECT_EQ(p(0), 1);
    EXPECT_EQ(p(2), 1 - 4 + 2 + 32);
    EXPECT_EQ(p.derivative(0), -2);
    EXPECT_EQ(p.derivative(2), -2 + 2 + 48);
    EXPECT_EQ(polynomial{}(3), 0);
    EXPECT_EQ(polynomial{}.derivative(3), 0);
}

TEST(polynomial, ignores_coefficients_above_its_degree) {
    polynomial p;
    p.degree = 1;
    p.c = {1, 1, 100, 100};
    EXPECT_EQ(p(1), 2);
    EXPECT_EQ(p.derivative(1), 1);
}

TEST(project, keeps_all_moments_up_to_its_degree) {
    for (int from = 1; from <= max_degree; ++from)
        for (int to = 0; to < from; ++to)
            for (const double H : {1e-5, 0.02, 1.0, 30.0}) {
                const polynomial p = some_polynomial(from, 10U * static_cast<unsigned>(from));
                const polynomial q = project(p, H, to);
                ASSERT_EQ(q.degree, to);
                double size = 0;
                for (int n = 0; n <= from; ++n) size += std::abs(p.c[n]) * std::pow(H, n);
                for (int k = 0; k <= to; ++k)
                    EXPECT_NEAR(moment(q, H, k), moment(p, H, k), 1e-11 * size * std::pow(H, k + 1))
                        << "degree " << from << " to " << to << ", moment " << k << ", H " << H;
            }
}

TEST(project, is_exact_for_lower_degrees) {
    const polynomial p = some_polynomial(2, 7);
    for (const int degree : {2, 3, max_degree}) {
        const polynomial q = project(p, 0.1, degree);
        EXPECT_EQ(q.degree, 2);
        EXPECT_EQ(q.c, p.c);
    }
    polynomial padded = p;  // the same function, written with a higher degree
    padded.degree = 5;
    const polynomial q = project(padded, 0.1, 3);
    for (const double s : {0.0, 0.03, 0.1}) EXPECT_NEAR(q(s), p(s), 1e-12);
}

TEST(project, degree_zero_is_the_mean) {
    polynomial p;
    p.degree = 2;
    p.c = {3, 4, 6};
    EXPECT_NEAR(project(p, 2, 0).c[0], 3 + 4 + 8, 1e-13);
}

}  // namespace
}  // namespace mdpcosim
