#include <gtest/gtest.h>

#include "master/test/small_systems.hpp"

/// The semi-implicit method on two coupled oscillators with an exact solution.
///
/// With polynomials of degree n both methods have the local orders n + 3 of positions and n + 2 of velocities and the global order
/// n + 1; what extrapolation leaves of the force is 5 (n = 1) and 9 (n = 2) times what interpolation leaves in the velocity.
namespace mdpcosim {
namespace {

using test::two_mass;

std::unique_ptr<method> method_named(const char* name) { return method_registry::instance().find(name)->make(); }

struct errors {
    double position, velocity;
};

errors error_of(const coupled_system& system, double t) {
    const auto x = two_mass::exact(t);
    const auto y = system.subsystems->outputs();
    return {std::max(std::abs(y[0] - x[0]), std::abs(y[3] - x[2])),
            std::max(std::abs(y[1] - x[1]), std::abs(y[4] - x[3]))};
}

/// From exact values at t0 and before over `steps` steps.
errors run_from_exact_history(const char* name, int degree, double H, std::int64_t steps) {
    constexpr double t0 = 0.3;
    coupled_system system = two_mass::make(make_extrapolation("poly-" + std::to_string(degree + 1)), H / 4);
    const auto chosen = method_named(name);
    system.initialise(t0);
    chosen->prepare(system);
    for (int k = degree + 1; k >= 1; --k) {
        const auto x = two_mass::exact(t0 - k * H);
        const std::array<double, 6> y{x[0], x[1], 0, x[2], x[3], 0};
        std::array<double, 1> u, du;
        system.coupling.evaluate(t0 - k * H, y, u, du);
        system.coupling.accept(t0 - k * H, y, u, du);
    }
    errors largest{0, 0};
    for (std::int64_t n = 0; n < steps; ++n) {
        const auto N = static_cast<double>(n);
        chosen->step(system, {t0 + N * H, t0 + (N + 1) * H, n});
        const errors now = error_of(system, t0 + (N + 1) * H);
        largest = {std::max(largest.position, now.position), std::max(largest.velocity, now.velocity)};
    }
    return largest;
}

TEST(semi_implicit_method, has_the_published_orders) {
    for (const char* name : {"explicit", "semi-implicit"})
        for (const int n : {0, 1, 2}) {
            SCOPED_TRACE(testing::Message() << name << ", degree " << n);
            const errors coarse = run_from_exact_history(name, n, 0.02, 1),
                         fine = run_from_exact_history(name, n, 0.01, 1);
            EXPECT_NEAR(std::log2(coarse.position / fine.position), n + 3, 0.15);
            EXPECT_NEAR(std::log2(coarse.velocity / fine.velocity), n + 2, 0.15);
            const errors few = run_from_exact_history(name, n, 0.01, 200),
                         many = run_from_exact_history(name, n, 0.005, 400);
            EXPECT_NEAR(std::log2(few.position / many.position), n + 1, 0.15);
            EXPECT_NEAR(std::log2(few.velocity / many.velocity), n + 1, 0.15);
        }
}

TEST(semi_implicit_method, errs_less_than_the_explicit_method_by_the_published_ratios) {
    for (const auto& [degree, ratio] : {std::pair{1, 5.0}, {2, 9.0}}) {
        const errors outer = run_from_exact_history("explicit", degree, 0.002, 1000),
                     inner = run_from_exact_history("semi-implicit", degree, 0.002, 1000);
        EXPECT_NEAR(outer.velocity / inner.velocity, ratio, 0.05 * ratio) << degree;
        EXPECT_NEAR(outer.position / inner.position, ratio, 0.05 * ratio) << degree;
    }
}

TEST(semi_implicit_method, measures_answers_once_and_keeps_them) {
    for (const bool tells : {false, true}) {
        coupled_system system = two_mass::make(make_extrapolation("poly-2"), 0.01, 1, 0, tells);
        const auto chosen = method_named("semi-implicit");
        system.initialise(0);
        test::run_steps(system, *chosen, time_grid(0, 2, 0.02));
        // Two per step, and one trial at the first step, whose answers serve the second one, too; none where accelerations tell as much.
        EXPECT_EQ(system.integrations, 2 * 100 + (tells ? 0 : 1));
        EXPECT_LT(two_mass::error(system, 2), 2e-3);
    }
}

TEST(semi_implicit_method, takes_first_answers_from_accelerations_with_the_same_errors) {
    for (const int degree : {0, 1, 2})
        for (const double H : {0.01, 0.1}) {
            std::vector<double> errors;
            for (const bool tells : {false, true}) {
                coupled_system system =
                    two_mass::make(make_extrapolation("poly-" + std::to_string(degree + 1)), H / 20, 1, 0, tells);
                const auto chosen = method_named("semi-implicit");
                system.initialise(0);
                chosen->prepare(system);
                for (int n = 0; n < 3; ++n) chosen->step(system, {n * H, (n + 1) * H, n});
                errors.push_back(two_mass::error(system, 3 * H));
                EXPECT_EQ(system.integrations, tells ? 6 : 7);
            }
            EXPECT_NEAR(errors[1] / errors[0], 1, 0.1) << degree << ' ' << H;
        }
}

TEST(semi_implicit_method, measures_where_accelerations_tell_too_little) {
    std::vector<std::vector<double>> ends;
    for (const bool tells : {false, true}) {
        coupled_system system = two_mass::make(make_extrapolation("poly-2"), 0.01, 1, 0, tells);
        const auto chosen = method_named("semi-implicit");
        system.initialise(0);
        chosen->prepare(system);
        constexpr double H = 5;  // the bodies swing once within a step
        for (int n = 0; n < 3; ++n) chosen->step(system, {n * H, (n + 1) * H, n});
        ends.emplace_back(system.subsystems->outputs().begin(), system.subsystems->outputs().end());
        EXPECT_EQ(system.integrations, tells ? 9 : 7) << "the first step once more, measured";
    }
    for (std::size_t i = 0; i < ends[0].size(); ++i) EXPECT_NEAR(ends[1][i], ends[0][i], 1e-9 * std::abs(ends[0][i]));
}

TEST(semi_implicit_method, trial_steps_on_replicas_give_the_same_bits) {
    std::vector<std::vector<double>> ends;
    for (const auto& [replicas, workers] : {std::pair{0, 1}, {1, 1}, {1, 2}, {2, 3}, {3, 2}}) {
        coupled_system system = two_mass::make(make_extrapolation("poly-3"), 0.01, workers, replicas, false);
        const auto chosen = method_named("semi-implicit");
        system.initialise(0);
        chosen->prepare(system);
        std::vector<double> errors(6);
        for (int n = 0; n < 50; ++n)  // steps of different lengths have answers measured again and again
            chosen->step(system, {0.03 * n * (1 + 0.01 * n), 0.03 * (n + 1) * (1 + 0.01 * (n + 1)), n});
        ends.emplace_back(system.subsystems->outputs().begin(), system.subsystems->outputs().end());
        EXPECT_EQ(ends.back(), ends.front()) << replicas << " replicas, " << workers << " workers";
    }
}

}  // namespace
}  // namespace mdpcosim
