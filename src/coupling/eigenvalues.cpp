#include "coupling/eigenvalues.hpp"

template Eigen::EigenSolver<Eigen::MatrixXd>& Eigen::EigenSolver<Eigen::MatrixXd>::compute(
    const Eigen::EigenBase<Eigen::MatrixXd>&, bool);
