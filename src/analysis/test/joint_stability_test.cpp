#include "analysis/joint_stability.hpp"

#include <gtest/gtest.h>

#include "analysis/recurrence.hpp"
#include "analysis/stability.hpp"

namespace mdpcosim {
namespace {

/// T. Meyer and others, 2018, Figs. 14 and 15.
TEST(joint_stability, equal_oscillators_are_stable_at_any_step) {
    for (const int degree : {2, 3})
        for (const double range : {10.0, 1000.0})
            EXPECT_EQ(map_joint({.degree = degree}, range, 9).unstable(stability_tolerance), 0) << degree << range;
}

TEST(joint_stability, unequal_masses_and_damping_change_nothing) {
    for (const int degree : {2, 3}) {
        for (const double range : {10.0, 1000.0})
            EXPECT_EQ(map_joint({.degree = degree, .mass_ratio = 1e3}, range, 9).unstable(stability_tolerance), 0);
        EXPECT_EQ(map_joint({.degree = degree, .damping_ratio = 1e3}, 10, 9).unstable(stability_tolerance), 0);
    }
}

TEST(joint_stability, unequal_frequencies_need_cubic_multipliers) {
    for (const double range : {10.0, 1000.0}) {
        EXPECT_GT(map_joint({.degree = 2, .frequency_ratio = 1e3}, range, 21).unstable(stability_tolerance), 10);
        EXPECT_EQ(map_joint({.degree = 3, .frequency_ratio = 1e3}, range, 21).unstable(stability_tolerance), 0);
    }
    const joint_test_parameters all{.degree = 3, .mass_ratio = 1e3, .damping_ratio = 1e3, .frequency_ratio = 1e3};
    for (const double range : {10.0, 1000.0}) EXPECT_EQ(map_joint(all, range, 21).unstable(stability_tolerance), 0);
}

/// The recurrence of the shipped method is that of the running system.
TEST(joint_stability, recurrence_and_run_agree) {
    for (const int degree : {2, 3}) {
        linear_system system = make_joint_system({.degree = degree,
                                                  .real = -0.02,
                                                  .imaginary = 0.4,
                                                  .mass_ratio = 2,
                                                  .damping_ratio = 0.5,
                                                  .frequency_ratio = 3});
        recurrence steps(system);
        const Eigen::MatrixXd P = steps.matrix(1);
        Eigen::VectorXd r = Eigen::VectorXd::Zero(steps.size()), run(steps.size());
        r.head(4) << 1, 0.1, 1, 0.1;
        steps.set(0, 1, {r.data(), static_cast<std::size_t>(r.size())});
        for (int n = 0; n < 200; ++n) {
            r = P * r;
            const double t = n;
            system.chosen->step(system.system, {t, t + 1, n});
            steps.get(t + 1, {run.data(), static_cast<std::size_t>(run.size())});
            ASSERT_LT((r - run).norm(), 1e-9) << "step " << n << ", degree " << degree;
        }
    }
}

}  // namespace
}  // namespace mdpcosim
