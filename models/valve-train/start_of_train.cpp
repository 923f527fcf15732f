#include <algorithm>

#include "equations_of_train.hpp"
#include "subsystem/equilibrium.hpp"

// The state at the start: where the shaft stands, as if it had come there slowly. Springs are pressed, adjusters of closed valves filled, those of
// lifted ones as full as while they were closed. Then what the cams move gets their speed.

namespace mdpcosim::valve_train {

namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

void train::begin(double* x) const {
    std::fill_n(x, states_.size(), 0.0);
    const auto law = [&](const follower_data& f) {
        const cam_data& c = d_.cam_of(f);
        return c.law.at(-c.angle);
    };
    for (std::size_t k = 0; k < d_.followers.size(); ++k) x[followers_[k]] = law(d_.followers[k]).h;
    for (std::size_t k = 0; k < d_.adjusters.size(); ++k) {
        const adjuster_data& a = d_.adjusters[k];
        const follower_data& f = d_.followers[index(a.follower)];
        x[plungers_[k]] = f.ratio * law(f).h;
        x[oil_[k]] = a.volume * d_.oil.strain(d_.galleries[index(a.gallery)].pressure);
        shut_[k] = law(f).h > 0 ? 1 : 0;
    }
    // How fast a valve moves with the shaft, and with it the masses of its springs.
    const auto lift_of_valve = [&](const valve_data& v) {
        const follower_data& f = d_.follower_of(v);
        return f.ratio * law(f).h - (f.adjuster < 0 ? f.lash : 0);
    };
    for (std::size_t k = 0; k < d_.valves.size(); ++k) x[valves_[k].x] = std::max(0.0, lift_of_valve(d_.valves[k]));
    for (std::size_t k = 0; k < d_.springs.size(); ++k) {
        const spring_data& s = d_.springs[k];
        for (int j = 0; j < s.masses; ++j)
            x[coil_masses_[k][index(j)]] = x[valves_[index(s.valve)].x] * (s.masses - j) / (s.masses + 1);
    }
    std::vector<double> u(index(description_.input_count()));
    for (const auto& input : description_.inputs) u[index(input.slot)] = input.start;
    find_equilibrium(*this, 0, u.data(), x);
    std::ranges::fill(shut_, char{0});

    for (std::size_t k = 0; k < d_.shafts.size(); ++k) x[shafts_[k].phi + 1] = d_.shafts[k].speed;
    const auto speed = [&](const follower_data& f) {
        return law(f).slope * d_.shafts[index(d_.cam_of(f).shaft)].speed;
    };
    for (std::size_t k = 0; k < d_.followers.size(); ++k) x[followers_[k] + 1] = speed(d_.followers[k]);
    for (std::size_t k = 0; k < d_.adjusters.size(); ++k) {
        const follower_data& f = d_.followers[index(d_.adjusters[k].follower)];
        x[plungers_[k] + 1] = f.ratio * speed(f);
    }
    for (std::size_t k = 0; k < d_.valves.size(); ++k) {
        const valve_data& v = d_.valves[k];
        if (lift_of_valve(v) > 0) x[valves_[k].x + 1] = d_.follower_of(v).ratio * speed(d_.follower_of(v));
    }
    for (std::size_t k = 0; k < d_.springs.size(); ++k) {
        const spring_data& s = d_.springs[k];
        for (int j = 0; j < s.masses; ++j)
            x[coil_masses_[k][index(j)] + 1] = x[valves_[index(s.valve)].x + 1] * (s.masses - j) / (s.masses + 1);
    }
}

void train::initial_state(double /*t0*/, double* x) const {
    if (start_.empty()) {
        start_.resize(states_.size());
        begin(start_.data());
    }
    std::copy(start_.begin(), start_.end(), x);
}

}  // namespace mdpcosim::valve_train
