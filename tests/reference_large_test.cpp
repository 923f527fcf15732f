// The reference of systems with many states.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

namespace mdpcosim {
namespace {

/// A chain of masses in parts, without its solver.
std::string chain_in_parts(int parts, int masses_each) {
    std::string text = "time: {end: 0.1 ms, step: 50 us}\nsubsystems:\n";
    for (int p = 0; p < parts; ++p)
        text += fmt::format(
            "  p{}: {{model: chain, set: {{n: {}, first: {}, stiffness: 1e6 N/m, damping: 10 N.s/m, cubic-stiffness: "
            "1e9, "
            "left: {}, right: free, x-amplitude: 1 mm}}}}\n",
            p, masses_each, p * masses_each + 1, p == 0 ? "fixed" : "free");
    text += "connections:\n";
    for (int p = 0; p + 1 < parts; ++p)
        text += fmt::format(
            "  j{0}: {{law: cubic-spring-damper, between: [p{0}.right, p{1}.left], stiffness: 1e6 N/m, damping: 10 "
            "N.s/m, "
            "cubic-stiffness: 1e9}}\n",
            p, p + 1);
    return text + "record: {only: [\"*.v*\"]}\n";
}

struct ended {
    std::vector<double> y;
    std::int64_t evaluations;
};

ended reference_of(const std::string& text, const std::string& solver) {
    const scenario s = read_scenario_text(text + "reference: {solver: " + solver + "}\n", "chain");
    simulation all(s, {.workers = 1, .monolithic = true, .writable = false});
    all.initialise();
    while (!all.done()) all.step();
    const run_summary summary = all.finish();
    return {{all.outputs().begin(), all.outputs().end()}, summary.subsystems.front().evaluations};
}

/// 1352 states: a Jacobian by differences of one state after the other would ask 1352 times for the right-hand side.
TEST(reference_of_many_states, is_sparse_where_its_solver_is_implicit) {
    const std::string text = chain_in_parts(13, 52);
    const ended sparse = reference_of(text, "{name: cvode-bdf, rtol: 1e-8, atol: 1e-11}");
    const ended plain = reference_of(text, "{name: erk-8, rtol: 1e-11, atol: 1e-14}");
    EXPECT_LT(sparse.evaluations, 1352);
    double largest = 0, off = 0;
    for (std::size_t i = 0; i < plain.y.size(); ++i) {
        largest = std::max(largest, std::fabs(plain.y[i]));
        off = std::max(off, std::fabs(sparse.y[i] - plain.y[i]));
    }
    EXPECT_LT(off, 1e-5 * largest);
}

}  // namespace
}  // namespace mdpcosim
