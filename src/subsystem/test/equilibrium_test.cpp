// `initial: equilibrium`: rests in closed form, what is kept on the way, what has none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "scenario/read.hpp"
#include "subsystem/equilibrium.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

subsystem_spec entry(const std::string& body) {
    return read_scenario_text("time: {end: 1, step: 0.1}\nsubsystems:\n  a:\n" + body, "s.yaml").subsystems.at(0);
}

std::unique_ptr<subsystem> started(const std::string& body) {
    auto s = make_subsystem(entry(body + "    initial: equilibrium\n"));
    s->initialise(0);
    return s;
}

/// The states, which are the first outputs of an ode.
std::vector<double> outputs_of(subsystem& s, const std::vector<double>& u = {}) {
    std::vector<double> y(static_cast<std::size_t>(s.describe().output_count()));
    s.outputs(u, y);
    return y;
}

/// A cubic spring under a force, without damping, from far away; then it stays there.
TEST(equilibrium, of_a_spring_under_its_first_input) {
    const auto s = started(
        "    ode:\n      states: {x: 3, v: -2}\n      inputs: {F: 0}\n      equations: {x: v, v: F - 8*x - x^3}\n      "
        "outputs: {y: x}\n");
    std::vector<double> y = outputs_of(*s, {24});
    EXPECT_NEAR(y[0], 2, 1e-7);
    std::vector<polynomial> inputs(1);
    inputs[0].c[0] = 24;
    s->advance({0, 0.1, 0}, inputs, y);
    EXPECT_NEAR(y[0], 2, 1e-7);
}

/// a + b is kept, so that of the line of equilibria a = b^2 the one is found that belongs to the start: a + b = 6, b = 2.
TEST(equilibrium, keeps_what_the_equations_keep) {
    const auto s = started(
        "    ode:\n      states: {a: 1, b: 5}\n      equations: {a: 1e5*(b^2 - a), b: 1e5*(a - b^2)}\n      outputs: "
        "{y: b}\n");
    const std::vector<double> y = outputs_of(*s);
    EXPECT_NEAR(y[0], 4, 1e-9);
    EXPECT_NEAR(y[1], 2, 1e-9);
}

TEST(equilibrium, that_is_none_is_told) {
    const auto s = started("    ode:\n      states: {x: 0, v: 0}\n      equations: {x: v, v: 1}\n");
    try {
        ADD_FAILURE() << outputs_of(*s)[0];
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(HasSubstr("no equilibrium was found"), HasSubstr("still changes by"),
                                          HasSubstr("leave 'initial' out")));
    }
}

}  // namespace
}  // namespace mdpcosim
