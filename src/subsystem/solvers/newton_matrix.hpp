#pragma once

#include <string>
#include <vector>

#include "core/parameter.hpp"
#include "subsystem/solvers/jacobian.hpp"
#include "subsystem/solvers/sundials_handles.hpp"

namespace mdpcosim {

/// The option `linear-solver`, in the order of its words.
enum class linear_solver_choice { automatic, dense, sparse };
parameter_info linear_solver_option();
/// Empty, or why the choice does not fit the model.
std::string why_not_linear(linear_solver_choice choice, const equations& model);

/// The matrix of a Newton iteration, A = a M - b df/dx, with its linear solver and the Jacobian it was made of. Sparse (KLU)
/// where the model gives a structure and it pays, else dense. A model without states has the matrix (a).
///
/// KLU orders the columns once and keeps its pivots: factoring anew with other numbers allocates nothing. Only where the
/// old pivots have become useless does it choose new ones, which allocates.
class newton_matrix {
   public:
    /// Asks the model at (t, x, u) what it offers; `like` is a vector of the size of the state.
    newton_matrix(const equations& model, linear_solver_choice choice, N_Vector like, SUNContext context, double t,
                  const double* x, const double* u);

    bool sparse() const { return sparse_; }
    SUNMatrix matrix() const { return matrix_.get(); }
    SUNLinearSolver linear_solver() const { return linear_solver_.get(); }

    /// The Jacobian at (t, x, u); see jacobian_source::evaluate().
    int evaluate(double t, const double* x, const double* u, const double* f, double h);

    /// A = a M - b df/dx with the last Jacobian; `unit`: M = I, all of it. False when an entry is not finite.
    bool fill(SUNMatrix A, double a, double b, bool unit = false) const;
    /// A for the algebraic states alone: their rows of -df/dx; rows of the unit matrix for the others.
    bool fill_algebraic(SUNMatrix A) const;

    /// Factors A once with the Jacobian at (t, x, u), a = b = 1 in the scale of the Jacobian: KLU chooses its pivots here.
    void choose_pivots(double t, const double* x, const double* u);

   private:
    void make_pattern(const sparsity& s);
    double* begin_fill(SUNMatrix A) const;
    template <class Entry, class Diagonal>
    bool fill_with(SUNMatrix A, Entry entry, Diagonal diagonal) const;

    const equations* model_;
    std::size_t n_;
    bool sparse_;
    std::vector<char> algebraic_;
    std::vector<double> jacobian_;  ///< dense, or the entries of the structure
    jacobian_source dense_source_;
    sparse_jacobian_source sparse_source_;
    std::vector<sunindextype> start_, rows_;     ///< of A: the structure and the diagonal
    std::vector<std::size_t> place_, diagonal_;  ///< in A: of the structure's entries and of the diagonal
    matrix_handle matrix_;
    linear_solver_handle linear_solver_;
};

}  // namespace mdpcosim
