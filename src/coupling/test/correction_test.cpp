#include "coupling/correction.hpp"

#include <gtest/gtest.h>

#include <array>

namespace mdpcosim {
namespace {

TEST(correction, constants_on_a_constant_grid) {
    constexpr std::array history{0.0, -1.0, -2.0, -3.0};
    const std::array<correction_constants, 3> outer{{{1.0 / 3, 1.0 / 2}, {3.0 / 4, 5.0 / 6}, {38.0 / 45, 9.0 / 10}}},
        inner{{{-2.0 / 3, -1.0 / 2}, {-1.0 / 4, -1.0 / 6}, {-7.0 / 45, -1.0 / 10}}};
    for (int n = 0; n < 3; ++n) {
        const auto e = extrapolation_constants(history, n), i = interpolation_constants(history, n);
        EXPECT_NEAR(e.value, outer[n].value, 1e-14) << n;
        EXPECT_NEAR(e.rate, outer[n].rate, 1e-14) << n;
        EXPECT_NEAR(i.value, inner[n].value, 1e-14) << n;
        EXPECT_NEAR(i.rate, inner[n].rate, 1e-14) << n;
    }
}

/// u = s^2 on the line through its values at 0 and -0.5: the error s^2 + s/2 over one step, and what the corrected line, s, adds
/// to it.
TEST(correction, constants_on_another_grid) {
    constexpr std::array history{0.0, -0.5};
    const auto e = extrapolation_constants(history, 1);
    EXPECT_NEAR(e.rate, (1.0 / 3 + 1.0 / 4) / (1.5 / 2), 1e-14);
    EXPECT_NEAR(e.value, (1.0 / 12 + 1.0 / 12) / (1.5 / 6), 1e-14);
}

}  // namespace
}  // namespace mdpcosim
