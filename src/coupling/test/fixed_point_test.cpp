#include "coupling/fixed_point.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace mdpcosim {
namespace {

using solver = fixed_point_options::solver;
using function = std::function<std::vector<double>(const std::vector<double>&)>;

struct solved {
    fixed_point::outcome state;
    std::vector<double> x;
    std::vector<double> residuals;  ///< one per iteration
};

solved solve(fixed_point& iteration, std::vector<double> x, const function& g) {
    iteration.begin();
    solved result{fixed_point::outcome::more, {}, {}};
    while (result.state == fixed_point::outcome::more) {
        const int before = iteration.iterations();
        result.state = iteration.next(x, g(x));
        if (iteration.iterations() > before) result.residuals.push_back(iteration.residual());
    }
    result.x = x;
    return result;
}

/// x = A x + b with the eigenvalues -0.3, -2, 5 and 0.8, coupled.
std::vector<double> linear(const std::vector<double>& x) {
    return {-0.3 * x[0] + 0.5 * x[1] + 1, -2 * x[1] + x[2] - 3, 5 * x[2] + 0.1 * x[3] + 2, 0.8 * x[3] + 4};
}

void expect_solution(const function& g, const std::vector<double>& x, double tolerance) {
    const auto value = g(x);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(value[i], x[i], tolerance * std::abs(x[i])) << i;
}

TEST(fixed_point, of_a_contraction_converges_with_its_factor) {
    fixed_point iteration(1, {.algorithm = solver::fixed_point, .tolerance = 1e-10});
    const auto result = solve(iteration, {0}, [](const auto& x) { return std::vector{0.25 * x[0] + 3}; });
    EXPECT_EQ(result.state, fixed_point::outcome::done);
    EXPECT_NEAR(result.x[0], 4, 1e-9);
    EXPECT_NEAR(result.residuals[5] / result.residuals[4], 0.25, 1e-3);
    fixed_point half(1, {.algorithm = solver::fixed_point, .relaxation = 0.5});
    const auto relaxed = solve(half, {0}, [](const auto& x) { return std::vector{-2 * x[0] + 3}; });
    EXPECT_EQ(relaxed.state, fixed_point::outcome::done);  // -2 becomes 1 - 0.5 * 3
    EXPECT_NEAR(relaxed.x[0], 1, 1e-7);
}

TEST(fixed_point, says_which_unknown_does_not_converge_and_after_how_many_iterations) {
    fixed_point iteration(2, {.algorithm = solver::fixed_point, .limit = 12});
    const auto result = solve(iteration, {0, 0}, [](const auto& x) {
        return std::vector{0.1 * x[0] + 1, -1.5 * x[1] + 1};
    });
    EXPECT_EQ(result.state, fixed_point::outcome::failed);
    EXPECT_EQ(iteration.iterations(), 12);
    EXPECT_EQ(iteration.worst(), 1u);
    EXPECT_GT(iteration.residual(), 1);
    EXPECT_STREQ(iteration.why_failed(), "the limit is reached");
}

/// n unknowns need n + 1 iterations, and one that finds the residual gone, although the plain iteration diverges.
TEST(fixed_point, secants_solve_linear_problems_in_as_many_iterations_as_there_are_unknowns) {
    for (const auto kind : {solver::anderson, solver::iqn_ils}) {
        fixed_point iteration(4, {.algorithm = kind, .tolerance = 1e-9});
        const auto result = solve(iteration, {0, 0, 0, 0}, linear);
        EXPECT_EQ(result.state, fixed_point::outcome::done);
        EXPECT_LE(iteration.iterations(), 6);
        expect_solution(linear, result.x, 1e-8);
    }
    fixed_point plain(4, {.algorithm = solver::fixed_point});
    EXPECT_EQ(solve(plain, {0, 0, 0, 0}, linear).state, fixed_point::outcome::failed);
}

TEST(fixed_point, newton_solves_linear_problems_in_one_step_and_keeps_its_slopes) {
    fixed_point iteration(4, {.algorithm = solver::newton, .tolerance = 1e-9});
    EXPECT_EQ(solve(iteration, {0, 0, 0, 0}, linear).state, fixed_point::outcome::done);
    EXPECT_LE(iteration.iterations(), 3);
    EXPECT_EQ(iteration.evaluations(), iteration.iterations() + 4);
    const auto again = solve(iteration, {1, 2, 3, 4}, linear);
    EXPECT_EQ(again.state, fixed_point::outcome::done);
    EXPECT_EQ(iteration.iterations(), iteration.evaluations());
    expect_solution(linear, again.x, 1e-8);
}

/// With Broyden's update Newton's method is the secant method for one unknown: order (1 + sqrt 5)/2.
TEST(fixed_point, newton_converges_with_the_order_of_the_secant_method) {
    fixed_point iteration(1, {.algorithm = solver::newton, .tolerance = 1e-14, .absolute = 0});
    const auto result =
        solve(iteration, {1.5}, [](const auto& x) { return std::vector{x[0] - (std::exp(x[0]) - 2 * x[0] - 1)}; });
    EXPECT_EQ(result.state, fixed_point::outcome::done);
    EXPECT_NEAR(result.x[0], 1.2564312086261697, 1e-13);
    const auto& r = result.residuals;
    ASSERT_GE(r.size(), 4u);
    const std::size_t k = r[r.size() - 1] < 1e-13 ? r.size() - 2 : r.size() - 1;
    EXPECT_GT(std::log(r[k] / r[k - 1]) / std::log(r[k - 1] / r[k - 2]), 1.5);
}

TEST(fixed_point, all_but_the_plain_one_solve_a_stiff_nonlinear_loop) {
    const function g = [](const auto& x) {
        return std::vector{-80 * x[1] - 10 * std::pow(x[1], 3) + 100, 0.5 * x[0] + 0.2};
    };
    for (const auto kind : {solver::newton, solver::anderson, solver::iqn_ils}) {
        fixed_point iteration(2, {.algorithm = kind});
        const auto result = solve(iteration, {0, 0}, g);
        EXPECT_EQ(result.state, fixed_point::outcome::done) << name_of(kind);
        expect_solution(g, result.x, 1e-6);
    }
    fixed_point plain(2, {.algorithm = solver::fixed_point});
    EXPECT_EQ(solve(plain, {0, 0}, g).state, fixed_point::outcome::failed);
}

TEST(fixed_point, iterates_of_earlier_problems_help) {
    int first = 0, last = 0, without = 0;
    fixed_point iteration(4, {.algorithm = solver::iqn_ils}), afresh(4, {.algorithm = solver::anderson});
    for (int step = 0; step < 10; ++step) {
        const function g = [step](const auto& x) {
            auto value = linear(x);
            for (std::size_t i = 0; i < 4; ++i) value[i] += 0.1 * step + 0.01 * std::sin(x[i] + step);
            return value;
        };
        EXPECT_EQ(solve(iteration, {0, 0, 0, 0}, g).state, fixed_point::outcome::done);
        EXPECT_EQ(solve(afresh, {0, 0, 0, 0}, g).state, fixed_point::outcome::done);
        (step == 0 ? first : last) = iteration.iterations();
        without = afresh.iterations();
    }
    EXPECT_LT(last, first);
    EXPECT_LT(last, without);
}

TEST(fixed_point, a_step_too_far_is_taken_back) {
    // From 0.1 the whole step leads to where the logarithm has no value.
    const function g = [](const auto& x) { return std::vector{x[0] - std::log(x[0] / 5)}; };
    fixed_point iteration(1, {.algorithm = solver::newton});
    const auto result = solve(iteration, {20}, g);
    EXPECT_EQ(result.state, fixed_point::outcome::done);
    EXPECT_NEAR(result.x[0], 5, 1e-6);
    fixed_point lost(1, {.algorithm = solver::fixed_point});
    EXPECT_EQ(solve(lost, {-1}, g).state, fixed_point::outcome::failed);
    EXPECT_STREQ(lost.why_failed(), "values are not finite");
}

TEST(fixed_point, without_a_solution_fails) {
    fixed_point iteration(1, {.algorithm = solver::newton});
    EXPECT_EQ(solve(iteration, {1}, [](const auto& x) { return std::vector{x[0] + 1}; }).state,
              fixed_point::outcome::failed);
    EXPECT_STREQ(iteration.why_failed(), "the equations are singular: 1 - dg/dx has no inverse");
}

}  // namespace
}  // namespace mdpcosim
