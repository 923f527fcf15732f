// Law `cylinder`: values, rates, signs, the way that flow and piston take, its fluids, what it refuses.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/bulk_modulus.hpp"
#include "coupling/test/spring_pair.hpp"

namespace mdpcosim {
namespace {

using std::numbers::pi;
using test::make_law;

constexpr double V_0 = 1.4e-3, A = 6.5e-3, E = 1.5e9, p_0 = 3e6;
enum { constant = 0, pressure_dependent = 1, quadratic_density = 2 };
enum { head = 0, rod = 1 };

std::unique_ptr<law> make_cylinder(int model = constant, int side = head) {
    return make_law("cylinder", {{"volume", V_0},
                                 {"area", A},
                                 {"side", side},
                                 {"modulus", E},
                                 {"pressure", p_0},
                                 {"model", model},
                                 {"air", 0.01},
                                 {"density-curvature", -1.2e-18}});
}

/// Flow in and piston, with the ways of a chamber that fills, empties and moves far; w(0) and x(0) are not zero.
struct motion {
    double w, Q, x, v;
};
motion at(double t) {
    return {2e-4 + 3e-4 * std::sin(3 * t) + 2e-4 * t, 9e-4 * std::cos(3 * t) + 2e-4, 0.4 + 0.08 * std::sin(2 * t),
            0.16 * std::cos(2 * t)};
}
piston_motion of_head(double t) {
    const motion m = at(t);
    return {.t = t, .q = m.w - A * m.x, .v = m.Q - A * m.v, .s = -A * m.x, .ds = -A * m.v};
}

/// dp/dt = E(p)/V (Q - dV/dt) by the classical Runge-Kutta method.
template <class Modulus>
double integrated(double end, int steps, const Modulus& modulus) {
    const auto rate = [&](double t, double p) {
        const motion m = at(t);
        return modulus(p) / (V_0 + A * (m.x - at(0).x)) * (m.Q - A * m.v);
    };
    const double h = end / steps;
    double p = p_0;
    for (int n = 0; n < steps; ++n) {
        const double t = n * h;
        const double k1 = rate(t, p), k2 = rate(t + h / 2, p + h / 2 * k1), k3 = rate(t + h / 2, p + h / 2 * k2),
                     k4 = rate(t + h, p + h * k3);
        p += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return p;
}
double exact(double end) {
    return integrated(end, 20000, [](double) { return E; });
}

/// u at t = 1 after N macro steps.
double in_steps(law& l, int N, bool flows) {
    const auto told = [&](double t) {
        piston_motion m = of_head(t);
        m.has_rates = flows;
        return m;
    };
    l.start_at(told(0));
    for (int n = 0; n <= N; ++n) {
        const piston_motion m = told(static_cast<double>(n) / N);
        l.accept_at(m, l.evaluate_at(m).u);
    }
    return l.evaluate_at(told(1)).u;
}

TEST(cylinder, begins_at_its_pressure_and_tells_what_it_needs) {
    for (const int model : {constant, pressure_dependent, quadratic_density}) {
        const auto l = make_cylinder(model);
        l->start_at(of_head(0));
        EXPECT_NEAR(l->evaluate_at(of_head(0)).u, p_0, 1e-8 * p_0) << model;
        EXPECT_TRUE(l->has_rate());
        EXPECT_FALSE(l->needs_velocity());
        EXPECT_TRUE(l->remembers());
        EXPECT_TRUE(l->has_state());
        EXPECT_FALSE(l->stiffness()) << "it changes with the volume";
    }
}

TEST(cylinder, a_closed_chamber_is_compressed_exactly) {
    const auto l = make_cylinder();
    l->start_at({});
    for (const double x : {-0.1, -0.01, 0.02, 0.3}) {  // in one step, however long
        const double p = l->evaluate_at({.t = 5, .q = -A * x, .s = -A * x}).u;
        EXPECT_NEAR(p / (p_0 + E * std::log(V_0 / (V_0 + A * x))), 1, 1e-13);
    }
}

TEST(cylinder, a_piston_at_rest_makes_it_a_node) {
    const auto l = make_cylinder(), node = make_law("node", {{"volume", V_0}, {"modulus", E}, {"pressure", p_0}});
    l->start_at({.q = 2e-4, .s = 5e-3});
    node->start(2e-4);
    for (const double q : {1e-4, 3e-4, 9e-4}) {
        EXPECT_NEAR(l->evaluate_at({.t = 1, .q = q, .v = 3, .s = 5e-3}).u / node->evaluate(q, 3).u, 1, 1e-12);
        EXPECT_NEAR(l->evaluate_at({.t = 1, .q = q, .v = 3, .s = 5e-3}).rate / node->evaluate(q, 3).rate, 1, 1e-14);
    }
}

TEST(cylinder, the_way_of_flow_and_piston_is_integrated_with_fourth_order) {
    const auto l = make_cylinder();
    const double reference = exact(1), swing = E * 0.3;
    const double e1 = in_steps(*l, 20, true) - reference, e2 = in_steps(*l, 40, true) - reference,
                 e4 = in_steps(*l, 80, true) - reference;
    fmt::print("way of flow and piston, error in 20, 40, 80 steps: {:.3g} {:.3g} {:.3g} Pa of {:.3g}\n", e1, e2, e4,
               swing);
    EXPECT_NEAR(std::log2(std::abs(e1 / e2)), 4, 0.3);
    EXPECT_NEAR(std::log2(std::abs(e2 / e4)), 4, 0.3);
    EXPECT_LT(std::abs(e4), 1e-7 * swing);
    // Where ports give no flows, their volumes are taken as straight lines.
    const double f1 = in_steps(*l, 80, false) - reference, f2 = in_steps(*l, 160, false) - reference;
    EXPECT_NEAR(std::log2(std::abs(f1 / f2)), 2, 0.1);
}

TEST(cylinder, fluids_follow_the_integrated_equation) {
    const fluid oil(E, 0.01, 1.4, 1e5);
    const auto air = make_cylinder(pressure_dependent);
    EXPECT_NEAR(in_steps(*air, 400, true) / integrated(1, 20000, [&](double p) { return bulk_modulus(oil, p); }), 1,
                1e-8);
    // Cardona and Geradin 1990: beta = (1 + a p + b p^2)/(a + 2 b p).
    const double a = 1 / E, b = -1.2e-18;
    const auto beta = [&](double p) { return (1 + a * p + b * p * p) / (a + 2 * b * p); };
    const auto quadratic = make_cylinder(quadratic_density);
    quadratic->start_at({});
    for (const double strain : {-0.01, 0.001, 0.02}) {
        // At rest, so that the density is the only thing that changes.
        const double p = quadratic->evaluate_at({.t = 1, .q = strain * V_0}).u;
        double integrated = p_0;
        for (int n = 0; n < 10000; ++n) {
            const double h = strain / 10000, half = integrated + h / 2 * beta(integrated);
            integrated += h * beta(half);
        }
        EXPECT_NEAR(p / integrated, 1, 1e-8) << strain;
    }
}

TEST(cylinder, has_the_rate_of_its_equation) {
    for (const int model : {constant, pressure_dependent, quadratic_density}) {
        const auto l = make_cylinder(model);
        l->start_at(of_head(0));
        l->accept_at(of_head(0), p_0);
        const double t = 0.02, h = 1e-6;
        const double difference = (l->evaluate_at(of_head(t + h)).u - l->evaluate_at(of_head(t - h)).u) / (2 * h);
        EXPECT_NEAR(l->evaluate_at(of_head(t)).rate / difference, 1, 1e-6) << model;
        const motion m = at(t);
        if (model == constant) {
            EXPECT_NEAR(l->evaluate_at(of_head(t)).rate, E / (V_0 + A * (m.x - at(0).x)) * (m.Q - A * m.v), 1e-3);
        }
        l->accept_at(of_head(t), l->evaluate_at(of_head(t)).u);
        EXPECT_NEAR(l->slope(0, 0).c * of_head(t).v / l->evaluate_at(of_head(t)).rate, 1, 1e-12);
    }
}

TEST(cylinder, signs_and_roles_of_its_ports) {
    const law_info& info = *law_registry::instance().find("cylinder");
    EXPECT_EQ(info.join, law_join::node);
    ASSERT_TRUE(info.piston);
    EXPECT_EQ(info.piston->kind, port_kind::translation);
    parameter_values values(info.parameters);
    values.set("area", {A});
    // A head's chamber grows with x, so that its flow is -A v, and pushes towards +x; the rod's side is the reverse.
    EXPECT_EQ(info.piston->role(values).weight, -A);
    EXPECT_EQ(info.piston->role(values).factor, A);
    values.set("side", {rod});
    EXPECT_EQ(info.piston->role(values).weight, A);
    EXPECT_EQ(info.piston->role(values).factor, -A);
    // What a piston does to the chamber it does against the pressure: power into the law is weight u v = -(factor u) v.
    const auto l = make_cylinder(constant, rod);
    l->start_at({});
    EXPECT_GT(l->evaluate_at({.t = 1, .q = A * 0.01, .s = A * 0.01}).u, p_0) << "the rod's side shrinks with x";
}

TEST(cylinder, remembers_on_accept_only_and_its_state_is_all_of_it) {
    const auto l = make_cylinder();
    l->start_at(of_head(0));
    const double once = l->evaluate_at(of_head(0.3)).u;
    l->evaluate_at(of_head(0.7));
    EXPECT_EQ(l->evaluate_at(of_head(0.3)).u, once);
    l->accept_at(of_head(0.3), once);
    EXPECT_NEAR(l->evaluate_at(of_head(0.3)).u, once, 1e-9 * once);
}

TEST(cylinder, in_the_limit_its_state_takes_the_place_of_its_memory) {
    const auto l = make_cylinder();
    l->use_limit();
    l->start_at(of_head(0));
    // dy/dt = w dg/dt by Simpson's rule; nothing is accepted.
    const int N = 2000;
    double y = 0;
    for (int n = 0; n < N; ++n) {
        const double h = 1.0 / N, t = n * h;
        y +=
            h / 6 * (l->state_rate(of_head(t)) + 4 * l->state_rate(of_head(t + h / 2)) + l->state_rate(of_head(t + h)));
    }
    piston_motion end = of_head(1);
    end.state = y;
    EXPECT_NEAR(l->evaluate_at(end).u, exact(1), 1e-7 * E);
    end.v = 12345;
    EXPECT_EQ(l->state_rate(end), l->state_rate({.t = 1, .q = end.q, .s = end.s, .ds = end.ds})) << "not of v";
}

TEST(cylinder, fails_and_refuses_with_a_plain_reason) {
    using testing::HasSubstr;
    const auto message = [](const auto& call) -> std::string {
        try {
            call();
        } catch (const std::exception& problem) {
            return problem.what();
        }
        return "no failure";
    };
    const auto l = make_cylinder();
    l->start_at({});
    EXPECT_THAT(
        message([&] { l->evaluate_at({.t = 1, .q = 1.1 * V_0, .s = 1.1 * V_0}); }),
        testing::AllOf(HasSubstr("piston has left the chamber"), HasSubstr("0.0014 m3"), HasSubstr("-0.00014")));
    EXPECT_NE(message([&] { l->evaluate_at({.t = 1, .q = NAN, .s = NAN}); }), "no failure");
    const auto dense = make_cylinder(quadratic_density);
    dense->start_at({});
    EXPECT_THAT(message([&] { dense->evaluate_at({.t = 1, .q = 0.2 * V_0}); }),
                testing::AllOf(HasSubstr("no pressure fits"), HasSubstr("compressed by 0.2 of its volume")));
    EXPECT_THAT(message([] {
                    make_law("cylinder", {{"volume", V_0}, {"area", A}, {"modulus", E}, {"model", pressure_dependent}});
                }),
                HasSubstr("needs 'air'"));
    EXPECT_THAT(message([] {
                    make_law("cylinder", {{"volume", V_0},
                                          {"area", A},
                                          {"modulus", E},
                                          {"pressure", 4e8},
                                          {"model", quadratic_density},
                                          {"density-curvature", -1.2e-18}});
                }),
                HasSubstr("must be positive and grow with p"));
}

}  // namespace
}  // namespace mdpcosim
