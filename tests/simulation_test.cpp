#include "simulation/simulation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/csv.hpp"
#include "scenario/read.hpp"
#include "simulation/row_recorder.hpp"
#include "simulation/run.hpp"
#include "support/row_list.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using test::mistake;
using test::row_list;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string two_masses = R"(time: {end: 1 s, step: 10 ms}
subsystems:
  wheel: {model: mass-spring-damper, set: {mass: 40 kg, stiffness: 200 kN/m}}
  body: {model: mass-spring-damper, set: {mass: 400 kg, x0: 20 mm}}
connections:
  strut: {law: spring-damper, between: [wheel.mass, body.mass], stiffness: 20 kN/m, damping: 1500 N.s/m}
)";

/// One that nothing drives: x' = u.
const std::string free_input = R"(time: {end: 1 s, step: 0.1 s}
subsystems:
  a:
    ode: {states: {x: 0}, inputs: {u: 1}, equations: {x: u}, outputs: {y: {value: x + u}}}
  b:
    ode: {states: {z: 0}, inputs: {v: 0}, equations: {z: v}}
signals: [a.y -> b.v]
)";

simulation made(const std::string& text, const simulation_options& options = {.workers = 1}) {
    return simulation(read_scenario_text(text, "s.yaml"), options);
}

TEST(simulation, is_stepped_and_looked_at) {
    simulation all = made(two_masses);
    EXPECT_EQ(all.time(), 0);
    EXPECT_FALSE(all.done());
    all.initialise();
    EXPECT_EQ(all.value("body.mass.position"), 0.02);
    EXPECT_EQ(all.value("strut.u"), -400);
    const macro_step first = all.step();
    EXPECT_EQ(first.begin, 0);
    EXPECT_EQ(first.end, 0.01);
    EXPECT_EQ(all.time(), 0.01);
    EXPECT_LT(all.value("body.mass.position"), 0.02);
    EXPECT_EQ(all.value("body.mass.force"), all.value("strut.u"));
    EXPECT_EQ(all.value("wheel.mass.force"), -all.value("strut.u"));
    const auto strut = all.find("strut.jump");
    EXPECT_EQ(all.value(strut), all.jumps()[0]);
    all.advance_to(0.5);
    EXPECT_DOUBLE_EQ(all.time(), 0.5);
    all.advance_to(2);
    EXPECT_TRUE(all.done());
    const run_summary summary = all.finish();
    EXPECT_EQ(summary.steps, 100);
    EXPECT_EQ(summary.reached, 1);
    EXPECT_EQ(summary.connections.at(0).name, "strut");
    EXPECT_EQ(summary.connections.at(0).u_end, all.value("strut.u"));
}

TEST(simulation, gives_the_bits_of_a_run) {
    const test::temporary_folder folder;
    for (const char* method : {"explicit", "one-pass", "semi-implicit", "iterated"}) {
        const scenario s = read_scenario_text(two_masses + "method: " + method + "\n", "s.yaml");
        run(s, {.out = folder / "out", .workers = 1});
        simulation all(s, {.workers = 1});
        recorder rows(all.parts().columns, make_csv_sink(folder / "own.csv", all.parts().columns));
        row_recorder recorded(rows, time_grid(0, 1, 0.01), {});
        all.add(recorded);
        all.initialise();
        while (!all.done()) all.step();
        rows.finish();
        EXPECT_EQ(test::content(folder / "own.csv"), test::content(folder / "out" / "results.csv")) << method;
    }
}

TEST(simulation, two_in_one_process_do_not_know_of_each_other) {
    simulation alone = made(two_masses);
    alone.initialise();
    alone.advance_to(1);
    simulation first = made(two_masses), second = made(two_masses + "method: semi-implicit\n");
    first.initialise();
    second.initialise();
    while (!first.done()) {
        first.step();
        second.step();
    }
    EXPECT_EQ(first.value("body.mass.position"), alone.value("body.mass.position"));
    EXPECT_NE(second.value("body.mass.position"), alone.value("body.mass.position"));
}

TEST(simulation, free_inputs_are_set_at_macro_points) {
    simulation all = made(free_input);
    all.initialise();
    EXPECT_EQ(all.value("a.u"), 1);
    all.advance_to(0.5);
    EXPECT_NEAR(all.value("a.x"), 0.5, 1e-12);
    all.set("a.u", 3);
    EXPECT_NEAR(all.value("a.x"), 0.5, 1e-12) << "nothing happens before the next step";
    all.step();
    EXPECT_NEAR(all.value("a.x"), 0.5 + 0.1 * 3, 1e-12);
    EXPECT_NEAR(all.value("a.y"), 0.8 + 3, 1e-12) << "what depends on it at once follows";
    all.advance_to(1);
    EXPECT_NEAR(all.value("a.x"), 0.5 + 0.5 * 3, 1e-12);
}

TEST(simulation, free_inputs_can_be_set_before_the_start) {
    simulation all = made(free_input);
    all.set("a.u", 2);
    all.initialise();
    EXPECT_EQ(all.value("a.y"), 2);
    all.advance_to(1);
    EXPECT_NEAR(all.value("a.x"), 2, 1e-12);
}

TEST(simulation, is_a_reference_on_request) {
    simulation whole = made(two_masses, {.workers = 1, .monolithic = true});
    whole.initialise();
    whole.advance_to(1);
    EXPECT_TRUE(whole.done());
    simulation fine = made(two_masses);
    fine.initialise();
    fine.advance_to(1);
    EXPECT_NEAR(fine.value("body.mass.position"), whole.value("body.mass.position"), 1e-3);
    EXPECT_TRUE(whole.finish().reference);
}

/// An FMU that allows one instance per process would refuse a second one.
TEST(simulation, a_reference_makes_every_subsystem_once) {
    for (const char* version : {"2", "3"}) {
        simulation whole = made(
            fmt::format("time: {{end: 1 s, step: 10 ms}}\nsubsystems:\n  a: {{fmu: '{}/fmus/single-oscillator-{}.fmu', "
                        "interface: model-exchange, set: {{x0: 0.5 m}}}}\n",
                        MDPCOSIM_BINARY_DIR, version),
            {.workers = 1, .monolithic = true});
        whole.initialise();
        whole.advance_to(1);
        EXPECT_TRUE(whole.done()) << version;
    }
}

TEST(simulation, free_inputs_reach_other_processes) {
    std::vector<double> ends;
    for (const auto kind : {transport_kind::threads, transport_kind::processes, transport_kind::tcp}) {
        simulation all = made(free_input, {.workers = 1, .transport = kind});
        all.initialise();
        all.advance_to(0.3);
        all.set("a.u", -2);
        all.advance_to(1);
        ends.push_back(all.value("b.z"));
        EXPECT_NEAR(all.value("a.x"), 0.3 - 0.7 * 2, 1e-12);
    }
    EXPECT_EQ(ends[1], ends[0]);
    EXPECT_EQ(ends[2], ends[0]);
}

TEST(simulation, calls_out_of_order_are_refused_and_change_nothing) {
    simulation all = made(two_masses);
    EXPECT_THAT(mistake([&] { all.step(); }), HasSubstr("step() before initialise()"));
    EXPECT_THAT(mistake([&] { all.advance_to(1); }), HasSubstr("advance_to() before initialise()"));
    EXPECT_THAT(mistake([&] { static_cast<void>(all.value("strut.u")); }), HasSubstr("no value before initialise()"));
    all.initialise();
    EXPECT_THAT(mistake([&] { all.initialise(); }), HasSubstr("initialise() was called before"));
    all.advance_to(0.1);
    EXPECT_THAT(mistake([&] { all.advance_to(0.05); }), HasSubstr("before the present time"));
    EXPECT_THAT(mistake([&] { all.advance_to(std::nan("")); }), HasSubstr("advance_to(nan) is no time"));
    all.advance_to(1);
    EXPECT_THAT(mistake([&] { all.step(); }), HasSubstr("step() after the end, t = 1 s"));
    EXPECT_EQ(all.steps(), 100);
}

TEST(simulation, wrong_addresses_and_values_are_refused) {
    simulation all = made(free_input);
    all.initialise();
    EXPECT_THAT(mistake([&] { static_cast<void>(all.value("a.w")); }), HasSubstr("'a.w'"));
    EXPECT_THAT(mistake([&] { static_cast<void>(all.value("c.x")); }), HasSubstr("subsystem 'c' does not exist"));
    EXPECT_THAT(mistake([&] { all.set("b.v", 1); }), HasSubstr("is driven by the scenario"));
    EXPECT_THAT(mistake([&] { all.set("a.x", 1); }), HasSubstr("a.x"));
    EXPECT_THAT(mistake([&] { all.set("a.u", std::nan("")); }), HasSubstr("cannot be set to nan"));
    simulation fixed = made(free_input, {.workers = 1, .writable = false});
    EXPECT_THAT(mistake([&] { fixed.set("a.u", 1); }), HasSubstr("writable"));
    simulation whole = made(free_input, {.workers = 1, .monolithic = true});
    EXPECT_THAT(mistake([&] { whole.set("a.u", 1); }), HasSubstr("a reference"));
}

TEST(simulation, a_failure_leaves_what_was_before) {
    const std::string text = R"(time: {end: 1 s, step: 0.1 s}
subsystems:
  b: {ode: {states: {z: 1}, equations: {z: "-sqrt(z - 0.55) - 1"}}, solver: {name: rk4, step: 0.1}}
)";
    simulation all = made(text);
    all.initialise();
    EXPECT_THROW(all.advance_to(1), run_error);
    const double reached = all.time();
    EXPECT_LT(reached, 1);
    EXPECT_GT(reached, 0);
    EXPECT_THAT(mistake([&] { all.step(); }), HasSubstr("after a failure"));
    EXPECT_EQ(all.finish().reached, reached);
}

/// Counts what it is told.
struct counting final : observer {
    int starts = 0, commits = 0, rejected = 0, accepted = 0;
    double last = 0;
    void started(const simulation& of) override {
        ++starts;
        last = of.time();
    }
    void attempted(const step_attempt& attempt) override { ++(attempt.accepted ? accepted : rejected); }
    void committed(const simulation& of, const macro_step& step) override {
        EXPECT_EQ(step.begin, last);
        EXPECT_EQ(step.end, of.time());
        last = step.end;
        ++commits;
    }
};

TEST(simulation, observers_see_every_committed_step_and_every_attempt) {
    simulation all = made(two_masses + "step-control: {rtol: 1e-6, atol: 1e-9}\n");
    counting seen;
    all.add(seen);
    all.initialise();
    all.advance_to(1);
    EXPECT_EQ(seen.starts, 1);
    EXPECT_EQ(seen.commits, all.steps());
    EXPECT_EQ(seen.accepted, all.steps());
    EXPECT_GT(seen.rejected, 0);
    EXPECT_EQ(all.finish().control->rejected, seen.rejected);
}

TEST(simulation, rows_stand_on_their_grid_and_at_the_end) {
    for (const auto& [every, times] : std::vector<std::pair<double, std::vector<double>>>{
             {0.5, {0, 0.5, 1}}, {5, {0, 1}}, {0.35, {0, 0.4, 0.7, 1}}}) {
        simulation all = made(free_input);
        std::vector<std::vector<double>> rows;
        recorder recorded(all.parts().columns, std::make_unique<row_list>(rows));
        row_recorder each(recorded, time_grid(0, 1, 0.1), every);
        all.add(each);
        all.initialise();
        all.advance_to(1);
        each.close(all);
        recorded.finish();
        ASSERT_EQ(rows.size(), times.size()) << every;
        for (std::size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(rows[i][0], times[i], 1e-12) << every;
    }
}

/// y_n = n H however many steps there are: times are not added up.
TEST(simulation, time_does_not_drift) {
    simulation all = made(
        "time: {end: 100 s, step: 1 ms}\nsubsystems: {a: {ode: {states: {x: 0}, equations: {x: 1}}, solver: euler}}\n");
    all.initialise();
    for (std::int64_t n = 1; !all.done(); ++n) {
        const macro_step step = all.step();
        ASSERT_EQ(step.end, n == 100000 ? 100 : static_cast<double>(n) * 1e-3);
        ASSERT_EQ(step.counter, n - 1);
    }
    EXPECT_EQ(all.steps(), 100000);
}

TEST(simulation, an_interrupt_ends_a_run_after_the_present_step) {
    const test::temporary_folder folder;
    const std::atomic<bool> interrupt{true};
    const run_summary summary =
        run(read_scenario_text(two_masses, "s.yaml"), {.out = folder / "out", .workers = 1, .interrupt = &interrupt});
    EXPECT_EQ(summary.status, "interrupted");
    EXPECT_EQ(summary.steps, 1);
    EXPECT_EQ(summary.rows, 2);
}

}  // namespace
}  // namespace mdpcosim
