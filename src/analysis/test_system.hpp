#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "analysis/linear_subsystem.hpp"
#include "master/method.hpp"

/// The two-mass test system (M. Friedrich, Parallel Co-Simulation for Mechatronic Systems, dissertation, TU Muenchen, 2011,
/// Fig. 2.8): each body on its own spring and damper against the ground, and a spring and damper of the coupling between them,
///     m_i x_i'' + d_i x_i' + c_i x_i = -+ u ,   u = c (x_A - x_B) + d (x_A' - x_B') .
/// Units are chosen so that m_A = c_A = omega_A = 1: a macro step H is the scaled step omega_A H. The bodies are exact linear
/// subsystems behind the shipped transport, coupled by the shipped network and driven by a registered method.
namespace mdpcosim {

/// Where the coupling's spring and damper live (Figs. 1.2 and 2.2). A displacement that a subsystem receives moves the far end of
/// its spring and damper: the damper sees the rate of the polynomial, which is zero for a constant one.
enum class coupling_variant {
    force_force,               ///< in the master: both bodies give their motion and receive u
    force_displacement,        ///< in A: B gives its displacement to A, A gives the force to B
    displacement_displacement  ///< in both: each body gives its displacement to the other
};

struct test_system_parameters {
    extrapolation_rule rule;
    std::string method = default_method;
    double F = 1;                 ///< c / c_A
    double V = 1;                 ///< c_B / c_A
    double frequency_ratio = 1;   ///< omega_B / omega_A; the mass ratio m_B / m_A is V / frequency_ratio^2
    double damping = 0;           ///< of each body against the ground: d_i / (2 m_i omega_i)
    double coupling_damping = 0;  ///< d / (2 sqrt(c mu)) with 1/mu = 1/m_A + 1/m_B
    int input_degree = max_degree;
    coupling_variant variant = coupling_variant::force_force;
    std::array<double, 4> start{1, 0, 0, 0};  ///< x_A, v_A, x_B, v_B
};

/// A coupled system of exact linear subsystems with the method that drives it.
struct linear_system {
    coupled_system system;
    std::unique_ptr<method> chosen;
    std::vector<linear_subsystem*> parts;  ///< owned by the system's transport
};

/// The bodies' outputs are position and velocity, A's first; with force_displacement A gives its force and that
/// force's rate, too. Initialised at t = 0. Throws std::invalid_argument where a parameter is outside its meaning or the rule
/// needs a rate that a coupling with damping does not have, with the reason.
linear_system make_test_system(const test_system_parameters& p);

/// Of the test system as one system of equations, states x_A, v_A, x_B, v_B.
Eigen::Matrix4d monolithic_matrix(const test_system_parameters& p);

/// "force-force", "force-displacement", "displacement-displacement"
std::vector<std::string> coupling_variant_names();

}  // namespace mdpcosim
