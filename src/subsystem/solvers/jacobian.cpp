#include "subsystem/solvers/jacobian.hpp"

namespace mdpcosim {

void jacobian_source::prepare(const equations& model, double t, const double* x, const double* u) {
    model_ = &model;
    n_ = static_cast<std::size_t>(model.state_count());
    std::vector<double> trial(n_ * n_);
    exact_ = model.jacobian(t, x, u, trial.data());
    if (!exact_ && model.structure()) sparse_.prepare(model, t, x, u);
    x_.assign(x, x + n_);
}

int jacobian_source::evaluate(double t, const double* x, const double* u, const double* f, double h, double* dfdx) {
    if (exact_) {
        model_->jacobian(t, x, u, dfdx);
        return 0;
    }
    if (const sparsity* s = model_->structure()) {
        const int evaluations = sparse_.evaluate(t, x, u, f, h, dfdx);
        expand(*s, dfdx);
        return evaluations;
    }
    std::copy(x, x + n_, x_.begin());
    for (std::size_t j = 0; j < n_; ++j) {
        double* column = dfdx + j * n_;
        x_[j] = x[j] + difference_step(x[j], h * f[j]);
        const double delta = x_[j] - x[j];
        model_->derivatives(t, x_.data(), u, column);
        for (std::size_t i = 0; i < n_; ++i) column[i] = (column[i] - f[i]) / delta;
        x_[j] = x[j];
    }
    return static_cast<int>(n_);
}

}  // namespace mdpcosim
