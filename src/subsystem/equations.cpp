#include "subsystem/equations.hpp"

#include <algorithm>

namespace mdpcosim {

bool equations::jacobian(double t, const double* x, const double* u, double* dfdx) const {
    const sparsity* s = structure();
    if (!s || !sparse_jacobian(t, x, u, dfdx)) return false;
    expand(*s, dfdx);
    return true;
}

void equations::rate_sensitivities(double, const double*, const double*, int, double* by_output) const {
    std::fill_n(by_output, describe().output_count(), std::numeric_limits<double>::quiet_NaN());
}

/// From the last entry to the first: an entry's place in the dense matrix never lies before its place in the list.
void expand(const sparsity& s, double* values) {
    const std::size_t n = s.start.size() - 1;
    for (std::size_t j = n; j-- > 0;) {
        std::size_t below = n;
        for (auto k = static_cast<std::size_t>(s.start[j + 1]); k-- > static_cast<std::size_t>(s.start[j]);) {
            const auto row = static_cast<std::size_t>(s.rows[k]);
            const double value = values[k];
            std::fill(values + j * n + row + 1, values + j * n + below, 0.0);
            values[j * n + row] = value;
            below = row;
        }
        std::fill(values + j * n, values + j * n + below, 0.0);
    }
}

bool has_algebraic_states(const equations& model) {
    for (int i = 0; i < model.state_count(); ++i)
        if (model.is_algebraic(i)) return true;
    return false;
}

}  // namespace mdpcosim
