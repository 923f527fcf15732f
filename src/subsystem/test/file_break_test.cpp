#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "subsystem/factory.hpp"
#include "subsystem/file_curves.hpp"
#include "subsystem/source.hpp"

/// Recorded data as equations: rows are time events, exactly where the values change sides.
namespace mdpcosim {
namespace {

using curves = sampled_curves;
constexpr double infinity = std::numeric_limits<double>::infinity();

curves made(std::vector<double> time, std::vector<double> values, curves::interpolation between,
            curves::outside beyond) {
    return curves({.names = {"y"}, .units = {"1"}, .time = std::move(time), .values = std::move(values)}, between,
                  beyond);
}

double value(const curves& c, double t) {
    double y = NAN, rate = NAN;
    c.evaluate(t, &y, &rate);
    return y;
}

/// Times n/10, which no binary number is: at every break the value changes between two neighbouring doubles.
TEST(file_breaks, values_change_exactly_there) {
    std::vector<double> time, values;
    for (int n = 0; n <= 50; ++n) {
        time.push_back(0.1 * n - 2);
        values.push_back(n);
    }
    for (const auto beyond : {curves::outside::hold, curves::outside::repeat}) {
        const curves c = made(time, values, curves::interpolation::hold, beyond);
        double t = -5;
        int breaks = 0;
        for (; breaks < 200; ++breaks) {
            const double next = c.next_break(t);
            if (next == infinity) break;
            ASSERT_GT(next, t);
            const double rows = (next + 2) / 0.1;
            ASSERT_NEAR(rows, std::round(rows), 1e-9) << "break " << breaks << " at " << next;
            const double before = std::nextafter(next, -infinity);
            if (next > -2 + 1e-9 || beyond == curves::outside::repeat) {
                ASSERT_NE(value(c, before), value(c, next)) << next;
                ASSERT_EQ(value(c, before), value(c, (t + next) / 2)) << next;
            }
            t = next;
        }
        EXPECT_EQ(breaks, beyond == curves::outside::hold ? 51 : 200);
    }
}

TEST(file_breaks, a_jump_is_one_break) {
    const curves c = made({0, 1, 1, 3}, {0, 1, 5, 5}, curves::interpolation::linear, curves::outside::hold);
    EXPECT_EQ(c.next_break(-1), 0);
    const double jump = c.next_break(0);
    EXPECT_NEAR(jump, 1, 1e-14);
    EXPECT_NEAR(value(c, std::nextafter(jump, 0)), 1, 1e-14);
    EXPECT_EQ(value(c, jump), 5);
    EXPECT_NEAR(c.next_break(jump), 3, 1e-14);
    EXPECT_NEAR(c.next_break(1), 3, 1e-14);
    EXPECT_EQ(c.next_break(3), infinity);
}

TEST(file_breaks, a_single_row_has_one) {
    const curves c = made({2}, {7}, curves::interpolation::linear, curves::outside::hold);
    EXPECT_NEAR(c.next_break(0), 2, 1e-14);
    EXPECT_EQ(c.next_break(2), infinity);
}

TEST(equations_of_subsystems, what_shows_none_is_refused_by_name) {
    subsystem_spec spec;
    spec.name = "engine";
    spec.kind = subsystem_spec::source_kind::program;
    const source_registration program{{.name = "program"}};
    spec.source.value = "Engine.fmu";
    try {
        make_equations(spec);
        FAIL() << "no failure";
    } catch (const user_error& problem) {
        EXPECT_NE(std::string(problem.what()).find("subsystem 'engine' (Engine.fmu) brings its own solver"),
                  std::string::npos)
            << problem.what();
    }
}

}  // namespace
}  // namespace mdpcosim
