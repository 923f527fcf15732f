#include "analysis/longtime.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "analysis/recurrence.hpp"
#include "core/json.hpp"

namespace mdpcosim {
namespace {

longtime_settings settings(const std::string& rule, double F) {
    longtime_settings s;
    s.system.rule = make_extrapolation(rule);
    s.system.F = F;
    s.system.start = {1, 0, 0.98, 0};
    s.displacement_rule = make_extrapolation(s.system.rule.degree == 0 ? "poly-1" : "poly-2");
    return s;
}

/// Friedrich 2011, (2.80): equal undamped subsystems move in phase as if nothing joined them, whatever the extrapolation.
TEST(longtime, force_force_coupling_of_equal_subsystems_keeps_the_eigenfrequency) {
    for (const char* rule : {"const-2-3-opt", "lin-2-3-opt", "const-2-2-opt", "lin-2-2-opt", "const-2-4", "lin-3-3-b0"})
        for (const double F : {1.0, 10.0, 100.0})
            for (const double V : {0.5, 1.0, 3.0}) {
                longtime_settings s = settings(rule, F);
                s.system.V = V;
                const longtime_result r = analyse_longtime(s);
                ASSERT_EQ(r.cases.size(), 3u);
                EXPECT_NEAR(r.rigid_frequency, 1, 1e-15);
                EXPECT_NEAR(r.cases[0].modified.imag(), 1, 1e-12) << rule << " F=" << F << " V=" << V;
                EXPECT_NEAR(r.cases[0].modified.real(), 0, 1e-12) << rule << " F=" << F << " V=" << V;
                for (const std::size_t other : {1, 2}) {
                    EXPECT_TRUE(r.cases[other].stable());
                    EXPECT_GT(std::abs(r.cases[other].frequency_error()), 1e-4) << rule << " F=" << F << " V=" << V;
                    EXPECT_GT(r.cases[other].damping_error(), 1e-6) << rule << " F=" << F << " V=" << V;
                }
            }
}

/// The statements of section 2.3.3 about equal subsystems, V = 1.
TEST(longtime, displacement_couplings_damp_and_linear_extrapolation_damps_less) {
    for (const double F : {1.0, 10.0}) {
        const longtime_result constant = analyse_longtime(settings("const-2-3-opt", F));
        longtime_settings s = settings("lin-2-3-opt", F);
        s.step = constant.H;
        const longtime_result linear = analyse_longtime(s);
        for (const auto* r : {&constant, &linear}) {
            // The coupling's damper acts on both bodies, or on one of them.
            EXPECT_NEAR(r->cases[2].damping_error() / r->cases[1].damping_error(), 2, 0.15);
            EXPECT_GT(r->cases[1].coupling_damping, 0);
        }
        EXPECT_LT(linear.cases[1].damping_error(), 0.02 * constant.cases[1].damping_error());
        EXPECT_LT(linear.cases[2].damping_error(), 0.02 * constant.cases[2].damping_error());
    }
}

/// Fig. 2.16: with different eigenfrequencies all variants have errors, force-force the smallest by orders of magnitude.
TEST(longtime, different_eigenfrequencies) {
    longtime_settings s = settings("lin-2-3-opt", 100);
    const longtime_result r = analyse_longtime(s);
    const auto sweeps = sweep_stiffness_ratio(r, {0.5, 2});
    ASSERT_EQ(sweeps.size(), 6u);
    for (std::size_t ratio = 0; ratio < 2; ++ratio)
        for (std::size_t i = 0; i < sweeps[0].V.size(); ++i) {
            const auto& ff = sweeps[ratio];
            const auto& fd = sweeps[2 + ratio];
            const auto& dd = sweeps[4 + ratio];
            ASSERT_EQ(fd.variant, coupling_variant::force_displacement);
            // The light body at the end of a stiff spring: no damping of the coupling makes this one stable.
            if (ff.V[i] < 0.11 && ff.frequency_ratio == 2) {
                EXPECT_TRUE(std::isnan(fd.frequency_error[i]));
                continue;
            }
            EXPECT_GT(std::abs(ff.frequency_error[i]), 1e-12);
            EXPECT_LT(std::abs(ff.frequency_error[i]), 1e-4 * std::abs(fd.frequency_error[i]));
            EXPECT_LT(std::abs(ff.damping_error[i]), 1e-2 * std::abs(fd.damping_error[i]));
            EXPECT_LT(std::abs(fd.frequency_error[i]), std::abs(dd.frequency_error[i]));
        }
}

/// The lowest stable coupling damping: a thousandth less is unstable.
TEST(longtime, lowest_stable_damping) {
    const longtime_result r = analyse_longtime(settings("const-2-3-opt", 10));
    for (const std::size_t i : {1, 2}) {
        const longtime_case& c = r.cases[i];
        EXPECT_LE(c.rho, 1 + 1.1e-9);
        EXPECT_GT(analyse_variant(parameters_of(r, c), r.H, 0.999 * c.coupling_damping).rho, 1 + 1e-6);
    }
}

/// (2.73) to (2.75): the modified equation's solution is the discrete one at every macro point.
TEST(longtime, the_modified_equation_has_the_values_of_the_running_program) {
    for (const char* rule : {"const-2-3-opt", "lin-2-3-opt", "lin-3-3-b0"})
        for (int variant = 0; variant < 3; ++variant) {
            test_system_parameters p = settings(rule, 10).system;
            p.variant = static_cast<coupling_variant>(variant);
            p.V = 1.3;
            p.frequency_ratio = 0.8;
            p.damping = 0.01;
            const double H = 0.03;
            linear_system analysed = make_test_system(p), running = make_test_system(p);
            recurrence matrix(analysed), live(running);
            const modified_equation modified(matrix.matrix(H), H);
            std::int64_t n = 0;
            const auto step = [&] {
                running.chosen->step(running.system, {static_cast<double>(n) * H, static_cast<double>(n + 1) * H, n});
                ++n;
            };
            while (n < max_history) step();
            const double t_0 = static_cast<double>(n) * H;
            Eigen::VectorXd r(live.size()), now(live.size());
            live.get(t_0, {r.data(), static_cast<std::size_t>(r.size())});
            for (int i = 0; i < 500; ++i) {
                step();
                const double t = static_cast<double>(n) * H;
                live.get(t, {now.data(), static_cast<std::size_t>(now.size())});
                const Eigen::VectorXd p_t = modified.solution(t - t_0, r);
                EXPECT_LT((p_t - now).head(4).cwiseAbs().maxCoeff(), 1e-8)
                    << rule << " variant " << variant << " " << i;
            }
        }
}

TEST(longtime, turning_points) {
    // Without coupling errors the section is a constant; the force-force run keeps it over 1000 periods.
    test_system_parameters p = settings("lin-2-3-opt", 10).system;
    p.start = {1, 0, 1, 0};
    const longtime_run run = run_longtime(p, 0.1, 2000 * std::numbers::pi);
    ASSERT_GE(run.turning.size(), 999u);
    for (std::size_t i = 0; i < run.turning.size(); ++i) {
        EXPECT_NEAR(run.turning[i], 1, 1e-6);
        EXPECT_NEAR(run.period[i], std::round(run.period[i]), 1e-4);
    }
}

TEST(longtime, reports) {
    const std::vector<longtime_result> results{analyse_longtime(settings("lin-2-3-opt-2011", 100))};
    const auto entry = json::parse(to_json(results))["longtime"][0];
    EXPECT_EQ(entry["variants"][1]["variant"], "force-displacement");
    EXPECT_NEAR(entry["variants"][0]["modified"]["frequency"].get<double>(), 1, 1e-12);
    EXPECT_NEAR(entry["omega_H"].get<double>(), 0.1333 / 5, 1e-4);
    EXPECT_NE(to_table(results).find("displacement-displacement"), std::string::npos);
    EXPECT_EQ(longtime_plot(results).panels.size(), 9u);
}

}  // namespace
}  // namespace mdpcosim
