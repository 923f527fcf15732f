#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

/// A linear system from its answers to steps at equal times (eigensystem realization, see identification.hpp).
namespace mdpcosim {

/// x' = A x + B u, y = C x + D u, from answers[k](i, j): what output i has answered to a unit of input j after k times dt; answers[0] is
/// D. Poles that grow by less than the answers can tell are taken as neutral; motions that have no continuous counterpart (that forget or alternate
/// within dt) become such that decay within it.
struct realisation {
    Eigen::MatrixXd A, B, C, D;
    bool unstable = false;  ///< a pole grows, and its growth shows
};
realisation realise(std::span<const Eigen::MatrixXd> answers, double dt);

/// The answers of a system at such times.
std::vector<Eigen::MatrixXd> step_answers(const realisation& r, double dt, int count);

}  // namespace mdpcosim
