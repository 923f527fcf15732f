#pragma once

#include <Eigen/Eigenvalues>

/// Eigen's solver takes most of a file's time to compile: it is compiled once, in eigenvalues.cpp.
extern template Eigen::EigenSolver<Eigen::MatrixXd>& Eigen::EigenSolver<Eigen::MatrixXd>::compute(
    const Eigen::EigenBase<Eigen::MatrixXd>&, bool);
