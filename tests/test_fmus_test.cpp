// The test FMUs by their bare C functions, without any importer, against exact solutions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "fmus/bare.hpp"
#include "scenario/resolve.hpp"
#include "subsystem/model.hpp"

namespace mdpcosim::test {
namespace {

template <class Fmu>
class test_fmu : public testing::Test {};
using versions = testing::Types<bare_fmi2, bare_fmi3>;
struct version_names {
    template <class Fmu>
    static std::string GetName(int) {
        return "fmi" + std::to_string(Fmu::version);
    }
};
TYPED_TEST_SUITE(test_fmu, versions, version_names);

namespace oscillator {
enum { force = 1, mass, stiffness, damping, x0, v0, position, velocity, acceleration };
}

template <class Fmu>
void set_oscillator(Fmu& fmu, double m, double c, double d, double x0, double v0) {
    const double values[] = {m, c, d, x0, v0};
    for (unsigned i = 0; i < 5; ++i) fmu.set(oscillator::mass + i, values[i]);
}

template <class Fmu>
void enter_continuous_time(Fmu& fmu) {
    while (fmu.update().again) {
    }
    expect_ok("EnterContinuousTimeMode", fmu.call.EnterContinuousTimeMode(fmu.instance));
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

TYPED_TEST(test_fmu, bouncing_ball_counts_its_impacts) {
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

TYPED_TEST(test_fmu, bouncing_ball_exchanged_has_the_exact_impact_times) {
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

TEST(test_fmu_fmi3, bouncing_ball_returns_early_at_the_exact_impact_times) {
    fmi3_options options;
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

TYPED_TEST(test_fmu, stairs_step_at_multiples_of_the_period) {
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

TYPED_TEST(test_fmu, sawtooth_asks_for_step_events) {
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
    fmi3_options options;
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

// Types.

TEST(test_fmu_fmi2, feedthrough_hands_every_type_through) {
    bare_fmi2 fmu("feedthrough");
    fmu.set(1, 3);
    fmu.initialise();
    fmu.set(2, 0.7);
    EXPECT_EQ(fmu.get(3), 3 * 0.7);
    fmi2ValueReference vr = 5;
    const fmi2Integer integer = -2147483647 - 1;
    expect_ok("SetInteger", fmu.call.SetInteger(fmu.instance, &vr, 1, &integer));
    EXPECT_EQ(fmu.get_int32(6), integer);
    vr = 7;
    fmi2Boolean boolean = fmi2True;
    expect_ok("SetBoolean", fmu.call.SetBoolean(fmu.instance, &vr, 1, &boolean));
    vr = 8, boolean = fmi2False;
    expect_ok("GetBoolean", fmu.call.GetBoolean(fmu.instance, &vr, 1, &boolean));
    EXPECT_EQ(boolean, fmi2True);
    vr = 9;
    fmi2String text = "größer";
    expect_ok("SetString", fmu.call.SetString(fmu.instance, &vr, 1, &text));
    vr = 10;
    expect_ok("GetString", fmu.call.GetString(fmu.instance, &vr, 1, &text));
    EXPECT_STREQ(text, "größer");
    fmu.set_enumeration(11, 3);
    EXPECT_EQ(fmu.get_int32(12), 3);
    vr = 13;  // FMI 3.0 only
    EXPECT_EQ(fmu.call.GetInteger(fmu.instance, &vr, 1, const_cast<fmi2Integer*>(&integer)), fmi2Error);
}

template <class Set, class Get, class Value>
void expect_handed_through(bare_fmi3& fmu, Set set, Get get, fmi3ValueReference in, Value value) {
    expect_ok("set", set(fmu.instance, &in, 1, &value, 1));
    Value result{};
    const fmi3ValueReference out = in + 1;
    expect_ok("get", get(fmu.instance, &out, 1, &result, 1));
    EXPECT_EQ(result, value) << "variable " << in;
}

TEST(test_fmu_fmi3, feedthrough_hands_every_type_through) {
    bare_fmi3 fmu("feedthrough");
    fmu.set(1, 3);
    fmu.initialise();
    fmu.set(2, 0.7);
    EXPECT_EQ(fmu.get(3), 3 * 0.7);
    const auto& f = fmu.call;
    expect_handed_through(fmu, f.SetInt32, f.GetInt32, 5, INT32_MIN);
    expect_handed_through(fmu, f.SetBoolean, f.GetBoolean, 7, true);
    expect_handed_through(fmu, f.SetInt64, f.GetInt64, 11, int64_t{2});
    expect_handed_through(fmu, f.SetFloat32, f.GetFloat32, 13, 1.25F);
    expect_handed_through(fmu, f.SetInt8, f.GetInt8, 15, int8_t{INT8_MIN});
    expect_handed_through(fmu, f.SetUInt8, f.GetUInt8, 17, uint8_t{UINT8_MAX});
    expect_handed_through(fmu, f.SetInt16, f.GetInt16, 19, int16_t{INT16_MIN});
    expect_handed_through(fmu, f.SetUInt16, f.GetUInt16, 21, uint16_t{UINT16_MAX});
    expect_handed_through(fmu, f.SetUInt32, f.GetUInt32, 23, UINT32_MAX);
    expect_handed_through(fmu, f.SetInt64, f.GetInt64, 25, INT64_MIN);
    expect_handed_through(fmu, f.SetUInt64, f.GetUInt64, 27, UINT64_MAX);
    fmi3ValueReference vr = 10;
    fmi3String text;
    expect_ok("GetString", f.GetString(fmu.instance, &vr, 1, &text, 1));
    EXPECT_STREQ(text, "text");
}

TEST(test_fmu_fmi3, binary_keeps_its_bytes) {
    bare_fmi3 fmu("binary");
    fmi3ValueReference vr = 2;
    size_t size;
    fmi3Binary bytes;
    expect_ok("GetBinary", fmu.call.GetBinary(fmu.instance, &vr, 1, &size, &bytes, 1));
    EXPECT_EQ(std::vector<uint8_t>(bytes, bytes + size), (std::vector<uint8_t>{0x00, 0xff, 0x10}));
}

TEST(test_fmu_fmi3, state_space_takes_another_size) {
    bare_fmi3 fmu("state-space");
    expect_ok("EnterConfigurationMode", fmu.call.EnterConfigurationMode(fmu.instance));
    fmi3ValueReference vr = 1;
    const uint64_t n = 3;
    expect_ok("SetUInt64", fmu.call.SetUInt64(fmu.instance, &vr, 1, &n, 1));
    expect_ok("ExitConfigurationMode", fmu.call.ExitConfigurationMode(fmu.instance));
    size_t states;
    expect_ok("GetNumberOfContinuousStates", fmu.call.GetNumberOfContinuousStates(fmu.instance, &states));
    EXPECT_EQ(states, n);
    // x1' = -x1, x2' = -2 x2 + 3 u, x3' = 0; y = x1 + x2 + x3.
    const fmi3ValueReference arrays[] = {3, 4, 5, 6, 7};
    const double values[] = {-1, 0, 0, 0, -2, 0, 0, 0, 0, /*B*/ 0, 3, 0, /*C*/ 1, 1, 1, /*x0*/ 4, 5, 6, /*u*/ 2};
    expect_ok("SetFloat64", fmu.call.SetFloat64(fmu.instance, arrays, 5, values, std::size(values)));
    fmu.initialise();
    EXPECT_EQ(fmu.get(10), 15);
    fmu.step(0, 1);
    EXPECT_NEAR(fmu.get(10), 4 * std::exp(-1.0) + 3 + 2 * std::exp(-2.0) + 6, 1e-12);
    vr = 3;
    double one;
    EXPECT_EQ(fmu.call.GetFloat64(fmu.instance, &vr, 1, &one, 1), fmi3Error);  // nine elements
}

// Limits and misbehaviour.

int step_status(bare_fmi2& fmu, double t, double h, double* reached) {
    const int status = fmu.call.DoStep(fmu.instance, t, h, fmi2True);
    EXPECT_EQ(fmu.call.GetRealStatus(fmu.instance, fmi2LastSuccessfulTime, reached), fmi2OK);
    return status;
}

int step_status(bare_fmi3& fmu, double t, double h, double* reached) {
    bool event, terminate, early;
    return fmu.call.DoStep(fmu.instance, t, h, true, &event, &terminate, &early, reached);
}

TYPED_TEST(test_fmu, limited_oscillator_discards_long_steps) {
    TypeParam fmu("limited-oscillator");
    fmu.initialise();
    double reached;
    EXPECT_EQ(step_status(fmu, 0, 5e-3, &reached), 0);
    EXPECT_EQ(reached, 5e-3);
    EXPECT_EQ(step_status(fmu, 5e-3, 0.02, &reached), 2);
    EXPECT_EQ(reached, TypeParam::version == 2 ? 1e-2 : 5e-3);
}

TEST(test_fmu_fmi3, limited_oscillator_returns_early_where_it_may) {
    fmi3_options options;
    options.early_return = true;
    bare_fmi3 fmu("limited-oscillator", fmu_kind::co_simulation, nullptr, options);
    fmu.initialise();
    const auto result = fmu.step(0, 0.02);
    EXPECT_TRUE(result.early);
    EXPECT_EQ(result.reached, 5e-3);
}

TYPED_TEST(test_fmu, fixed_step_oscillator_refuses_another_step) {
    TypeParam fmu("fixed-step-oscillator");
    fmu.initialise();
    double reached;
    EXPECT_EQ(step_status(fmu, 0, 0.01, &reached), 0);
    EXPECT_EQ(step_status(fmu, 0.01, 0.005, &reached), 3);
    TypeParam odd("fixed-step-oscillator");
    odd.initialise();
    EXPECT_EQ(step_status(odd, 0, 0.0015, &reached), 3);
}

TYPED_TEST(test_fmu, single_oscillator_exists_once) {
    {
        TypeParam first("single-oscillator");
        EXPECT_NE(first.instance, nullptr);
        TypeParam second("single-oscillator");
        EXPECT_EQ(second.instance, nullptr);
    }
    TypeParam again("single-oscillator");
    EXPECT_NE(again.instance, nullptr);
}

TYPED_TEST(test_fmu, wrong_tokens_give_no_instance) {
    EXPECT_EQ(TypeParam("decay", fmu_kind::co_simulation, "{another-model}").instance, nullptr);
    EXPECT_EQ(TypeParam("no-instance").instance, nullptr);
    EXPECT_THROW(TypeParam("throwing-instance"), std::runtime_error);
}

TYPED_TEST(test_fmu, calls_in_the_wrong_mode_are_errors) {
    TypeParam fmu("oscillator");
    double reached;
    EXPECT_EQ(step_status(fmu, 0, 0.1, &reached), 3);
    fmu.initialise();
    EXPECT_EQ(step_status(fmu, 1, 0.1, &reached), 3);  // time is 0
    EXPECT_THROW(fmu.set(oscillator::mass, 2), fmi_failure);
    EXPECT_THROW(fmu.set(oscillator::position, 2), fmi_failure);
    EXPECT_THROW(fmu.get(1000), fmi_failure);
    EXPECT_EQ(static_cast<int>(fmu.call.SetTime(fmu.instance, 1)), 3);
}

namespace misbehave {
enum { where = 1, how, when, u, x, dx, y };
constexpr int get = 6, step = 7;
enum { nothing = 1, warning, discard, error, fatal, unknown_status, throw_exception, throw_int, nan = 13, terminate };
}  // namespace misbehave

TYPED_TEST(test_fmu, misbehave_misbehaves_as_commanded) {
    for (const int manner : {misbehave::warning, misbehave::discard, misbehave::error, misbehave::unknown_status}) {
        TypeParam fmu("misbehave");
        fmu.set_enumeration(misbehave::where, misbehave::step);
        fmu.set_enumeration(misbehave::how, manner);
        fmu.set(misbehave::when, 0.1);
        fmu.initialise();
        double reached;
        EXPECT_EQ(step_status(fmu, 0, 0.1, &reached), 0);
        EXPECT_EQ(step_status(fmu, 0.1, 0.1, &reached), manner == misbehave::unknown_status ? 42 : manner - 1);
    }
    for (const int manner : {misbehave::throw_exception, misbehave::throw_int}) {
        TypeParam fmu("misbehave");
        fmu.set_enumeration(misbehave::where, misbehave::get);
        fmu.set_enumeration(misbehave::how, manner);
        fmu.initialise();
        EXPECT_ANY_THROW(fmu.get(misbehave::y));
    }
    TypeParam fmu("misbehave");
    fmu.set_enumeration(misbehave::how, misbehave::nan);
    fmu.set(misbehave::when, 0.05);
    fmu.initialise();
    EXPECT_EQ(fmu.get(misbehave::y), 1);
    fmu.step(0, 0.1);
    EXPECT_TRUE(std::isnan(fmu.get(misbehave::y)));
}

TYPED_TEST(test_fmu, calls_after_a_fatal_error_end_the_process) {
    TypeParam fmu("misbehave");
    fmu.set_enumeration(misbehave::where, misbehave::step);
    fmu.set_enumeration(misbehave::how, misbehave::fatal);
    fmu.initialise();
    EXPECT_DEATH(
        {
            double reached;
            step_status(fmu, 0, 0.1, &reached);
            fmu.get(misbehave::y);
        },
        "called after a fatal error");
}

TYPED_TEST(test_fmu, broken_libraries_are_broken) {
    const auto message = [](const std::string& name) -> std::string {
        try {
            load_fmu(name, TypeParam::version);
        } catch (const std::runtime_error& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_THAT(message("missing-library"), testing::HasSubstr("libfmu_absent.so"));
    EXPECT_THAT(message("missing-symbol"), testing::HasSubstr("mdpcosim_absent_function"));
    EXPECT_EQ(TypeParam("missing-function").call.DoStep, nullptr);
    EXPECT_DEATH(message("crash-at-load"), "");
}

}  // namespace
}  // namespace mdpcosim::test
