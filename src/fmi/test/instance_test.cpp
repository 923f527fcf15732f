#include "fmi/instance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.hpp"
#include "fmi/test/test_fmu.hpp"

namespace mdpcosim::fmi {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class instances : public testing::TestWithParam<version> {
   protected:
    std::unique_ptr<instance> make(const std::string& name, kind k, instance_options options = {}) {
        options.name = "one";
        options.kind = k;
        return make_instance(test_fmu(name, GetParam()), options);
    }
    bool is_2() const { return GetParam() == version::v2; }
};
INSTANTIATE_TEST_SUITE_P(versions, instances, testing::Values(version::v2, version::v3),
                         [](const auto& test) { return test.param == version::v2 ? "v2" : "v3"; });

// m x'' + c x = F from x0 at rest: x = F/c + (x0 - F/c) cos(w t), w = sqrt(c / m).
constexpr double m = 2, c = 50, x0 = 0.3, w = 5;
double exact(double t, double F = 0) { return F / c + (x0 - F / c) * std::cos(w * t); }

TEST_P(instances, co_simulation_follows_the_exact_solution) {
    const auto fmu = make("oscillator", kind::co_simulation);
    set(*fmu, {"m", "c", "x0"}, {m, c, x0});
    initialise(*fmu);
    EXPECT_EQ(get(*fmu, "position"), x0);
    const double H = 0.01, F = 7;
    set(*fmu, "force", F);
    for (int n = 0; n < 200; ++n) {
        const step_result result = fmu->do_step(n * H, H, false);
        EXPECT_EQ(result.status, status::ok);
        EXPECT_EQ(result.reached, n * H + H);
        EXPECT_FALSE(result.event || result.terminate || result.early);
    }
    // The FMU's own method is of fourth order, with steps of 1 ms.
    EXPECT_NEAR(get(*fmu, "position"), exact(2, F), 1e-9);
    EXPECT_NEAR(get(*fmu, "x"), exact(2, F), 1e-9);  // an alias
    EXPECT_NEAR(get(*fmu, "acceleration"), (F - c * exact(2, F)) / m, 1e-7);
}

TEST_P(instances, model_exchange_gives_the_derivatives) {
    const auto fmu = make("oscillator", kind::model_exchange);
    set(*fmu, {"m", "c", "x0"}, {m, c, x0});
    initialise(*fmu);
    leave_event_mode(*fmu, true);
    ASSERT_EQ(fmu->state_count(), 2u);
    EXPECT_EQ(fmu->indicator_count(), 0u);
    std::vector<double> x(2), k1(2), k2(2), k3(2), k4(2), nominal(2);
    EXPECT_EQ(fmu->get_states(x), status::ok);
    EXPECT_THAT(x, ElementsAre(x0, 0));
    fmu->get_nominals(nominal);
    EXPECT_THAT(nominal, ElementsAre(1, 1));
    const auto slope = [&](double t, const std::vector<double>& at, std::vector<double>& dx) {
        fmu->set_time(t);
        EXPECT_EQ(fmu->set_states(at), status::ok);
        EXPECT_EQ(fmu->get_derivatives(dx), status::ok);
    };
    const auto moved = [&](double h, const std::vector<double>& k) {
        return std::vector<double>{x[0] + h * k[0], x[1] + h * k[1]};
    };
    const double h = 1e-3;
    bool terminate = true;
    for (int n = 0; n < 1000; ++n) {
        slope(n * h, x, k1);
        slope(n * h + h / 2, moved(h / 2, k1), k2);
        slope(n * h + h / 2, moved(h / 2, k2), k3);
        slope(n * h + h, moved(h, k3), k4);
        for (int i = 0; i < 2; ++i) x[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
        fmu->set_time(n * h + h);
        fmu->set_states(x);
        EXPECT_FALSE(fmu->completed_step(false, terminate));
    }
    EXPECT_FALSE(terminate);
    EXPECT_NEAR(x[0], exact(1), 1e-10);
    EXPECT_EQ(get(*fmu, "position"), x[0]);
}

TEST_P(instances, a_restored_state_goes_on_bitwise_equal) {
    const auto fmu = make("oscillator", kind::co_simulation);
    set(*fmu, "x0", 1);
    initialise(*fmu);
    fmu->do_step(0, 0.1, true);
    const auto state = fmu->make_state();
    fmu->save(*state);
    fmu->do_step(0.1, 0.1, true);
    const double first = get(*fmu, "position");
    fmu->do_step(0.2, 0.1, true);
    fmu->save(*fmu->make_state());  // one that is thrown away
    fmu->restore(*state);
    fmu->do_step(0.1, 0.1, true);
    EXPECT_EQ(get(*fmu, "position"), first);
}

TEST_P(instances, a_state_may_outlive_its_instance) {
    auto fmu = make("oscillator", kind::co_simulation);
    initialise(*fmu);
    const auto state = fmu->make_state();
    fmu->save(*state);
    fmu.reset();
    EXPECT_NE(state, nullptr);  // its end comes after the instance's; the address sanitizer watches
}

TEST_P(instances, directional_derivatives) {
    for (const kind k : {kind::co_simulation, kind::model_exchange}) {
        const auto fmu = make("oscillator", k);
        set(*fmu, {"m", "c", "d"}, {m, c, 3});
        initialise(*fmu);
        if (k == kind::model_exchange) leave_event_mode(*fmu, true);
        double sensitivity = 0;
        const double seed[] = {1, 10};
        fmu->directional_derivative(block_of(*fmu, {"acceleration"}), block_of(*fmu, {"position", "velocity"}), seed,
                                    {&sensitivity, 1});
        EXPECT_DOUBLE_EQ(sensitivity, -c / m - 10 * 3 / m);
    }
}

TEST_P(instances, output_derivatives) {
    const auto fmu = make("oscillator", kind::co_simulation);
    set(*fmu, {"m", "c", "x0"}, {m, c, x0});
    initialise(*fmu);
    fmu->do_step(0, 0.1, false);
    std::vector<double> rates(2);
    fmu->get_output_derivatives(block_of(*fmu, {"position", "velocity"}), 1, rates);
    EXPECT_NEAR(rates[0], -x0 * w * std::sin(w * 0.1), 1e-8);
    EXPECT_NEAR(rates[1], -x0 * w * w * std::cos(w * 0.1), 1e-8);
}

// A force that rises like a t: x = a/c (t - sin(w t)/w) from rest at zero.
double ramp(double a, double t) { return a / c * (t - std::sin(w * t) / w); }

TEST(instance_2, input_derivatives_reach_the_inside_of_a_step) {
    const auto fmu = make_instance(test_fmu("oscillator", version::v2), {.name = "one"});
    set(*fmu, {"m", "c"}, {m, c});
    initialise(*fmu);
    const value_block force = block_of(*fmu, {"force"});
    const double a = 4, H = 0.1;
    for (int n = 0; n < 10; ++n) {
        set(*fmu, "force", a * n * H);
        fmu->set_input_derivatives(force, 1, std::vector<double>{a});
        fmu->do_step(n * H, H, false);
    }
    EXPECT_NEAR(get(*fmu, "position"), ramp(a, 1), 1e-10);
}

TEST(instance_3, intermediate_update_reaches_the_inside_of_a_step) {
    const double a = 4, H = 0.1;
    std::vector<double> times;
    instance_options options{.name = "one"};
    options.intermediate = [&](instance& fmu, double t) {
        times.push_back(t);
        set(fmu, "force", a * t);
    };
    const auto fmu = make_instance(test_fmu("oscillator", version::v3), options);
    set(*fmu, {"m", "c"}, {m, c});
    initialise(*fmu);
    for (int n = 0; n < 10; ++n) fmu->do_step(n * H, H, false);
    EXPECT_NEAR(get(*fmu, "position"), ramp(a, 1), 1e-10);
    ASSERT_GT(times.size(), 10u);
    EXPECT_NEAR(*std::max_element(times.begin(), times.end()), 1, 1e-12);
}

TEST(instance_3, a_failure_inside_an_intermediate_update_comes_out_of_the_step) {
    instance_options options{.name = "one"};
    options.intermediate = [&](instance&, double) { throw run_error("no input"); };
    const auto fmu = make_instance(test_fmu("oscillator", version::v3), options);
    initialise(*fmu);
    EXPECT_THROW(fmu->do_step(0, 0.1, false), run_error);
}

TEST_P(instances, numbers_of_every_type) {
    for (const kind k : {kind::co_simulation, kind::model_exchange}) {
        const auto fmu = make("feedthrough", k);
        initialise(*fmu);
        // In model exchange the discrete inputs are set in event mode.
        if (k == kind::model_exchange) {
            EXPECT_FALSE(fmu->update_discrete_states().again);
        }
        std::vector<std::pair<std::string, std::vector<double>>> cases{
            {"boolean", {0, 1}}, {"int32", {-2147483648.0, 2147483647.0, 5}}, {"enumeration", {1, 3}}};
        if (!is_2())
            cases.insert(cases.end(), {{"float32", {-0.5, 3e38, 0}},
                                       {"int8", {-128, 127}},
                                       {"uint8", {0, 255}},
                                       {"int16", {-32768, 32767}},
                                       {"uint16", {0, 65535}},
                                       {"uint32", {0, 4294967295.0}},
                                       {"int64", {-9007199254740992.0, -9223372036854775808.0}},
                                       {"uint64", {0, 18446744073709549568.0}}});
        for (const auto& [type, values] : cases)
            for (const double value : values) {
                EXPECT_EQ(set(*fmu, type + "_in", value), status::ok);
                const double expected = type == "float32" ? static_cast<double>(static_cast<float>(value)) : value;
                EXPECT_EQ(get(*fmu, type + "_out"), expected) << type;
            }
        set(*fmu, "u", 1.25);
        EXPECT_EQ(get(*fmu, "y"), 1.25);
        set(*fmu, "int32_in", 2.6);
        EXPECT_EQ(get(*fmu, "int32_out"), 3);
    }
}

TEST_P(instances, numbers_that_do_not_fit) {
    const auto fmu = make("feedthrough", kind::co_simulation);
    initialise(*fmu);
    std::vector<std::pair<std::string, double>> cases{
        {"int32_in", 2147483648.0}, {"int32_in", -2147483649.0}, {"int32_in", NAN}};
    if (!is_2())
        cases.insert(cases.end(), {{"uint8_in", -1},
                                   {"int8_in", 128},
                                   {"uint64_in", 18446744073709551616.0},
                                   {"int64_in", 9223372036854775808.0},
                                   {"float32_in", 1e39},
                                   {"uint32_in", INFINITY}});
    for (const auto& [name, value] : cases) EXPECT_THROW(set(*fmu, name, value), fmu_failure) << name << " " << value;
    set(*fmu, "int32_in", 4);  // and it goes on
    EXPECT_EQ(get(*fmu, "int32_out"), 4);
}

TEST_P(instances, strings) {
    const auto fmu = make("feedthrough", kind::co_simulation);
    const int text = fmu->description().index_of("text");
    EXPECT_THAT(fmu->get_texts(text), ElementsAre("a <b> & \"c\""));
    fmu->set_texts(text, std::vector<std::string>{"\u00fc"});
    EXPECT_THAT(fmu->get_texts(text), ElementsAre("\u00fc"));
    EXPECT_EQ(fmu->description().variables[text].start, std::vector<std::string>{"a <b> & \"c\""});
}

TEST(instance_3, arrays_take_their_sizes_from_structural_parameters) {
    const auto fmu = make_instance(test_fmu("state-space", version::v3), {.name = "one", .kind = kind::model_exchange});
    EXPECT_EQ(fmu->state_count(), 2u);
    EXPECT_EQ(block_of(*fmu, {"A"}).elements, 4u);
    fmu->enter_configuration();
    set(*fmu, {"n", "r"}, {3, 2});
    fmu->exit_configuration();
    EXPECT_EQ(fmu->state_count(), 3u);
    EXPECT_EQ(block_of(*fmu, {"A", "B"}).elements, 15u);
    set(*fmu, {"A"}, {0, 1, 0, 0, 0, 1, -6, -11, -6});
    set(*fmu, {"B"}, {1, 0, 0, 1, 0, 0});
    set(*fmu, {"C"}, {1, 0, 0, 0, 1, 1});
    set(*fmu, {"x0"}, {1, 2, 3});
    initialise(*fmu);
    leave_event_mode(*fmu, true);
    set(*fmu, {"u"}, {10, 20});
    std::vector<double> dx(3);
    fmu->get_derivatives(dx);
    EXPECT_THAT(dx, ElementsAre(12, 23, -46));
    EXPECT_THAT(get_all(*fmu, {"y"}), ElementsAre(1, 5));
}

TEST(instance_3, event_mode_in_co_simulation) {
    instance_options options{.name = "one"};
    options.event_mode = options.early_return = true;
    const auto fmu = make_instance(test_fmu("bouncing-ball", version::v3), options);
    initialise(*fmu);
    leave_event_mode(*fmu, false);
    const step_result result = fmu->do_step(0, 1, true);
    EXPECT_TRUE(result.event);
    EXPECT_TRUE(result.early);
    EXPECT_NEAR(result.reached, std::sqrt(2 / 9.81), 1e-12);
    fmu->enter_event_mode();
    leave_event_mode(*fmu, false);
    EXPECT_NEAR(get(*fmu, "v"), 0.7 * std::sqrt(2 * 9.81), 1e-12);
    EXPECT_EQ(get(*fmu, "impacts"), 1);
}

TEST_P(instances, event_indicators_and_events_in_model_exchange) {
    const auto fmu = make("bouncing-ball", kind::model_exchange);
    initialise(*fmu);
    leave_event_mode(*fmu, true);
    ASSERT_EQ(fmu->indicator_count(), 1u);
    std::vector<double> z(1), x(2);
    fmu->get_indicators(z);
    EXPECT_EQ(z[0], 1);
    fmu->set_time(0.5);
    fmu->set_states(std::vector<double>{-1e-9, -4});
    fmu->get_indicators(z);
    EXPECT_LT(z[0], 0);
    fmu->enter_event_mode();
    const discrete_update update = fmu->update_discrete_states();
    EXPECT_TRUE(update.states_changed);
    EXPECT_FALSE(update.terminate);
    fmu->enter_continuous_mode();
    fmu->get_states(x);
    EXPECT_EQ(x[1], 2.8);
}

TEST_P(instances, time_events_are_announced) {
    const auto fmu = make("stairs", kind::model_exchange);
    initialise(*fmu);
    discrete_update update;
    do update = fmu->update_discrete_states();
    while (update.again);
    EXPECT_GT(update.next_event, 0);
    EXPECT_LT(update.next_event, 10);
}

TEST_P(instances, a_step_that_is_too_long) {
    instance_options options;
    options.early_return = !is_2();
    const auto fmu = make("limited-oscillator", kind::co_simulation, options);
    initialise(*fmu);
    EXPECT_EQ(fmu->do_step(0, 0.005, true).status, status::ok);
    const step_result result = fmu->do_step(0.005, 0.02, true);
    EXPECT_EQ(result.status, is_2() ? status::discard : status::ok);
    EXPECT_EQ(result.early, !is_2());
    EXPECT_NEAR(result.reached, 0.01, 1e-15);
}

TEST(instance_3, a_step_that_is_discarded) {
    const auto fmu = make_instance(test_fmu("limited-oscillator", version::v3), {.name = "one"});
    initialise(*fmu);
    const step_result result = fmu->do_step(0, 0.02, true);
    EXPECT_EQ(result.status, status::discard);
    EXPECT_EQ(result.reached, 0);
}

TEST_P(instances, reset_leads_back_to_the_start) {
    const auto fmu = make("oscillator", kind::co_simulation);
    set(*fmu, "x0", 1);
    initialise(*fmu);
    fmu->do_step(0, 0.1, false);
    fmu->terminate();
    fmu->reset();
    set(*fmu, "x0", 2);
    initialise(*fmu, 5);
    EXPECT_EQ(get(*fmu, "position"), 2);
    EXPECT_EQ(get(*fmu, "time"), 5);
}

TEST_P(instances, absent_functions_that_nobody_needs) {
    for (const kind k : {kind::co_simulation, kind::model_exchange}) {
        const auto fmu = make("plain-oscillator", k);
        initialise(*fmu);
        EXPECT_FALSE(fmu->offers().state);
        const auto state = fmu->make_state();
        EXPECT_THROW(fmu->save(*state), fmu_failure);
    }
}

TEST_P(instances, trace_tells_every_call) {
    std::vector<std::string> lines;
    instance_options options;
    options.trace = [&](std::string_view line) { lines.emplace_back(line); };
    {
        const auto fmu = make("oscillator", kind::co_simulation, options);
        initialise(*fmu);
        set(*fmu, "force", 2.5);
        fmu->do_step(0, 0.25, false);
        get_all(*fmu, {"time", "velocity"});
    }
    const std::string f = is_2() ? "fmi2" : "fmi3", real = is_2() ? "Real" : "Float64";
    EXPECT_THAT(lines, testing::Contains(f + "Set" + real + "([1], [2.5]) -> ok"));
    EXPECT_THAT(lines, testing::Contains(testing::StartsWith(f + "DoStep(t 0, H 0.25")));
    EXPECT_THAT(lines, testing::Contains(testing::StartsWith(f + "Get" + real + "([0, 8]) gives ([0.25, ")));
    EXPECT_THAT(lines, testing::Contains(f + "Terminate() -> ok"));
    EXPECT_EQ(lines.back(), f + "FreeInstance");
}

TEST_P(instances, one_per_process) {
    auto first = make("single-oscillator", kind::co_simulation);
    try {
        make("single-oscillator", kind::co_simulation);
        FAIL() << "a second instance";
    } catch (const user_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("'isolate: true'"));
    }
    initialise(*first);
    EXPECT_EQ(first->do_step(0, 0.1, false).status, status::ok);
    first.reset();
    EXPECT_NO_THROW(make("single-oscillator", kind::model_exchange));
}

TEST(instance, all_test_fmus_keep_the_standard) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(MDPCOSIM_BINARY_DIR "/fmus")) {
        if (entry.path().extension() != ".fmu") continue;
#ifdef __SANITIZE_ADDRESS__
        if (entry.path().filename().string().starts_with("huge")) continue;  // slow, and read below
#endif
        const fmu_texts texts = read_fmu_texts(entry.path());
        std::vector<violation> violations;
        read_description(texts.description, texts.terminals, entry.path().string(), &violations);
        for (const violation& v : violations) ADD_FAILURE() << entry.path() << ":" << v.line << ": " << v.message;
        ++count;
    }
    EXPECT_GT(count, 40);
}

TEST(instance, a_hundred_thousand_variables) {
#ifdef __SANITIZE_ADDRESS__
    constexpr version versions[]{version::v3};
#else
    constexpr version versions[]{version::v2, version::v3};
#endif
    for (const version v : versions) {
        const auto fmu = test_fmu("huge", v);
        EXPECT_GE(fmu->description().variables.size(), 100000u);
        const auto one = make_instance(fmu, {.name = "one"});
        initialise(*one);
    }
}

}  // namespace
}  // namespace mdpcosim::fmi
