#include "master/joint_start.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace mdpcosim {

namespace {

constexpr double violated = 1e-6;   // of a position in its unit, or of a velocity
constexpr double dependent = 1e-9;  // of the largest acceleration per unit load

std::string equation_name(const joint_connection& j, int equation) {
    return j.joint->equations() == 1 ? fmt::format("joint '{}'", j.name)
                                     : fmt::format("joint '{}', equation {}", j.name, equation + 1);
}

/// By multiplier: what messages call it.
std::vector<std::string> names_of(const coupled_system& system) {
    std::vector<std::string> names;
    for (const joint_connection& j : system.joints)
        for (int i = 0; i < j.joint->equations(); ++i) names.push_back(equation_name(j, i));
    return names;
}

void check_start(const coupled_system& system, const joint_loads& loads, const joint_state& now) {
    std::string wrong;
    for (std::size_t j = 0; j < system.joints.size(); ++j)
        for (int i = 0; i < system.joints[j].joint->equations(); ++i) {
            const jet& g = now.residuals[loads.first_multiplier(j) + static_cast<std::size_t>(i)];
            const std::string unit = system.joints[j].joint->unit(i);
            const auto add = [&](const char* quantity, double by, const char* per_time) {
                wrong += fmt::format("\n  {}: {} by {:.6g} {}{}", equation_name(system.joints[j], i), quantity, by,
                                     unit == "1" ? "" : unit, per_time);
            };
            if (std::abs(g.x) > violated) add("position", g.x, "");
            if (std::abs(g.v) > violated) add("velocity", g.v, "/s");
        }
    if (!wrong.empty())
        throw user_error(
            fmt::format("the initial state violates joints (first - second; allowed: {}):{}\nGive initial values "
                        "with which the joined ports fit, in position and in velocity.",
                        violated, wrong));
}

/// Loads at the ports for given multipliers, as coupling variables.
void set_loads(coupled_system& system, const joint_loads& loads, const joint_state& now,
               std::span<const double> multipliers) {
    for (std::size_t j = 0; j < system.joints.size(); ++j) {
        const joint_connection& connection = system.joints[j];
        const std::size_t first = loads.first_multiplier(j);
        for (std::size_t i = 0; i < connection.multipliers.size(); ++i)
            system.u[connection.multipliers[i].value()] = multipliers[first + i];
        for (int e = 0; e < 2; ++e)
            for (std::size_t l = 0; l < connection.ends[0].load.size(); ++l) {
                double sum = 0;
                for (int i = 0; i < connection.joint->equations(); ++i)
                    sum += multipliers[first + static_cast<std::size_t>(i)] *
                           now.loads[loads.index(j, e, static_cast<int>(l), i)].x;
                system.u[connection.ends[static_cast<std::size_t>(e)].load[l].value()] = sum;
            }
    }
}

void evaluate_ends(coupled_system& system, const joint_connection& j) {
    for (const auto& end : j.ends) system.evaluate_one(end.subsystem, true);
}

}  // namespace

std::vector<double> start_multipliers(coupled_system& system, const joint_loads& loads) {
    const auto n = static_cast<Eigen::Index>(loads.multipliers());
    joint_state now = loads.make_state(), moved = loads.make_state();
    const auto outputs = system.subsystems->outputs();
    loads.evaluate(system, outputs, now);
    check_start(system, loads, now);

    std::vector<double> multipliers(loads.multipliers(), 0.0), unit(multipliers);
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n, n);
    Eigen::VectorXd g(n);
    for (Eigen::Index i = 0; i < n; ++i) g[i] = now.residuals[static_cast<std::size_t>(i)].a;
    std::size_t column = 0;
    for (const joint_connection& j : system.joints) {
        for (int i = 0; i < j.joint->equations(); ++i, ++column) {
            unit[column] = 1;
            set_loads(system, loads, now, unit);
            evaluate_ends(system, j);
            loads.evaluate(system, outputs, moved);
            for (Eigen::Index k = 0; k < n; ++k)
                A(k, static_cast<Eigen::Index>(column)) = moved.residuals[static_cast<std::size_t>(k)].a - g[k];
            unit[column] = 0;
        }
        set_loads(system, loads, now, unit);
        evaluate_ends(system, j);
    }

    const auto names = names_of(system);
    // Scaled to a diagonal of one: masses of different size are no dependence.
    Eigen::VectorXd scale(n);
    for (Eigen::Index i = 0; i < n; ++i) {
        if (!(std::abs(A(i, i)) > 0))
            throw user_error(
                fmt::format("{}: a unit of its multiplier accelerates neither of the joined ports, so that it cannot "
                            "hold them. Both may be fixed, or their loads may not act at once.",
                            names[static_cast<std::size_t>(i)]));
        scale[i] = 1 / std::sqrt(std::abs(A(i, i)));
    }
    const Eigen::MatrixXd scaled = scale.asDiagonal() * A * scale.asDiagonal();
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
    qr.setThreshold(dependent);
    qr.compute(scaled);
    if (qr.rank() < n) {
        std::vector<std::string> redundant;
        for (Eigen::Index k = qr.rank(); k < n; ++k)
            redundant.push_back(names[static_cast<std::size_t>(qr.colsPermutation().indices()[k])]);
        // The combination of equations that says nothing new: its residual tells whether it says something else.
        const Eigen::VectorXd rest =
            scaled * qr.solve(Eigen::VectorXd(scale.asDiagonal() * g)) - scale.asDiagonal() * g;
        const bool conflict = rest.norm() > 1e-6 * (scale.asDiagonal() * g).norm();
        throw user_error(fmt::format(
            "{} of {} equations of joints {}: {}. Leave one of them out, or take a joint that leaves more free (in the "
            "plane 'planar-revolute' instead of 'revolute', 'spherical' instead of 'fixed').",
            n - qr.rank(), n, conflict ? "contradict others" : "repeat what others say already",
            fmt::join(redundant, "; ")));
    }
    const Eigen::VectorXd solved = scale.asDiagonal() * qr.solve(Eigen::VectorXd(-(scale.asDiagonal() * g)));
    for (std::size_t i = 0; i < multipliers.size(); ++i) multipliers[i] = solved[static_cast<Eigen::Index>(i)];
    set_loads(system, loads, now, multipliers);
    for (const joint_connection& j : system.joints) evaluate_ends(system, j);
    return multipliers;
}

}  // namespace mdpcosim
