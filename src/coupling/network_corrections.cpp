#include <algorithm>

#include "coupling/network.hpp"

namespace mdpcosim {

namespace {

/// prod_{k < n} (sigma - tau_k)/(1 - tau_k): 1 at the end of the step, 0 at the n newest accepted times.
polynomial end_shape(std::span<const double> tau, int n) {
    polynomial w{.c = {1}};
    for (int k = 0; k < n; ++k) {
        const double root = tau[static_cast<std::size_t>(k)], scale = 1 / (1 - root);
        for (int i = k + 1; i > 0; --i) w.c[i] = scale * (w.c[i - 1] - root * w.c[i]);
        w.c[0] *= -root * scale;
    }
    w.degree = n;
    return w;
}

}  // namespace

void network::correct(channel_index channel, double by) {
    const polynomial w =
        end_shape(history(), std::min(groups_[places_[channel.value()].group].rule.degree, points_of(channel)));
    double* e = coefficients_.data() + coefficients_of(channel.value());
    double power = 1;
    for (int i = 0; i <= w.degree; ++i, power *= step_) e[i] += by * w.c[i] / power;
}

void network::correct_input(input_slot input, double H, double by, polynomial& p) const {
    const driven_input& target = driven_[first_driven_[input.value()]];
    polynomial w = end_shape(history(), std::min(target.degree, points_));
    if (w.degree > target.limit) w = project(w, 1, target.limit);
    double power = 1;
    for (int i = 0; i <= w.degree; ++i, power *= H) p.c[i] += by * w.c[i] / power;
    p.degree = std::max(p.degree, w.degree);
}

bool network::raise(std::span<double> by) const {
    for (const auto& g : groups_)
        if (!g.imposed && points_ < std::min(g.rule.K + 1, max_history)) return false;
    polynomial_values(step_, by);
    for (const auto& g : groups_) {
        if (g.imposed) {
            for (const std::uint32_t c : g.channels) by[c] = 0;
            continue;
        }
        const int points = std::min(g.rule.K + 1, max_history);
        for (std::size_t i = 0; i < g.channels.size(); ++i) {
            if (cut_[g.channels[i]] > times_[static_cast<std::size_t>(points - 1)]) {  // nobody knows
                by[g.channels[i]] = 0;
                continue;
            }
            double value = 0;
            for (int k = 0; k < points; ++k) {
                double weight = 1;
                for (int j = 0; j < points; ++j)
                    if (j != k) weight *= (1 - tau_[j]) / (tau_[k] - tau_[j]);
                value += weight * g.u[g.row(k) + i];
            }
            by[g.channels[i]] = value - by[g.channels[i]];
        }
    }
    return true;
}

double network::integral_weight(double t) const {
    const double h = t - times_[0];
    if (points_ < 2) return h / 2;
    return h / 2 - h * h / (6 * (h + times_[0] - times_[1]));
}

}  // namespace mdpcosim
