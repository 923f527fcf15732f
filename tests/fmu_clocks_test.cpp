// Clocks of FMUs tick at their times, whatever the macro step, in both interfaces.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "core/error.hpp"
#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

namespace mdpcosim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

scenario sampled(const std::string& fmu, const std::string& interface, double step, double end,
                 const std::string& u = "1", const std::string& more = "", const std::string& method = "") {
    return read_scenario_text(fmt::format("time: {{start: 0 s, end: {} s, step: {} s}}\n{}subsystems:\n"
                                          "  from: {{ode: {{outputs: {{u: {}}}}}}}\n"
                                          "  s: {{fmu: {}/fmus/{}-3.fmu, interface: {}{}}}\n"
                                          "signals: [from.u -> s.u]\n",
                                          end, step, method, u, MDPCOSIM_BINARY_DIR, fmu, interface, more),
                              "s.yaml");
}

class clocks_of : public testing::TestWithParam<const char*> {
   protected:
    /// Co-simulation, and for model exchange also one system.
    static std::vector<bool> monolithic() {
        return std::string(GetParam()) == "model-exchange" ? std::vector{false, true} : std::vector{false};
    }
};

/// Ticks at the given times, with u = 1: what they leave at the end, which is no tick.
void expect_ticks(const char* fmu, const char* interface, double step, double end, const std::vector<double>& ticks,
                  const std::string& more, bool monolithic, const std::string& method = "") {
    SCOPED_TRACE(fmt::format("{} {} step {} monolithic {} {}", fmu, interface, step, monolithic, method));
    simulation all(sampled(fmu, interface, step, end, "1", more, method), {.workers = 1, .monolithic = monolithic});
    all.initialise();
    all.advance_to(end);
    double z = 0;
    for (const double t : ticks) z += end - t;
    EXPECT_EQ(all.value("s.n"), static_cast<double>(ticks.size()));
    EXPECT_EQ(all.value("s.sum"), static_cast<double>(ticks.size()));
    EXPECT_NEAR(all.value("s.z"), z, 1e-9);
}

TEST_P(clocks_of, tick_at_their_times_between_macro_points_too) {
    const std::vector<double> even{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
    const std::vector<double> late{0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95};
    std::vector<double> sevens, growing{0}, counted(even.begin() + 1, even.end());
    for (int k = 0; k < 15; ++k) sevens.push_back(0.07 * k);
    for (double T = 0.11; growing.back() + T < 0.99; T += 0.01) growing.push_back(growing.back() + T);
    for (const double step : {0.03, 0.33, 0.99})
        for (const bool one_system : monolithic()) {
            expect_ticks("sampler", GetParam(), step, 0.99, even, "", one_system);
            expect_ticks("late-sampler", GetParam(), step, 0.99, late, "", one_system);
            expect_ticks("fixed-sampler", GetParam(), step, 0.99, sevens, ", set: {period: 0.07}", one_system);
            expect_ticks("tunable-sampler", GetParam(), step, 0.99, sevens, ", set: {period: 0.07}", one_system);
            expect_ticks("changing-sampler", GetParam(), step, 0.99, growing, "", one_system);
            expect_ticks("countdown-sampler", GetParam(), step, 0.99, counted, "", one_system);
        }
}

TEST_P(clocks_of, tick_once_where_steps_are_taken_back) {
    const std::vector<double> even{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
    for (const char* method : {"method: iterated\n", "method: semi-implicit\n"})
        expect_ticks("sampler", GetParam(), 0.03, 0.99, even, "", false, method);
    expect_ticks("sampler", GetParam(), 0.03, 0.99, even, "", false, "step-control: {rtol: 1e-3}\n");
}

TEST_P(clocks_of, inputs_come_in_at_ticks_with_the_values_of_that_time) {
    for (const bool one_system : monolithic()) {
        simulation all(sampled("sampler", GetParam(), 0.05, 1, "5 + t"), {.workers = 1, .monolithic = one_system});
        all.initialise();
        if (!one_system) {
            EXPECT_EQ(all.value("s.y"), 5) << "the first tick is at the start";
        }
        double sum = 0;
        for (int step = 1; step <= 20; ++step) {
            all.step();
            if (step % 2 != 0) {
                sum += 5 + 0.05 * (step - 1);
                EXPECT_NEAR(all.value("s.sum"), sum, 1e-12) << step;
            } else {
                EXPECT_NEAR(all.value("s.y"), sum + 5 + 0.05 * step, 1e-12) << step;
            }
        }
    }
}

TEST_P(clocks_of, the_fmu_are_outputs) {
    simulation all(sampled("sampler", GetParam(), 0.05, 1), {.workers = 1});
    all.initialise();
    std::vector<int> alarms;
    for (int step = 1; step <= 20; ++step) {
        all.step();
        if (all.value("s.alarm") == 1) alarms.push_back(step);
    }
    // The third, sixth and ninth tick, at 0.2 s, 0.5 s and 0.8 s, act at the begin of the steps to 0.25 s, 0.55 s and 0.85 s.
    EXPECT_EQ(alarms, (std::vector{5, 11, 17}));
}

TEST_P(clocks_of, go_on_after_a_saved_state_was_loaded) {
    const scenario s = sampled("changing-sampler", GetParam(), 0.03, 0.99, "5 + t");
    simulation whole(s, {.workers = 1});
    whole.initialise();
    whole.advance_to(0.48);
    std::stringstream half;
    whole.save(half);
    whole.advance_to(0.99);
    simulation other(s, {.workers = 1});
    other.load(half);
    other.advance_to(0.99);
    for (const char* name : {"s.n", "s.sum", "s.z", "s.y"}) EXPECT_EQ(other.value(name), whole.value(name)) << name;
}

INSTANTIATE_TEST_SUITE_P(fmu, clocks_of, testing::Values("co-simulation", "model-exchange"), [](const auto& of) {
    return std::string(of.param).substr(0, 5) == "model" ? "equations" : "steps";
});

void expect_refusal(const scenario& s, const testing::Matcher<std::string>& message) {
    try {
        simulation all(s, {.workers = 1});
        all.initialise();
        ADD_FAILURE() << "nothing is refused";
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), message);
    }
}

TEST(clocks, without_an_interval_fail_by_name) {
    for (const char* interface : {"co-simulation", "model-exchange"})
        for (const char* period : {"0", "-1", "1e-15"}) {
            simulation all(
                sampled("fixed-sampler", interface, 0.05, 1, "1", fmt::format(", set: {{period: {}}}", period)),
                {.workers = 1});
            try {
                all.initialise();
                ADD_FAILURE() << "nothing failed";
            } catch (const run_error& problem) {
                EXPECT_THAT(problem.what(),
                            AllOf(HasSubstr("fixed-sampler-3.fmu"), HasSubstr("'tick' (fixed)"), HasSubstr(period)));
            }
        }
}

TEST(clocks_that_nobody_drives, are_refused_where_an_input_waits_for_them) {
    expect_refusal(
        sampled("triggered-sampler", "co-simulation", 0.1, 1),
        AllOf(HasSubstr("triggered-sampler-3.fmu"), HasSubstr("'u'"), HasSubstr("tick"), HasSubstr("triggered")));
    expect_refusal(sampled("sampler-without-events", "co-simulation", 0.1, 1),
                   AllOf(HasSubstr("'u'"), HasSubstr("hasEventMode"), HasSubstr("'interface: model-exchange'")));
    expect_refusal(sampled("fixed-step-sampler", "co-simulation", 0.03, 0.99),
                   AllOf(HasSubstr("'tick'"), HasSubstr("every 0.1 s"), HasSubstr("0.03 s"), HasSubstr("divides")));
    simulation fits(sampled("fixed-step-sampler", "co-simulation", 0.05, 1), {.workers = 1});
    fits.initialise();
    fits.advance_to(1);
    EXPECT_EQ(fits.value("s.n"), 10);
}

}  // namespace
}  // namespace mdpcosim
