#pragma once

#include <vector>

#include "subsystem/equations.hpp"

namespace mdpcosim {

/// A colour for every column, counted from zero, such that columns of one colour share no row: one evaluation of f with all
/// of them perturbed gives their difference quotients. Greedy, in the order of the columns; a band of width w needs w
/// colours. Curtis, Powell, Reid: On the Estimation of Sparse Jacobian Matrices, J. Inst. Maths Applics 13 (1974).
std::vector<int> column_colours(const sparsity& s);

/// The entries of df/dx in compressed columns, exact where the model offers them, else by one-sided differences, one
/// evaluation of f for each colour.
class sparse_jacobian_source {
   public:
    /// `model` has a structure. Asks it once, at (t, x, u), whether it offers the entries.
    void prepare(const equations& model, double t, const double* x, const double* u);

    bool exact() const { return exact_; }
    int colours() const { return static_cast<int>(groups_.empty() ? 0 : groups_.size() - 1); }

    /// As jacobian_source::evaluate().
    int evaluate(double t, const double* x, const double* u, const double* f, double h, double* values);

   private:
    const equations* model_ = nullptr;
    const sparsity* structure_ = nullptr;
    bool exact_ = false;
    std::vector<int> columns_, groups_;  ///< columns sorted by colour; where each colour begins
    std::vector<double> x_, f_, delta_;
};

}  // namespace mdpcosim
