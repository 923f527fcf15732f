#include <fmt/format.h>
#include <sundials/sundials_dense.h>

#include <limits>

#include "core/error.hpp"
#include "subsystem/solvers/fixed_step.hpp"
#include "subsystem/solvers/jacobian.hpp"

/// The implicit trapezoidal rule, order 2, A-stable, without damping at infinity:
///     x_{n+1} = x_n + h/2 (f(t_n, x_n) + f(t_{n+1}, x_{n+1})).
/// Newton's method for the increment d = x_{n+1} - x_n, with the matrix A = I - h/2 df/dx factored at the first iterate
/// and again only where convergence is slow:
///     A delta = h/2 (f(t_n, x_n) + f(t_{n+1}, x_n + d)) - d,   d += delta,
/// until |delta_i| <= 1e-11 (|x_i| + |d_i|), or below the rounding of the largest state where it falls no more: what is zero by symmetry is noise.
/// Hairer, Wanner: Solving Ordinary Differential Equations II, IV.3 and IV.8.
namespace mdpcosim {

namespace {

struct trapezoidal {
    static constexpr const char* name = "trapezoidal";

    std::size_t work_size(std::size_t n) const { return 6 * n + n * n; }
    void prepare(equations& model, const double* x, double t, double* u);
    void step(micro_step& m, double s, double h);

   private:
    void factor(micro_step& m, double t, const double* z, const double* f, double h);
    void fail(double t, double h, const char* reason) const;

    jacobian_source jacobian_;
    std::vector<double*> columns_;  ///< of A, inside the work array
    std::vector<sunindextype> pivots_;
};

void trapezoidal::prepare(equations& model, const double* x, double t, double* u) {
    for (const auto& input : model.describe().inputs) std::fill_n(u + input.slot, input.size, input.start);
    jacobian_.prepare(model, t, x, u);
    columns_.resize(static_cast<std::size_t>(model.state_count()));
    pivots_.resize(columns_.size());
}

/// A = I - h/2 df/dx at z, and its LU decomposition. SUNDIALS' dense routines allocate nothing for any n.
void trapezoidal::factor(micro_step& m, double t, const double* z, const double* f, double h) {
    const std::size_t n = m.n;
    double* A = m.work + 6 * n;
    ++m.factorisations;
    m.evaluations += jacobian_.evaluate(t, z, m.u, f, h, A);
    for (std::size_t i = 0; i < n * n; ++i) A[i] *= -0.5 * h;
    for (std::size_t i = 0; i < n; ++i) {
        A[i + i * n] += 1;
        columns_[i] = A + i * n;
    }
    const auto size = static_cast<sunindextype>(n);
    if (SUNDlsMat_denseGETRF(columns_.data(), size, size, pivots_.data()) != 0)
        fail(t, h, "the matrix I - h/2 df/dx is singular");
}

void trapezoidal::step(micro_step& m, double s, double h) {
    constexpr int most_iterations = 25;
    const std::size_t n = m.n;
    if (n == 0) return;
    double *f_0 = m.work, *f_1 = f_0 + n, *d = f_1 + n, *z = d + n, *delta = z + n, *last = delta + n;
    m.derivatives(s, m.x, f_0);
    for (std::size_t i = 0; i < n; ++i) {
        d[i] = h * f_0[i];
        z[i] = m.x[i] + d[i];
    }
    double before = 0;
    bool refactor = true;
    for (int iteration = 0; iteration < most_iterations; ++iteration) {
        m.derivatives(s + h, z, f_1);
        ++m.newton_iterations;
        if (refactor) factor(m, m.begin + s + h, z, f_1, h);
        for (std::size_t i = 0; i < n; ++i) delta[i] = 0.5 * h * (f_0[i] + f_1[i]) - d[i];
        SUNDlsMat_denseGETRS(columns_.data(), static_cast<sunindextype>(n), pivots_.data(), delta);
        double size = 0, largest = 0;
        bool finite = true;
        for (std::size_t i = 0; i < n; ++i) {
            d[i] += delta[i];
            z[i] = m.x[i] + d[i];
            finite = finite && std::isfinite(z[i]);
            largest = std::max(largest, std::fabs(z[i]));
        }
        const double rounding = std::numeric_limits<double>::epsilon() * largest;
        for (std::size_t i = 0; i < n; ++i) {
            const double scale = std::fabs(m.x[i]) + std::fabs(d[i]), change = std::fabs(delta[i]);
            const bool noise =
                iteration > 0 && change <= rounding && (scale <= 100 * rounding || change > 0.1 * last[i]);
            last[i] = change;
            if (scale > 0 && !noise) size = std::max(size, change / scale);
        }
        if (!finite)
            fail(m.begin + s, h, "the right-hand side or the Newton iteration gives values that are not finite");
        if (size <= 1e-11) {
            std::copy_n(z, n, m.x);
            return;
        }
        refactor = iteration > 0 && size > 0.1 * before;
        before = size;
    }
    fail(m.begin + s, h, "the Newton iteration does not converge");
}

void trapezoidal::fail(double t, double h, const char* reason) const {
    throw run_error(fmt::format("{} at t = {:.9g}: {} (micro step {:.3g} s); take a smaller step", name, t, reason, h));
}

const solver_registration registered{{"trapezoidal", "implicit trapezoidal rule, fixed step, order 2, A-stable",
                                      fixed_step_options(), make_fixed_step<trapezoidal>}};

}  // namespace

}  // namespace mdpcosim
