#include "core/coherent_units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/common_units.hpp"
#include "core/units.hpp"

namespace mdpcosim {
namespace {

TEST(coherent_units, are_products_of_base_units) {
    int known = 0;
    for (const auto& unit : common_units) {
        if (!unit.coherent()) continue;
        const auto base = coherent_base(unit.name);
        if (!base) continue;
        EXPECT_EQ(*base, unit.base) << unit.name;
        ++known;
    }
    EXPECT_GT(known, 150);
    EXPECT_EQ(coherent_base("(N.m/rad)/s"), "m2.kg.s-3.rad-1");
    EXPECT_EQ(coherent_base("(N/m).(m)"), "m.kg.s-2");
    EXPECT_EQ(coherent_base("1/s"), "s-1");
    EXPECT_EQ(coherent_base("m^2"), "m2");
    EXPECT_EQ(coherent_base("m/m"), "1");
    for (const char* wrong :
         {"", "kN", "furlong", "m..s", "(m", "m)", "m/", "2 m", "m s", "m100", "((((", "-", "^2", "rpm"})
        EXPECT_EQ(coherent_base(wrong), std::nullopt) << wrong;
}

/// This program has no unit library.
TEST(coherent_units, serve_where_there_is_no_library) {
    ASSERT_EQ(unit_library::installed(), nullptr);
    EXPECT_EQ(convert(3, "(N/m).(m)", "N"), 3);
    EXPECT_EQ(convert(3, "kN", "N"), 3000);
    EXPECT_TRUE(units_fit("kg.m2/s3", "W"));
    EXPECT_FALSE(units_fit("kg.m2/s3", "N"));
    EXPECT_EQ(rate_unit("N.m/rad"), "(N.m/rad)/s");
    EXPECT_THROW(convert(1, "furlong", "m"), unit_error);
    EXPECT_THROW(convert(1, "N.Hz", "N.rad/s"), unit_error);
}

}  // namespace
}  // namespace mdpcosim
