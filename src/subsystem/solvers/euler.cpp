#include "subsystem/solvers/fixed_step.hpp"

/// Explicit Euler, order 1:  x_{n+1} = x_n + h f(t_n, x_n).
/// Stable for |1 + h lambda| <= 1; undamped oscillations grow.
/// Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, I.7.
namespace mdpcosim {

namespace {

struct euler {
    static constexpr const char* name = "euler";

    std::size_t work_size(std::size_t n) const { return n; }
    void prepare(equations&, const double*, double, double*) {}

    void step(micro_step& m, double s, double h) const {
        double* k = m.work;
        m.derivatives(s, m.x, k);
        for (std::size_t i = 0; i < m.n; ++i) m.x[i] += h * k[i];
    }
};

const solver_registration registered{
    {"euler", "explicit Euler, fixed step, order 1", fixed_step_options(), make_fixed_step<euler>}};

}  // namespace

}  // namespace mdpcosim
