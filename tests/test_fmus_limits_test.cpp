// The test FMUs by their bare C functions: every type, limits, misbehaviour.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <cstdarg>
#include <cstdio>

#include "fmus/both_versions.hpp"

namespace mdpcosim::test {
namespace {

// Types.

TEST(test_fmu_limits_fmi2, feedthrough_hands_every_type_through) {
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

TEST(test_fmu_limits_fmi3, feedthrough_hands_every_type_through) {
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

TEST(test_fmu_limits_fmi3, binary_keeps_its_bytes) {
    bare_fmi3 fmu("binary");
    fmi3ValueReference vr = 2;
    size_t size;
    fmi3Binary bytes;
    expect_ok("GetBinary", fmu.call.GetBinary(fmu.instance, &vr, 1, &size, &bytes, 1));
    EXPECT_EQ(std::vector<uint8_t>(bytes, bytes + size), (std::vector<uint8_t>{0x00, 0xff, 0x10}));
}

TEST(test_fmu_limits_fmi3, state_space_takes_another_size) {
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

template <class Fmu>
class test_fmu_limits : public testing::Test {};
TYPED_TEST_SUITE(test_fmu_limits, versions, version_names);

int step_status(bare_fmi2& fmu, double t, double h, double* reached) {
    const int status = fmu.call.DoStep(fmu.instance, t, h, fmi2True);
    EXPECT_EQ(fmu.call.GetRealStatus(fmu.instance, fmi2LastSuccessfulTime, reached), fmi2OK);
    return status;
}

int step_status(bare_fmi3& fmu, double t, double h, double* reached) {
    bool event, terminate, early;
    return fmu.call.DoStep(fmu.instance, t, h, true, &event, &terminate, &early, reached);
}

TYPED_TEST(test_fmu_limits, limited_oscillator_discards_long_steps) {
    TypeParam fmu("limited-oscillator");
    fmu.initialise();
    double reached;
    EXPECT_EQ(step_status(fmu, 0, 5e-3, &reached), 0);
    EXPECT_EQ(reached, 5e-3);
    EXPECT_EQ(step_status(fmu, 5e-3, 0.02, &reached), 2);
    EXPECT_EQ(reached, TypeParam::version == 2 ? 1e-2 : 5e-3);
}

TEST(test_fmu_limits_fmi3, limited_oscillator_returns_early_where_it_may) {
    fmu_options options;
    options.early_return = true;
    bare_fmi3 fmu("limited-oscillator", fmu_kind::co_simulation, nullptr, options);
    fmu.initialise();
    const auto result = fmu.step(0, 0.02);
    EXPECT_TRUE(result.early);
    EXPECT_EQ(result.reached, 5e-3);
}

TYPED_TEST(test_fmu_limits, fixed_step_oscillator_refuses_another_step) {
    TypeParam fmu("fixed-step-oscillator");
    fmu.initialise();
    double reached;
    EXPECT_EQ(step_status(fmu, 0, 0.01, &reached), 0);
    EXPECT_EQ(step_status(fmu, 0.01, 0.005, &reached), 3);
    TypeParam odd("fixed-step-oscillator");
    odd.initialise();
    EXPECT_EQ(step_status(odd, 0, 0.0015, &reached), 3);
}

TYPED_TEST(test_fmu_limits, single_oscillator_exists_once) {
    {
        TypeParam first("single-oscillator");
        EXPECT_NE(first.instance, nullptr);
        TypeParam second("single-oscillator");
        EXPECT_EQ(second.instance, nullptr);
    }
    TypeParam again("single-oscillator");
    EXPECT_NE(again.instance, nullptr);
}

TYPED_TEST(test_fmu_limits, wrong_tokens_give_no_instance) {
    EXPECT_EQ(TypeParam("decay", fmu_kind::co_simulation, "{another-model}").instance, nullptr);
    EXPECT_EQ(TypeParam("no-instance").instance, nullptr);
    EXPECT_THROW(TypeParam("throwing-instance"), std::runtime_error);
}

TYPED_TEST(test_fmu_limits, calls_in_the_wrong_mode_are_errors) {
    TypeParam fmu("oscillator");
    double reached;
    EXPECT_EQ(step_status(fmu, 0, 0.1, &reached), 3);
    fmu.initialise();
    EXPECT_EQ(step_status(fmu, 1, 0.1, &reached), 3);  // time is 0
    EXPECT_THROW(fmu.set(2, 2), fmi_failure);
    EXPECT_THROW(fmu.set(7, 2), fmi_failure);
    EXPECT_THROW(fmu.get(1000), fmi_failure);
    EXPECT_EQ(static_cast<int>(fmu.call.SetTime(fmu.instance, 1)), 3);
}

namespace misbehave {
enum { where = 1, how, when, u, x, dx, y };
constexpr int get = 6, step = 7;
enum {
    nothing = 1,
    warning,
    discard,
    error,
    fatal,
    unknown_status,
    throw_exception,
    throw_int,
    abort,
    crash,
    hang,
    exit,
    nan,
    terminate_simulation,
    log_format
};
}  // namespace misbehave

TYPED_TEST(test_fmu_limits, misbehave_misbehaves_as_commanded) {
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

TYPED_TEST(test_fmu_limits, misbehave_ends_the_process_as_commanded) {
    const auto step_with = [](int manner) {
        TypeParam fmu("misbehave");
        fmu.set_enumeration(misbehave::where, misbehave::step);
        fmu.set_enumeration(misbehave::how, manner);
        fmu.initialise();
        fmu.step(0, 0.1);
    };
    EXPECT_EXIT(step_with(misbehave::abort), testing::KilledBySignal(SIGABRT), "");
    EXPECT_DEATH(step_with(misbehave::crash), "");
    EXPECT_EXIT(step_with(misbehave::exit), testing::ExitedWithCode(3), "");
}

std::string formatted;

void format_message(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String message, ...) {
    char text[100];
    va_list arguments;
    va_start(arguments, message);
    std::vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    formatted = text;
}

TEST(test_fmu_limits_fmi2, misbehave_logs_formats) {
    bare_fmi2 fmu("misbehave");
    fmu.callbacks.logger = format_message;
    fmu.set_enumeration(misbehave::where, misbehave::step);
    fmu.set_enumeration(misbehave::how, misbehave::log_format);
    fmu.initialise();
    fmu.step(0, 0.1);
    EXPECT_EQ(formatted, "text7");
}

TEST(test_fmu_limits_fmi2, misbehave_ends_the_simulation_as_commanded) {
    bare_fmi2 fmu("misbehave");
    fmu.set_enumeration(misbehave::where, misbehave::step);
    fmu.set_enumeration(misbehave::how, misbehave::terminate_simulation);
    fmu.initialise();
    double reached;
    EXPECT_EQ(step_status(fmu, 0, 0.1, &reached), 2);
    EXPECT_EQ(reached, 0);
    fmi2Boolean terminated;
    expect_ok("GetBooleanStatus", fmu.call.GetBooleanStatus(fmu.instance, fmi2Terminated, &terminated));
    EXPECT_EQ(terminated, fmi2True);
}

TEST(test_fmu_limits_fmi3, misbehave_ends_the_simulation_as_commanded) {
    bare_fmi3 fmu("misbehave");
    fmu.set_enumeration(misbehave::where, misbehave::step);
    fmu.set_enumeration(misbehave::how, misbehave::terminate_simulation);
    fmu.initialise();
    const auto result = fmu.step(0, 0.1);
    EXPECT_TRUE(result.terminate);
    EXPECT_EQ(result.reached, 0);
}

TYPED_TEST(test_fmu_limits, calls_after_a_fatal_error_end_the_process) {
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

TYPED_TEST(test_fmu_limits, one_interface_lacks_the_other) {
    TypeParam steps("only-steps"), equations("only-equations", fmu_kind::model_exchange);
    EXPECT_EQ(steps.call.SetContinuousStates, nullptr);
    EXPECT_EQ(equations.call.DoStep, nullptr);
    steps.initialise();
    steps.step(0, 1);
    EXPECT_DOUBLE_EQ(steps.get(2), std::exp(-1.0));
    equations.initialise();
    EXPECT_EQ(equations.get(3), -1);
}

TYPED_TEST(test_fmu_limits, resources_are_read) {
    const std::string folder =
        MDPCOSIM_BINARY_DIR "/fmus/resource-" + std::to_string(TypeParam::version) + "/resources/";
    EXPECT_EQ(TypeParam("resource").instance, nullptr);
    TypeParam fmu("resource", fmu_kind::co_simulation, nullptr, {.resources = folder});
    fmu.initialise();
    EXPECT_EQ(fmu.get(1), 42.5);
}

TYPED_TEST(test_fmu_limits, broken_libraries_are_broken) {
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
