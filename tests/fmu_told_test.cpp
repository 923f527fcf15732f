// What an FMU is told before and during a run, and when: an FMU that bears witness of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

namespace mdpcosim {
namespace {

struct witnessed {
    const char *version, *interface;
};
void PrintTo(const witnessed& w, std::ostream* out) { *out << "fmi" << w.version << '_' << w.interface; }

class told : public testing::TestWithParam<witnessed> {
   protected:
    /// The witness with u = 5 + t and k = 7, from 0.5 s on 8.
    static scenario with(const std::string& method = "", const std::string& more = "") {
        return read_scenario_text(
            fmt::format("time: {{start: 0 s, end: 1.3 s, step: 0.1 s}}\n{}subsystems:\n"
                        "  from: {{ode: {{outputs: {{u: 5 + t}}}}}}\n"
                        "  counts: {{ode: {{states: {{k: 7}}, equations: {{k: 0}}, events: [{{when: t - 0.45, set: "
                        "{{k: 8}}}}], "
                        "outputs: {{k: k}}}}}}\n"
                        "  w: {{fmu: {}/fmus/witness-{}.fmu, interface: {}{}}}\n"
                        "signals: [from.u -> w.u, counts.k -> w.k]\n",
                        method, MDPCOSIM_BINARY_DIR, GetParam().version, GetParam().interface, more),
            "s.yaml");
    }
    static bool equations() { return std::string(GetParam().interface) == "model-exchange"; }
};

TEST_P(told, start_values_stay_as_they_were_set) {
    simulation all(with("", ", set: {gain: 0.2}"), {.workers = 1});
    all.initialise();
    EXPECT_EQ(all.value("w.y"), 0.2 * 5);
    all.step();
    EXPECT_DOUBLE_EQ(all.value("w.y"), 0.2 * 5.1);
}

TEST_P(told, the_stop_time_is_that_of_the_run) {
    for (const bool monolithic : {false, true}) {
        if (monolithic && !equations()) continue;
        simulation all(with(), {.workers = 1, .monolithic = monolithic});
        all.initialise();
        EXPECT_EQ(all.value("w.stop"), 1.3);
        all.advance_to(1.3);
        EXPECT_EQ(all.time(), 1.3);
    }
}

TEST_P(told, steps_are_kept_only_where_the_run_may_go_back) {
    const auto keeps = [](const scenario& s, bool writable) {
        simulation all(s, {.workers = 1, .writable = writable});
        all.initialise();
        all.step();
        return all.value("w.keeps");
    };
    EXPECT_EQ(keeps(with(), false), 0);
    EXPECT_EQ(keeps(with(), true), 1) << "whoever has the simulation may load a state";
    EXPECT_EQ(keeps(with("method: iterated\n"), false), 1);
    EXPECT_EQ(keeps(with("step-control: {rtol: 1e-3}\n"), false), 1);
}

TEST_P(told, the_initial_state_belongs_to_the_inputs_of_others) {
    for (const char* method : {"", "method: iterated\n", "method: semi-implicit\n", "step-control: {rtol: 1e-3}\n"})
        for (const bool monolithic : {false, true}) {
            if (monolithic && !equations()) continue;
            simulation all(with(method), {.workers = 1, .monolithic = monolithic});
            all.initialise();
            EXPECT_EQ(all.value("w.x"), 5) << method;
            all.advance_to(1.3);
            EXPECT_EQ(all.value("w.x"), 5) << method;
        }
}

TEST_P(told, discrete_inputs_act_where_they_change) {
    simulation all(with(), {.workers = 1});
    all.initialise();
    EXPECT_EQ(all.value("w.d"), 70) << "at the start";
    while (!all.done()) {
        all.step();
        EXPECT_EQ(all.value("w.d"), 10 * all.value("counts.k")) << all.time();
    }
    EXPECT_EQ(all.value("w.d"), 80);
}

TEST_P(told, a_state_saved_between_steps_goes_on_bitwise) {
    simulation all(with(), {.workers = 1});
    all.initialise();
    all.advance_to(0.5);
    std::stringstream state;
    all.save(state);
    const auto to_the_end = [](simulation& of) {
        of.advance_to(1.3);
        return std::vector{of.value("w.x"), of.value("w.y"), of.value("w.d")};
    };
    simulation other(with(), {.workers = 1});
    other.load(state);
    EXPECT_EQ(to_the_end(other), to_the_end(all));
}

INSTANTIATE_TEST_SUITE_P(fmus, told,
                         testing::Values(witnessed{"2", "co-simulation"}, witnessed{"2", "model-exchange"},
                                         witnessed{"3", "co-simulation"}, witnessed{"3", "model-exchange"}));

}  // namespace
}  // namespace mdpcosim
