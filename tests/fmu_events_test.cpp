// Events at macro points lead from FMU to FMU at the same point; clocks let triggered clocks of others tick; steps that end early.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <vector>

#include "core/error.hpp"
#include "core/messages.hpp"
#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

namespace mdpcosim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct scene {
    std::string interface;  ///< of all FMUs
    double step, end;
    std::string members, signals, method = "";

    scenario read() const {
        return read_scenario_text(
            fmt::format("time: {{start: 0 s, end: {} s, step: {} s}}\n{}subsystems:\n{}signals:\n{}", end, step, method,
                        members, signals),
            "s.yaml");
    }
};

std::string fmu(const std::string& name, const std::string& of, const std::string& interface,
                const std::string& more = "") {
    return fmt::format("  {}: {{fmu: {}/fmus/{}-3.fmu, interface: {}{}}}\n", name, MDPCOSIM_BINARY_DIR, of, interface,
                       more);
}

/// A level that rises by 0.5 at 0.1 s, 0.2 s ..., through three relays.
scene chain(const std::string& interface, double step, double end) {
    return {interface, step, end,
            // The last of the chain is the first of the scenario.
            fmu("c", "relay", interface) + fmu("b", "relay", interface) + fmu("a", "relay", interface) +
                fmu("s", "stairs", interface),
            "  - s.level -> a.u\n  - a.x -> b.u\n  - b.x -> c.u\n"};
}

class events_of : public testing::TestWithParam<const char*> {};

TEST_P(events_of, one_macro_point_lead_from_fmu_to_fmu_there) {
    simulation all(chain(GetParam(), 0.05, 1).read(), {.workers = 1});
    all.initialise();
    for (int step = 1; step <= 20; ++step) {
        all.step();
        const double level = 0.5 * std::floor(step / 2);
        EXPECT_EQ(all.value("s.level"), level) << step;
        for (const char* x : {"a.x", "b.x", "c.x"}) EXPECT_EQ(all.value(x), level) << x << ' ' << step;
    }
    EXPECT_EQ(all.value("c.changes"), 10);
    EXPECT_NEAR(all.value("c.w"), 2.25, 1e-12);
}

TEST_P(events_of, the_inside_of_a_step_act_at_its_end) {
    constexpr double H = 0.0325, end = 30 * H;  // no macro point at 0.1 s, 0.2 s ...
    simulation all(chain(GetParam(), H, end).read(), {.workers = 1});
    all.initialise();
    all.advance_to(end);
    double w = 0;
    for (int k = 1; k <= 9; ++k) w += 0.5 * (end - H * std::ceil(0.1 * k / H));
    for (const char* r : {"a", "b", "c"}) {
        EXPECT_EQ(all.value(std::string(r) + ".changes"), 9) << r;
        EXPECT_NEAR(all.value(std::string(r) + ".w"), w, 1e-12) << r;
    }
}

TEST_P(events_of, the_start_belong_to_the_inputs_there) {
    scene s = chain(GetParam(), 0.05, 1);
    s.members += "  from: {ode: {outputs: {u: 2}}}\n";
    s.signals = "  - from.u -> a.u\n  - a.x -> b.u\n  - b.x -> c.u\n";
    simulation all(s.read(), {.workers = 1});
    all.initialise();
    EXPECT_EQ(all.value("c.x"), 2);
    all.advance_to(1);
    EXPECT_EQ(all.value("c.changes"), 1);
    EXPECT_NEAR(all.value("c.w"), 2, 1e-12);
}

/// A sampler of ones whose clock ticks every 0.1 s lets a relay take its sum with every third.
scene ticking(const std::string& interface, double step, double end) {
    return {interface, step, end,
            fmu("r", "relay", interface) + fmu("s", "sampler", interface) + "  from: {ode: {outputs: {u: 1}}}\n",
            "  - from.u -> s.u\n  - s.alarm -> r.tick\n  - s.sum -> r.v\n"};
}

TEST_P(events_of, a_clock_let_another_fmu_tick_at_the_same_macro_point) {
    simulation all(ticking(GetParam(), 0.05, 1).read(), {.workers = 1});
    all.initialise();
    std::vector<double> sums;
    for (int step = 1; step <= 20; ++step) {
        all.step();
        sums.push_back(all.value("r.sum"));
    }
    std::vector<double> expected(20, 0.0);
    for (int step = 1; step <= 20; ++step)
        expected[static_cast<std::size_t>(step - 1)] = step >= 16 ? 18 : step >= 10 ? 9 : step >= 4 ? 3 : 0;
    EXPECT_EQ(sums, expected);
    EXPECT_EQ(all.value("r.n"), 3);
    EXPECT_NEAR(all.value("r.z"), 7.2, 1e-9);
}

TEST_P(events_of, a_clock_inside_a_step_let_others_tick_at_its_end) {
    simulation all(ticking(GetParam(), 0.03, 0.99).read(), {.workers = 1});
    all.initialise();
    all.advance_to(0.99);
    EXPECT_EQ(all.value("r.n"), 3);
    EXPECT_EQ(all.value("r.sum"), 18);
    EXPECT_NEAR(all.value("r.z"), 6.84, 1e-9);
}

TEST_P(events_of, a_clock_that_ticks_twice_in_a_step_fail_by_name) {
    simulation all(ticking(GetParam(), 0.6, 0.6).read(), {.workers = 1});
    all.initialise();
    try {
        all.advance_to(0.6);
        ADD_FAILURE() << "nothing failed";
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(),
                    AllOf(HasSubstr("'r'"), HasSubstr("'tick'"), HasSubstr("2 times at once"), HasSubstr("shorter")));
    }
}

TEST_P(events_of, an_event_clock_carry_the_value_of_that_event) {
    scene s = chain(GetParam(), 0.05, 1);
    s.signals = "  - s.level -> a.u\n  - a.tock -> b.tick\n  - a.x -> b.v\n";
    simulation all(s.read(), {.workers = 1});
    all.initialise();
    all.advance_to(1);
    EXPECT_EQ(all.value("b.n"), 10);
    EXPECT_EQ(all.value("b.sum"), 27.5);
    EXPECT_NEAR(all.value("b.z"), 8.25, 1e-9);
}

TEST_P(events_of, steps_that_are_taken_back_are_taken_back) {
    for (const char* method : {"method: iterated\n", "method: semi-implicit\n", "step-control: {rtol: 1e-3}\n"}) {
        SCOPED_TRACE(method);
        scene s = ticking(GetParam(), 0.05, 1);
        s.method = method;
        simulation all(s.read(), {.workers = 1});
        all.initialise();
        all.advance_to(1);
        EXPECT_EQ(all.value("r.n"), 3);
        EXPECT_NEAR(all.value("r.z"), 7.2, 1e-9);
    }
}

TEST_P(events_of, a_loaded_state_go_on) {
    const scenario s = ticking(GetParam(), 0.05, 1).read();
    simulation whole(s, {.workers = 1});
    whole.initialise();
    whole.advance_to(0.5);
    std::stringstream half;
    whole.save(half);
    whole.advance_to(1);
    simulation other(s, {.workers = 1});
    other.load(half);
    other.advance_to(1);
    for (const char* name : {"r.n", "r.sum", "r.z", "s.sum", "s.z"})
        EXPECT_EQ(other.value(name), whole.value(name)) << name;
}

TEST_P(events_of, fmus_that_live_elsewhere_are_the_same) {
    scene s = ticking(GetParam(), 0.05, 1);
    simulation here(s.read(), {.workers = 1});
    here.initialise();
    here.advance_to(1);
    for (const transport_kind transport : {transport_kind::processes, transport_kind::tcp}) {
        simulation there(s.read(), {.workers = 2, .transport = transport});
        there.initialise();
        there.advance_to(1);
        for (const char* name : {"r.n", "r.sum", "r.z", "s.sum", "s.z"})
            EXPECT_EQ(there.value(name), here.value(name)) << name << static_cast<int>(transport);
    }
}

TEST_P(events_of, a_circle_without_an_end_fail_by_name) {
    scene s = chain(GetParam(), 0.05, 1);
    s.signals = "  - b.x -> a.u\n  - 1 - a.x -> b.u\n";
    simulation all(s.read(), {.workers = 1});
    try {
        all.initialise();
        ADD_FAILURE() << "nothing failed";
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(HasSubstr("no end"), HasSubstr("'a'"), HasSubstr("t = 0 s")));
    }
}

INSTANTIATE_TEST_SUITE_P(fmu, events_of, testing::Values("co-simulation", "model-exchange"), [](const auto& of) {
    return std::string(of.param).substr(0, 5) == "model" ? "equations" : "steps";
});

TEST(events_of_mixed_interfaces, lead_to_each_other) {
    scene s = chain("co-simulation", 0.05, 1);
    s.members = fmu("c", "relay", "co-simulation") + fmu("b", "relay", "model-exchange") +
                fmu("a", "relay", "co-simulation") + fmu("s", "stairs", "model-exchange");
    simulation all(s.read(), {.workers = 1});
    all.initialise();
    all.advance_to(1);
    EXPECT_EQ(all.value("c.changes"), 10);
    EXPECT_NEAR(all.value("c.w"), 2.25, 1e-12);
}

void expect_refusal(const scene& s, bool monolithic, const testing::Matcher<std::string>& message) {
    try {
        simulation all(s.read(), {.workers = 1, .monolithic = monolithic});
        all.initialise();
        ADD_FAILURE() << "nothing is refused";
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), message);
    }
}

TEST(triggered_clocks, that_cannot_be_coupled_are_refused) {
    const auto with = [](const std::string& signal, const std::string& interface = "co-simulation") {
        scene s = ticking(interface, 0.05, 1);
        s.signals = "  - " + signal + "\n";
        return s;
    };
    const auto one_clock = AllOf(HasSubstr("s.yaml:7"), HasSubstr("'r.tick'"), HasSubstr("one output clock"));
    expect_refusal(with("from.u -> r.tick"), false, one_clock);
    expect_refusal(with("2*s.alarm -> r.tick"), false, one_clock);
    expect_refusal(with("s.sum -> r.tick"), false, one_clock);
    expect_refusal(with("r.tock -> s.tick"), false,
                   AllOf(HasSubstr("'s.tick'"), HasSubstr("ticks by itself"), HasSubstr("constant")));
    expect_refusal(with("s.alarm -> r.tick", "model-exchange"), true,
                   AllOf(HasSubstr("'r.tick'"), HasSubstr("--monolithic")));
    scene own_steps = with("s.alarm -> r.tick");
    own_steps.method = "method: multirate\n";
    expect_refusal(own_steps, false, AllOf(HasSubstr("'r.tick'"), HasSubstr("'multirate'"), HasSubstr("explicit")));
    // Nothing ticks: the way out is named.
    expect_refusal(with("s.sum -> r.v"), false, AllOf(HasSubstr("'v'"), HasSubstr("a.clock -> r.tick")));
}

scene returning(int how, const std::string& which = "returner") {
    return {
        "co-simulation", 0.05, 1,
        fmu("f", which, "co-simulation", fmt::format(", set: {{how: {}}}", how)) + "  from: {ode: {outputs: {u: 2}}}\n",
        "  - from.u -> f.u\n"};
}

TEST(early_return, goes_on_to_the_end_of_the_macro_step) {
    // Halves down to 1 ms: six returns in each of 20 steps; and the event that the initialisation ends in.
    const std::vector<std::pair<int, int>> manner_and_events{{0, 1}, {1, 1}, {4, 121}, {7, 21}};
    for (const auto& [how, events] : manner_and_events) {
        simulation all(returning(how).read(), {.workers = 1});
        all.initialise();
        for (int step = 1; step <= 20; ++step) {
            all.step();
            EXPECT_NEAR(all.value("f.w"), 0.1 * step, 1e-12) << how;
        }
        EXPECT_EQ(all.value("f.events"), events) << how;
    }
}

void expect_failure(const scene& s, const testing::Matcher<std::string>& message) {
    try {
        simulation all(s.read(), {.workers = 1});
        all.initialise();
        all.advance_to(1);
        ADD_FAILURE() << "nothing failed";
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), message);
    }
}

TEST(early_return, that_cannot_be_is_told) {
    expect_failure(returning(2), AllOf(HasSubstr("returner-3.fmu"), HasSubstr("takes no step")));
    expect_failure(returning(2, "fixed-step-returner"), AllOf(HasSubstr("returns at once"), HasSubstr("0.05 s")));
    expect_failure(returning(5), AllOf(HasSubstr("returned early"), HasSubstr("not in it")));
    expect_failure(returning(6), AllOf(HasSubstr("returned early"), HasSubstr("not in it")));
    std::vector<std::string> told;
    {
        const message_scope listening([&](const std::string& text) { told.push_back(text); });
        simulation all(returning(7, "fixed-step-returner").read(), {.workers = 1});
        all.initialise();
        all.advance_to(1);
        EXPECT_NEAR(all.value("f.w"), 2, 1e-12);
    }
    EXPECT_THAT(told,
                testing::ElementsAre(AllOf(HasSubstr("'f'"), HasSubstr("eventHandlingNeeded"), HasSubstr("0.05 s"))));
}

}  // namespace
}  // namespace mdpcosim
