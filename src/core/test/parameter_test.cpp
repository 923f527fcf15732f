#include "core/parameter.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "core/port_kind.hpp"

namespace mdpcosim {
namespace {

std::vector<parameter_info> declared() {
    std::vector<parameter_info> infos(3);
    infos[0].name = "mass";
    infos[0].default_value = 2;
    infos[1].name = "x0";
    infos[1].list = true;
    infos[2].name = "shape";
    infos[2].choices = {"sine", "step"};
    infos[2].default_value = 1;
    return infos;
}

TEST(parameter_values, start_with_the_defaults) {
    const auto infos = declared();
    const parameter_values values(infos);
    EXPECT_EQ(values["mass"], 2);
    EXPECT_EQ(values["x0"], 0);
    EXPECT_EQ(values["shape"], 1);
    EXPECT_EQ(values.list("x0"), std::vector<double>{0});
    EXPECT_FALSE(values.given("mass"));
}

TEST(parameter_values, keep_what_is_set) {
    const auto infos = declared();
    parameter_values values(infos);
    values.set("x0", {1, 2, 3});
    values.set("mass", {5});
    EXPECT_EQ(values.list("x0"), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(values["x0"], 1);
    EXPECT_EQ(values["mass"], 5);
    EXPECT_TRUE(values.given("mass"));
    EXPECT_FALSE(values.given("shape"));
}

TEST(parameter_values, an_undeclared_name_is_a_mistake_of_the_program) {
    const auto infos = declared();
    parameter_values values(infos);
    EXPECT_THROW(values["Mass"], std::logic_error);
    EXPECT_THROW(values.set("length", {1}), std::logic_error);
}

TEST(port_kind, is_found_by_its_name) {
    for (const auto& kind : port_kinds()) {
        EXPECT_EQ(find_port_kind(kind.name), kind.kind);
        EXPECT_EQ(&info(kind.kind), &kind);
    }
    EXPECT_FALSE(find_port_kind("rotational"));
}

TEST(port_kind, puts_its_units_into_patterns) {
    EXPECT_EQ(unit_for(port_kind::translation, "{load}/{motion}"), "N/m");
    EXPECT_EQ(unit_for(port_kind::rotation, "{load}/{motion}"), "N.m/rad");
    EXPECT_EQ(unit_for(port_kind::rotation, "{load}.s3/{motion}3"), "N.m.s3/rad3");
    EXPECT_EQ(unit_for(port_kind::hydraulic, "{rate}"), "m3/s");
    EXPECT_EQ(unit_for(port_kind::translation, "1"), "1");
}

}  // namespace
}  // namespace mdpcosim
