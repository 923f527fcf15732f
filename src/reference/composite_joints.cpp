#include "reference/composite_joints.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

constexpr double violated = 1e-6;   // by the initial state
constexpr double drifted = 1e-12;   // what is projected
constexpr double dependent = 1e-9;  // of equations, scaled

}  // namespace

composite_joints::composite_joints(std::vector<joint_connection> all, std::vector<range> states)
    : all_(std::move(all)), states_(std::move(states)) {
    std::size_t loads = 0;
    for (const auto& j : all_) {
        places_.push_back({multipliers_, loads});
        multipliers_ += j.multipliers.size();
        loads += 2 * j.multipliers.size() * j.ends[0].load.size();
        for (std::size_t e = 0; e < 2; ++e) {
            motion_[e].resize(std::max(motion_[e].size(), j.ends[e].motion.size()));
            if (std::ranges::find(subsystems_, j.ends[e].subsystem) == subsystems_.end())
                subsystems_.push_back(j.ends[e].subsystem);
        }
    }
    g_.resize(multipliers_);
    loads_.resize(loads);
    A_.resize(multipliers_ * multipliers_);
}

void composite_joints::evaluate_joint(std::size_t j, std::span<const double> y, jet* g, jet* first, jet* second) const {
    for (std::size_t e = 0; e < 2; ++e)
        for (std::size_t k = 0; k < all_[j].ends[e].motion.size(); ++k)
            motion_[e][k] = y[all_[j].ends[e].motion[k].value()];
    all_[j].joint->evaluate(motion_[0].data(), motion_[1].data(), g, first, second);
}

void composite_joints::evaluate_all(std::span<const double> y) {
    for (std::size_t j = 0; j < all_.size(); ++j) {
        jet* first = loads_.data() + places_[j].load;
        evaluate_joint(j, y, g_.data() + places_[j].multiplier, first,
                       first + all_[j].multipliers.size() * all_[j].ends[0].load.size());
    }
}

double composite_joints::unit_load(std::size_t j, std::size_t end, std::size_t equation, std::size_t component) const {
    const std::size_t components = all_[j].ends[0].load.size();
    return loads_[places_[j].load + (end * all_[j].multipliers.size() + equation) * components + component].x;
}

void composite_joints::hold(const double* x, std::span<const double> inputs, std::span<const double> y,
                            std::span<double> u, const evaluation& evaluate) {
    evaluate_all(y);
    inputs_.assign(inputs.begin(), inputs.end());
    y_.assign(y.begin(), y.end());
    std::ranges::fill(A_, 0);
    std::vector<jet> g(multipliers_), unused(loads_.size());
    for (const subsystem_index s : subsystems_) {
        for (std::size_t j = 0; j < all_.size(); ++j) {
            if (!joins(j, s)) continue;
            for (std::size_t i = 0; i < all_[j].multipliers.size(); ++i) {
                for (std::size_t e = 0; e < 2; ++e)
                    for (std::size_t k = 0; all_[j].ends[e].subsystem == s && k < all_[j].ends[e].input.size(); ++k)
                        inputs_[all_[j].ends[e].input[k].value()] += unit_load(j, e, i, k);
                evaluate(s, x, inputs_.data(), y_.data());
                double* column = A_.data() + (places_[j].multiplier + i) * multipliers_;
                for (std::size_t other = 0; other < all_.size(); ++other) {
                    if (!joins(other, s)) continue;
                    const std::size_t first = places_[other].multiplier;
                    evaluate_joint(other, y_, g.data(), unused.data(), unused.data());
                    for (std::size_t row = 0; row < all_[other].multipliers.size(); ++row)
                        column[first + row] += g[row].a - g_[first + row].a;
                }
                for (const auto& end : all_[j].ends)
                    for (const input_slot slot : end.input) inputs_[slot.value()] = inputs[slot.value()];
            }
        }
        evaluate(s, x, inputs_.data(), y_.data());
    }
    const auto n = static_cast<Eigen::Index>(multipliers_);
    Eigen::VectorXd right(n);
    for (Eigen::Index i = 0; i < n; ++i) right[i] = -g_[static_cast<std::size_t>(i)].a;
    const Eigen::VectorXd lambda = Eigen::Map<const Eigen::MatrixXd>(A_.data(), n, n).partialPivLu().solve(right);
    for (std::size_t j = 0; j < all_.size(); ++j) {
        const auto multiplier = [&](std::size_t i) {
            return lambda[static_cast<Eigen::Index>(places_[j].multiplier + i)];
        };
        for (std::size_t i = 0; i < all_[j].multipliers.size(); ++i) u[all_[j].multipliers[i].value()] = multiplier(i);
        for (std::size_t e = 0; e < 2; ++e)
            for (std::size_t k = 0; k < all_[j].ends[e].load.size(); ++k) {
                double sum = 0;
                for (std::size_t i = 0; i < all_[j].multipliers.size(); ++i)
                    sum += multiplier(i) * unit_load(j, e, i, k);
                u[all_[j].ends[e].load[k].value()] = sum;
            }
    }
}

std::string composite_joints::equation_name(std::size_t multiplier) const {
    std::size_t j = all_.size() - 1;
    while (places_[j].multiplier > multiplier) --j;
    const std::size_t equation = multiplier - places_[j].multiplier;
    return all_[j].multipliers.size() == 1 ? fmt::format("joint '{}'", all_[j].name)
                                           : fmt::format("joint '{}', equation {}", all_[j].name, equation + 1);
}

void composite_joints::check_start() const {
    for (std::size_t i = 0; i < multipliers_; ++i)
        if (std::abs(g_[i].x) > violated || std::abs(g_[i].v) > violated)
            throw user_error(
                fmt::format("the initial state violates {}: position by {:.6g}, velocity by {:.6g} (allowed: {}). "
                            "Give initial values with which the joined ports fit.",
                            equation_name(i), g_[i].x, g_[i].v, violated));
    const auto n = static_cast<Eigen::Index>(multipliers_);
    Eigen::MatrixXd A = Eigen::Map<const Eigen::MatrixXd>(A_.data(), n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
        const double scale = std::sqrt(std::abs(A(i, i)));
        if (!(scale > 0))
            throw user_error(fmt::format("{} does not move: no load of it changes the accelerations of its ports.",
                                         equation_name(static_cast<std::size_t>(i))));
        A.row(i) /= scale;
        A.col(i) /= scale;
    }
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
    qr.setThreshold(dependent);
    qr.compute(A);
    if (qr.rank() < n)
        throw user_error(
            fmt::format("{} repeats or contradicts what other joints hold already. Take a joint that leaves more free.",
                        equation_name(static_cast<std::size_t>(qr.colsPermutation().indices()[n - 1]))));
}

bool composite_joints::project(double* x, std::span<const double> inputs, std::span<double> y,
                               const evaluation& evaluate) {
    const auto n = static_cast<Eigen::Index>(multipliers_);
    std::size_t columns = 0;
    for (const subsystem_index s : subsystems_) columns += states_[s.value()].count;
    const auto residuals = [&](const std::vector<jet>& g) {
        Eigen::VectorXd r(2 * n);
        for (Eigen::Index i = 0; i < n; ++i)
            r[i] = g[static_cast<std::size_t>(i)].x, r[n + i] = g[static_cast<std::size_t>(i)].v;
        return r;
    };
    bool changed = false;
    for (int iteration = 0; iteration < 3; ++iteration) {
        for (const subsystem_index s : subsystems_) evaluate(s, x, inputs.data(), y.data());
        evaluate_all(y);
        const std::vector<jet> here = g_;
        const Eigen::VectorXd r = residuals(here);
        if (r.lpNorm<Eigen::Infinity>() <= drifted) break;
        Eigen::MatrixXd J(2 * n, static_cast<Eigen::Index>(columns));
        Eigen::Index column = 0;
        for (const subsystem_index s : subsystems_) {
            for (std::size_t k = 0; k < states_[s.value()].count; ++k, ++column) {
                double& state = x[states_[s.value()].first + k];
                const double kept = state, h = 1e-7 * std::max(1.0, std::abs(kept));
                state += h;
                evaluate(s, x, inputs.data(), y.data());
                evaluate_all(y);
                J.col(column) = (residuals(g_) - r) / (state - kept);
                state = kept;
            }
            evaluate(s, x, inputs.data(), y.data());
        }
        const Eigen::VectorXd change = J.completeOrthogonalDecomposition().solve(-r);
        column = 0;
        for (const subsystem_index s : subsystems_)
            for (std::size_t k = 0; k < states_[s.value()].count; ++k)
                x[states_[s.value()].first + k] += change[column++];
        changed = true;
    }
    return changed;
}

}  // namespace mdpcosim
