#pragma once

#include <Eigen/Core>

namespace mdpcosim {

/// Scales rows and columns by powers of two until they are equally large (Parlett and Reinsch): displacements and forces
/// of a stiff coupling differ by orders of magnitude, which costs digits of the eigenvalues. Returns the scale of every entry.
Eigen::VectorXd balance(Eigen::MatrixXd& M);

}  // namespace mdpcosim
