#include "subsystem/solvers/fixed_step.hpp"

/// The classical Runge-Kutta method, order 4:
///     k_1 = f(t, x)                      k_2 = f(t + h/2, x + h/2 k_1)
///     k_3 = f(t + h/2, x + h/2 k_2)      k_4 = f(t + h, x + h k_3)
///     x_{n+1} = x_n + h/6 (k_1 + 2 k_2 + 2 k_3 + k_4)
/// Stable on the imaginary axis up to |h omega| = 2.83, on the negative real axis up to 2.79.
/// Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, II.1.
namespace mdpcosim {

namespace {

struct rk4 {
    static constexpr const char* name = "rk4";

    std::size_t work_size(std::size_t n) const { return 3 * n; }
    void prepare(equations&, const double*, double, double*) {}

    void step(micro_step& m, double s, double h) const {
        const std::size_t n = m.n;
        double* k = m.work;
        double* sum = k + n;
        double* z = sum + n;
        m.derivatives(s, m.x, k);
        for (std::size_t i = 0; i < n; ++i) {
            sum[i] = k[i];
            z[i] = m.x[i] + 0.5 * h * k[i];
        }
        m.derivatives(s + 0.5 * h, z, k);
        for (std::size_t i = 0; i < n; ++i) {
            sum[i] += 2 * k[i];
            z[i] = m.x[i] + 0.5 * h * k[i];
        }
        m.derivatives(s + 0.5 * h, z, k);
        for (std::size_t i = 0; i < n; ++i) {
            sum[i] += 2 * k[i];
            z[i] = m.x[i] + h * k[i];
        }
        m.derivatives(s + h, z, k);
        for (std::size_t i = 0; i < n; ++i) m.x[i] += h / 6 * (sum[i] + k[i]);
    }
};

const solver_registration registered{
    {"rk4", "classical Runge-Kutta, fixed step, order 4", fixed_step_options(), make_fixed_step<rk4>}};

}  // namespace

}  // namespace mdpcosim
