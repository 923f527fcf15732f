// Laws of the hydraulic, thermal, electric and magnetic domains.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "core/bulk_modulus.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "coupling/test/spring_pair.hpp"

namespace mdpcosim {
namespace {

using std::numbers::pi;
using test::make_law;

// The values of Friedrich 2011, 2.4.3, in a node of 200 cm3.
constexpr double V = 2e-4, E = 8.21e8, nu = 0.08, kappa = 1.4, p_0 = 1e5;
const fluid oil(E, nu, kappa, p_0);

enum { constant = 0, stepped = 1, pressure_dependent = 2 };

std::unique_ptr<law> make_node(int model, double air = nu) {
    return make_law("node", {{"volume", V}, {"modulus", E}, {"model", model}, {"air", air}});
}

/// A volume that flows in and out, so that the pressure swings far to both sides of its start, and its rate.
double inflow(double t) { return V * (0.02 + 0.07 * std::sin(2 * pi * t) - 0.02 * std::cos(6 * pi * t)); }
double flow(double t) { return V * 2 * pi * (0.07 * std::cos(2 * pi * t) + 0.06 * std::sin(6 * pi * t)); }

/// (2.86) by the classical Runge-Kutta method.
double integrated_pressure(const fluid& f, double end, int steps) {
    const auto rate = [&](double t, double p) { return bulk_modulus(f, p) / V * flow(t); };
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

TEST(bulk_modulus, has_its_known_limits) {
    EXPECT_NEAR(bulk_modulus(oil, 1e5), E * 1.08 / (1 + E * 0.08 / 1.4 / 1e5), 1e-6);
    EXPECT_NEAR(bulk_modulus(oil, 1e5), 1.8860e6, 50);
    EXPECT_NEAR(bulk_modulus(oil, 1e12) / (E * 1.08), 1, 1e-9) << "all air compressed";
    EXPECT_EQ(bulk_modulus(fluid(E, 0, kappa, p_0), 5e5), E);
    EXPECT_EQ(bulk_modulus(fluid(E, 0, kappa, p_0), -5e5), E);
    // At low pressure the air alone counts: E = kappa p (1 + nu) / (nu (p~/p)^(1/kappa)).
    EXPECT_NEAR(bulk_modulus(oil, 10) / (kappa * 10 * 1.08 / (nu * std::pow(1e4, 1 / kappa))), 1, 1e-6);
}

TEST(bulk_modulus, is_the_inverse_of_the_slope_of_the_compression) {
    for (const double p : {1e2, 1e5, 3e6, 1e8}) {
        const double h = 1e-4 * p;
        EXPECT_NEAR((compression(oil, p_0, p + h) - compression(oil, p_0, p - h)) / (2 * h) * bulk_modulus(oil, p), 1,
                    1e-7);
    }
    EXPECT_NEAR(compression(oil, 1e5, 1e7), compression(oil, 1e5, 4e5) + compression(oil, 4e5, 1e7), 1e-15);
}

TEST(node, begins_at_its_pressure_and_has_rates) {
    for (const int model : {constant, stepped, pressure_dependent}) {
        const auto l = make_node(model);
        EXPECT_TRUE(l->has_rate());
        EXPECT_FALSE(l->needs_velocity());
        EXPECT_EQ(l->remembers(), model != constant);
        l->start(3.5e-3);
        EXPECT_EQ(l->evaluate(3.5e-3, 0).u, p_0);
        const double q = 3.5e-3 + 0.01 * V, v = 2e-4, h = 1e-6;
        const double difference = (l->evaluate(q + v * h, v).u - l->evaluate(q - v * h, v).u) / (2 * h);
        EXPECT_NEAR(l->evaluate(q, v).rate / difference, 1, 1e-6) << model;
        EXPECT_GT(l->evaluate(q, v).u, p_0) << "flow into the node raises the pressure";
    }
}

TEST(node, constant_modulus_is_a_linear_spring) {
    const auto l = make_node(constant);
    l->start(1e-3);
    EXPECT_NEAR(l->evaluate(1e-3 + 0.01 * V, 3).u, p_0 + 0.01 * E, 1e-6) << "air has no effect";
    EXPECT_DOUBLE_EQ(l->evaluate(1e-3, 3).rate, E / V * 3);
    EXPECT_LT(l->evaluate(1e-3 - 0.01 * V, 0).u, 0) << "it can pull, as written in (2.89)";
    // Without air the other two are the same law.
    for (const int model : {stepped, pressure_dependent}) {
        const auto same = make_node(model, 0);
        same->start(1e-3);
        EXPECT_NEAR(same->evaluate(1e-3 + 0.01 * V, 3).u, p_0 + 0.01 * E, 1e-6);
        EXPECT_DOUBLE_EQ(same->evaluate(1e-3 + 0.01 * V, 3).rate, E / V * 3);
    }
}

TEST(node, pressure_dependent_modulus_equals_the_integrated_equation) {
    const auto l = make_node(pressure_dependent);
    l->start(inflow(0));
    for (const double t : {0.1, 0.25, 0.4, 0.7, 0.9, 1.0}) {
        const law_value value = l->evaluate(inflow(t), flow(t));
        const double reference = integrated_pressure(oil, t, 200000);
        EXPECT_NEAR(value.u / reference, 1, 1e-9) << t;
        EXPECT_NEAR(value.rate, bulk_modulus(oil, value.u) / V * flow(t), 1e-9 * std::abs(value.rate)) << t;
    }
    EXPECT_NEAR(l->evaluate(inflow(1), 0).u, p_0, 1e-7) << "what flowed in has flowed out";
}

/// The largest relative error on the way to the largest pressure, with N macro steps per period.
double stepped_error(int N) {
    const auto l = make_node(stepped), exact = make_node(pressure_dependent);
    l->start(inflow(0));
    exact->start(inflow(0));
    double largest = 0;
    for (int n = 0; n <= N / 4; ++n) {
        const double t = static_cast<double>(n) / N;
        const double u = l->evaluate(inflow(t), flow(t)).u, reference = exact->evaluate(inflow(t), flow(t)).u;
        largest = std::max(largest, std::abs(u / reference - 1));
        l->accept(inflow(t), flow(t), u);
    }
    return largest;
}

TEST(node, stepped_modulus_is_of_first_order) {
    const double e1 = stepped_error(4000), e2 = stepped_error(8000), e4 = stepped_error(16000);
    fmt::print("stepped modulus, relative error at 4000, 8000, 16000 steps: {:.3g} {:.3g} {:.3g}\n", e1, e2, e4);
    EXPECT_NEAR(std::log2(e1 / e2), 1, 0.05);
    EXPECT_NEAR(std::log2(e2 / e4), 1, 0.03);
}

TEST(node, stepped_modulus_remembers_on_accept_only) {
    const auto l = make_node(stepped);
    l->start(0);
    const double q = 0.01 * V, u = l->evaluate(q, 0).u;
    EXPECT_DOUBLE_EQ(u, p_0 + bulk_modulus(oil, p_0) * 0.01);
    EXPECT_EQ(l->evaluate(q, 0).u, u);
    l->accept(q, 0, u);
    EXPECT_EQ(l->evaluate(q, 0).u, u);
    EXPECT_DOUBLE_EQ(l->evaluate(2 * q, 0).u, u + bulk_modulus(oil, u) * 0.01);
    EXPECT_DOUBLE_EQ(l->evaluate(q, 7).rate, bulk_modulus(oil, u) / V * 7);
}

TEST(node, stepped_modulus_in_the_limit_is_the_pressure_dependent_one) {
    const auto limit = make_node(stepped), exact = make_node(pressure_dependent);
    limit->use_limit();
    limit->start(0);
    exact->start(0);
    for (const double part : {-0.5, -0.01, 0.0, 0.03, 0.1}) {
        EXPECT_EQ(limit->evaluate(part * V, 2).u, exact->evaluate(part * V, 2).u);
        EXPECT_EQ(limit->evaluate(part * V, 2).rate, exact->evaluate(part * V, 2).rate);
    }
    const auto linear = make_node(constant);
    linear->use_limit();
    EXPECT_DOUBLE_EQ(linear->evaluate(0.01 * V, 0).u, p_0 + 0.01 * E);
}

TEST(node, newton_converges_from_far_away) {
    // Each answer found from every other pressure: the safeguard makes the start irrelevant.
    const std::vector<double> pressures{1e-3, 1, 1e3, 1e5, 3e6, 1e8, 1e10};
    for (const double begin : pressures)
        for (const double end : pressures) {
            const auto l = make_node(pressure_dependent);
            l->accept(compression(oil, p_0, begin) * V, 0, begin);
            EXPECT_NEAR(l->evaluate(compression(oil, p_0, end) * V, 0).u / end, 1, 1e-8) << begin << " to " << end;
        }
}

std::string failure_of(const law& l, double q) {
    try {
        l.evaluate(q, 0);
    } catch (const law_failure& problem) {
        return problem.what();
    }
    return "no failure";
}

TEST(node, fails_with_a_plain_reason) {
    using testing::HasSubstr;
    // Without air the pressure would be -9.9e5 Pa.
    EXPECT_THAT(failure_of(*make_node(pressure_dependent, 0), -2e-3 * V),
                testing::AllOf(HasSubstr("no pressure above zero"), HasSubstr("changed by -4e-07 m3"),
                               HasSubstr("did not converge")));
    EXPECT_THAT(failure_of(*make_node(stepped), -0.1 * V),
                testing::AllOf(HasSubstr("from 100000 Pa to -8"), HasSubstr("smaller macro step")));
    for (const int model : {stepped, pressure_dependent})
        EXPECT_NE(failure_of(*make_node(model), std::nan("")), "no failure");
    EXPECT_NE(failure_of(*make_node(pressure_dependent), std::numeric_limits<double>::infinity()), "no failure");
    EXPECT_NE(failure_of(*make_node(pressure_dependent), -1e300), "no failure");
    EXPECT_EQ(failure_of(*make_node(pressure_dependent), -10 * V), "no failure") << "air fills what the fluid leaves";
}

TEST(node, refuses_values_that_contradict_each_other) {
    EXPECT_THROW(make_law("node", {{"volume", V}, {"modulus", E}, {"model", stepped}}), std::invalid_argument);
    EXPECT_THROW(
        make_law("node", {{"volume", V}, {"modulus", E}, {"model", pressure_dependent}, {"air", nu}, {"pressure", 0}}),
        std::invalid_argument);
    EXPECT_NO_THROW(make_law("node", {{"volume", V}, {"modulus", E}, {"pressure", 0}}));
}

TEST(conductor, has_units_of_its_domain_and_no_rate) {
    const auto l = make_law("conductor", {{"conductance", 5}});
    EXPECT_FALSE(l->has_rate());
    EXPECT_FALSE(l->needs_velocity());
    EXPECT_EQ(l->evaluate(3, 0).u, 15) << "from the first to the second";
    const law_info& info = *law_registry::instance().find("conductor");
    const auto unit = [&](port_kind kind) { return unit_for(kind, info.parameters[0].unit); };
    EXPECT_EQ(unit(port_kind::thermal), "W/K");
    EXPECT_EQ(unit(port_kind::electric), "A/V");
    EXPECT_EQ(unit(port_kind::magnetic), "Wb/A");
    EXPECT_DOUBLE_EQ(convert(1, "S", unit(port_kind::electric)), 1);
    EXPECT_DOUBLE_EQ(convert(1, "H", unit(port_kind::magnetic)), 1);

    network net;
    const std::vector<channel_term> terms{{output_slot(0), output_slot(1), 1}};
    EXPECT_THROW(
        net.add_channel("c", make_law("conductor", {{"conductance", 5}}), terms, make_extrapolation("lin-2-3-opt")),
        std::invalid_argument);
    EXPECT_NO_THROW(
        net.add_channel("c", make_law("conductor", {{"conductance", 5}}), terms, make_extrapolation("lin-3-3-b0")));
}

TEST(capacitance, gives_the_potential_of_the_charges) {
    const auto l = make_law("capacitance", {{"capacitance", 2e-5}, {"potential", 3}});
    l->start(1e-4);
    EXPECT_TRUE(l->has_rate());
    EXPECT_EQ(l->evaluate(1e-4, 0).u, 3);
    EXPECT_NEAR(l->evaluate(3e-4, 0).u, 13, 1e-12);
    EXPECT_DOUBLE_EQ(l->evaluate(3e-4, 2e-3).rate, 100);
    const law_info& info = *law_registry::instance().find("capacitance");
    EXPECT_EQ(info.join, law_join::node);
    EXPECT_EQ(info.ports, causality::takes_motion);
}

/// The largest error of the node's pressure when its only port gives the flow alone, in macro steps of h.
double integration_error(double h) {
    network net;
    net.add_channel("n", make_node(constant), {{output_slot(), output_slot(0), 1}}, make_extrapolation("poly-1"));
    net.finish({});
    std::vector<double> u(1), du(1);
    double largest = 0;
    const int steps = static_cast<int>(std::lround(1 / h));
    net.start(0, std::vector<double>{flow(0)});
    for (int n = 0; n <= steps; ++n) {
        const double t = n * h;
        const std::vector<double> y{flow(t)};
        net.evaluate(t, y, u, du);
        largest = std::max(largest, std::abs(u[0] - (p_0 + E / V * (inflow(t) - inflow(0)))));
        net.accept(t, y, u, du);
    }
    return largest;
}

TEST(node, a_flow_alone_is_integrated_with_third_order) {
    const double e1 = integration_error(0.01), e2 = integration_error(0.005), e4 = integration_error(0.0025);
    fmt::print("integrated flow, error at h = 10, 5, 2.5 ms: {:.3g} {:.3g} {:.3g} Pa\n", e1, e2, e4);
    EXPECT_NEAR(std::log2(e1 / e2), 3, 0.15);
    EXPECT_NEAR(std::log2(e2 / e4), 3, 0.1);
}

}  // namespace
}  // namespace mdpcosim
