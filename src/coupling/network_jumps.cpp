#include <cmath>

#include "coupling/network.hpp"

/// Channels whose sources jump: their polynomials are made of what was accepted since.
///
/// Whether a jump is worth it says what came: with it the last polynomial missed u by J, and the next one, run across it, would be wrong by as
/// much; held at the new value it is wrong by what u changes in a step. Smooth values with a jump in a derivative only are left alone
/// until the miss shows, which for a corner is one step later.
namespace mdpcosim {

int network::find_jumps(double H, std::span<const double> u) {
    if (!extrapolated_ || points_ == 0 ||
        !(latest_jump_ > times_[static_cast<std::size_t>(std::min(points_, max_history)) - 1]))
        return 0;
    int order = 0;
    for (const auto& g : groups_) {
        if (g.imposed || g.rule.K < 2) continue;
        const double oldest = times_[static_cast<std::size_t>(std::min(points_, g.rule.K)) - 1];
        const std::size_t stride = g.stride();
        for (std::size_t i = 0; i < g.channels.size(); ++i) {
            const std::size_t c = g.channels[i];
            if (!(jump_[c] > oldest) || cut_[c] >= jump_[c]) continue;
            const double* e = coefficients_.data() + g.coefficients + i * stride;
            double end = e[stride - 1];
            for (std::size_t n = stride - 1; n-- > 0;) end = end * H + e[n];
            if (!(std::abs(u[c] - end) > std::abs(end - e[0]))) continue;
            cut_[c] = jump_[c];
            latest_cut_ = std::max(latest_cut_, cut_[c]);
            order = std::max(order, g.rule.R);
        }
    }
    return order;
}

int network::points_of(channel_index channel) const {
    int points = points_;
    while (points > 1 && times_[static_cast<std::size_t>(points - 1)] < cut_[channel.value()]) --points;
    return points;
}

void network::extrapolate_restarted(const group& g, std::span<const double> tau, double H) {
    const int full = std::min(static_cast<int>(tau.size()), g.rule.K);
    extrapolation_weights w;
    const std::size_t stride = g.stride();
    for (std::size_t i = 0; i < g.channels.size(); ++i) {
        const int points = points_of(channel_index(g.channels[i]));
        if (points >= full) continue;
        if (w.points != points) w = make_weights(g.rule, tau.first(static_cast<std::size_t>(points)));
        double* e = coefficients_.data() + g.coefficients + i * stride;
        double power = 1;
        for (std::size_t n = 0; n < stride; ++n, power *= H) {
            double sum = 0;
            if (static_cast<int>(n) <= w.degree) {
                for (int k = 0; k < points; ++k) {
                    sum += w.A[n][static_cast<std::size_t>(k)] * g.u[g.row(k) + i];
                    if (w.uses_rates) sum += w.B[n][static_cast<std::size_t>(k)] * H * g.du[g.row(k) + i];
                }
                if (w.uses_end) sum += w.C[n] * g.end[i];
            }
            e[n] = sum / power;
        }
    }
}

}  // namespace mdpcosim
