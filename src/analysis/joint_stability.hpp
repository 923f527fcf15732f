#pragma once

#include <string>
#include <vector>

#include "analysis/test_system.hpp"

/// Stability of the index-1 method on two oscillators that a joint makes one (T. Meyer and others, Implicit co-simulation method for
/// constraint coupling with improved stability behavior, 2018, appendix A): the spectral radius of the recurrence over the eigenvalues
/// Lambda_r + i Lambda_i of the first oscillator, in units of 1/H, for given ratios of masses, damping and frequencies.
namespace mdpcosim {

struct joint_test_parameters {
    int degree = 3;                  ///< of the multiplier's polynomial
    double real = 0, imaginary = 1;  ///< Lambda_r H, Lambda_i H of the first oscillator
    double mass_ratio = 1;           ///< m_2/m_1
    double damping_ratio = 1;        ///< Lambda_r2/Lambda_r1
    double frequency_ratio = 1;      ///< Lambda_i2/Lambda_i1
    std::string method = "index-1";  ///< one that holds joints
};

/// Whether its stability is that of joints; not of a method that does not exist.
bool holds_joints(const std::string& method);

/// Masses in units of the first, the macro step is the unit of time. Initialised at rest.
linear_system make_joint_system(const joint_test_parameters& p);

double joint_radius(const joint_test_parameters& p);

/// Over Lambda_r from -range to 0 and Lambda_i from 0 to range, `points` each.
struct joint_map {
    joint_test_parameters system;
    double range = 10;
    int points = 41;
    std::vector<double> rho;  ///< all Lambda_i of the first Lambda_r, then of the second ...

    double real(int i) const { return -range * (points - 1 - i) / (points - 1); }
    double imaginary(int i) const { return range * i / (points - 1); }
    int unstable(double tolerance) const;
};
joint_map map_joint(joint_test_parameters p, double range, int points);

}  // namespace mdpcosim
