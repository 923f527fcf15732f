#include "analysis/balance.hpp"

#include <cmath>

namespace mdpcosim {

Eigen::VectorXd balance(Eigen::MatrixXd& M) {
    Eigen::VectorXd scale = Eigen::VectorXd::Ones(M.rows());
    bool changed = true;
    // Entries that differ by more than the digits of a number may take turns for ever.
    for (int sweep = 0; changed && sweep < 100; ++sweep) {
        changed = false;
        for (Eigen::Index i = 0; i < M.rows(); ++i) {
            const double column = M.col(i).cwiseAbs().sum() - std::abs(M(i, i));
            const double row = M.row(i).cwiseAbs().sum() - std::abs(M(i, i));
            if (!(column > 0 && row > 0)) continue;
            const double factor = std::exp2(std::round(std::log2(row / column) / 2));
            // Where it gains little, two neighbouring powers would take turns for ever.
            if (!(column * factor + row / factor <= 0.95 * (column + row))) continue;
            M.col(i) *= factor;
            M.row(i) /= factor;
            scale[i] *= factor;
            changed = true;
        }
    }
    return scale;
}

}  // namespace mdpcosim
