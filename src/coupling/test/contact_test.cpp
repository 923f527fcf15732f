#include "coupling/contact.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "coupling/test/spring_pair.hpp"

/// Contacts over a macro step, against what energy says.
namespace mdpcosim {
namespace {

using test::make_law;

TEST(contact, the_mean_on_a_way_is_the_change_of_energy) {
    const auto l = make_law("stop", {{"stiffness", 1000}, {"lower", -0.1}, {"upper", 0.2}});
    const auto energy = [](double q) {
        const double d = q > 0.2 ? q - 0.2 : q < -0.1 ? q + 0.1 : 0;
        return 500 * d * d;
    };
    for (const double q : {-0.4, -0.1, 0.0, 0.19, 0.5})
        for (const double by : {-0.9, -0.05, 0.02, 0.7})
            EXPECT_NEAR(mean_on_way(*l, q, by, 1) * by, energy(q + by) - energy(q), 1e-11) << q << ' ' << by;
    EXPECT_EQ(mean_on_way(*l, 0.3, 0, 0), l->evaluate(0.3, 0).u);
}

/// A body of mass 1/Q that meets a stop: step after step with the constant mean, however stiff.
TEST(contact, an_elastic_stop_gives_back_what_it_took) {
    for (const double stiffness : {1e2, 1e4, 1e8, 1e12})
        for (const double start : {0.001, 0.0093, 0.02}) {
            const auto l = make_law("stop", {{"stiffness", stiffness}, {"upper", 0}});
            constexpr double H = 0.01, Q = 0.5;
            double q = -start, v = 1;
            for (int k = 0; k < 1000 && !(v < 0 && q < 0); ++k) {
                const double u = contact_mean(*l, {H, q, v, 0, Q});
                EXPECT_GE(u, 0);
                q += H * (v - H / 2 * Q * u);
                v -= H * Q * u;
            }
            EXPECT_NEAR(v, -1, 1e-5) << stiffness << ' ' << start;
        }
}

TEST(contact, dampers_never_pull) {
    for (const char* name : {"stop", "gear"})
        for (const double damping : {1.0, 100.0, 1e4}) {
            const auto l = std::string(name) == "stop"
                               ? make_law("stop", {{"stiffness", 1e4}, {"damping", damping}, {"upper", 0.01}})
                               : make_law("gear", {{"stiffness", 1e4}, {"damping", damping}, {"backlash", 0.01}});
            for (double q = -0.005; q < 0.03; q += 0.0017)
                for (double v = -3; v < 3; v += 0.37) {
                    const double u = contact_mean(*l, {1e-3, q, v, -5, 2});
                    EXPECT_GE(u, 0) << name << ' ' << q << ' ' << v;
                    const double by = 1e-3 * (v + 5e-4 * (-5 - 2 * u));
                    EXPECT_NEAR(u, mean_on_way(*l, q, by, by / 1e-3), 1e-6 * (1 + u));
                    EXPECT_LE(l->range(q).lowest, l->evaluate(q, v).u);
                    EXPECT_GE(l->range(q).highest, l->evaluate(q, v).u);
                }
        }
}

}  // namespace
}  // namespace mdpcosim
