#include <algorithm>

#include "coupling/network.hpp"

namespace mdpcosim {

std::size_t network::memory_size() const {
    std::size_t size = 3 * integrals_.size();
    for (const auto& g : groups_) {
        const std::size_t rows = static_cast<std::size_t>(g.rule.K - 1) * (g.rule.uses_rates ? 2 : 1);
        size += g.channels.size() * (rows + (g.rule.continuous ? 1 : 0));
    }
    return size;
}

void network::memory(double t, std::span<double> into) const {
    double* out = into.data();
    const double elapsed = t - times_[0];
    for (const auto& g : groups_) {
        const std::size_t n = g.channels.size();
        for (int k = 0; k + 1 < g.rule.K; ++k) {
            out = std::copy_n(g.u.data() + g.row(k), n, out);
            if (g.rule.uses_rates) out = std::copy_n(g.du.data() + g.row(k), n, out);
        }
        if (!g.rule.continuous) continue;
        const double* e = coefficients_.data() + g.coefficients;
        for (std::size_t i = 0; i < n; ++i) *out++ = e[g.stride() * i] + e[g.stride() * i + 1] * elapsed;
    }
    for (const auto& i : integrals_) {
        *out++ = i.value;
        *out++ = i.flow;
        *out++ = i.flow_before;
    }
}

void network::set_memory(double t, double H, std::span<const double> from) {
    const double* in = from.data();
    for (auto& g : groups_) {
        const std::size_t n = g.channels.size();
        for (int k = 0; k + 1 < g.rule.K; ++k) {
            std::copy_n(in, n, g.u.data() + g.row(k));
            in += n;
            if (!g.rule.uses_rates) continue;
            std::copy_n(in, n, g.du.data() + g.row(k));
            in += n;
        }
        if (!g.rule.continuous) continue;
        double* e = coefficients_.data() + g.coefficients;
        for (std::size_t i = 0; i < n; ++i) {
            e[g.stride() * i] = *in++;
            e[g.stride() * i + 1] = 0;
        }
    }
    for (auto& i : integrals_) {
        i.value = *in++;
        i.flow = *in++;
        i.flow_before = *in++;
    }
    for (int k = 0; k < max_history; ++k) times_[k] = t - (k + 1) * H;
    points_ = max_history;
    extrapolated_ = true;
}

void network::state(state_bytes& bytes) {
    for (const auto& law : laws_)
        if (law) law->state(bytes);
    for (auto& g : groups_) bytes(g.newest, g.u, g.du, g.end, g.weights, g.weights_on_constant_grid);
    bytes(giving_, integrals_, coefficients_, times_, tau_, step_, points_, extrapolated_, has_end_, jump_, cut_,
          latest_jump_, latest_cut_);
}

}  // namespace mdpcosim
