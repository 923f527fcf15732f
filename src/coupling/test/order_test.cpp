#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "coupling/test/spring_pair.hpp"

/// Friedrich 2011, Table 2.3: local order P of the states for extrapolation degree N and R fulfilled conditions.
/// Measured on the system of Fig. 2.6: two one-mass oscillators with nonlinear springs and dampers, A excited by a
/// harmonic force, coupled by a linear spring,
///     m x'' + d x' + d3 x'^3 + c x + c3 x^3 = f(t) -+ u ,   u = c_c (x_A - x_B) .
/// The history is exact: the coupled system is integrated backwards and forwards from a state at t = 0. The error after
/// one macro step then behaves like H^(P+1). Slopes are the mean gradients (least squares) over H = 2^-9 .. 2^-6; the
/// integrator is the classical Runge-Kutta method with 200 micro steps per macro step in extended precision, whose
/// error of about 1e-9 H^5 does not count.
namespace mdpcosim {
namespace {

using real = long double;
using state = std::array<real, 4>;  // x_A, v_A, x_B, v_B

constexpr real m_A = 1.0L, c_A = 3.0L, c3_A = 2.0L, d_A = 0.4L, d3_A = 0.3L;
constexpr real m_B = 0.7L, c_B = 2.0L, c3_B = 1.5L, d_B = 0.3L, d3_B = 0.2L;
constexpr double c_coupling = 4;
constexpr state start{1.0L, 0.875L, -0.25L, -1.0L};  // all springs stretched, no leading error term near zero

struct loads {
    real A, B;
};

template <class Loads>
state derivative(real t, const state& z, const Loads& load) {
    const loads u = load(t, z);
    const real excitation = std::sin(2 * t + 0.5L);
    return {z[1],
            (excitation + u.A - d_A * z[1] - d3_A * z[1] * z[1] * z[1] - c_A * z[0] - c3_A * z[0] * z[0] * z[0]) / m_A,
            z[3], (u.B - d_B * z[3] - d3_B * z[3] * z[3] * z[3] - c_B * z[2] - c3_B * z[2] * z[2] * z[2]) / m_B};
}

template <class Loads>
state integrate(state z, real span, const Loads& load) {
    constexpr int micro_steps = 200;
    const real h = span / micro_steps;
    const auto along = [](const state& from, real factor, const state& k) {
        state to = from;
        for (int i = 0; i < 4; ++i) to[i] += factor * k[i];
        return to;
    };
    for (int n = 0; n < micro_steps; ++n) {
        const real t = n * h;
        const state k_1 = derivative(t, z, load);
        const state k_2 = derivative(t + h / 2, along(z, h / 2, k_1), load);
        const state k_3 = derivative(t + h / 2, along(z, h / 2, k_2), load);
        const state k_4 = derivative(t + h, along(z, h, k_3), load);
        for (int i = 0; i < 4; ++i) z[i] += h / 6 * (k_1[i] + 2 * k_2[i] + 2 * k_3[i] + k_4[i]);
    }
    return z;
}

state reference(real span) {
    return integrate(start, span, [](real, const state& z) {
        const real u = c_coupling * (z[0] - z[2]);
        return loads{-u, u};
    });
}

std::array<double, 4> as_double(const state& z) {
    return {static_cast<double>(z[0]), static_cast<double>(z[1]), static_cast<double>(z[2]), static_cast<double>(z[3])};
}

/// |error| of x_A, v_A, x_B, v_B after one macro step from exact history.
std::array<double, 4> one_step_error(const extrapolation_rule& rule, double H) {
    test::spring_pair pair(c_coupling, rule);
    pair.accept(-H, as_double(reference(-H)));
    pair.accept(0, as_double(start));
    const auto forces = pair.forces(0, H);
    const auto value = [](const polynomial& p, real s) {
        real sum = 0;
        for (int n = p.degree; n >= 0; --n) sum = sum * s + p.c[n];
        return sum;
    };
    const state z = integrate(start, H, [&](real t, const state&) {
        return loads{value(forces[0], t), value(forces[1], t)};
    });
    const state exact = reference(H);
    std::array<double, 4> error;
    for (int i = 0; i < 4; ++i) error[i] = static_cast<double>(std::abs(z[i] - exact[i]));
    return error;
}

std::array<double, 4> slopes(const extrapolation_rule& rule) {
    std::array<double, 4> xy{};
    double xx = 0;
    for (int exponent = -9; exponent <= -6; ++exponent) {
        const double x = exponent + 7.5;  // centred
        const auto error = one_step_error(rule, std::ldexp(1.0, exponent));
        for (int i = 0; i < 4; ++i) xy[i] += x * std::log2(error[i]);
        xx += x * x;
    }
    for (auto& value : xy) value /= xx;
    return xy;
}

/// K = 2 and exactly R conditions; the free coefficients as given.
extrapolation_rule own(int degree, int R, std::vector<double> a, std::vector<double> b) {
    solve_order_conditions(std::array{0.0, -1.0}, R, false, a, b);
    return make_extrapolation(degree, a, b, false);
}

struct entry {
    int N, R, P_q, P_v;
    extrapolation_rule rule;
};

TEST(order, table_2_3) {
    const std::vector<entry> table{
        {0, 1, 2, 1, own(0, 1, {0, 0.2}, {0.3, 0.1})},
        {0, 2, 2, 2, make_extrapolation("const-2-2-opt-2011")},
        {0, 3, 2, 2, make_extrapolation("const-2-3-opt-2011")},
        {0, 4, 2, 2, make_extrapolation("const-2-4")},
        {1, 2, 3, 2, make_extrapolation("lin-2-2-opt-2011")},
        {1, 3, 3, 3, make_extrapolation("lin-2-3-opt-2011")},
        {1, 4, 3, 3, make_extrapolation("lin-2-4")},
        {2, 3, 4, 3, own(2, 3, {0, 0}, {0, -0.2})},
        {2, 4, 4, 4, make_extrapolation("quad-2-4")},
    };
    for (const auto& [N, R, P_q, P_v, rule] : table) {
        EXPECT_EQ(rule.degree, N);
        EXPECT_EQ(rule.R, R);
        const auto slope = slopes(rule);
        std::printf("N=%d R=%d  q: P=%d measured %.3f %.3f   v: P=%d measured %.3f %.3f\n", N, R, P_q, slope[0] - 1,
                    slope[2] - 1, P_v, slope[1] - 1, slope[3] - 1);
        for (const int body : {0, 2}) {
            EXPECT_NEAR(slope[body], P_q + 1, 0.15) << "q of N=" << N << " R=" << R;
            EXPECT_NEAR(slope[body + 1], P_v + 1, 0.15) << "v of N=" << N << " R=" << R;
        }
    }
}

}  // namespace
}  // namespace mdpcosim
