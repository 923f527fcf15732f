// FMUs through co-simulation: against exact solutions, with events, with steps they cannot take, with every type.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/messages.hpp"
#include "fmu/component.hpp"
#include "fmu/test/fmu_spec.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {
namespace {

using test::settings;
using test::spec_of_fmu;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr double pi = std::numbers::pi;

/// A subsystem on a grid of macro steps, its inputs held at their start values unless changed.
class stepped {
   public:
    explicit stepped(const subsystem_spec& spec, double t0 = 0) : object(make_subsystem(spec)), t(t0) {
        const auto& d = object->describe();
        for (const auto& v : d.inputs) {
            inputs.emplace_back().c[0] = v.start;
            u.push_back(v.start);
        }
        y.resize(d.outputs.size());
        object->initialise(t0);
        object->outputs(u, y);
    }

    void step(double H) {
        object->advance({t, t + H, n_++}, inputs, y);
        t += H;
    }

    int slot(const std::string& name, bool input = false) const {
        const auto& d = object->describe();
        if (input) {
            for (const auto& v : d.inputs)
                if (v.name == name) return v.slot;
        } else {
            for (const auto& v : d.outputs)
                if (v.name == name) return v.slot;
        }
        throw std::invalid_argument(name);
    }
    double value(const std::string& name) const { return y[static_cast<std::size_t>(slot(name))]; }
    polynomial& input(const std::string& name) { return inputs[static_cast<std::size_t>(slot(name, true))]; }

    std::unique_ptr<subsystem> object;
    std::vector<polynomial> inputs;
    std::vector<double> u, y;
    double t;

   private:
    std::int64_t n_ = 0;
};

std::string failure(const subsystem_spec& spec, double H = 0.1, int steps = 10) {
    try {
        stepped run(spec);
        for (int n = 0; n < steps; ++n) run.step(H);
    } catch (const run_error& problem) {
        return problem.what();
    }
    return "no failure";
}

class both_versions : public testing::TestWithParam<std::string> {
   protected:
    static std::string fmu(const std::string& name) { return name + "-" + GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(fmi, both_versions, testing::Values("2", "3"), [](const auto& p) { return "v" + p.param; });

TEST_P(both_versions, an_oscillator_follows_the_exact_solution) {
    stepped run(spec_of_fmu(fmu("oscillator"), {{"m", "2 kg"}, {"c", "200 N/m"}, {"x0", "10 mm"}}));
    EXPECT_EQ(run.value("position"), 0.01);
    for (int n = 0; n < 100; ++n) {
        run.step(0.01);
        ASSERT_NEAR(run.value("position"), 0.01 * std::cos(10 * run.t), 1e-9);
        ASSERT_NEAR(run.value("velocity"), -0.1 * std::sin(10 * run.t), 1e-8);
        ASSERT_NEAR(run.value("acceleration"), -std::cos(10 * run.t), 1e-7);
    }
    EXPECT_EQ(run.object->statistics().micro_steps, 100);
}

/// A force that grows with time makes x = (t - sin(w t)/w) k/c exactly; the FMU sees the polynomial, not its mean.
TEST_P(both_versions, polynomial_inputs_reach_the_fmu) {
    stepped run(spec_of_fmu(fmu("oscillator"), {{"c", "100 N/m"}}));
    run.input("force").degree = 1;
    for (int n = 0; n < 20; ++n) {
        run.input("force").c = {3 * run.t, 3};
        run.step(0.05);
        ASSERT_NEAR(run.value("position"), 0.03 * (run.t - std::sin(10 * run.t) / 10), 1e-8);
    }
}

TEST_P(both_versions, units_are_si_outside) {
    stepped run(spec_of_fmu(fmu("workshop"), {{"J", "2 kg.m2"}, {"phi0", "90 deg"}, {"n0", "600 rpm"}}));
    EXPECT_NEAR(run.value("shaft.phi"), pi / 2, 1e-15);
    EXPECT_NEAR(run.value("shaft.n"), 20 * pi, 1e-13);
    run.input("shaft.tau").c[0] = 500;
    run.step(0.1);
    EXPECT_NEAR(run.value("shaft.n"), 20 * pi + 25, 1e-10);
    EXPECT_NEAR(run.value("shaft.phi"), pi / 2 + 2 * pi + 1.25, 1e-10);
}

TEST_P(both_versions, impacts_of_a_ball_are_found_inside_the_step) {
    stepped run(spec_of_fmu(fmu("bouncing-ball"), {{"e", "0.5"}}));
    const double fall = std::sqrt(2 / 9.81), speed = 9.81 * fall;
    while (run.t < 1.5 - 1e-9) {
        run.step(0.1);
        // Impact k is at fall + 2 fall (e + ... + e^k), the speed after it e^(k+1) times that of the first.
        double impact = fall, after = 0.5 * speed;
        int impacts = 0;
        for (; impact <= run.t && after > 0.1; after /= 2, ++impacts) {
            const double s = run.t - impact;
            if (impact + 2 * after / 9.81 > run.t) {
                ASSERT_NEAR(run.value("h"), s * (after - 9.81 * s / 2), 1e-12);
            }
            impact += 2 * after / 9.81;
        }
        if (impact > run.t) {
            ASSERT_EQ(run.value("impacts"), impacts) << run.t;
        }
    }
    EXPECT_EQ(run.value("resting"), 1);
    EXPECT_EQ(run.value("impacts"), 6);
    EXPECT_EQ(run.object->statistics().events, GetParam() == "3" ? 6 : 0) << "FMI 2.0 keeps its events to itself";
}

TEST_P(both_versions, time_events_are_not_lost) {
    stepped run(spec_of_fmu(fmu("stairs"), {{"period", "0.15 s"}}));
    for (int n = 1; n <= 20; ++n) {
        run.step(0.1);
        const int expected = static_cast<int>(std::floor(0.1 * n / 0.15 + 1e-9));
        ASSERT_EQ(run.value("count"), expected) << run.t;
        ASSERT_EQ(run.value("level"), 0.5 * expected);
    }
}

/// Longer than the FMU takes at once: discard with the time reached in 2.0, early return in 3.0.
TEST_P(both_versions, steps_that_are_too_long_are_done_in_parts) {
    const settings set{{"c", "100 N/m"}, {"x0", "1 m"}};
    stepped run(spec_of_fmu(fmu("limited-oscillator"), set));
    for (int n = 0; n < 10; ++n) {
        run.step(0.02);
        ASSERT_NEAR(run.value("position"), std::cos(10 * run.t), 1e-8);
    }
    EXPECT_EQ(run.object->statistics().micro_steps, 40);
    EXPECT_EQ(run.object->statistics().rejected, GetParam() == "2" ? 30 : 0);
}

TEST_P(both_versions, fixed_steps_are_explained) {
    stepped run(spec_of_fmu(fmu("fixed-step-oscillator")));
    run.step(0.02);
    try {
        run.step(0.01);
        FAIL();
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(StartsWith("fmu fixed-step-oscillator-"), HasSubstr("at t = 0.02 s"),
                                          HasSubstr("DoStep returned error")));
    }
}

TEST(fmu_step, must_fit_the_fixed_internal_one) {
    const subsystem_spec spec = spec_of_fmu("fixed-step-oscillator-3");
    EXPECT_NO_THROW(on_macro_grid(spec, 0.003));
    try {
        on_macro_grid(spec, 0.0025);
        FAIL();
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(StartsWith("s.yaml:5:13: subsystem 'a': fmu '"),
                                          HasSubstr("fixed steps of 0.001 s, and the macro step 0.0025 s is no whole "
                                                    "multiple of it. The nearest allowed: 0.002 s and 0.003 s.")));
    }
    EXPECT_THROW(on_macro_grid(spec, 0.0005), user_error);
}

TEST_P(both_versions, values_of_every_type_pass) {
    subsystem_spec spec =
        spec_of_fmu(fmu("feedthrough"), {{"gain", "2"}, {"int32_in", "7"}, {"enumeration_in", "middle"}});
    stepped run(spec);
    EXPECT_EQ(run.value("int32_out"), 7);
    EXPECT_EQ(run.value("enumeration_out"), 2);
    run.input("u").c[0] = 0.1;
    run.input("int32_in").c[0] = -1e9;
    run.input("boolean_in").c[0] = 1;
    run.input("enumeration_in").c[0] = 3;
    const std::vector<std::pair<std::string, double>> more{{"float32", 0.25},  {"int8", -128},    {"uint8", 255},
                                                           {"int16", -32768},  {"uint16", 65535}, {"uint32", 4e9},
                                                           {"int64", -0x1p53}, {"uint64", 0x1p53}};
    if (GetParam() == "3")
        for (const auto& [type, value] : more) run.input(type + "_in").c[0] = value;
    run.step(0.1);
    EXPECT_EQ(run.value("y"), 0.2);
    EXPECT_EQ(run.value("int32_out"), -1e9);
    EXPECT_EQ(run.value("boolean_out"), 1);
    EXPECT_EQ(run.value("enumeration_out"), 3);
    if (GetParam() == "3") {
        for (const auto& [type, value] : more) {
            EXPECT_EQ(run.value(type + "_out"), value) << type;
        }
    }
    run.input("int32_in").c[0] = 2.6;
    run.step(0.1);
    EXPECT_EQ(run.value("int32_out"), 3);
    run.input("int32_in").c[0] = 1e12;
    try {
        run.step(0.1);
        FAIL();
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("the value 1000000000000 does not fit the type Int32"));
    }
}

TEST_P(both_versions, texts_are_set) {
    const subsystem_spec spec = spec_of_fmu(fmu("feedthrough"), {{"text", "grüne Äpfel, 12 kg"}});
    fmu_component component(spec, read_fmu(spec));
    component.enter_initialisation(0, 1);
    const int text = component.model().description().index_of("text");
    EXPECT_THAT(component.instance().get_texts(text), ElementsAre("grüne Äpfel, 12 kg"));
}

TEST(fmu_arrays, structural_parameters_change_the_size) {
    subsystem_spec spec = spec_of_fmu("state-space-3", {{"n", "3"}, {"r", "2"}});
    const auto list = [](const std::string& name, std::vector<std::string> values) {
        setting s{name, {}, {}, true};
        for (const auto& v : values) s.values.push_back({v, {}});
        return s;
    };
    spec.set.push_back(list("A", {"-1", "0", "0", "0", "-2", "0", "0", "0", "-3"}));
    spec.set.push_back(list("B", {"0", "0", "0", "0", "0", "1"}));
    spec.set.push_back(list("C", {"1", "0", "0", "0", "1", "1"}));
    spec.set.push_back(list("x0", {"1", "2", "4"}));
    stepped run(spec);
    run.input("u[1]").c[0] = 3;
    for (int n = 0; n < 10; ++n) run.step(0.1);
    EXPECT_NEAR(run.value("y[0]"), std::exp(-1.0), 1e-9);
    EXPECT_NEAR(run.value("y[1]"), 2 * std::exp(-2.0) + 4 * std::exp(-3.0) + (1 - std::exp(-3.0)), 1e-9);
}

TEST_P(both_versions, output_derivatives_are_rates) {
    stepped run(spec_of_fmu(fmu("gauge"), {{"k", "3 1/s"}, {"gain", "2"}}));
    const auto& y = run.object->describe().outputs.at(0);
    ASSERT_GE(y.rate_slot, 0);
    EXPECT_FALSE(y.rate_needs_input);
    for (int n = 0; n < 10; ++n) {
        const double shown = 2 * pi / 180 * std::exp(-3 * run.t);
        ASSERT_NEAR(run.value("y"), shown, 1e-9);
        ASSERT_NEAR(run.value("der(y)"), -3 * shown, 1e-9);
        run.step(0.1);
    }
}

TEST(fmu_start, start_time_reaches_the_fmu) {
    stepped run(spec_of_fmu("stairs-3"), 0.35);
    run.step(0.1);
    EXPECT_EQ(run.value("count"), 4) << "events that lie before the start are made up for";
}

TEST_P(both_versions, every_failure_names_fmu_call_and_time) {
    const auto message = [&](const std::string& where, const std::string& how, const std::string& when = "0.25 s") {
        return failure(spec_of_fmu(fmu("misbehave"), {{"where", where}, {"how", how}, {"when", when}}));
    };
    const std::string who = "fmu misbehave-" + GetParam() + ".fmu at t = ";
    for (const char* how : {"error", "fatal", "throw", "throw-int", "unknown-status"})
        EXPECT_THAT(message("step", how), AllOf(StartsWith(who), HasSubstr("DoStep"))) << how;
    EXPECT_THAT(message("step", "error"), HasSubstr(who + "0.3"));
    EXPECT_THAT(message("set", "error", "0 s"), AllOf(StartsWith(who + "0 s: "), HasSubstr("Set")));
    EXPECT_THAT(message("get", "error"), AllOf(StartsWith(who), HasSubstr("Get")));
    EXPECT_THAT(message("get", "discard"), AllOf(StartsWith(who), HasSubstr("returned discard")));
    EXPECT_THAT(message("enter-initialization", "error", "0 s"), AllOf(StartsWith(who + "0 s: ")));
    EXPECT_THAT(message("exit-initialization", "error", "0 s"), AllOf(StartsWith(who + "0 s: ")));
    EXPECT_THAT(message("step", "discard"), AllOf(StartsWith(who), HasSubstr("takes no step, not even one of"),
                                                  HasSubstr("must be a whole multiple or part of that")));
    EXPECT_EQ(message("step", "warning"), "no failure");
    EXPECT_EQ(message("step", "log-format-without-arguments"), "no failure");
    EXPECT_EQ(message("nowhere", "nothing"), "no failure");
}

TEST_P(both_versions, a_failure_to_save_names_the_call) {
    stepped run(spec_of_fmu(fmu("misbehave"), {{"where", "save"}, {"how", "error"}}));
    try {
        const auto snapshot = run.object->make_snapshot();
        run.object->save(*snapshot);
        FAIL();
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(StartsWith("fmu misbehave-"), HasSubstr("GetFMU")));
    }
}

/// As FMUs do that divide by the length of their last step.
TEST(fmu_rates, that_an_fmu_does_not_know_before_its_first_step_are_zero) {
    std::vector<std::string> told;
    const message_scope listening([&](const std::string& text) { told.push_back(text); });
    stepped run(spec_of_fmu("late-rate-gauge-2", {{"k", "3 1/s"}}));
    EXPECT_EQ(run.value("der(y)"), 0);
    EXPECT_THAT(told, ElementsAre(AllOf(HasSubstr("late-rate-gauge-2.fmu"),
                                        HasSubstr("it gives inf for the rate 'der(y)' before its first step"))));
    const auto start = run.object->make_snapshot();
    run.object->save(*start);
    run.step(0.1);
    EXPECT_NEAR(run.value("der(y)"), -3 * pi / 180 * std::exp(-0.3), 1e-9);
    run.object->restore(*start);
    run.object->outputs(run.u, run.y);
    EXPECT_EQ(run.value("der(y)"), 0);
    EXPECT_EQ(told.size(), 1);
}

TEST(fmu_solver, is_refused_in_co_simulation) {
    subsystem_spec spec = spec_of_fmu("oscillator-2");
    spec.solver.name = {"rk4", {"s.yaml", 6, 13}};
    try {
        make_subsystem(spec);
        FAIL();
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(StartsWith("s.yaml:6:13: subsystem 'a': 'solver' is not allowed"),
                                          HasSubstr("interface: model-exchange")));
    }
}

}  // namespace
}  // namespace mdpcosim
