#pragma once

#include <Eigen/Core>
#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "analysis/plot.hpp"
#include "analysis/test_system.hpp"

/// Long-time behaviour of a coupling by backward error analysis (M. Friedrich, Parallel Co-Simulation for Mechatronic Systems,
/// dissertation, TU Muenchen, 2011, section 2.3.3): the co-simulated test system with the recurrence P over one macro step has the
/// same values at the macro points as the differential equation p' = A p with
///     A = (ln P) / H ,   eig A = ln(eig P) / H    (2.75, 2.77) ,
/// so that the eigenvalues -delta + j omega of A say how the coupling shifts frequencies and what damping it adds. Frequencies
/// and dampings are given in units of omega_A.
namespace mdpcosim {

/// The modified equation of a recurrence P over steps of length H. Eigenvalues of P that vanish (values that the next
/// step forgets) have no logarithm and no part in it.
class modified_equation {
   public:
    modified_equation(const Eigen::MatrixXd& P, double H);

    const std::vector<std::complex<double>>& eigenvalues() const { return eigenvalues_; }
    /// The one nearest to an eigenvalue of the system that P stands for.
    std::complex<double> nearest(std::complex<double> exact) const;
    /// e^(A t) r (2.74); the discrete solution at the macro points, t > 0.
    Eigen::VectorXd solution(double t, const Eigen::VectorXd& r) const;

   private:
    std::vector<std::complex<double>> eigenvalues_;
    Eigen::MatrixXcd modes_, inverse_;  ///< eigenvectors in columns, and what finds their amplitudes in rows
};

struct longtime_settings {
    test_system_parameters system;           ///< rule and F, V ...; variant and coupling damping are set per case
    extrapolation_rule displacement_rule;    ///< of the variants that exchange displacements
    std::optional<double> step;              ///< omega_A H; absent: a fifth of the force-force coupling's limit
    std::optional<double> coupling_damping;  ///< of these variants; absent: the lowest that is stable
    int periods = 50;                        ///< of the slow mode, for the pictures
};

/// One coupling variant.
struct longtime_case {
    coupling_variant variant = coupling_variant::force_force;
    extrapolation_rule rule;
    double coupling_damping = 0;
    double rho = 0;                 ///< spectral radius of P
    std::complex<double> exact;     ///< slow mode of the system as one, with the same spring and damper of the coupling
    std::complex<double> modified;  ///< the same mode of the modified equation
    std::vector<std::complex<double>> recurrence_eigenvalues;

    bool stable() const;
    double frequency_error() const { return modified.imag() - exact.imag(); }
    double damping_error() const { return exact.real() - modified.real(); }
    /// What is left of the slow mode's amplitude after so many of its periods, where the system as one keeps all of it.
    double amplitude_after(int periods) const;
};

struct longtime_result {
    longtime_settings settings;
    double H = 0;                ///< omega_A H
    std::string why_H;           ///< where it comes from
    double rigid_frequency = 0;  ///< with a rigid connection instead of the coupling (2.82)
    std::vector<longtime_case> cases;
};

/// Throws std::invalid_argument where a parameter is outside its meaning.
longtime_result analyse_longtime(const longtime_settings& settings,
                                 const std::vector<coupling_variant>& variants = {
                                     coupling_variant::force_force, coupling_variant::force_displacement,
                                     coupling_variant::displacement_displacement});

/// One variant at the macro step H; `coupling_damping` absent: the lowest that is stable, or none where none is.
longtime_case analyse_variant(const test_system_parameters& given, double H, std::optional<double> coupling_damping);

/// Errors of one variant's slow mode over the ratio V of the bodies' stiffnesses (Fig. 2.16), as parts of the exact frequency.
struct longtime_sweep {
    coupling_variant variant = coupling_variant::force_force;
    double frequency_ratio = 1;
    std::vector<double> V, frequency_error, damping_error;
};
std::vector<longtime_sweep> sweep_stiffness_ratio(const longtime_result& result,
                                                  const std::vector<double>& frequency_ratios);

/// A run of the program: body A at the macro points, and where it turns back from positive displacements.
struct longtime_run {
    std::vector<double> x, v;             ///< x_A, v_A at the macro points
    std::vector<double> period, turning;  ///< Poincare section v_A = 0: number of the period, x_A
};
/// At most two million macro steps, whatever the duration.
longtime_run run_longtime(const test_system_parameters& p, double H, double duration);

/// The test system of one of the cases.
test_system_parameters parameters_of(const longtime_result& result, const longtime_case& c);

std::string to_table(const std::vector<longtime_result>& results);
std::string to_json(const std::vector<longtime_result>& results);
/// Phase diagrams, Poincare sections, eigenvalues, and errors over V, as Figs. 2.14 to 2.16.
plot longtime_plot(const std::vector<longtime_result>& results);

}  // namespace mdpcosim
