#include "coupling/one_pass.hpp"

#include <algorithm>

namespace mdpcosim {

namespace {

/// g on the straight line through g_1 and g_2, at the middle of the coming step, and gamma times the second difference.
constexpr std::array<double, one_pass::steps> line_and(double gamma) { return {2 + gamma, -1 - 2 * gamma, gamma}; }

}  // namespace

// Found by maximising the smallest limit over F, unequal bodies and Q wrong by 20 %.
const one_pass::coefficients one_pass::of_value{1.4, line_and(0.72), {-0.34, 0.55, -0.25}, 1.0 / 24};
const one_pass::coefficients one_pass::of_rate{1.44, line_and(1.2), {-1.05, 0.42, -0.31}, 1.0 / 12};

one_pass::one_pass(std::size_t channels, std::vector<matrix_entry> Q)
    : Q_(std::move(Q)),
      system_(Q_),
      past_(channels),
      u_(channels, 0.0),
      v_(channels, 0.0),
      Qu_(channels, 0.0),
      factor_(channels, -1.0) {
    for (std::uint32_t i = 0; i < channels; ++i) system_.push_back({i, i, 1});
    lu_ = sparse_lu(channels, system_);
}

void one_pass::multiply(std::span<const double> u, std::vector<double>& Qu) const {
    std::fill(Qu.begin(), Qu.end(), 0.0);
    for (const auto& e : Q_) Qu[e.row] += e.value * u[e.column];
}

void one_pass::begin(std::span<const double> u, std::span<const double> rate) {
    known_ = false;
    multiply(u, Qu_);
    for (std::size_t i = 0; i < channels(); ++i) {
        past_[i].g.fill(rate[i] + Qu_[i]);
        past_[i].a.fill(0);
    }
}

void one_pass::accept(double H, std::span<const double> v) {
    multiply(u_, Qu_);
    for (std::size_t i = 0; i < channels(); ++i) {
        auto& [g, a] = past_[i];
        const double rate = (v[i] - v_[i]) / H;
        if (known_) {
            std::copy_backward(g.begin(), g.end() - 1, g.end());
            std::copy_backward(a.begin(), a.end() - 1, a.end());
            a[0] = rate;
            g[0] = rate + Qu_[i];
        } else {
            a.fill(rate);
            g.fill(rate + Qu_[i]);
        }
    }
    known_ = true;
}

std::optional<std::size_t> one_pass::solve(double H, std::span<const double> u_n, std::span<const double> v,
                                           std::span<const slope> slopes) {
    bool changed = false;
    for (std::size_t i = 0; i < channels(); ++i) {
        const auto& [g, a] = past_[i];
        double position = -of_value.ramp * (g[0] - g[1]), rate = -of_rate.ramp * (g[0] - g[1]);
        for (std::size_t k = 0; k < steps; ++k) {
            position += of_value.implicit * of_value.prediction[k] * g[k] + of_value.measured[k] * a[k];
            rate += of_rate.implicit * of_rate.prediction[k] * g[k] + of_rate.measured[k] * a[k];
        }
        const auto [c, d] = slopes[i];
        u_[i] = u_n[i] + c * H * (v[i] / 2 + H * position) + d * H * rate;
        v_[i] = v[i];
        const double factor = H * (c * of_value.implicit * H + d * of_rate.implicit);
        changed |= factor != factor_[i];
        factor_[i] = factor;
    }
    if (changed) {
        for (std::size_t k = 0; k < Q_.size(); ++k) system_[k].value = factor_[Q_[k].row] * Q_[k].value;
        if (const auto singular = lu_.factorise(system_)) {
            std::fill(factor_.begin(), factor_.end(), -1.0);
            return singular;
        }
    }
    lu_.solve(u_);
    return std::nullopt;
}

void one_pass::memory(std::span<double> into) const {
    double* out = into.data();
    for (std::size_t i = 0; i < channels(); ++i) {
        *out++ = v_[i];
        *out++ = u_[i];
        out = std::copy_n(past_[i].g.begin(), steps - 1, out);
        out = std::copy_n(past_[i].a.begin(), steps - 1, out);
    }
}

void one_pass::set_memory(std::span<const double> from) {
    const double* in = from.data();
    for (std::size_t i = 0; i < channels(); ++i) {
        v_[i] = *in++;
        u_[i] = *in++;
        for (auto* values : {&past_[i].g, &past_[i].a}) {
            std::copy_n(in, steps - 1, values->begin());
            in += steps - 1;
        }
    }
    known_ = true;
}

}  // namespace mdpcosim
