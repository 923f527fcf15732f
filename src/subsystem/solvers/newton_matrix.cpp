#include "subsystem/solvers/newton_matrix.hpp"

#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include "core/error.hpp"
#include "subsystem/solvers/interval.hpp"

namespace mdpcosim {

namespace {

/// Below this many states the dense factorisation is about as fast as KLU (bench/chain.cpp prints the comparison).
constexpr std::size_t sparse_from = 20;

bool chooses_sparse(linear_solver_choice choice, const equations& model) {
    const sparsity* s = model.structure();
    const auto n = static_cast<std::size_t>(model.state_count());
    if (!s || n == 0 || choice == linear_solver_choice::dense) return false;
    return choice == linear_solver_choice::sparse || (n >= sparse_from && 4 * s->entries() <= n * n);
}

/// SUNDIALS keeps KLU's pivots for ever and calls a matrix singular that only needs others.
int set_up_klu(SUNLinearSolver S, SUNMatrix A) {
    auto* content = static_cast<SUNLinearSolverContent_KLU>(S->content);
    const bool first = content->first_factorize != 0;
    const int flag = SUNLinSolSetup_KLU(S, A);
    if (flag == 0 || first) return flag;
    content->first_factorize = 1;
    return SUNLinSolSetup_KLU(S, A);
}

/// SUNDIALS would order and factor from scratch, with allocations, after every restart of an integrator.
int keep_klu(SUNLinearSolver) { return SUNLS_SUCCESS; }

}  // namespace

parameter_info linear_solver_option() {
    return {
        "linear-solver",
        "1",
        "of the Newton iteration: sparse (KLU) for models that tell the structure of their Jacobian, dense, or auto",
        0,
        parameter_info::range::any,
        false,
        false,
        {"auto", "dense", "sparse"}};
}

std::string why_not_linear(linear_solver_choice choice, const equations& model) {
    if (choice != linear_solver_choice::sparse || model.structure() || model.state_count() == 0) return {};
    return "linear-solver: sparse needs a model that tells the structure of its Jacobian, which this one does not; "
           "take "
           "auto or dense";
}

newton_matrix::newton_matrix(const equations& model, linear_solver_choice choice, N_Vector like, SUNContext context,
                             double t, const double* x, const double* u)
    : model_(&model),
      n_(static_cast<std::size_t>(model.state_count())),
      sparse_(chooses_sparse(choice, model)),
      algebraic_(n_) {
    for (std::size_t i = 0; i < n_; ++i) algebraic_[i] = model.is_algebraic(static_cast<int>(i));
    const auto size = static_cast<sunindextype>(std::max<std::size_t>(n_, 1));
    if (sparse_) {
        make_pattern(*model.structure());
        sparse_source_.prepare(model, t, x, u);
        jacobian_.resize(model.structure()->entries());
        matrix_.reset(SUNSparseMatrix(size, size, static_cast<sunindextype>(rows_.size()), CSC_MAT, context));
        if (matrix_) linear_solver_.reset(SUNLinSol_KLU(like, matrix_.get(), context));
        if (linear_solver_) {
            linear_solver_->ops->setup = set_up_klu;
            linear_solver_->ops->initialize = keep_klu;
        }
    } else {
        dense_source_.prepare(model, t, x, u);
        jacobian_.resize(n_ * n_);
        matrix_.reset(SUNDenseMatrix(size, size, context));
        if (matrix_) linear_solver_.reset(SUNLinSol_Dense(like, matrix_.get(), context));
    }
    if (!matrix_ || !linear_solver_) throw run_error("no memory for the Newton matrix");
}

/// The structure with the diagonal put in where it is missing.
void newton_matrix::make_pattern(const sparsity& s) {
    place_.resize(s.entries());
    diagonal_.resize(n_);
    start_.assign(1, 0);
    for (std::size_t j = 0; j < n_; ++j) {
        bool has_diagonal = false;
        const auto add_diagonal = [&] {
            if (has_diagonal) return;
            diagonal_[j] = rows_.size();
            rows_.push_back(static_cast<sunindextype>(j));
            has_diagonal = true;
        };
        for (auto k = static_cast<std::size_t>(s.start[j]); k < static_cast<std::size_t>(s.start[j + 1]); ++k) {
            const auto row = static_cast<std::size_t>(s.rows[k]);
            if (row >= j) add_diagonal();
            if (row == j) {
                place_[k] = diagonal_[j];
                continue;
            }
            place_[k] = rows_.size();
            rows_.push_back(static_cast<sunindextype>(row));
        }
        add_diagonal();
        start_.push_back(static_cast<sunindextype>(rows_.size()));
    }
}

int newton_matrix::evaluate(double t, const double* x, const double* u, const double* f, double h) {
    return sparse_ ? sparse_source_.evaluate(t, x, u, f, h, jacobian_.data())
                   : dense_source_.evaluate(t, x, u, f, h, jacobian_.data());
}

/// Zeros in A; the pattern is written again because SUNDIALS clears it now and then.
double* newton_matrix::begin_fill(SUNMatrix A) const {
    if (!sparse_) return SUNDenseMatrix_Data(A);
    std::ranges::copy(start_, SUNSparseMatrix_IndexPointers(A));
    std::ranges::copy(rows_, SUNSparseMatrix_IndexValues(A));
    double* a = SUNSparseMatrix_Data(A);
    std::fill_n(a, rows_.size(), 0.0);
    return a;
}

/// entry(row, value of df/dx) and diagonal(row) give A's parts.
template <class Entry, class Diagonal>
bool newton_matrix::fill_with(SUNMatrix A, Entry entry, Diagonal diagonal) const {
    double* a = begin_fill(A);
    if (sparse_) {
        const auto& rows = model_->structure()->rows;
        for (std::size_t k = 0; k < jacobian_.size(); ++k)
            a[place_[k]] = entry(static_cast<std::size_t>(rows[k]), jacobian_[k]);
        for (std::size_t i = 0; i < n_; ++i) a[diagonal_[i]] += diagonal(i);
        return all_finite(a, rows_.size());
    }
    for (std::size_t j = 0; j < n_; ++j)
        for (std::size_t i = 0; i < n_; ++i) a[i + j * n_] = entry(i, jacobian_[i + j * n_]);
    for (std::size_t i = 0; i < n_; ++i) a[i + i * n_] += diagonal(i);
    return all_finite(a, jacobian_.size());
}

bool newton_matrix::fill(SUNMatrix A, double a, double b, bool unit) const {
    if (n_ == 0) {
        SUNDenseMatrix_Data(A)[0] = a;
        return true;
    }
    return fill_with(
        A, [b](std::size_t, double J) { return -b * J; },
        [&](std::size_t i) { return algebraic_[i] && !unit ? 0 : a; });
}

bool newton_matrix::fill_algebraic(SUNMatrix A) const {
    return fill_with(
        A, [this](std::size_t i, double J) { return algebraic_[i] ? -J : 0; },
        [this](std::size_t i) { return algebraic_[i] ? 0.0 : 1.0; });
}

void newton_matrix::choose_pivots(double t, const double* x, const double* u) {
    if (!sparse_) return;
    std::vector<double> f(n_);
    model_->derivatives(t, x, u, f.data());
    evaluate(t, x, u, f.data(), 0);
    double scale = 0;
    for (const double value : jacobian_) scale = std::max(scale, std::fabs(value));
    if (!fill(matrix_.get(), scale > 0 && std::isfinite(scale) ? scale : 1, 1)) return;
    static_cast<SUNLinearSolverContent_KLU>(linear_solver_->content)->first_factorize = 1;
    SUNLinSolSetup_KLU(linear_solver_.get(), matrix_.get());  // where this fails, the first step chooses the pivots
}

}  // namespace mdpcosim
