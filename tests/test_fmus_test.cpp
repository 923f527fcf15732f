// The test FMUs by their bare C functions, without any importer, against exact solutions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "fmus/both_versions.hpp"
#include "scenario/resolve.hpp"
#include "subsystem/model.hpp"

namespace mdpcosim::test {
namespace {

template <class Fmu>
class test_fmu : public testing::Test {};
TYPED_TEST_SUITE(test_fmu, versions, version_names);

namespace oscillator {
enum { force = 1, mass, stiffness, damping, x0, v0, position, velocity, acceleration };
}

template <class Fmu>
void set_oscillator(Fmu& fmu, double m, double c, double d, double x0, double v0) {
    const double values[] = {m, c, d, x0, v0};
    for (unsigned i = 0; i < 5; ++i) fmu.set(oscillator::mass + i, values[i]);
}

/// m x'' = f - c x - d x', damped below the critical value.
std::pair<double, double> damped(double t, double m, double c, double d, double x0, double v0, double f) {
    const double delta = d / (2 * m), w = std::sqrt(c / m - delta * delta), q = x0 - f / c;
    const double a = q, b = (v0 + delta * q) / w, decay = std::exp(-delta * t);
    const double x = decay * (a * std::cos(w * t) + b * std::sin(w * t));
    const double v = decay * ((b * w - delta * a) * std::cos(w * t) - (a * w + delta * b) * std::sin(w * t));
    return {f / c + x, v};
}

/// The classical Runge-Kutta method turns the oscillation by w h (w h)^4 / 120 too little per step: so far it is off for the
/// amplitude 0.0663 m and w = 20 / s of the tests below after 1 s, damping aside.
constexpr double phase_error(double h) { return 0.0663 * 20 * (20 * h) * (20 * h) * (20 * h) * (20 * h) / 120; }

TYPED_TEST(test_fmu, oscillator_steps_to_the_exact_solution) {
    TypeParam fmu("oscillator");
    set_oscillator(fmu, 2, 800, 4, 0.1, -0.5);
    fmu.set(oscillator::force, 30);
    fmu.initialise();
    EXPECT_EQ(fmu.get(oscillator::acceleration), (30 - 800 * 0.1 + 4 * 0.5) / 2);
    for (int n = 0; n < 100; ++n) fmu.step(n * 0.01, 0.01);
    const auto [x, v] = damped(1, 2, 800, 4, 0.1, -0.5, 30);
    EXPECT_NEAR(fmu.get(oscillator::position), x, phase_error(1e-3));
    EXPECT_NEAR(fmu.get(oscillator::velocity), v, 20 * phase_error(1e-3));
    EXPECT_EQ(fmu.output_rate(oscillator::position), fmu.get(oscillator::velocity));
    EXPECT_EQ(fmu.output_rate(oscillator::velocity), fmu.get(oscillator::acceleration));
    EXPECT_DOUBLE_EQ(fmu.output_rate(oscillator::acceleration),
                     (-800 * fmu.get(oscillator::velocity) - 4 * fmu.get(oscillator::acceleration)) / 2);
}

TYPED_TEST(test_fmu, oscillator_exchanged_reaches_the_exact_solution) {
    TypeParam fmu("oscillator", fmu_kind::model_exchange);
    set_oscillator(fmu, 2, 800, 4, 0.1, -0.5);
    fmu.set(oscillator::force, 30);
    fmu.initialise();
    enter_continuous_time(fmu);
    std::vector<double> x(2);
    expect_ok("GetContinuousStates", fmu.call.GetContinuousStates(fmu.instance, x.data(), 2));
    EXPECT_THAT(x, testing::ElementsAre(0.1, -0.5));
    const auto error = [&](int steps) {
        std::vector<double> z = x;
        for (int n = 0; n < steps; ++n) runge_kutta_step(fmu, n * (1.0 / steps), 1.0 / steps, z);
        return z[0] - damped(1, 2, 800, 4, 0.1, -0.5, 30).first;
    };
    EXPECT_LT(std::abs(error(1000)), phase_error(1e-3));
    EXPECT_NEAR(error(250) / error(500), 16, 0.5);
}

std::unique_ptr<equations> native(const std::string& name,
                                  const std::vector<std::pair<std::string, std::string>>& set) {
    const model_info* info = model_registry::instance().find(name);
    std::vector<setting> settings;
    for (const auto& [parameter, value] : set) {
        setting s;
        s.name = parameter;
        s.values.push_back({value, {}});
        settings.push_back(s);
    }
    return info->make(resolve_parameters(info->parameters, settings, {}, "test"));
}

TYPED_TEST(test_fmu, derivatives_are_those_of_the_native_models_bitwise) {
    TypeParam mass("oscillator", fmu_kind::model_exchange), rotor("inertia", fmu_kind::model_exchange);
    set_oscillator(mass, 0.3, 712.1, 3.7, 0, 0);
    rotor.set(2, 0.07);
    rotor.set(3, 0.9);
    const auto native_mass = native("mass-spring-damper", {{"m", "0.3"}, {"c", "712.1"}, {"d", "3.7"}});
    const auto native_rotor = native("inertia", {{"J", "0.07"}, {"damping", "0.9"}});
    std::mt19937 random(1);
    std::normal_distribution<double> number;
    for (TypeParam* fmu : {&mass, &rotor}) {
        fmu->initialise();
        enter_continuous_time(*fmu);
        const equations& model = fmu == &mass ? *native_mass : *native_rotor;
        for (int i = 0; i < 1000; ++i) {
            const std::vector<double> x{number(random), number(random)};
            const double u[] = {number(random), 0, 0};
            std::vector<double> dx(2), expected(2), jacobian(4);
            fmu->set(1, u[0]);
            fmu->derivatives(0, x, dx);
            model.derivatives(0, x.data(), u, expected.data());
            ASSERT_EQ(dx, expected);
            model.jacobian(0, x.data(), u, jacobian.data());
            const unsigned q = fmu == &mass ? oscillator::position : 6;
            ASSERT_EQ(fmu->directional(q + 2, q), jacobian[1]);
            ASSERT_EQ(fmu->directional(q + 2, q + 1), jacobian[3]);
        }
    }
}

TYPED_TEST(test_fmu, saved_and_serialised_states_go_on_bitwise) {
    TypeParam fmu("oscillator"), other("oscillator");
    set_oscillator(fmu, 2, 800, 4, 0.1, -0.5);
    fmu.initialise();
    other.initialise();
    fmu.step(0, 0.013);
    void* state = fmu.save();
    fmu.step(0.013, 0.02);
    const double expected = fmu.get(oscillator::position);
    EXPECT_NE(expected, other.get(oscillator::position));
    fmu.restore(state);
    fmu.step(0.013, 0.02);
    EXPECT_EQ(fmu.get(oscillator::position), expected);
    void* copy = other.deserialised(fmu.serialised(state));
    other.restore(copy);
    other.step(0.013, 0.02);
    EXPECT_EQ(other.get(oscillator::position), expected);
    fmu.release(state);
    other.release(copy);
}

TYPED_TEST(test_fmu, reset_starts_anew) {
    TypeParam fmu("decay");
    fmu.set(2, 5);
    fmu.initialise();
    fmu.step(0, 1);
    expect_ok("Reset", fmu.call.Reset(fmu.instance));
    fmu.initialise(2);
    fmu.step(2, 1);
    EXPECT_DOUBLE_EQ(fmu.get(2), std::exp(-1.0));
}

TYPED_TEST(test_fmu, decay_is_exact) {
    TypeParam fmu("decay");
    fmu.set(1, 3);
    fmu.initialise();
    for (int n = 0; n < 20; ++n) fmu.step(n * 0.05, 0.05);
    EXPECT_NEAR(fmu.get(2), std::exp(-3.0), 1e-15);
    EXPECT_EQ(fmu.output_rate(2), -3 * fmu.get(2));
}

TYPED_TEST(test_fmu, directional_derivatives_of_van_der_pol_are_differences) {
    TypeParam fmu("van-der-pol", fmu_kind::model_exchange);
    fmu.set(1, 2.5);
    fmu.initialise();
    enter_continuous_time(fmu);
    const double step = 1e-6;
    const std::vector<double> x{1.3, -0.4};
    std::vector<double> below(2), above(2);
    for (unsigned i = 0; i < 2; ++i) {
        std::vector<double> z = x;
        z[i] = x[i] - step;
        fmu.derivatives(0, z, below);
        z[i] = x[i] + step;
        fmu.derivatives(0, z, above);
        expect_ok("SetContinuousStates", fmu.call.SetContinuousStates(fmu.instance, x.data(), 2));
        for (unsigned k = 0; k < 2; ++k)
            EXPECT_NEAR(fmu.directional(3 + k, 2 + i), (above[k] - below[k]) / (2 * step), 1e-8);
    }
}

TYPED_TEST(test_fmu, plain_oscillator_lacks_functions_and_computes_the_same) {
    TypeParam plain("plain-oscillator"), full("oscillator");
    EXPECT_EQ(plain.call.GetDirectionalDerivative, nullptr);
    EXPECT_EQ(plain.call.GetBoolean, nullptr);
    EXPECT_NE(plain.call.DoStep, nullptr);
    for (TypeParam* fmu : {&plain, &full}) {
        set_oscillator(*fmu, 2, 800, 4, 0.1, -0.5);
        fmu->initialise();
        for (int n = 0; n < 10; ++n) fmu->step(n * 0.01, 0.01);
    }
    EXPECT_EQ(plain.get(oscillator::position), full.get(oscillator::position));
}

TYPED_TEST(test_fmu, wide_hands_a_thousand_values_through) {
    TypeParam fmu("wide");
    fmu.initialise();
    for (unsigned i = 0; i < 1000; ++i) fmu.set(1 + i, i * 0.5);
    fmu.step(0, 0.1);
    for (unsigned i = 0; i < 1000; ++i) ASSERT_EQ(fmu.get(1001 + i), i * 0.5);
}

// Inputs inside a step.

TEST(test_fmu_fmi2, input_derivatives_are_followed) {
    bare_fmi2 fmu("oscillator");
    set_oscillator(fmu, 2, 0, 0, 0, 0);
    fmu.initialise();
    // F = 2 + 3 t - 4 t^2 over [0, 1]: x = (t^2 + t^3 / 2 - t^4 / 3) / 2 is a polynomial that the method solves exactly.
    const fmi2ValueReference references[] = {oscillator::force, oscillator::force};
    const fmi2Integer orders[] = {1, 2};
    const double rates[] = {3, -8};
    expect_ok("SetRealInputDerivatives", fmu.call.SetRealInputDerivatives(fmu.instance, references, 2, orders, rates));
    fmu.set(oscillator::force, 2);
    fmu.step(0, 1);
    EXPECT_NEAR(fmu.get(oscillator::position), (1 + 0.5 - 1.0 / 3) / 2, 1e-13);
    EXPECT_DOUBLE_EQ(fmu.get(oscillator::acceleration), (2 + 3 - 4) / 2.0);
    EXPECT_DOUBLE_EQ(fmu.output_rate(oscillator::acceleration), (3 - 8) / 2.0);
    // The next step without derivatives has a constant force.
    const double x = fmu.get(oscillator::position), v = fmu.get(oscillator::velocity);
    fmu.set(oscillator::force, 4);
    fmu.step(1, 1);
    EXPECT_NEAR(fmu.get(oscillator::position), x + v + 1, 1e-12);
}

struct intermediate {
    bare_fmi3* fmu = nullptr;
    double last_time = -1, return_at = HUGE_VAL;
    int requests = 0, finished = 0;

    static void update(fmi3InstanceEnvironment environment, double time, bool set_requested, bool get_allowed,
                       bool step_finished, bool can_return_early, bool* early_return, double* return_time) {
        auto& self = *static_cast<intermediate*>(environment);
        EXPECT_GE(time, self.last_time);
        self.last_time = time;
        if (set_requested) {
            ++self.requests;
            self.fmu->set(oscillator::force, 2 + time * (3 - 4 * time));
        }
        if (!step_finished) return;
        ++self.finished;
        EXPECT_TRUE(get_allowed);
        EXPECT_EQ(self.fmu->get(0), time);
        *early_return = can_return_early && time >= self.return_at;
        *return_time = time;
    }
};

TEST(test_fmu_fmi3, intermediate_updates_are_followed) {
    intermediate environment;
    fmu_options options;
    options.early_return = true;
    options.intermediate_update = intermediate::update;
    options.environment = &environment;
    bare_fmi3 fmu("oscillator", fmu_kind::co_simulation, nullptr, options);
    environment.fmu = &fmu;
    set_oscillator(fmu, 2, 0, 0, 0, 0);
    fmu.initialise();
    fmu.step(0, 1);
    EXPECT_NEAR(fmu.get(oscillator::position), (1 + 0.5 - 1.0 / 3) / 2, 1e-13);
    EXPECT_EQ(environment.requests, 3000);
    EXPECT_EQ(environment.finished, 1000);
    environment.return_at = 1.5;
    const auto result = fmu.step(1, 1);
    EXPECT_TRUE(result.early);
    EXPECT_FALSE(result.event);
    EXPECT_NEAR(result.reached, 1.5, 1e-3 + 1e-9);
    EXPECT_GE(result.reached, 1.5);
}

}  // namespace
}  // namespace mdpcosim::test
