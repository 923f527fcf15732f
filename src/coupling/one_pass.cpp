#include "coupling/one_pass.hpp"

#include <algorithm>
#include <cmath>

namespace mdpcosim {

namespace {

struct one_pass_weights {
    double implicit;                               ///< s, S
    double parabola;                               ///< its part in phi, Phi
    std::array<double, one_pass::steps> measured;  ///< r, R
    double ramp;                                   ///< 1/24, 1/12
};

// Found by maximising the smallest limit over F, unequal bodies and Q wrong by 20 %.
constexpr one_pass_weights of_value{1.4, 0.72, {-0.34, 0.55, -0.25}, 1.0 / 24};
constexpr one_pass_weights of_rate{1.44, 1.2, {-1.05, 0.42, -0.31}, 1.0 / 12};

double smooth_step(double x) {
    x = std::clamp(x, 0.0, 1.0);
    return x * x * (3 - 2 * x);
}

/// Steps of one length on a grid of doubles differ by rounding.
bool same(double a, double b) { return std::abs(a - b) <= 1e-9 * b; }

}  // namespace

one_pass::one_pass(std::size_t channels, std::vector<matrix_entry> Q, range blend)
    : blend_(blend),
      place_(Q.size()),
      start_(channels + 1, 0),
      past_(channels),
      u_(channels, 0.0),
      v_(channels, 0.0),
      row_sum_(channels, 0.0),
      factor_(channels, 0.0),
      inverse_factor_(channels, 0.0),
      right_(channels, 0.0),
      kappa_(channels, 0.0),
      w_(channels, 0.0),
      slopes_(channels, slope{0, 0}) {
    std::vector<std::vector<std::uint32_t>> rows(channels);
    for (const auto& e : Q) rows[e.row].push_back(e.column);
    for (std::size_t i = 0; i < channels; ++i) {
        std::sort(rows[i].begin(), rows[i].end());
        columns_.insert(columns_.end(), rows[i].begin(), std::unique(rows[i].begin(), rows[i].end()));
        start_[i + 1] = static_cast<std::uint32_t>(columns_.size());
        for (std::uint32_t k = start_[i]; k < start_[i + 1]; ++k)
            system_.push_back({static_cast<std::uint32_t>(i), columns_[k], 0});
    }
    for (std::size_t k = 0; k < Q.size(); ++k) {
        const auto first = columns_.begin() + start_[Q[k].row], last = columns_.begin() + start_[Q[k].row + 1];
        place_[k] = static_cast<std::uint32_t>(std::lower_bound(first, last, Q[k].column) - columns_.begin());
    }
    for (std::uint32_t i = 0; i < channels; ++i) system_.push_back({i, i, 1});
    lu_ = sparse_lu(channels, system_);
    Q_.resize(columns_.size());
    set_Q(Q);
}

void one_pass::set_Q(std::span<const matrix_entry> Q) {
    std::fill(Q_.begin(), Q_.end(), 0.0);
    for (std::size_t k = 0; k < Q.size(); ++k) Q_[place_[k]] += Q[k].value;
    for (std::size_t i = 0; i < channels(); ++i) {
        row_sum_[i] = 0;
        for (std::uint32_t k = start_[i]; k < start_[i + 1]; ++k) row_sum_[i] += std::abs(Q_[k]);
    }
    new_Q_ = true;
}

inline double one_pass::row_times(std::size_t i, std::span<const double> u) const {
    double sum = 0;
    for (std::uint32_t k = start_[i]; k < start_[i + 1]; ++k) sum += Q_[k] * u[columns_[k]];
    return sum;
}

double one_pass::own(std::size_t i) const {
    const auto first = columns_.begin() + start_[i], last = columns_.begin() + start_[i + 1];
    const auto at = std::lower_bound(first, last, static_cast<std::uint32_t>(i));
    return at == last || *at != i ? 0 : Q_[static_cast<std::size_t>(at - columns_.begin())];
}

double one_pass::rate_without(std::size_t i) const {
    const auto& g = past_[i].g;
    return g[0] + line_ * (g[0] - g[1]) - (row_times(i, u_) - own(i) * u_[i]);
}

void one_pass::begin(std::span<const double> u, std::span<const double> rate) {
    known_ = false;
    for (std::size_t i = 0; i < channels(); ++i) {
        past_[i].g.fill(rate[i] + row_times(i, u));
        past_[i].a.fill(0);
    }
}

void one_pass::accept(double H, std::span<const double> v) {
    if (!known_) lengths_.fill(H);
    std::copy_backward(lengths_.begin(), lengths_.end() - 1, lengths_.end());
    lengths_[0] = same(H, lengths_[1]) ? lengths_[1] : H;
    const double inverse = 1 / H;
    for (std::size_t i = 0; i < channels(); ++i) {
        auto& [g, a] = past_[i];
        const double rate = (v[i] - v_[i]) * inverse;
        const double inner = rate + (solved_ ? (right_[i] - u_[i]) * inverse_factor_[i] : row_times(i, u_));
        g = {inner, known_ ? g[0] : inner, known_ ? g[1] : inner};
        a = {rate, known_ ? a[0] : rate, known_ ? a[1] : rate};
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
    const auto fit = [&](const one_pass_weights& of) {
        const double bend = of.parabola * parabola;
        formula made;
        made.g = {of.implicit * (1 + line + bend / first) - of.ramp * ramp,
                  of.implicit * (-line - bend / first - bend / second) + of.ramp * ramp, of.implicit * bend / second};
        made.a = of.measured;
        return made;
    };
    line_ = line;
    value_ = fit(of_value);
    // As changes of v the terms keep steps of changing length stable; those of the rate must keep their sum.
    for (std::size_t k = 0; k < steps; ++k) value_.a[k] *= lengths_[k] / H;
    rate_ = fit(of_rate);
}

bool one_pass::weigh(double H, std::span<const slope> slopes) {
    if (same(H, grid_[0])) H = grid_[0];
    const bool anew = new_Q_ || H != grid_[0];
    fit_to_grid(H);
    if (slopes.empty()) {
        if (!anew) return implicit_;
        slopes = slopes_;
    }
    new_Q_ = false;
    if (anew) factors_ = false;
    coupled_ = false;
    implicit_ = true;
    for (std::size_t i = 0; i < channels(); ++i) {
        const auto [c, d] = slopes[i];
        if (anew || c != slopes_[i].c || d != slopes_[i].d) {
            slopes_[i] = slopes[i];
            const double full = H * (c * of_value.implicit * H + d * of_rate.implicit);
            kappa_[i] = std::abs(full) * row_sum_[i];
            w_[i] = smooth_step((kappa_[i] - blend_.soft) / (blend_.stiff - blend_.soft));
            factors_ = factors_ && factor_[i] == full * w_[i];
            factor_[i] = full * w_[i];
        }
        coupled_ = coupled_ || w_[i] > 0;
        implicit_ = implicit_ && w_[i] == 1;
    }
    return implicit_;
}

std::optional<std::size_t> one_pass::solve(std::span<const double> u_n, std::span<const double> v,
                                           std::span<const double> extrapolated) {
    const double H = grid_[0];
    std::ranges::copy(v, v_.begin());
    for (std::size_t i = 0; i < channels(); ++i) {
        const double w = w_[i];
        if (w == 0) {
            u_[i] = extrapolated[i];
            continue;
        }
        const auto [c, d] = slopes_[i];
        double u = u_n[i];
        if (c != 0) u += c * H * (v[i] / 2 + H * value_.of(past_[i]));
        if (d != 0) u += d * H * rate_.of(past_[i]);
        u_[i] = w == 1 ? u : extrapolated[i] + w * (u - extrapolated[i]);
    }
    solved_ = false;
    if (!coupled_) return std::nullopt;
    if (!factors_) {
        for (std::size_t k = 0; k < Q_.size(); ++k) system_[k].value = factor_[system_[k].row] * Q_[k];
        if (const auto singular = lu_.factorise(system_)) return singular;
        for (std::size_t i = 0; i < channels(); ++i) inverse_factor_[i] = 1 / factor_[i];
        factors_ = true;
    }
    std::ranges::copy(u_, right_.begin());
    lu_.solve(u_);
    solved_ = implicit_;
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
    solved_ = false;
}

}  // namespace mdpcosim
