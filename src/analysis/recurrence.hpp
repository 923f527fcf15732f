#pragma once

#include <Eigen/Core>
#include <complex>
#include <span>
#include <vector>

#include "analysis/balance.hpp"
#include "analysis/test_system.hpp"

/// The recurrence r(t + H) = P r(t) of a co-simulated linear system on a constant grid, found by running it: column j of P is what
/// one macro step of the system's own method makes of the j-th unit vector.
///
/// r holds everything the next steps depend on, at a macro point t before the method's step from t to t + H:
///     the states of all subsystems, one after the other         (x_A, v_A, x_B, v_B of the test system)
///     the network's memory                                      (network.hpp: u, du at t - H, t - 2H, ...)
///     the method's memory                                       (method.hpp; none with the explicit method)
/// The values at t itself follow from the states. Compared with 000 (2.51), which keeps all states of the last K points,
/// this leaves out zero eigenvalues only.
namespace mdpcosim {

class recurrence {
   public:
    explicit recurrence(linear_system& system);

    int size() const { return static_cast<int>(scratch_.size()); }
    int states() const { return states_; }  ///< leading entries of r that are states of subsystems

    /// P for steps of length H, for as long as this object is asked for no other. The system's present state is lost.
    const Eigen::MatrixXd& matrix(double H);

    /// r of the running system at the macro point t. The history must be complete: after max(K) - 1 steps, or after set().
    void get(double t, std::span<double> r) const;
    /// Puts the system into the state r at the macro point t, as if it had come there by steps of length H.
    void set(double t, double H, std::span<const double> r);

   private:
    linear_system& system_;
    int states_ = 0;
    std::size_t network_ = 0;  ///< length of the network's memory
    std::vector<double> scratch_, zeros_;
    Eigen::MatrixXd P_;
};

std::vector<std::complex<double>> eigenvalues(Eigen::MatrixXd P);
double spectral_radius(Eigen::MatrixXd P);

}  // namespace mdpcosim
