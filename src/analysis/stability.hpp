#pragma once

#include <string>

#include "analysis/recurrence.hpp"
#include "coupling/eigenvalues.hpp"

/// The largest stable macro step of the two-mass test system, as omega_A H.
///
/// Stable means a spectral radius of at most 1 + tolerance for this step and all smaller ones: the limit is the first
/// crossing. Unstable pockets may be much narrower than any grid, so that between grid points the maxima of the largest modulus
/// are searched; eigenvalues that are neutral by construction (equal undamped bodies in phase, modulus 1 to 1e-11) are
/// left out there, since they would hide the others. Some couplings have no limit: they grow at any step, ever more slowly as it
/// becomes smaller, and the crossing moves with the tolerance.
namespace mdpcosim {

inline constexpr double stability_tolerance = 1e-6;

struct stability_limit {
    enum class kind {
        limit,      ///< stable below omega_max, unstable right above it
        unbounded,  ///< stable up to omega_max, where the search ended
        none        ///< unstable at every step; omega_max is where the tolerance is crossed
    };
    kind outcome = kind::limit;
    double omega_max = 0;
    double rho_max_below = 1;  ///< largest spectral radius at the grid points and maxima below omega_max
    double growth = 0;         ///< none: rho - 1 grows like omega^growth
};

class stability_scan {
   public:
    explicit stability_scan(const test_system_parameters& p);

    double radius(double omega);
    /// `resolution` is the grid's step in units of 1 / (highest frequency of the coupled system). From 20 of these units on, which only
    /// couplings reach that are not limited by that frequency, the step is 0.01 in units of the faster body's own.
    stability_limit limit(double tolerance = stability_tolerance, double resolution = 0.02);
    /// Order of the global error, measured: the errors of the physical eigenvalues after one step behave like H^(order + 1).
    int order();

    double highest_frequency() const { return highest_; }

   private:
    struct sample {
        double omega = 0;
        double rho = 1;
        double free = 0;  ///< largest modulus without neutral eigenvalues
    };

    sample look(double omega);
    void solve(double omega);
    sample highest_between(sample left, sample middle, sample right, double enough);
    double physical_error(double omega);

    linear_system system_;
    recurrence recurrence_;
    Eigen::MatrixXd balanced_;
    Eigen::EigenSolver<Eigen::MatrixXd> solver_;
    Eigen::Vector4cd exact_;  ///< eigenvalues of the coupled system as one
    double own_;              ///< the faster body's frequency without the coupling
    double highest_;
};

}  // namespace mdpcosim
