// The test FMUs with events by their bare C functions, against exact times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fmus/both_versions.hpp"

namespace mdpcosim::test {
namespace {

template <class Fmu>
class test_fmu_events : public testing::Test {};
TYPED_TEST_SUITE(test_fmu_events, versions, version_names);

namespace ball {
enum { g = 1, e, v_min, h0, v0, h, v, a, distance, resting, impacts };

/// Times of the impacts of a ball dropped from 1 m, restitution 0.7, until its speed is below 0.1 m/s.
std::vector<double> impact_times() {
    std::vector<double> times{std::sqrt(2 / 9.81)};
    for (double speed = 0.7 * 9.81 * times[0]; speed >= 0.1; speed *= 0.7)
        times.push_back(times.back() + 2 * speed / 9.81);
    return times;
}
}  // namespace ball

TYPED_TEST(test_fmu_events, bouncing_ball_counts_its_impacts) {
    TypeParam fmu("bouncing-ball");
    fmu.initialise();
    const std::vector<double> times = ball::impact_times();
    const double h = 0.01;
    for (int n = 0; n < 300; ++n) {
        fmu.step(n * h, h);
        const auto expected = std::count_if(times.begin(), times.end(), [&](double t) { return t <= (n + 1) * h; });
        ASSERT_EQ(fmu.get_int32(ball::impacts), expected) << "after " << (n + 1) * h;
    }
    EXPECT_EQ(fmu.get(ball::h), 0);
    EXPECT_EQ(fmu.get(ball::v), 0);
}

TYPED_TEST(test_fmu_events, bouncing_ball_exchanged_has_the_exact_impact_times) {
    TypeParam fmu("bouncing-ball", fmu_kind::model_exchange);
    fmu.initialise();
    enter_continuous_time(fmu);
    std::vector<double> found, x{1, 0};
    const auto distance_after = [&](double t, double h, std::vector<double>& z) {
        z = x;
        runge_kutta_step(fmu, t, h, z);
        std::vector<double> unused(2);
        fmu.derivatives(t + h, z, unused);
        double indicator;
        expect_ok("GetEventIndicators", fmu.call.GetEventIndicators(fmu.instance, &indicator, 1));
        return indicator;
    };
    std::vector<double> z;
    for (double t = 0; t < 3;) {
        double h = 0.01;
        if (distance_after(t, h, z) <= 0) {
            double low = 0, high = h;
            while (high - low > 1e-15) {
                const double middle = (low + high) / 2;
                (distance_after(t, middle, z) <= 0 ? high : low) = middle;
            }
            h = high;
            distance_after(t, h, z);
            expect_ok("EnterEventMode", fmu.call.EnterEventMode(fmu.instance));
            EXPECT_TRUE(fmu.update().values_changed);
            expect_ok("EnterContinuousTimeMode", fmu.call.EnterContinuousTimeMode(fmu.instance));
            expect_ok("GetContinuousStates", fmu.call.GetContinuousStates(fmu.instance, z.data(), 2));
            found.push_back(t + h);
        }
        x = z;
        t += h;
    }
    EXPECT_THAT(found, testing::Pointwise(testing::DoubleNear(1e-12), ball::impact_times()));
}

TEST(test_fmu_events_fmi3, bouncing_ball_returns_early_at_the_exact_impact_times) {
    fmu_options options;
    options.event_mode = options.early_return = true;
    bare_fmi3 fmu("bouncing-ball", fmu_kind::co_simulation, nullptr, options);
    fmu.initialise();
    while (fmu.update().again) {
    }
    expect_ok("EnterStepMode", fmu.call.EnterStepMode(fmu.instance));
    std::vector<double> found;
    for (double t = 0; t < 3;) {
        const auto result = fmu.step(t, 0.25);
        t = result.reached;
        ASSERT_EQ(result.early, result.event);
        if (!result.event) continue;
        found.push_back(t);
        expect_ok("EnterEventMode", fmu.call.EnterEventMode(fmu.instance));
        fmu.update();
        expect_ok("EnterStepMode", fmu.call.EnterStepMode(fmu.instance));
    }
    EXPECT_THAT(found, testing::Pointwise(testing::DoubleNear(1e-13), ball::impact_times()));
}

TYPED_TEST(test_fmu_events, stairs_step_at_multiples_of_the_period) {
    TypeParam fmu("stairs"), exchanged("stairs", fmu_kind::model_exchange);
    fmu.initialise();
    for (int n = 1; n <= 40; ++n) {
        fmu.step((n - 1) * 0.05, 0.05);
        ASSERT_EQ(fmu.get_int32(3), n / 2);
        ASSERT_EQ(fmu.get(4), n / 2 * 0.5);
    }
    exchanged.initialise();
    for (int n = 0; n < 10; ++n) {
        int passes = 0;
        fmu_event_info info;
        do {
            info = exchanged.update();
            ++passes;
        } while (info.again);
        ASSERT_EQ(passes, n == 0 ? 1 : 2);
        ASSERT_TRUE(info.next_time_defined);
        ASSERT_EQ(info.next_time, (n + 1) * 0.1);
        ASSERT_EQ(exchanged.get_int32(3), n);
        expect_ok("EnterContinuousTimeMode", exchanged.call.EnterContinuousTimeMode(exchanged.instance));
        expect_ok("SetTime", exchanged.call.SetTime(exchanged.instance, info.next_time));
        expect_ok("EnterEventMode", exchanged.call.EnterEventMode(exchanged.instance));
    }
}

TYPED_TEST(test_fmu_events, sawtooth_asks_for_step_events) {
    TypeParam fmu("sawtooth", fmu_kind::model_exchange), stepped("sawtooth");
    fmu.initialise();
    enter_continuous_time(fmu);
    std::vector<double> x{0}, dx(1);
    int events = 0;
    for (int n = 0; n < 25; ++n) {
        runge_kutta_step(fmu, n * 0.1, 0.1, x);
        fmu.derivatives((n + 1) * 0.1, x, dx);
        if (!fmu.completed_step()) continue;
        ++events;
        expect_ok("EnterEventMode", fmu.call.EnterEventMode(fmu.instance));
        enter_continuous_time(fmu);
        x[0] = fmu.get(2);
    }
    EXPECT_EQ(events, 2);
    EXPECT_EQ(fmu.get_int32(4), 2);
    EXPECT_NEAR(x[0], 0.5, 1e-12);
    stepped.initialise();
    for (int n = 0; n < 25; ++n) stepped.step(n * 0.1, 0.1);
    EXPECT_EQ(stepped.get_int32(4), 2);
    EXPECT_NEAR(stepped.get(2), 0.5, 1e-10);
}

}  // namespace
}  // namespace mdpcosim::test
