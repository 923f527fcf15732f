// examples/dragged-blocks against its exact solution; the numbers are those of its README.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "scenario/read.hpp"
#include "simulation/verify.hpp"

namespace mdpcosim {
namespace {

TEST(dragged_blocks_example, is_the_exact_solution) {
    const kept_run run =
        run_in_memory(read_scenario(std::string(MDPCOSIM_SOURCE_DIR) + "/examples/dragged-blocks/scenario.yaml"));
    ASSERT_TRUE(run.done) << run.message;
    const result_table& t = run.table;
    const auto at = [&](std::size_t row, const std::string& name) {
        const auto found = std::ranges::find(t.names, "blocks." + name);
        if (found == t.names.end()) throw std::logic_error("no column " + name);
        return t.value(row, static_cast<std::size_t>(found - t.names.begin()));
    };
    const double v = 0.1, c = 300, m = 3, g = 9.81, omega = std::sqrt(c / m), begin = 0.2 * m * g / (c * v);
    double position = 0, velocity = 0, friction = 0, rest = 0;
    for (std::size_t row = 0; row < t.rows(); ++row) {
        const double tau = std::max(0.0, t.time[row] - begin);
        position =
            std::max(position, std::fabs(at(row, "lower.x.position") - (v * tau - v / omega * std::sin(omega * tau))));
        velocity = std::max(velocity, std::fabs(at(row, "lower.x.velocity") - v * (1 - std::cos(omega * tau))));
        friction = std::max(friction, std::fabs(at(row, "joint.friction")));
        EXPECT_NEAR(at(row, "upper.x.position"), at(row, "lower.x.position"), 1e-12);
        if (at(row, "ball.y.velocity") != 0) rest = t.time[row] + 1e-3;
    }
    fmt::print("errors {:.3g} m, {:.3g} m/s; friction {:.5g} N; rest {:.4g} s\n", position, velocity, friction, rest);
    EXPECT_LT(position, 2e-8);
    EXPECT_LT(velocity, 2e-7);
    EXPECT_NEAR(friction, omega * v, 1e-4);
    EXPECT_NEAR(rest, std::sqrt(2 / g) * 3, 2e-3);
    EXPECT_NEAR(at(t.rows() - 1, "floor.force"), 0.5 * g, 1e-9);
}

}  // namespace
}  // namespace mdpcosim
