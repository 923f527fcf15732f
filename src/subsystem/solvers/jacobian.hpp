#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "subsystem/equations.hpp"
#include "subsystem/solvers/sparse_jacobian.hpp"

namespace mdpcosim {

/// How far a difference quotient moves a state of value `x` that changes by about `change` in a step.
inline double difference_step(double x, double change) {
    const double root = std::sqrt(std::numeric_limits<double>::epsilon());
    return root * std::max({std::fabs(x), std::fabs(change), 1e-6});
}

/// df/dx, exact where the model offers it, else by one-sided differences. Column-major, n x n.
class jacobian_source {
   public:
    /// Asks the model once, at (t, x, u), whether it offers its Jacobian.
    void prepare(const equations& model, double t, const double* x, const double* u);

    bool exact() const { return exact_; }

    /// `f` is the right-hand side at (t, x, u) and `h` the scale of time: x moves by about h f. Returns the number of
    /// evaluations of the right-hand side.
    int evaluate(double t, const double* x, const double* u, const double* f, double h, double* dfdx);

   private:
    const equations* model_ = nullptr;
    std::size_t n_ = 0;
    bool exact_ = false;
    sparse_jacobian_source sparse_;  ///< for differences, where the model has a structure
    std::vector<double> x_;
};

}  // namespace mdpcosim
