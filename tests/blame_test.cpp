// Numbers that nobody can compute with: the message names the signal or connection that carried them and the outputs it is made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/mdpcosim.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string failure(const std::string& system) {
    const test::temporary_folder folder;
    const run_summary s =
        run(read_scenario_text("time: {end: 2 s, step: 10 ms}\n" + system, "s.yaml"), {folder / "out", 1});
    EXPECT_EQ(s.status, "failed");
    EXPECT_LT(s.message.size(), 2000u);
    return s.message;
}

const std::string sink = "  sink: {ode: {inputs: {u: 0}, states: {z: 0}, equations: {z: u - z}}}\n";

TEST(blame, a_signal_that_grows_without_bound) {
    EXPECT_THAT(failure("subsystems:\n  source: {ode: {outputs: {y: exp(800*t)}}}\n" + sink +
                        "signals: [source.y -> sink.u]\n"),
                AllOf(HasSubstr("signal to 'sink.u'"), ContainsRegex("is 1.85763e.302 at t = 0.87 s, made of "
                                                                     "'source.y' = 1.85763e.302, rate 1.4861e.305")));
}

TEST(blame, a_sum_and_a_factor_that_overflow) {
    const std::string large = "subsystems:\n  a: {ode: {outputs: {y: 1e308*t}}}\n  b: {ode: {outputs: {y: 1e308*t}}}\n";
    EXPECT_THAT(
        failure(large + sink + "signals: [a.y + b.y -> sink.u]\n"),
        ContainsRegex("^signal to 'sink.u' is 0 with the rate inf at t = 0 s, made of 'a.y' = 4.88281e.302, rate "
                      "1e.308; 'b.y' = 4.88281e.302, rate 1e.308. Therefore: subsystem 'sink' failed at t = 0 s"));
    EXPECT_THAT(failure(large + sink + "signals: [10*a.y -> sink.u]\n"),
                ContainsRegex("^signal to 'sink.u' is 0 with the rate inf at t = 0 s, made of 'a.y' = 4.88281e.302"));
    for (const char* method : {"iterated", "semi-implicit", "one-pass"})
        EXPECT_THAT(
            failure(std::string("method: ") + method + "\n" + large + sink + "signals: [a.y + b.y -> sink.u]\n"),
            ContainsRegex("^signal to 'sink.u' is .* at t = 0 s, made of 'a.y' = .*; 'b.y' = "));
}

/// No number is infinite, but the squares in the solver's error norm are.
TEST(blame, a_value_that_is_too_large_for_the_reader) {
    EXPECT_THAT(
        failure("subsystems:\n  a: {ode: {outputs: {y: 1.5e308*t}}}\n" + sink + "signals: [a.y -> sink.u]\n"),
        ContainsRegex("^signal to 'sink.u' is 0 with the rate 1.5e.308 at t = 0 s, made of 'a.y' = 7.32422e.302"));
}

TEST(blame, a_connection_names_its_ports) {
    EXPECT_THAT(failure("subsystems:\n  a: {ode: {inputs: {F: 0 N}, outputs: {x: {value: 1e305*t, unit: m}}}, ports: "
                        "{p: {kind: translation, position: x, force: F}}}\n  m: {model: mass-spring-damper}\n"
                        "connections:\n  k: {law: spring, between: [a.p, m.mass], stiffness: 1e6 N/m}\n"),
                ContainsRegex("^connection 'k' is 0 with the rate inf at t = 0 s, made of 'a.x' = .*, rate 1e.305; "
                              "'m.mass.position' = 0, rate 0. Therefore: subsystem 'm' failed"));
}

TEST(blame, who_has_no_inputs_failed_by_itself) {
    EXPECT_THAT(failure("subsystems:\n  source: {ode: {states: {x: 1}, equations: {x: x*x}, outputs: {y: x}}}\n" +
                        sink + "signals: [source.y -> sink.u]\n"),
                AllOf(HasSubstr("subsystem 'source' failed at t = "), Not(HasSubstr("signal to 'sink.u'"))));
}

}  // namespace
}  // namespace mdpcosim
