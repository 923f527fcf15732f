#include "analysis/test_system.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "core/suggest.hpp"
#include "transport/threads.hpp"

namespace mdpcosim {

namespace {

struct bodies {
    double m_B, c_B, d_A, d_B, c, d;
};

bodies constants(const test_system_parameters& p) {
    const double m_B = p.V / (p.frequency_ratio * p.frequency_ratio);
    const double mu = m_B / (1 + m_B);
    return {m_B,           p.V,
            2 * p.damping, 2 * p.damping * m_B * p.frequency_ratio,
            p.F,           2 * p.coupling_damping * std::sqrt(p.F * mu)};
}

void check(const test_system_parameters& p) {
    const auto positive = [](const char* name, double value) {
        if (!(value > 0) || !std::isfinite(value))
            throw std::invalid_argument(fmt::format("{} is {}; it must be a positive number", name, value));
    };
    const auto not_negative = [](const char* name, double value) {
        if (!(value >= 0) || !std::isfinite(value))
            throw std::invalid_argument(fmt::format("{} is {}; it must be a number of at least 0", name, value));
    };
    positive("F, the ratio of the coupling's stiffness to that of body A,", p.F);
    positive("V, the ratio of the bodies' stiffnesses,", p.V);
    positive("the frequency ratio", p.frequency_ratio);
    not_negative("the damping", p.damping);
    not_negative("the coupling damping", p.coupling_damping);
    if (p.input_degree < 0 || p.input_degree > max_degree)
        throw std::invalid_argument(
            fmt::format("the input degree is {}; it must be 0 to {}", p.input_degree, max_degree));
    if (p.coupling_damping == 0 || !p.rule.uses_rates || p.variant == coupling_variant::displacement_displacement)
        return;
    const method_info* chosen = method_registry::instance().find(p.method);
    if (chosen != nullptr && (!chosen->traits.evaluates_rates || p.variant != coupling_variant::force_force))
        throw std::invalid_argument(fmt::format(
            "extrapolation '{}' needs du/dt, which a coupling force with damping has by method 'explicit' and variant "
            "'force-force' only, where accelerations tell it; take one without rates, poly-K or a name ending in -b0",
            p.rule.name));
}

/// m x'' + (d + d_c) x' + (c + c_c) x = -u_force + c_c w + d_c w' ; outputs position and velocity.
linear_equations body(double m, double c, double d) {
    linear_equations eq;
    eq.A = Eigen::MatrixXd{{0, 1}, {-c / m, -d / m}};
    eq.B = Eigen::MatrixXd{{0}, {1 / m}};
    eq.E = Eigen::MatrixXd::Zero(2, 1);
    eq.C = Eigen::MatrixXd::Identity(2, 2);
    eq.D = Eigen::MatrixXd::Zero(2, 1);
    eq.inputs = {"force"};
    eq.outputs = {"position", "velocity"};
    return eq;
}

void give_acceleration(linear_equations& eq) {
    eq.C.conservativeResize(3, 2);
    eq.D.conservativeResize(3, 1);
    eq.C.row(2) = eq.A.row(1);
    eq.D.row(2) = eq.B.row(1);
    eq.outputs.emplace_back("acceleration");
}

/// The same with the coupling's spring and damper inside, their far end moved by the input.
linear_equations body_with_coupling(double m, double c, double d, double c_c, double d_c) {
    linear_equations eq = body(m, c + c_c, d + d_c);
    eq.B *= c_c;
    // w' acts on the velocity as a force.
    eq.E(1, 0) = d_c / m;
    eq.inputs = {"displacement"};
    return eq;
}

/// And giving the coupling's force at the macro points, from the other body's displacement and velocity there.
linear_equations body_with_force(double m, double c, double d, double c_c, double d_c) {
    linear_equations eq = body_with_coupling(m, c, d, c_c, d_c);
    eq.B.conservativeResize(2, 2);
    eq.E.conservativeResize(2, 2);
    eq.B.col(1).setZero();
    eq.E.col(1).setZero();
    eq.C = Eigen::MatrixXd{{1, 0}, {0, 1}, {c_c, d_c}, {0, c_c}};
    eq.D = Eigen::MatrixXd{{0, 0}, {0, 0}, {-c_c, -d_c}, {0, -c_c}};
    eq.inputs = {"displacement", "velocity"};
    eq.outputs = {"position", "velocity", "force", "force_rate"};
    return eq;
}

std::unique_ptr<law> coupling_law(double c, double d) {
    const law_info* info = law_registry::instance().find(d > 0 ? "spring-damper" : "spring");
    parameter_values values(info->parameters);
    values.set("stiffness", {c});
    if (d > 0) values.set("damping", {d});
    return info->make(values);
}

}  // namespace

Eigen::Matrix4d monolithic_matrix(const test_system_parameters& p) {
    const auto [m_B, c_B, d_A, d_B, c, d] = constants(p);
    return Eigen::Matrix4d{{0, 1, 0, 0},
                           {-(1 + c), -(d_A + d), c, d},
                           {0, 0, 0, 1},
                           {c / m_B, d / m_B, -(c_B + c) / m_B, -(d_B + d) / m_B}};
}

std::vector<std::string> coupling_variant_names() {
    return {"force-force", "force-displacement", "displacement-displacement"};
}

linear_system make_test_system(const test_system_parameters& p) {
    check(p);
    const method_info* info = method_registry::instance().find(p.method);
    if (info == nullptr) {
        std::vector<std::string> names;
        for (const auto* m : method_registry::instance().all()) names.push_back(m->name);
        throw std::invalid_argument(unknown_name("method", p.method, "mdpcosim", names));
    }
    if (info->traits.own_steps)
        throw std::invalid_argument(
            fmt::format("method '{}' has no place here: the analyses have one step for all subsystems", p.method));
    const auto [m_B, c_B, d_A, d_B, c, d] = constants(p);
    const bool by_acceleration =
        d > 0 && p.rule.uses_rates && p.variant == coupling_variant::force_force && info->traits.evaluates_rates;
    linear_equations A, B;
    switch (p.variant) {
        case coupling_variant::force_force:
            A = body(1, 1, d_A);
            B = body(m_B, c_B, d_B);
            if (by_acceleration)
                for (auto* eq : {&A, &B}) give_acceleration(*eq);
            break;
        case coupling_variant::force_displacement:
            A = body_with_force(1, 1, d_A, c, d);
            B = body(m_B, c_B, d_B);
            break;
        case coupling_variant::displacement_displacement:
            A = body_with_coupling(1, 1, d_A, c, d);
            B = body_with_coupling(m_B, c_B, d_B, c, d);
            break;
    }

    linear_system made;
    std::vector<named_subsystem> parts;
    for (auto* eq : {&A, &B}) {
        const std::size_t i = parts.size();
        auto part = std::make_unique<linear_subsystem>(
            std::move(*eq), Eigen::VectorXd(Eigen::Vector2d(p.start[2 * i], p.start[2 * i + 1])), p.input_degree);
        made.parts.push_back(part.get());
        parts.push_back({i == 0 ? "A" : "B", std::move(part)});
    }
    coupled_system& system = made.system;
    system.subsystems = make_thread_transport(std::move(parts), 1);
    network& net = system.coupling;
    const std::size_t B_out = system.subsystems->output_offset(subsystem_index(1));
    const channel_term position_A{output_slot(0), output_slot(1), 1},
        position_B{output_slot(B_out), output_slot(B_out + 1), 1};
    switch (p.variant) {
        case coupling_variant::force_force: {
            channel_term plus_A = position_A, minus_B = position_B;
            minus_B.weight = -1;
            if (by_acceleration) {
                plus_A.acceleration = output_slot(2);
                minus_B.acceleration = output_slot(B_out + 2);
            }
            const auto u = net.add_channel("coupling", coupling_law(c, d), {plus_A, minus_B}, p.rule);
            if (by_acceleration)
                system.at_start = system.at_each_step = {{subsystem_index(0), {u}}, {subsystem_index(1), {u}}};
            net.add_delivery(input_slot(0), p.input_degree, {u, -1});
            net.add_delivery(input_slot(1), p.input_degree, {u, 1});
            break;
        }
        case coupling_variant::force_displacement: {
            const auto displacement = net.add_channel("displacement of B", nullptr, {position_B}, p.rule);
            const auto force = net.add_channel("force of A", nullptr, {{output_slot(2), output_slot(3), 1}}, p.rule);
            // Shows in the force at the macro points only, so that no polynomial of it is ever used.
            const auto velocity = net.add_channel("velocity of B", nullptr, {{output_slot(B_out + 1), {}, 1}},
                                                  make_extrapolation("poly-1"));
            net.add_delivery(input_slot(0), p.input_degree, {displacement, 1});
            net.add_delivery(input_slot(1), p.input_degree, {velocity, 1});
            net.add_delivery(input_slot(2), p.input_degree, {force, 1});
            system.at_start = system.at_each_step = {{subsystem_index(0), {displacement, velocity}}};
            break;
        }
        case coupling_variant::displacement_displacement:
            net.add_delivery(input_slot(0), p.input_degree,
                             {net.add_channel("displacement of B", nullptr, {position_B}, p.rule), 1});
            net.add_delivery(input_slot(1), p.input_degree,
                             {net.add_channel("displacement of A", nullptr, {position_A}, p.rule), 1});
            break;
    }
    net.finish(std::vector<double>(system.subsystems->inputs().size(), 0.0));
    system.finish();
    made.chosen = info->make();
    made.chosen->check(system);
    system.initialise(0);
    made.chosen->prepare(system);
    return made;
}

}  // namespace mdpcosim
