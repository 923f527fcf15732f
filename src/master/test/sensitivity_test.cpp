// How rates answer to inputs, and the polynomials that lead a free body somewhere: against what a mass does.
#include <gtest/gtest.h>

#include <cmath>

#include "master/joint_equations.hpp"
#include "master/rate_sensitivity.hpp"
#include "small_systems.hpp"

namespace mdpcosim {
namespace {

using test::two_mass;

rate_sensitivity::question about_first_mass() {
    return {.subsystem = subsystem_index(0), .inputs = {0}, .outputs = {1}, .own = {true}};
}

TEST(rate_sensitivity, accelerations_give_the_inverse_mass) {
    coupled_system system = two_mass::make(make_extrapolation("poly-2"), 1e-3);
    system.initialise(0);
    rate_sensitivity answers(*system.subsystems, about_first_mass());
    ASSERT_EQ(answers.present(), rate_sensitivity::way::accelerations);
    double B = 0;
    ASSERT_TRUE(answers.evaluate(system, about_first_mass(), {&B, 1}));
    EXPECT_NEAR(B, 1 / two_mass::m, 1e-12);
    // At t = 0: x_A = 1, x_B = 0, u = c_c (x_A - x_B) acts on A with -u.
    EXPECT_NEAR(answers.rates()[0], (-two_mass::c - two_mass::c_c) / two_mass::m, 1e-9);
}

TEST(rate_sensitivity, without_accelerations_and_derivatives_there_is_no_way) {
    coupled_system system = two_mass::make(make_extrapolation("poly-2"), 1e-3, 1, 0, false);
    system.initialise(0);
    rate_sensitivity answers(*system.subsystems, about_first_mass());
    EXPECT_EQ(answers.present(), rate_sensitivity::way::none);
    double B = 0;
    EXPECT_FALSE(answers.evaluate(system, about_first_mass(), {&B, 1}));
}

/// Position, velocity and acceleration of a free body of 1 kg at the end of a step under the load p, from rest.
std::array<double, 3> moved_by(const polynomial& p, double H) {
    std::array<double, 3> reached{};
    for (int k = 0; k <= p.degree; ++k) {
        const double c = p.c[static_cast<std::size_t>(k)];
        reached[0] += c * std::pow(H, k + 2) / ((k + 1) * (k + 2));
        reached[1] += c * std::pow(H, k + 1) / (k + 1);
        reached[2] += c * std::pow(H, k);
    }
    return reached;
}

TEST(multiplier_basis, each_moves_one_of_position_velocity_and_acceleration) {
    for (const int degree : {2, 3})
        for (const double H : {0.01, 1.0, 3.0})
            for (int which = 0; which < 3; ++which) {
                const polynomial p = multiplier_basis(degree, which, H);
                const auto reached = moved_by(p, H);
                const std::array<double, 3> scale{H * H, H, 1};
                for (int level = 0; level < 3; ++level) {
                    const double share =
                        std::abs(reached[static_cast<std::size_t>(level)] / scale[static_cast<std::size_t>(level)]);
                    EXPECT_TRUE(level == which ? share > 1e-3 : share < 1e-9) << degree << " " << which << " " << share;
                }
                EXPECT_TRUE(degree == 2 || std::abs(p.c[0]) < 1e-12) << "it is zero at the begin";
            }
}

TEST(multiplier_basis, the_effective_polynomial_leads_to_the_same_place) {
    polynomial given;
    given.degree = 5;
    given.c = {3, -2, 7, 1, -4, 2};
    const double H = 0.7;
    for (const int degree : {2, 3}) {
        const polynomial p = as_effective(given, degree, 3, H);
        EXPECT_EQ(p.degree, degree);
        EXPECT_TRUE(degree == 2 || std::abs(p.c[0] - 3) < 1e-12);
        const auto expected = moved_by(given, H), reached = moved_by(p, H);
        for (std::size_t level = 0; level < 3; ++level) EXPECT_NEAR(reached[level], expected[level], 1e-10);
    }
}

}  // namespace
}  // namespace mdpcosim
