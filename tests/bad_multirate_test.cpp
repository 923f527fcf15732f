// Wrong scenarios: steps of their own, order, delays, options of method multirate.
#include "bad_input.hpp"

namespace mdpcosim {
namespace {

class bad_multirate : public testing::TestWithParam<bad_scenario> {};

TEST_P(bad_multirate, is_refused) { expect_refused(GetParam()); }

/// `what` and `further` of two lags; `a` and `b` are entered at their subsystems.
bad_scenario two(const std::string& name, const std::string& method, const std::string& a, const std::string& b,
                 const std::string& further, std::vector<std::string> message) {
    return {name,
            "time: {end: 1 s, step: 10 ms}\nmethod: " + method + "\nsubsystems:\n  a: {model: lag-1, solver: rk4" + a +
                "}\n  b: {model: lag-1, solver: rk4" + b + "}\n" + further,
            std::move(message)};
}

const std::string loop = "signals: [a.y -> b.u, b.y -> a.u]\n";

bad_scenario sampled(const std::string& name, const std::string& control, const std::string& plant,
                     std::vector<std::string> message) {
    return {name,
            "time: {end: 1 s, step: 20 ms}\nmethod: multirate\nsubsystems:\n  control: {model: pid-sampled, sample: "
            "{time: 60 ms}" +
                control + "}\n  plant: {model: lag-1, solver: rk4" + plant +
                "}\nsignals: [control.y -> plant.u, plant.y -> control.measurement]\n",
            std::move(message)};
}

INSTANTIATE_TEST_SUITE_P(
    entries, bad_multirate,
    testing::Values(
        two("step_zero", "multirate", ", step: |>0 s", "", loop,
            {"subsystem 'a': step: '0 s' must be greater than zero."}),
        two("step_negative", "multirate", "", ", step: |>-1 ms", loop,
            {"subsystem 'b': step: '-1 ms' must be greater"}),
        two("step_unit", "multirate", ", step: |>3 kg", "", loop, {"subsystem 'a': step", "'kg'"}),
        two("step_word", "multirate", ", step: |>soon", "", loop, {"subsystem 'a': step", "'soon'"}),
        two("step_misspelt", "multirate", ", |>stp: 1 ms", "", loop,
            {"key 'stp' is not known.", "Did you mean 'step'?"}),
        two("step_with_another_method", "explicit", ", step: |>1 ms", "", loop,
            {"subsystem 'a': 'step', a communication step of its own, needs 'method: multirate'; the method is "
             "'explicit'."}),
        two("chosen_by_a_fixed_step_solver", "multirate", "", ", step: |>solver", loop,
            {"subsystem 'b': 'step: solver' needs an integrator that chooses its step", "'step: 0.01 s'"}),
        two("order_unknown", "multirate", "", "", loop + "order: [a, |>c]\n",
            {"order: subsystem 'c' does not exist. The scenario has: a, b."}),
        two("order_misses_one", "multirate", "", "", loop + "order: |>[b]\n",
            {"order: all subsystems are named, those are missing: a."}),
        two("order_twice", "multirate", "", "", loop + "order: [a, b, |>a]\n",
            {"order: subsystem 'a' is named twice."}),
        two("order_text", "multirate", "", "", loop + "order: |>a\n", {"order: a list of all subsystems is expected"}),
        two("order_with_another_method", "explicit", "", "", loop + "order: |>[a, b]\n",
            {"'order', who goes first, needs 'method: multirate'; the method is 'explicit'."}),
        two("order_with_another_scheme", "multirate", "", "", loop + "order: |>[a, b]\n",
            {"'order', who goes first, belongs to 'method: {name: multirate, scheme: sequential}'"}),
        two("delay_zero", "multirate", "", "", "signals: [a.y -> b.u, {connect: b.y -> a.u, delay: |>0 ms}]\n",
            {"signal 'b.y -> a.u': delay: '0 ms' must be greater than zero."}),
        two("delay_negative", "multirate", "", "", "signals: [a.y -> b.u, {connect: b.y -> a.u, delay: |>-2 ms}]\n",
            {"signal 'b.y -> a.u': delay: '-2 ms' must be greater than zero."}),
        two("delay_too_long", "multirate", "", "", "signals: [a.y -> b.u, {connect: b.y -> a.u, delay: |>2 s}]\n",
            {"signal 'a.u': delay 2 s must be shorter than the run, which lasts 1 s."}),
        two("delay_with_another_method", "explicit", "", "",
            "signals: [a.y -> b.u, {connect: b.y -> a.u, delay: |>2 ms}]\n",
            {"signal 'a.u': 'delay' needs 'method: multirate'; the method is 'explicit'."}),
        two("unknown_option", "{name: multirate, |>shceme: sequential}", "", "", loop,
            {"method multirate: parameter 'shceme' does not exist", "Did you mean 'scheme'?"}),
        two("unknown_scheme", "{name: multirate, scheme: |>slow-first}", "", "", loop,
            {"'slow-first'", "slowest-first", "fastest-first", "sequential"}),
        two("unknown_order", "{name: multirate, slow-order: |>5}", "", "", loop,
            {"slow-order", "'5'", "0, 1, 2, 3, 4"}),
        two("smoothing_without_the_fast_first", "{name: |>multirate, smoothing: mean}", "", "", loop,
            {"'smoothing: mean'", "Add 'scheme: fastest-first'."}),
        two("controlled_steps", "multirate", "", "", loop + "step-control: |>{rtol: 1e-3}\n",
            {"step-control: method 'multirate' has steps of the subsystems", "'step: solver'"}),
        bad_scenario{"samples_between_steps",
                     "time: {end: 1 s, step: 100 ms}\nmethod: multirate\nsubsystems:\n  control: {model: pid-sampled, "
                     "sample: {time: |>60 ms}, "
                     "step: 25 ms}\n",
                     {"sample time of 0.06 s is no whole multiple of its own step 0.025 s. The nearest allowed: 0.05 s "
                      "and 0.075 s."}},
        bad_scenario{
            "an_algebraic_loop",
            "time: {end: 1 s, step: 100 ms}\nmethod: multirate\niteration: |>{}\nsubsystems:\n"
            "  f: {ode: {inputs: {u: 0}, outputs: {y: u/2 + 1}}}\n  g: {ode: {inputs: {u: 0}, outputs: {y: u}}}\n"
            "signals: [f.y -> g.u, g.y -> f.u]\n",
            {"iteration: method 'multirate' solves no algebraic loops, and there is", "f.y", "Put a 'delay' into it"}},
        sampled("sampled_step_misses_macro_points", ", step: |>15 ms", "",
                {"subsystem 'control' is sampled, and its step, 0.015 s, never meets some of the macro points, which "
                 "lie 0.02 s "
                 "apart. Allowed: 0.02 s divided by a whole number."}),
        sampled("reader_misses_samples", ", step: 20 ms", ", step: |>3 ms",
                {"subsystem 'plant' reads 'control', which is sampled and has the step 0.02 s; its own step, 0.003 s, "
                 "never meets "
                 "some of the samples. Allowed: 0.02 s divided by a whole number."}),
        bad_scenario{"delay_of_what_is_integrated",
                     "time: {end: 1 s, step: 1 ms}\nmethod: multirate\nsubsystems:\n  a: &p {model: hydraulic-line, "
                     "solver: rk4}\n  b: *p\n"
                     "connections:\n  n: {law: node, between: [a.right, b.left], volume: 1e-3, modulus: 1e9, model: "
                     "pressure-dependent, air: 0.05, pressure: "
                     "1 bar, delay: |>1 ms}\n",
                     {"connection 'n': what it integrates or remembers belongs to the present; a 'delay' is for "
                      "signals and for laws without "
                      "memory."}}),
    scenario_name);

TEST(bad_multirate, a_delay_is_no_part_of_a_reference) {
    const scenario s = read_scenario_text(
        "time: {end: 1 s, step: 10 ms}\nmethod: multirate\nsubsystems:\n  a: {model: lag-1}\n  b: {model: lag-1}\n"
        "signals: [a.y -> b.u, {connect: b.y -> a.u, delay: 2 ms}]\n",
        "s.yaml");
    try {
        run(s, {.out = "never.out", .monolithic = true});
        FAIL() << "it was accepted";
    } catch (const user_error& problem) {
        EXPECT_STREQ(problem.what(),
                     "s.yaml:6:52: signal 'a.u': 'delay' cannot be part of one system of equations (--monolithic).");
    }
}

}  // namespace
}  // namespace mdpcosim
