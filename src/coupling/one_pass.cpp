#include "coupling/one_pass.hpp"

#include <algorithm>
#include <cmath>

namespace mdpcosim {

namespace {

struct coefficients {
    double implicit;                              ///< s, S
    double parabola;                              ///< its part in phi, Phi
    std::array<double, one_pass::steps> measured;  ///< r, R
    double ramp;                                  ///< 1/24, 1/12
};

// Found by maximising the smallest limit over F, unequal bodies and Q wrong by 20 %.
constexpr coefficients of_value{1.4, 0.72, {-0.34, 0.55, -0.25}, 1.0 / 24};
constexpr coefficients of_rate{1.44, 1.2, {-1.05, 0.42, -0.31}, 1.0 / 12};

double smooth_step(double x) {
    x = std::clamp(x, 0.0, 1.0);
    return x * x * (3 - 2 * x);
}

/// Steps of one length on a grid of doubles differ by rounding.
bool same(double a, double b) { return std::abs(a - b) <= 1e-9 * b; }

}  // namespace

one_pass::one_pass(std::size_t channels, std::vector<matrix_entry> Q, range blend)
    : blend_(blend),
      Q_(std::move(Q)),
      system_(Q_),
      past_(channels),
      u_(channels, 0.0),
      v_(channels, 0.0),
      Qu_(channels, 0.0),
      row_sum_(channels, 0.0),
      factor_(channels, -1.0),
      w_(channels, 0.0) {
    for (std::uint32_t i = 0; i < channels; ++i) system_.push_back({i, i, 1});
    lu_ = sparse_lu(channels, system_);
    sum_rows();
}

void one_pass::set_Q(std::span<const matrix_entry> Q) {
    std::copy(Q.begin(), Q.end(), Q_.begin());
    sum_rows();
}

void one_pass::sum_rows() {
    std::fill(row_sum_.begin(), row_sum_.end(), 0.0);
    for (const auto& e : Q_) row_sum_[e.row] += std::abs(e.value);
    new_Q_ = true;
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
    if (!known_) lengths_.fill(H);
    std::copy_backward(lengths_.begin(), lengths_.end() - 1, lengths_.end());
    lengths_[0] = same(H, lengths_[1]) ? lengths_[1] : H;
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

void one_pass::fit_to_grid(double H) {
    if (!known_) lengths_.fill(H);
    const std::array grid{H, lengths_[0], lengths_[1], lengths_[2]};
    if (grid == grid_) return;
    grid_ = grid;
    const double to_middle = (H + grid[1]) / 2, first = (grid[1] + grid[2]) / 2, second = (grid[2] + grid[3]) / 2;
    const double line = to_middle / first, ramp = H / first;
    const double parabola = to_middle * (to_middle + first) / (first + second);
    const auto fit = [&](const coefficients& of) {
        const double bend = of.parabola * parabola;
        formula made;
        made.g = {of.implicit * (1 + line + bend / first) - of.ramp * ramp,
                  of.implicit * (-line - bend / first - bend / second) + of.ramp * ramp,
                  of.implicit * bend / second};
        made.a = of.measured;
        return made;
    };
    value_ = fit(of_value);
    // As changes of v the terms keep steps of changing length stable; those of the rate must keep their sum.
    for (std::size_t k = 0; k < steps; ++k) value_.a[k] *= lengths_[k] / H;
    rate_ = fit(of_rate);
}

std::optional<std::size_t> one_pass::solve(double H, std::span<const double> u_n, std::span<const double> v,
                                           std::span<const slope> slopes, std::span<const double> extrapolated) {
    if (same(H, grid_[0])) H = grid_[0];
    fit_to_grid(H);
    bool changed = new_Q_;
    coupled_ = false;
    for (std::size_t i = 0; i < channels(); ++i) {
        const auto [c, d] = slopes[i];
        const double full = H * (c * of_value.implicit * H + d * of_rate.implicit);
        const double w = smooth_step((std::abs(full) * row_sum_[i] - blend_.soft) / (blend_.stiff - blend_.soft));
        changed |= full * w != factor_[i];
        factor_[i] = full * w;
        w_[i] = w;
        v_[i] = v[i];
        u_[i] = extrapolated[i];
        if (w == 0) continue;
        coupled_ = true;
        const auto& [g, a] = past_[i];
        double position = 0, rate = 0;
        for (std::size_t k = 0; k < steps; ++k) {
            position += value_.g[k] * g[k] + value_.a[k] * a[k];
            rate += rate_.g[k] * g[k] + rate_.a[k] * a[k];
        }
        u_[i] += w * (u_n[i] + c * H * (v[i] / 2 + H * position) + d * H * rate - extrapolated[i]);
    }
    if (changed && coupled_) {
        for (std::size_t k = 0; k < Q_.size(); ++k) system_[k].value = factor_[Q_[k].row] * Q_[k].value;
        if (const auto singular = lu_.factorise(system_)) {
            new_Q_ = true;
            return singular;
        }
        new_Q_ = false;
    }
    if (coupled_) lu_.solve(u_);
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

void one_pass::set_memory(double H, std::span<const double> from) {
    const double* in = from.data();
    for (std::size_t i = 0; i < channels(); ++i) {
        v_[i] = *in++;
        u_[i] = *in++;
        for (auto* values : {&past_[i].g, &past_[i].a}) {
            std::copy_n(in, steps - 1, values->begin());
            in += steps - 1;
        }
    }
    lengths_.fill(H);
    known_ = true;
}

}  // namespace mdpcosim
