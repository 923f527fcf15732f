#include "core/units.hpp"
#include "core/common_units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <set>

#include <cmath>
#include <numbers>

namespace mdpcosim {
namespace {

using std::numbers::pi;
using testing::HasSubstr;

std::string refusal(double value, std::string_view from, std::string_view to) {
    try {
        convert(value, from, to);
    } catch (const unit_error& problem) {
        return problem.message();
    }
    return "accepted";
}

TEST(parse_quantity, splits_number_and_unit) {
    const auto q = parse_quantity("  6.3e4 N.m/rad ");
    ASSERT_TRUE(q);
    EXPECT_EQ(q->value, 6.3e4);
    EXPECT_EQ(q->unit, "N.m/rad");
    EXPECT_EQ(parse_quantity("20us")->unit, "us");
    EXPECT_EQ(parse_quantity("+3")->value, 3);
    EXPECT_EQ(parse_quantity("-.5 m")->value, -0.5);
    EXPECT_EQ(parse_quantity("2eV")->unit, "eV");
    EXPECT_EQ(parse_quantity("7")->unit, "");
}

TEST(parse_quantity, takes_only_what_begins_with_a_finite_number) {
    for (const char* text : {"", " ", "m", "nan", "inf", "-inf s", "1e400", "- 3", "+-3", ".", "e5", "$c"})
        EXPECT_FALSE(parse_quantity(text)) << text;
}

TEST(convert, decimal_prefixes_give_the_nearest_double) {
    EXPECT_EQ(convert(20, "us", "s"), 2e-5);
    EXPECT_EQ(convert(200, "us", "s"), 2e-4);
    EXPECT_EQ(convert(3, "ms", "s"), 3e-3);
    EXPECT_EQ(convert(0.1, "ms", "s"), 1e-4);
    EXPECT_EQ(convert(7, "ns", "s"), 7e-9);
    EXPECT_EQ(convert(50, "mm", "m"), 0.05);
    EXPECT_EQ(convert(2, "kN/m", "N/m"), 2000);
    EXPECT_EQ(convert(1.7, "km", "m"), 1700);
    EXPECT_EQ(convert(1, "min", "s"), 60);
    EXPECT_EQ(convert(90, "km/h", "m/s"), 25);
}

TEST(convert, angles_and_speeds) {
    EXPECT_DOUBLE_EQ(convert(3, "rpm", "rad/s"), 3 * 2 * pi / 60);
    EXPECT_DOUBLE_EQ(convert(3000, "rpm", "rad/s"), 100 * pi);
    EXPECT_DOUBLE_EQ(convert(180, "deg", "rad"), pi);
    EXPECT_DOUBLE_EQ(convert(2, "rev", "rad"), 4 * pi);
    EXPECT_DOUBLE_EQ(convert(90, "deg/s", "rad/s"), pi / 2);
    EXPECT_DOUBLE_EQ(convert(1, "N.m/deg", "N.m/rad"), 180 / pi);
}

TEST(convert, temperatures_have_another_zero) {
    EXPECT_DOUBLE_EQ(convert(20, "degC", "K"), 293.15);
    EXPECT_DOUBLE_EQ(convert(-273.15, "degC", "K"), 0);
    EXPECT_NEAR(convert(212, "degF", "degC"), 100, 1e-9);
    EXPECT_DOUBLE_EQ(find_conversion("degC", "K").offset, 273.15);
    EXPECT_DOUBLE_EQ(find_conversion("degC", "K").factor, 1);
}

TEST(convert, bare_numbers_and_unknown_targets_stay) {
    EXPECT_EQ(convert(1.5, "", "kg"), 1.5);
    EXPECT_EQ(convert(1.5, "kg", ""), 1.5);
    EXPECT_EQ(convert(1.5, "kg", "kg"), 1.5);
    EXPECT_EQ(convert(1.5, "1", "1"), 1.5);
}

TEST(convert, refuses_other_dimensions_and_says_both_units) {
    EXPECT_EQ(refusal(1, "kg", "m"), "unit 'kg' does not fit 'm'");
    EXPECT_EQ(refusal(1, "N.m", "N"), "unit 'N.m' does not fit 'N'");
}

TEST(convert, refuses_reciprocals) {
    EXPECT_EQ(refusal(1, "Hz", "s"), "unit 'Hz' does not fit 's'");
    EXPECT_EQ(refusal(1, "kHz", "ms"), "unit 'kHz' does not fit 'ms'");
    EXPECT_EQ(refusal(1, "m/N", "N/m"), "unit 'm/N' does not fit 'N/m'");
    EXPECT_FALSE(units_fit("mm/N", "N/m"));
}

TEST(convert, refuses_cycles_for_angles) {
    for (const auto& [from, to] : {std::pair{"Hz", "rad/s"}, {"rad/s", "Hz"}, {"rpm", "Hz"}, {"kHz", "deg/s"}}) {
        const std::string message = refusal(1, from, to);
        EXPECT_THAT(message, HasSubstr("factor 2 pi")) << from << " to " << to;
        EXPECT_THAT(message, HasSubstr(std::string("write the value in '") + to));
    }
    EXPECT_EQ(convert(2, "kHz", "Hz"), 2000);
    EXPECT_EQ(convert(2, "1/s", "Hz"), 2);
}

TEST(convert, refuses_units_that_do_not_exist) {
    for (const char* unit :
         {"furlongg", "Nm", "m/", "kg..m", "*", ",5", "§", "2", "000", "0.5", "-3", "2 m", "kg.m)", "(m", "m)(s"})
        EXPECT_THAT(refusal(1, unit, "m"), HasSubstr(std::string("unit '") + unit + "' is not known")) << unit;
}

TEST(units_fit, unknown_units_fit_everything) {
    EXPECT_TRUE(units_fit("", "kg"));
    EXPECT_TRUE(units_fit("g", "kg"));
    EXPECT_FALSE(units_fit("m", "kg"));
    EXPECT_FALSE(units_fit("nonsense", "kg"));
}

TEST(unit_product, can_be_read_again) {
    EXPECT_TRUE(units_fit(unit_product("N/m", "m"), "N"));
    EXPECT_TRUE(units_fit(unit_product("kN/mm", "mm"), "N"));
    EXPECT_EQ(unit_product("", "m"), "");
}

TEST(si_unit, names_what_engineers_write) {
    EXPECT_EQ(si_unit("kN"), "N");
    EXPECT_EQ(si_unit("deg"), "rad");
    EXPECT_EQ(si_unit("rpm"), "rad/s");
    EXPECT_EQ(si_unit("kN.m"), "N.m");
    EXPECT_EQ(si_unit("kJ"), "J");
    EXPECT_EQ(si_unit("degC"), "K");
    EXPECT_EQ(si_unit("us"), "s");
    EXPECT_EQ(si_unit("kg.m2"), "kg.m2");
    EXPECT_EQ(si_unit(""), "");
    EXPECT_THROW(si_unit("nonsense"), unit_error);
    EXPECT_THROW(si_unit("lg(re 1 mW)"), unit_error);
}

TEST(rate_unit, is_per_second) {
    EXPECT_EQ(rate_unit("rad"), "rad/s");
    EXPECT_EQ(rate_unit("m/s"), "m/s2");
    EXPECT_EQ(rate_unit("N"), "N/s");
    EXPECT_EQ(rate_unit(""), "");
    EXPECT_TRUE(units_fit(rate_unit("kg.m2"), "kg.m2/s"));
}

/// What is known without the unit library is what the library says, to the last bit.
TEST(common_units, are_those_of_the_unit_library) {
    const auto expect_same = [](const conversion& a, const conversion& b, std::string_view from, std::string_view to) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(a.factor), std::bit_cast<std::uint64_t>(b.factor)) << from << ' ' << to;
        EXPECT_EQ(std::bit_cast<std::uint64_t>(a.offset), std::bit_cast<std::uint64_t>(b.offset)) << from << ' ' << to;
    };
    std::set<std::string_view> names;
    int pairs = 0;
    for (const auto& unit : common_units) {
        EXPECT_TRUE(names.insert(unit.name).second) << unit.name << " stands there twice";
        EXPECT_EQ(unit_library::installed()->base_units(unit.name), unit.base) << unit.name;
        expect_same({unit.factor, unit.offset}, unit_library::installed()->find_conversion(unit.name, unit.base),
                    unit.name, unit.base);
        for (const auto& other : common_units) {
            if (unit.base != other.base || !other.coherent() || &unit == &other) continue;
            ++pairs;
            expect_same(find_conversion(unit.name, other.name),
                        unit_library::installed()->find_conversion(unit.name, other.name), unit.name, other.name);
        }
    }
    EXPECT_GT(pairs, 200);
}

TEST(common_units, leave_what_they_do_not_know_to_the_unit_library) {
    EXPECT_EQ(find_common_unit("furlong"), nullptr);
    EXPECT_DOUBLE_EQ(convert(1, "inch", "mm"), 25.4);
    EXPECT_DOUBLE_EQ(convert(1, "cm", "mm"), 10);
    EXPECT_THROW(convert(1, "Hz", "rad/s"), unit_error);
    EXPECT_THROW(convert(1, "s", "Hz"), unit_error);
    EXPECT_THROW(convert(1, "N", "m"), unit_error);
}

}  // namespace
}  // namespace mdpcosim
