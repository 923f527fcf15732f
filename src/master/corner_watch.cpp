#include "master/corner_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mdpcosim {

namespace {

/// Of the way between the straight line and the turn: by so much the true motion may turn further away.
constexpr double further_away = 0.125;

}  // namespace

void corner_watch::prepare(const coupled_system& system) {
    const network& net = system.coupling;
    std::size_t most = 0;
    for (const auto& c : net.corners()) {
        bool has_velocity = true;
        for (const auto& term : net.terms(c.channel)) has_velocity = has_velocity && term.rate.valid();
        channels_.push_back({c.channel, net.law_of(c.channel), has_velocity,
                             fmt::format("a contact of connection '{}' within the step", net.name(c.channel))});
        most = std::max(most, static_cast<std::size_t>(c.corners));
    }
    if (!needed()) return;
    for (auto* values : {&q_, &v_, &q_end_, &v_end_, &q_before_}) values->assign(net.channels(), 0.0);
    for (auto& z : z_) z.assign(most, 0.0);
}

void corner_watch::begin(const coupled_system& system, double t) {
    if (!needed()) return;
    t_ = t;
    system.coupling.motions(t, system.outputs(), q_, v_);
}

corner_watch::turn corner_watch::end(const coupled_system& system, double t) {
    turn first;
    if (!needed()) return first;
    system.coupling.motions(t, system.subsystems->outputs(), q_end_, v_end_);
    const double H = t - t_;
    for (const watched& w : channels_) {
        const std::size_t c = w.channel.value();
        const double q = q_[c], rise = q_end_[c] - q;
        double by_v = H * v_[c], by_v_end = H * v_end_[c];
        if (!w.has_velocity) {
            if (!known_) continue;
            const double before = t_ - t_before_;
            by_v = ((q - q_before_[c]) / before * H + rise / H * before) * H / (before + H);
            by_v_end = 2 * rise - by_v;
        }
        w.acting->corners(q, by_v / H, z_[0].data());
        w.acting->corners(q_end_[c], by_v_end / H, z_[1].data());
        // q + s rise + s (1 - s) ((1 - s) bend - s bend_back) turns at the roots of a s^2 - 2 b s + by_v.
        const double bend = by_v - rise, bend_back = by_v_end - rise;
        const double a = 3 * (bend + bend_back), b = 2 * bend + bend_back, root = b * b - a * by_v;
        if (!(root >= 0)) continue;
        const double sum = b + std::copysign(std::sqrt(root), b);
        for (const double s : {sum / a, by_v / sum}) {
            if (!(s > 0 && s < first.at)) continue;  // also what is no number
            const double bow = s * (1 - s) * ((1 - s) * bend - s * bend_back);
            if (beyond(w, q + s * rise + (1 + further_away) * bow)) first = {s, w.name};
        }
    }
    return first;
}

bool corner_watch::beyond(const watched& w, double q) {
    auto& [begin, end, between] = z_;
    w.acting->corners(q, 0, between.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(w.acting->corner_count()); ++i)
        if (begin[i] * end[i] >= 0 && between[i] * end[i] < 0) return true;
    return false;
}

void corner_watch::accept() {
    q_before_.swap(q_);
    t_before_ = t_;
    known_ = needed();
}

}  // namespace mdpcosim
