#include "analysis/linear_subsystem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/balance.hpp"
#include "subsystem/description_parts.hpp"

namespace mdpcosim {

Eigen::MatrixXd matrix_exponential(Eigen::MatrixXd M) {
    if (M.size() == 0) return M;
    const Eigen::VectorXd scale = balance(M);  // stiff systems: every squaring costs digits
    const double norm = M.cwiseAbs().rowwise().sum().maxCoeff();
    const int squarings = norm > 0.5 ? static_cast<int>(std::ceil(std::log2(norm / 0.5))) : 0;
    M *= std::ldexp(1.0, -squarings);
    constexpr int terms = 14;  // 0.5^15 / 15! < 1e-16
    const auto I = Eigen::MatrixXd::Identity(M.rows(), M.cols());
    Eigen::MatrixXd sum = I, product(M.rows(), M.cols());
    for (int n = terms; n >= 1; --n) {
        product.noalias() = M * sum;
        sum = I + product / n;
    }
    for (int i = 0; i < squarings; ++i) {
        product.noalias() = sum * sum;
        sum.swap(product);
    }
    return scale.asDiagonal() * sum * scale.cwiseInverse().asDiagonal();
}

struct linear_subsystem::stored final : snapshot {
    Eigen::VectorXd x;
    void state(state_bytes& bytes) override {
        bytes.raw(x.data(), static_cast<std::size_t>(x.size()) * sizeof(double));
    }
};

linear_subsystem::linear_subsystem(linear_equations equations, Eigen::VectorXd start, int input_degree)
    : eq_(std::move(equations)), start_(std::move(start)), x_(start_), next_(start_) {
    description_.type = "linear";
    for (const auto& name : eq_.inputs) add_input(description_, name, "", "");
    for (auto& input : description_.inputs) input.max_degree = input_degree;
    for (const auto& name : eq_.outputs) {
        const int slot = add_output(description_, name, "", "");
        for (int i = 0; i < eq_.D.cols(); ++i)
            if (eq_.D(slot, i) != 0) description_.outputs.back().direct.push_back(i);
    }
    find_acting_inputs();
}

linear_subsystem::linear_subsystem(linear_equations equations, Eigen::VectorXd start, subsystem_description as,
                                   const capabilities& offered)
    : eq_(std::move(equations)), description_(std::move(as)), start_(std::move(start)), x_(start_), next_(start_) {
    offered_.save_restore = offered.save_restore;
    offered_.why_no_save_restore = offered.why_no_save_restore;
    offered_.rate_sensitivities = offered.rate_sensitivities;
    offered_.hidden_steps = offered.hidden_steps;
    offered_.why_fixed_step = offered.why_fixed_step;
    offered_.port_stiffness = offered.port_stiffness;
    find_acting_inputs();
}

void linear_subsystem::find_acting_inputs() {
    for (int i = 0; i < eq_.B.cols(); ++i)
        if (!eq_.B.col(i).isZero(0) || !eq_.E.col(i).isZero(0)) acting_.push_back(i);
}

void linear_subsystem::rate_sensitivities(std::span<const double>, int input, std::span<double> by_output) {
    const Eigen::VectorXd answer = eq_.C * eq_.B.col(input);
    for (const output_variable& y : description_.outputs)
        for (int k = y.slot; k < y.slot + y.size; ++k)
            by_output[static_cast<std::size_t>(k)] =
                y.rate_sensitivities ? answer[k] : std::numeric_limits<double>::quiet_NaN();
}

void linear_subsystem::initialise(double) { x_ = start_; }

void linear_subsystem::outputs(std::span<const double> u, std::span<double> y) {
    const Eigen::Map<const Eigen::VectorXd> in(u.data(), static_cast<Eigen::Index>(u.size()));
    Eigen::Map<Eigen::VectorXd> out(y.data(), static_cast<Eigen::Index>(y.size()));
    out = eq_.C.lazyProduct(x_) + eq_.D.lazyProduct(in);
}

void linear_subsystem::advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) {
    int degree = 0;
    for (const int i : acting_) degree = std::max(degree, inputs[static_cast<std::size_t>(i)].degree);
    const double H = step.end - step.begin;
    const double rounding =
        4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(step.begin), std::abs(step.end));
    if (degree > degree_ || !(std::abs(H - H_) <= rounding)) prepare(step, std::max(degree, degree_));

    const Eigen::Index n = x_.size();
    next_ = propagation_.leftCols(n).lazyProduct(x_);
    Eigen::Index column = n;
    for (int k = 0; k <= degree; ++k)
        for (const int i : acting_) next_ += propagation_.col(column++) * inputs[static_cast<std::size_t>(i)].c[k];
    x_.swap(next_);
    for (Eigen::Index row = 0; row < eq_.C.rows(); ++row) {
        double sum = eq_.C.row(row).dot(x_);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const double direct = eq_.D(row, static_cast<Eigen::Index>(i));
            if (direct != 0) sum += direct * inputs[i](H);
        }
        y[static_cast<std::size_t>(row)] = sum;
    }
}

void linear_subsystem::prepare(const macro_step& step, int degree) {
    H_ = step.end - step.begin;
    degree_ = degree;
    const Eigen::Index n = x_.size(), m = static_cast<Eigen::Index>(acting_.size()), size = n + m * (degree + 1);
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(size, size);
    M.topLeftCorner(n, n) = eq_.A;
    for (Eigen::Index i = 0; i < m; ++i) {
        M.col(n + i).head(n) = eq_.B.col(acting_[static_cast<std::size_t>(i)]);
        if (degree > 0) M.col(n + m + i).head(n) = eq_.E.col(acting_[static_cast<std::size_t>(i)]);
    }
    M.block(n, n + m, m * degree, m * degree).setIdentity();
    propagation_ = matrix_exponential(M * H_).topRows(n);
    double factorial = 1;
    for (int k = 1; k <= degree; ++k) {
        factorial *= k;
        propagation_.middleCols(n + k * m, m) *= factorial;
    }
}

std::unique_ptr<snapshot> linear_subsystem::make_snapshot() const {
    auto made = std::make_unique<stored>();
    made->x = x_;
    return made;
}

void linear_subsystem::save(snapshot& into) { static_cast<stored&>(into).x = x_; }

void linear_subsystem::restore(const snapshot& from) { x_ = static_cast<const stored&>(from).x; }

}  // namespace mdpcosim
