#include "results/bond_monitor.hpp"

#include <algorithm>
#include <cmath>

namespace mdpcosim {

double bond_quality::deviation() const { return energy_peak > 0 ? std::abs(energy_error) / (2 * energy_peak) : 0; }

void bond_monitor::start(std::span<const double> u, std::span<const double> du) {
    H_past_ = 0;
    for (std::size_t i = 0; i < bonds_.size(); ++i) {
        now_[i] = {};
        now_[i].flow = {u[bonds_[i].flow], du[bonds_[i].flow], 0};
        now_[i].effort = {u[bonds_[i].effort], du[bonds_[i].effort], 0};
    }
}

double bond_monitor::middle(const side& s, double u, double du, bool rate, double H) const {
    const double mean = (s.u + u) / 2;
    if (rate) return mean + H / 8 * (s.du - du);
    if (H_past_ == 0) return mean;
    const double curvature = ((u - s.u) / H - (s.u - s.past) / H_past_) / (H + H_past_);
    return mean - curvature * H * H / 4;
}

void bond_monitor::step(double H, const coupling_monitor::step_values& s) {
    for (std::size_t i = 0; i < bonds_.size(); ++i) {
        const bond& b = bonds_[i];
        present& p = now_[i];
        const side flow{s.u[b.flow], s.du[b.flow], p.flow.u}, effort{s.u[b.effort], s.du[b.effort], p.effort.u};
        const double flow_middle = middle(p.flow, flow.u, flow.du, b.rate_of_flow, H);
        const double effort_middle = middle(p.effort, effort.u, effort.du, b.rate_of_effort, H);
        const auto residual = [&](std::span<const double> received, double v, double F) {
            return (received[b.effort] - F) * v - (received[b.flow] - v) * F;
        };
        p.error += b.scale * H / 6 *
                   (residual(s.begin, p.flow.u, p.effort.u) + 4 * residual(s.middle, flow_middle, effort_middle) +
                    residual(s.end, flow.u, effort.u));
        const double exchanged =
            b.scale * H / 6 * (p.flow.u * p.effort.u + 4 * flow_middle * effort_middle + flow.u * effort.u);
        p.energy += std::abs(exchanged);
        p.exchanged += exchanged;
        p.low = std::min(p.low, p.exchanged);
        p.high = std::max(p.high, p.exchanged);
        p.flow = flow;
        p.effort = effort;
    }
    H_past_ = H;
}

bond_quality bond_monitor::quality(std::size_t i) const {
    return {.energy_error = now_[i].error, .energy = now_[i].energy, .energy_peak = now_[i].high - now_[i].low};
}

}  // namespace mdpcosim
