#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/units.hpp"
#include "coupling/test/spring_pair.hpp"

namespace mdpcosim {
namespace {

using test::make_law;

/// du/dt by central differences along q(t) = q + v t.
double rate_by_differences(const law& l, double q, double v) {
    const double h = 1e-6;
    return (l.evaluate(q + v * h, v).u - l.evaluate(q - v * h, v).u) / (2 * h);
}

TEST(laws, are_registered_with_fitting_units) {
    EXPECT_THAT(law_registry::instance().names(),
                testing::IsSupersetOf({"cubic-spring-damper", "gear", "spring", "spring-damper", "stop"}));
    for (const char* name : {"cubic-spring-damper", "gear", "spring", "spring-damper", "stop"}) {
        const law_info& l = *law_registry::instance().find(name);
        for (const auto& p : l.parameters) {
            EXPECT_TRUE(units_fit(unit_for(port_kind::translation, p.unit), unit_for(port_kind::translation, p.unit)));
            if (p.name == "stiffness") {
                EXPECT_TRUE(units_fit("N/mm", unit_for(port_kind::translation, p.unit)));
                EXPECT_DOUBLE_EQ(convert(1, "N.m/deg", unit_for(port_kind::rotation, p.unit)), 180 / std::acos(-1.0));
            }
            if (p.name == "damping") {
                EXPECT_DOUBLE_EQ(convert(1, "N.s/mm", unit_for(port_kind::translation, p.unit)), 1e3);
                EXPECT_DOUBLE_EQ(convert(1, "N.m.s/rad", unit_for(port_kind::rotation, p.unit)), 1);
            }
            if (p.name == "cubic-stiffness") {
                EXPECT_NEAR(convert(1, "N/mm3", unit_for(port_kind::translation, p.unit)), 1e9, 1);
            }
            if (p.name == "cubic-damping") {
                EXPECT_DOUBLE_EQ(convert(1, "N/(m/s)^3", unit_for(port_kind::translation, p.unit)), 1);
            }
        }
    }
}

TEST(laws, spring_has_value_and_rate) {
    const auto l = make_law("spring", {{"stiffness", 200}, {"length", 0.5}});
    EXPECT_FALSE(l->needs_velocity());
    EXPECT_TRUE(l->has_rate());
    EXPECT_DOUBLE_EQ(l->evaluate(0.75, 3).u, 50);
    EXPECT_DOUBLE_EQ(l->evaluate(0.75, 3).rate, 600);
    EXPECT_DOUBLE_EQ(l->evaluate(0.5, 3).u, 0);
    EXPECT_NEAR(l->evaluate(0.75, 3).rate, rate_by_differences(*l, 0.75, 3), 1e-6);
}

TEST(laws, spring_damper_has_a_rate_without_damping_only) {
    const auto damped = make_law("spring-damper", {{"stiffness", 200}, {"damping", 10}, {"length", 0.1}});
    EXPECT_TRUE(damped->needs_velocity());
    EXPECT_FALSE(damped->has_rate());
    EXPECT_DOUBLE_EQ(damped->evaluate(0.6, -2).u, 200 * 0.5 - 20);
    const auto undamped = make_law("spring-damper", {{"stiffness", 200}, {"damping", 0}});
    EXPECT_FALSE(undamped->needs_velocity());
    EXPECT_TRUE(undamped->has_rate());
    EXPECT_DOUBLE_EQ(undamped->evaluate(0.5, -2).u, 100);
    EXPECT_NEAR(undamped->evaluate(0.5, -2).rate, rate_by_differences(*undamped, 0.5, -2), 1e-6);
}

TEST(laws, cubic_spring_damper_is_the_coupling_condition_of_the_chain) {
    const double c = 100, d = 3, c3 = 700, d3 = 0.2;
    const auto l = make_law("cubic-spring-damper",
                            {{"stiffness", c}, {"damping", d}, {"cubic-stiffness", c3}, {"cubic-damping", d3}});
    EXPECT_TRUE(l->needs_velocity());
    // The paper's lambda with x_R - x_L, v_R - v_L; the left body (first port) receives +lambda = -u.
    const double x_L = 0.3, v_L = 1.5, x_R = -0.1, v_R = 2.75;
    const double x = x_R - x_L, v = v_R - v_L;
    const double lambda = c * x + d * v + c3 * x * x * x + d3 * v * v * v;
    EXPECT_NEAR(-l->evaluate(x_L - x_R, v_L - v_R).u, lambda, 1e-12);

    const auto elastic = make_law("cubic-spring-damper", {{"stiffness", c}, {"cubic-stiffness", c3}});
    EXPECT_TRUE(elastic->has_rate());
    EXPECT_NEAR(elastic->evaluate(0.4, 1.25).rate, rate_by_differences(*elastic, 0.4, 1.25), 1e-5);
    EXPECT_DOUBLE_EQ(elastic->evaluate(-0.4, 0).u, -elastic->evaluate(0.4, 0).u);
}

TEST(laws, stop_is_free_between_its_limits_and_never_pulls) {
    const auto l = make_law("stop", {{"stiffness", 1000}, {"damping", 50}, {"lower", -0.1}, {"upper", 0.2}});
    EXPECT_TRUE(l->needs_velocity());
    for (const double v : {-3.0, 0.0, 3.0})
        for (const double q : {-0.1, 0.0, 0.2}) EXPECT_EQ(l->evaluate(q, v).u, 0);
    EXPECT_DOUBLE_EQ(l->evaluate(0.25, 1).u, 1000 * (0.25 - 0.2) + 50);
    EXPECT_DOUBLE_EQ(l->evaluate(-0.15, -1).u, 1000 * (-0.15 + 0.1) - 50);
    for (double q = -0.5; q <= 0.5; q += 0.01)
        for (double v = -20; v <= 20; v += 0.5) {
            const double u = l->evaluate(q, v).u;
            EXPECT_TRUE(q <= 0.2 || u >= 0) << q << ' ' << v;
            EXPECT_TRUE(q >= -0.1 || u <= 0) << q << ' ' << v;
        }
}

TEST(laws, stop_without_damping_has_a_rate) {
    const auto l = make_law("stop", {{"stiffness", 1000}, {"upper", 0.2}});
    EXPECT_TRUE(l->has_rate());
    EXPECT_EQ(l->evaluate(-1e6, 1).u, 0) << "no lower limit";
    for (const double q : {-0.3, 0.1, 0.4})
        EXPECT_NEAR(l->evaluate(q, 2).rate, rate_by_differences(*l, q, 2), 1e-4) << q;
}

/// Wherever u or its slope jumps along a line in q and v, a corner changes its sign.
TEST(laws, corners_are_where_the_slope_jumps) {
    struct setting {
        const char* name;
        std::map<std::string, double> values;
        int corners;
    };
    const setting all[] = {
        {"stop", {{"stiffness", 100}, {"lower", -0.3}, {"upper", 0.2}}, 2},
        {"stop", {{"stiffness", 100}, {"damping", 20}, {"lower", -0.3}, {"upper", 0.2}}, 4},
        {"gear", {{"ratio", 2}, {"stiffness", 100}, {"backlash", 0.25}}, 2},
        {"gear", {{"ratio", 2}, {"stiffness", 100}, {"damping", 20}, {"backlash", 0.25}}, 4},
        {"gear", {{"ratio", 2}, {"stiffness", 100}, {"damping", 20}}, 0},
        {"spring-damper", {{"stiffness", 100}, {"damping", 20}}, 0},
    };
    for (const auto& s : all) {
        const law_info* info = law_registry::instance().find(s.name);
        parameter_values values(info->parameters);
        for (const auto& [parameter, value] : s.values) values.set(parameter, {value});
        const auto l = info->make(values);
        ASSERT_EQ(l->corner_count(), s.corners) << s.name;
        for (const double v0 : {-3.0, -0.5, 0.7, 4.0}) {
            const auto at = [&](double p) { return std::pair(-1 + 2 * p, v0 * (1 - 1.5 * p)); };
            const auto signs = [&](double p) {
                std::vector<double> z(static_cast<std::size_t>(s.corners));
                l->corners(at(p).first, at(p).second, z.data());
                std::vector<bool> positive;
                for (const double value : z) positive.push_back(value > 0);
                return positive;
            };
            const auto slope = [&](double p) { return l->slope(at(p).first, at(p).second); };
            for (int k = 0; k < 2000; ++k) {
                const double p = (k + 0.37) / 2000, next = (k + 1.37) / 2000;
                const bool jumps = slope(p).c != slope(next).c || slope(p).d != slope(next).d;
                if (jumps) {
                    EXPECT_NE(signs(p), signs(next)) << s.name << " q = " << at(p).first << " v = " << at(p).second;
                }
            }
        }
    }
}

TEST(laws, stop_refuses_crossed_and_missing_limits) {
    EXPECT_THROW(make_law("stop", {{"stiffness", 1}, {"lower", 1}, {"upper", -1}}), std::invalid_argument);
    EXPECT_THROW(make_law("stop", {{"stiffness", 1}}), std::invalid_argument);
}

TEST(laws, two_ports_receive_opposite_loads) {
    const auto roles = two_port_roles();
    ASSERT_EQ(roles.size(), 2u);
    EXPECT_EQ(roles[0].weight, 1);
    EXPECT_EQ(roles[0].factor, -1);
    EXPECT_EQ(roles[1].weight, -1);
    EXPECT_EQ(roles[1].factor, 1);
}

TEST(laws, gear_conserves_power) {
    const law_info& info = *law_registry::instance().find("gear");
    for (const double ratio : {3.0, -0.4}) {
        parameter_values values(info.parameters);
        values.set("ratio", {ratio});
        values.set("stiffness", {500});
        const auto l = info.make(values);
        const auto roles = info.roles(values);
        const double x_1 = 0.3, v_1 = 1.7, x_2 = -0.2, v_2 = 0.9;
        const double q = roles[0].weight * x_1 + roles[1].weight * x_2;
        const double v = roles[0].weight * v_1 + roles[1].weight * v_2;
        EXPECT_DOUBLE_EQ(q, x_1 - ratio * x_2);
        const double u = l->evaluate(q, v).u;
        // Power into both ports plus the growth of the spring's energy c q^2/2 is zero.
        EXPECT_NEAR(roles[0].factor * u * v_1 + roles[1].factor * u * v_2 + 500 * q * v, 0, 1e-9);
        EXPECT_NEAR(l->evaluate(q, v).rate, rate_by_differences(*l, q, v), 1e-5);
        // Rigid motion: what leaves one port enters the other.
        EXPECT_NEAR(roles[0].factor * u * (ratio * v_2) + roles[1].factor * u * v_2, 0, 1e-12);
    }
}

TEST(laws, gear_has_a_dead_zone_and_flanks_that_never_pull) {
    const auto l = make_law("gear", {{"ratio", 2}, {"stiffness", 500}, {"damping", 20}, {"backlash", 0.01}});
    EXPECT_TRUE(l->needs_velocity());
    EXPECT_EQ(l->evaluate(0.01, 5).u, 0);
    EXPECT_EQ(l->evaluate(-0.01, 5).u, 0);
    EXPECT_DOUBLE_EQ(l->evaluate(0.03, 1).u, 500 * (0.03 - 0.01) + 20);
    EXPECT_EQ(l->evaluate(0.03, -100).u, 0);
    EXPECT_EQ(l->evaluate(-0.03, 100).u, 0);
    const auto tight = make_law("gear", {{"ratio", 2}, {"stiffness", 500}, {"damping", 20}});
    EXPECT_DOUBLE_EQ(tight->evaluate(0.03, -100).u, 15 - 2000);
}

}  // namespace
}  // namespace mdpcosim
