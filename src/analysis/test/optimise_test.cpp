#include "analysis/optimise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "analysis/published.hpp"

namespace mdpcosim {
namespace {

double omega_max(const extrapolation_rule& rule, double F, double resolution) {
    test_system_parameters p;
    p.rule = rule;
    p.F = F;
    const auto found = stability_scan(p).limit(stability_tolerance, resolution);
    return found.outcome == stability_limit::kind::limit ? found.omega_max : 0;
}

/// The optimum for one F alone, F = 10^1/2, 10^5/4, 10^2; optimise_long_test.cpp finds them again.
const std::map<std::string, std::array<double, 3>> best{
    {"const-2-2", {0.76614, 0.33304, 0.14125}},
    {"lin-2-2", {0.76017, 0.33254, 0.14121}},
    {"lin-2-3", {0.72006, 0.31421, 0.13336}},
};

/// Smallest omega_max relative to the optimum over the three stiff F, on a dense grid.
double smallest_share(const std::string& rule, const std::string& ending) {
    double smallest = 1;
    for (std::size_t i = 0; i < 3; ++i) {
        const double F = published_F()[i + 2];
        smallest = std::min(smallest, omega_max(make_extrapolation(rule + ending, F), F, 0.002) / best.at(rule)[i]);
    }
    return smallest;
}

TEST(optimise, shipped_sets_are_good_compromises) {
    EXPECT_GE(smallest_share("const-2-2", "-opt"), 0.97);
    EXPECT_GE(smallest_share("lin-2-3", "-opt"), 0.98);
    EXPECT_GE(smallest_share("lin-2-2", "-opt"), 0.95);
    EXPECT_NEAR(smallest_share("const-2-2", "-opt-2011"), 0.94, 0.006);
    EXPECT_NEAR(smallest_share("lin-2-3", "-opt-2011"), 0.96, 0.006);
    EXPECT_NEAR(smallest_share("lin-2-2", "-opt-2011"), 0.63, 0.006);
}

TEST(optimise, sets_over_F_are_nearly_the_optimum) {
    for (const auto& [rule, values] : best) EXPECT_GE(smallest_share(rule, "-opt-F"), 0.99) << rule;
}

/// Between its nodes, too; and every shipped set has a limit, soft couplings included.
TEST(optimise, shipped_sets_have_a_limit_everywhere) {
    for (const auto& [rule, values] : best)
        for (double exponent = -1; exponent < 3.01; exponent += 0.1) {
            const double F = std::pow(10, exponent);
            const double shipped = omega_max(make_extrapolation(rule + "-opt"), F, 0.01);
            const double over_F = omega_max(make_extrapolation(rule + "-opt-F", F), F, 0.01);
            EXPECT_GT(shipped, 0) << rule << " F = " << F;
            EXPECT_GT(over_F, 0.995 * shipped) << rule << " F = " << F;
        }
}

TEST(optimise, finds_the_published_optimum_of_one_coefficient) {
    optimisation_task task;  // lin-2-3, F = 100
    task.effort = 0.2;
    double last = 0;
    task.progress = [&](double part, double) {
        EXPECT_GE(part, last);
        last = part;
    };
    const optimum found = optimise(task);
    EXPECT_EQ(last, 1);
    EXPECT_GE(found.omega_max[0], 0.13335);
    EXPECT_NEAR(found.free[0], -0.2034, 1e-3);
    EXPECT_EQ(found.rule.R, 3);
    EXPECT_DOUBLE_EQ(found.relative, found.omega_max[0] / found.best[0]);
}

TEST(optimise, refuses_what_leaves_nothing_free) {
    const auto refused = [](int degree, int K, int R, std::vector<double> F) {
        optimisation_task task;
        task.degree = degree;
        task.K = K;
        task.R = R;
        task.F = std::move(F);
        EXPECT_THROW(optimise(task), std::invalid_argument);
    };
    refused(1, 2, 4, {100});
    refused(1, 2, 0, {100});
    refused(1, 4, 3, {100});
    refused(2, 2, 3, {100});
    refused(1, 2, 3, {});
    refused(1, 2, 3, {-1});
}

}  // namespace
}  // namespace mdpcosim
