#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "fmi/test/test_fmu.hpp"

/// FMUs of FMI 1.0: the same models as in 2.0, so the same values, bit for bit.
namespace mdpcosim::fmi {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<instance> make_2(const std::string& name, kind k) {
    instance_options options{.name = "one"};
    options.kind = k;
    return make_instance(test_fmu(name, version::v2), options);
}

TEST(instance_1, co_simulation_gives_the_values_of_2) {
    for (const char* name : {"oscillator", "plain-oscillator"}) {
        const auto one = make_1(name, kind::co_simulation), two = make_2(name, kind::co_simulation);
        for (instance* fmu : {one.get(), two.get()}) {
            set(*fmu, {"m", "c", "d", "x0"}, {2, 50, 0.3, 0.3});
            initialise(*fmu, 0.5);
        }
        for (int n = 0; n < 50; ++n) {
            const double t = 0.5 + 0.02 * n;
            for (instance* fmu : {one.get(), two.get()}) {
                set(*fmu, "force", std::sin(t));
                EXPECT_EQ(fmu->do_step(t, 0.02, false).status, status::ok);
            }
            const std::vector<std::string> outputs{"position", "velocity", "acceleration", "x"};
            ASSERT_EQ(get_all(*one, outputs), get_all(*two, outputs));
        }
        EXPECT_NE(get(*one, "velocity"), 0);
    }
}

TEST(instance_1, model_exchange_gives_the_derivatives_of_2) {
    const auto one = make_1("oscillator", kind::model_exchange), two = make_2("oscillator", kind::model_exchange);
    std::vector<double> x(2), dx_1(2), dx_2(2), nominal(2);
    for (instance* fmu : {one.get(), two.get()}) {
        set(*fmu, {"m", "c", "x0", "v0"}, {2, 50, 0.3, 7});
        initialise(*fmu);
        leave_event_mode(*fmu, true);
    }
    ASSERT_EQ(one->state_count(), 2u);
    EXPECT_EQ(one->get_states(x), status::ok);
    EXPECT_THAT(x, ElementsAre(0.3, 7));
    one->get_nominals(nominal);
    EXPECT_THAT(nominal, ElementsAre(1, 1));
    for (instance* fmu : {one.get(), two.get()}) {
        fmu->set_time(0.1);
        fmu->set_states(std::vector<double>{0.1, -3});
        set(*fmu, "force", 4);
        fmu->get_derivatives(fmu == one.get() ? dx_1 : dx_2);
    }
    EXPECT_EQ(dx_1, dx_2);
    bool terminate = true;
    EXPECT_FALSE(one->completed_step(false, terminate));
    EXPECT_FALSE(terminate);
    EXPECT_EQ(one->state_variable(1), one->description().index_of("velocity"));
    EXPECT_EQ(one->state_variable(2), -1);
}

TEST(instance_1, a_negated_alias_has_the_other_sign) {
    const auto fmu = make_1("oscillator", kind::co_simulation);
    set(*fmu, {"x0", "approach0"}, {1, 2.5});  // v0 = -2.5
    initialise(*fmu);
    EXPECT_THAT(get_all(*fmu, {"velocity", "approach", "v"}), ElementsAre(-2.5, 2.5, -2.5));
    fmu->do_step(0, 0.1, false);
    EXPECT_EQ(get(*fmu, "approach"), -get(*fmu, "velocity"));
    std::vector<double> rates(2);
    fmu->get_output_derivatives(block_of(*fmu, {"velocity", "approach"}), 1, rates);
    EXPECT_EQ(rates[1], -rates[0]);
    EXPECT_NE(rates[0], 0);
}

TEST(instance_1, input_derivatives_reach_the_inside_of_a_step) {
    const auto one = make_1("oscillator", kind::co_simulation), two = make_2("oscillator", kind::co_simulation);
    for (instance* fmu : {one.get(), two.get()}) {
        initialise(*fmu);
        const value_block force = block_of(*fmu, {"force"});
        for (int n = 0; n < 10; ++n) {
            set(*fmu, "force", 0.4 * n);
            fmu->set_input_derivatives(force, 1, std::vector<double>{4});
            fmu->do_step(n * 0.1, 0.1, false);
        }
    }
    EXPECT_EQ(get(*one, "position"), get(*two, "position"));
    EXPECT_GT(get(*one, "position"), 0.01);
}

TEST(instance_1, numbers_of_every_type_and_texts) {
    for (const kind k : {kind::co_simulation, kind::model_exchange}) {
        const auto fmu = make_1("feedthrough", k);
        const int text = fmu->description().index_of("string_in"), out = fmu->description().index_of("string_out");
        fmu->set_texts(text, std::vector<std::string>{"before"});
        set(*fmu, "int32_in", 7);
        initialise(*fmu);
        EXPECT_THAT(fmu->get_texts(out), ElementsAre("before"));
        EXPECT_EQ(get(*fmu, "int32_out"), 7);
        const std::pair<std::string, std::vector<double>> cases[] = {
            {"boolean", {0, 1}}, {"int32", {-2147483648.0, 2147483647.0, 5}}, {"enumeration", {1, 3}}};
        for (const auto& [type, values] : cases)
            for (const double value : values) {
                EXPECT_EQ(set(*fmu, type + "_in", value), status::ok);
                EXPECT_EQ(get(*fmu, type + "_out"), value) << type;
            }
        set(*fmu, "u", 1.25);
        EXPECT_EQ(get(*fmu, "y"), 1.25);
        fmu->set_texts(text, std::vector<std::string>{"\u00fc"});
        EXPECT_THAT(fmu->get_texts(out), ElementsAre("\u00fc"));
        EXPECT_THROW(set(*fmu, "int32_in", 2147483648.0), fmu_failure);
    }
}

TEST(instance_1, events_in_model_exchange) {
    const auto ball = make_1("bouncing-ball", kind::model_exchange);
    initialise(*ball);
    EXPECT_FALSE(ball->update_discrete_states().again);  // what the initialisation said
    std::vector<double> z(1), x(2);
    ball->get_indicators(z);
    EXPECT_EQ(z[0], 1);
    ball->set_time(0.5);
    ball->set_states(std::vector<double>{-1e-9, -4});
    ball->get_indicators(z);
    EXPECT_LT(z[0], 0);
    ball->enter_event_mode();
    EXPECT_TRUE(ball->update_discrete_states().states_changed);
    ball->enter_continuous_mode();
    ball->get_states(x);
    EXPECT_EQ(x[1], 2.8);

    const auto stairs = make_1("stairs", kind::model_exchange);
    initialise(*stairs);
    EXPECT_EQ(stairs->update_discrete_states().next_event, 0.1);
    stairs->set_time(0.1);
    EXPECT_EQ(stairs->update_discrete_states().next_event, 0.2);
    EXPECT_EQ(get(*stairs, "count"), 1);
}

TEST(instance_1, a_step_that_is_too_long_is_discarded_with_the_time_reached) {
    const auto fmu = make_1("limited-oscillator", kind::co_simulation);
    initialise(*fmu);
    EXPECT_EQ(fmu->do_step(0, 0.005, false).status, status::ok);
    const step_result result = fmu->do_step(0.005, 0.02, false);
    EXPECT_EQ(result.status, status::discard);
    EXPECT_NEAR(result.reached, 0.01, 1e-15);
}

TEST(instance_1, reset_starts_again) {
    for (const kind k : {kind::co_simulation, kind::model_exchange}) {
        const auto fmu = make_1("single-oscillator", k);  // its description allows one per process
        set(*fmu, "x0", 3);
        initialise(*fmu);
        EXPECT_EQ(get(*fmu, "position"), 3);
        fmu->reset();
        initialise(*fmu);
        EXPECT_EQ(get(*fmu, "position"), 0);
    }
}

TEST(instance_1, one_per_process) {
    const auto first = make_1("single-oscillator", kind::co_simulation);
    EXPECT_THROW(make_1("single-oscillator", kind::co_simulation), user_error);
}

TEST(instance_1, an_fmu_knows_its_folder) {
    const auto fmu = make_1("resource", kind::co_simulation);
    initialise(*fmu);
    const auto two = make_2("resource", kind::co_simulation);
    initialise(*two);
    EXPECT_EQ(get(*fmu, "y"), get(*two, "y"));
    EXPECT_NE(get(*fmu, "y"), 0);
}

std::string refusal(const std::string& name, kind k) {
    try {
        make_1(name, k);
    } catch (const user_error& error) {
        return error.what();
    }
    return "made";
}

TEST(instance_1, what_cannot_be_used_is_told) {
    // The FMU logs before it has a component.
    EXPECT_THAT(
        refusal("wrong-token", kind::co_simulation),
        HasSubstr("fmiInstantiateSlave gave no instance (token '{another-model}', model identifier 'wrong_token')."
                  " The FMU says: 'the library's token is {mdpcosim-wrong-token}"));
    EXPECT_THAT(refusal("wrong-token", kind::model_exchange), HasSubstr("fmiInstantiateModel gave no instance"));
    EXPECT_THAT(refusal("missing-function", kind::co_simulation),
                HasSubstr("has no function 'missing_function_fmiDoStep'"));
    EXPECT_THAT(refusal("missing-function", kind::model_exchange),
                HasSubstr("has no function 'missing_function_fmiGetDerivatives'"));
}

TEST(instance_1, misbehaviour_is_told_with_what_the_fmu_logged) {
    std::vector<std::string> log;
    instance_options options;
    options.log = [&](const log_message& m) { log.emplace_back(m.text); };
    const auto fmu = make_1("misbehave", kind::co_simulation, options);
    set(*fmu, {"where", "how"}, {7, 4});  // step, error
    initialise(*fmu);
    try {
        fmu->do_step(0, 0.1, false);
        FAIL() << "no failure";
    } catch (const fmu_failure& failure) {
        EXPECT_THAT(failure.what(), HasSubstr("fmiDoStep returned error. The FMU says: 'as commanded'"));
        EXPECT_FALSE(failure.fatal());
    }
    EXPECT_THAT(log, ElementsAre("as commanded"));
}

}  // namespace
}  // namespace mdpcosim::fmi
