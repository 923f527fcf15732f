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
            kind_[i] = model.is_algebraic(state) ? kind::algebraic : model.rests(state) ? kind::resting : kind::held;
        }
        SUNContext created = nullptr;
        if (SUNContext_Create(nullptr, &created) != 0) throw run_error("the search for an equilibrium cannot begin");
        context_.reset(created);
        residual_.reset(N_VNew_Serial(static_cast<sunindextype>(n_), context_.get()));
        delta_.reset(N_VNew_Serial(static_cast<sunindextype>(n_), context_.get()));
        if (!residual_ || !delta_) throw run_error("no memory for the search for an equilibrium");
        matrix_.emplace(model, linear_solver_choice::automatic, residual_.get(), context_.get(), t, x, u);
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

    const equations& model_;
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
