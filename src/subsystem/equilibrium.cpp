#include "subsystem/equilibrium.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/error.hpp"
#include "subsystem/solvers/newton_matrix.hpp"

namespace mdpcosim {

namespace {

constexpr double at_rest = 1e-7;       // change in one second, relative to the state's size at the start
constexpr double small_enough = 1e-6;  // of Newton's corrections, relative to the state's size
constexpr double first_step = 1e-7;    // s
constexpr double longest_step = 10;    // s
constexpr int most_attempts = 1000, most_iterations = 6;

/// The model with the states that need no rest held: their rates are zero, whatever the others do.
class held_model final : public equations {
   public:
    explicit held_model(const equations& of) : of_(of) {
        for (int i = 0; i < of.state_count(); ++i) held_.push_back(!of.is_algebraic(i) && !of.rests(i));
    }
    bool is_held(std::size_t i) const { return held_[i]; }

    const subsystem_description& describe() const noexcept override { return of_.describe(); }
    int state_count() const override { return of_.state_count(); }
    void initial_state(double t0, double* x) const override { of_.initial_state(t0, x); }
    bool is_algebraic(int i) const override { return of_.is_algebraic(i); }
    std::string state_name(int i) const override { return of_.state_name(i); }
    double nominal(int i) const override { return of_.nominal(i); }
    void outputs(double t, const double* x, const double* u, double* y) const override { of_.outputs(t, x, u, y); }
    void derivatives(double t, const double* x, const double* u, double* dx) const override {
        of_.derivatives(t, x, u, dx);
        for (std::size_t i = 0; i < held_.size(); ++i)
            if (held_[i]) dx[i] = 0;
    }
    const sparsity* structure() const override { return of_.structure(); }
    bool sparse_jacobian(double t, const double* x, const double* u, double* values) const override {
        if (!of_.sparse_jacobian(t, x, u, values)) return false;
        const std::vector<int>& rows = of_.structure()->rows;
        for (std::size_t k = 0; k < rows.size(); ++k)
            if (held_[static_cast<std::size_t>(rows[k])]) values[k] = 0;
        return true;
    }
    bool jacobian(double t, const double* x, const double* u, double* dfdx) const override {
        if (!of_.jacobian(t, x, u, dfdx)) return false;
        const std::size_t n = held_.size();
        for (std::size_t k = 0; k < n * n; ++k)
            if (held_[k % n]) dfdx[k] = 0;
        return true;
    }

   private:
    const equations& of_;
    std::vector<bool> held_;
};

class relaxation {
    enum class kind : char { resting, held, algebraic };

   public:
    relaxation(const equations& model, double t, const double* u, double* x)
        : model_(model),
          t_(t),
          u_(u),
          x_(x),
          n_(static_cast<std::size_t>(model.state_count())),
          before_(n_),
          f_(n_),
          size_(n_),
          kind_(n_) {
        // What runs away must not seem slow beside how far it has come.
        for (std::size_t i = 0; i < n_; ++i) {
            const int state = static_cast<int>(i);
            size_[i] = std::fabs(x[i]) + model.nominal(state);
            kind_[i] = model.is_algebraic(state) ? kind::algebraic : model_.is_held(i) ? kind::held : kind::resting;
        }
        SUNContext created = nullptr;
        if (SUNContext_Create(nullptr, &created) != 0) throw run_error("the search for an equilibrium cannot begin");
        context_.reset(created);
        residual_.reset(N_VNew_Serial(static_cast<sunindextype>(n_), context_.get()));
        delta_.reset(N_VNew_Serial(static_cast<sunindextype>(n_), context_.get()));
        if (!residual_ || !delta_) throw run_error("no memory for the search for an equilibrium");
        matrix_.emplace(model_, linear_solver_choice::automatic, residual_.get(), context_.get(), t, x, u);
        if (SUNLinSolInitialize(matrix_->linear_solver()) != 0)
            throw run_error("the linear solver cannot be initialised");
    }

    void run() {
        double h = first_step;
        for (int attempt = 0; attempt < most_attempts; ++attempt) {
            std::copy_n(x_, n_, before_.begin());
            const int iterations = step(h);
            if (iterations == 0) {
                std::ranges::copy(before_, x_);
                h /= 8;
                if (h < 1e-6 * first_step) break;
                continue;
            }
            if (rests()) return;
            h = std::min(longest_step, iterations <= 3 ? 4 * h : h);
        }
        fail(h);
    }

   private:
    /// M (x - before) = h f(x); the number of iterations, 0 where they do not converge.
    int step(double h) {
        double *R = N_VGetArrayPointer(residual_.get()), *delta = N_VGetArrayPointer(delta_.get());
        for (int k = 1; k <= most_iterations; ++k) {
            model_.derivatives(t_, x_, u_, f_.data());
            for (std::size_t i = 0; i < n_; ++i) {
                R[i] = (kind_[i] == kind::algebraic ? 0 : before_[i] - x_[i]) + h * f_[i];
                if (!std::isfinite(R[i])) return 0;
            }
            matrix_->evaluate(t_, x_, u_, f_.data(), h);
            if (!matrix_->fill(matrix_->matrix(), 1, h)) return 0;
            if (SUNLinSolSetup(matrix_->linear_solver(), matrix_->matrix()) != 0) return 0;
            if (SUNLinSolSolve(matrix_->linear_solver(), matrix_->matrix(), delta_.get(), residual_.get(), 0) != 0)
                return 0;
            double most = 0;
            for (std::size_t i = 0; i < n_; ++i) {
                if (kind_[i] == kind::held) continue;
                if (!std::isfinite(delta[i])) return 0;
                x_[i] += delta[i];
                most = std::max(most, std::fabs(delta[i]) / (size_[i] + std::fabs(x_[i])));
            }
            if (most <= small_enough) return k;
        }
        return 0;
    }

    bool rests() {
        model_.derivatives(t_, x_, u_, f_.data());
        bool all = true;
        double worst = at_rest;
        for (std::size_t i = 0; i < n_; ++i) {
            if (kind_[i] != kind::resting) continue;
            if (const double moves = std::fabs(f_[i]) / size_[i]; !(moves <= worst)) {
                all = false;
                worst = moves;
                moving_ = i;
            }
        }
        return all;
    }

    [[noreturn]] void fail(double h) {
        rests();
        throw run_error(
            fmt::format("no equilibrium was found ('initial: equilibrium'): state {}, now {:.6g}, still changes by "
                        "{:.6g} per second (the "
                        "last step of the search was {:.3g} s long). Nothing holds it, or it has no rest under its "
                        "loads: hold it by a spring, a stop or "
                        "a pressure, begin closer to the equilibrium, or leave 'initial' out",
                        model_.state_name(static_cast<int>(moving_)), x_[moving_], f_[moving_], h));
    }

    const held_model model_;
    double t_;
    const double* u_;
    double* x_;
    std::size_t n_;
    std::vector<double> before_, f_, size_;
    std::vector<kind> kind_;
    context_handle context_;
    vector_handle residual_, delta_;
    std::optional<newton_matrix> matrix_;
    std::size_t moving_ = 0;
};

}  // namespace

void find_equilibrium(const equations& model, double t, const double* u, double* x) {
    if (model.state_count() > 0) relaxation(model, t, u, x).run();
}

}  // namespace mdpcosim
