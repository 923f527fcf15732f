#include "master/error_constants.hpp"

#include <algorithm>
#include <cmath>

namespace mdpcosim {

std::vector<output_level> output_levels(const coupled_system& system) {
    std::vector<output_level> levels(system.subsystems->outputs().size(), output_level::none);
    for (std::size_t c = 0; c < system.coupling.channels(); ++c)
        for (const auto& term : system.coupling.terms(channel_index(c))) {
            if (term.rate.valid()) levels[term.rate.value()] = output_level::rate;
            if (!term.value.valid()) continue;
            output_level& level = levels[term.value.value()];
            if (level != output_level::rate) level = term.rate.valid() ? output_level::value : output_level::rate;
        }
    for (const joint_connection& j : system.joints)
        for (const auto& end : j.ends) {
            const std::size_t values = end.motion.size() == 3 ? 1 : frame_motion::velocity;
            const std::size_t rates = end.motion.size() == 3 ? 2 : frame_motion::acceleration;
            for (std::size_t k = 0; k < rates; ++k) {
                output_level& level = levels[end.motion[k].value()];
                level = k < values && level != output_level::rate ? output_level::value : output_level::rate;
            }
        }
    return levels;
}

error_constants::error_constants(const coupled_system& system) {
    const transport& t = *system.subsystems;
    const auto levels = output_levels(system);
    outputs_.resize(levels.size());
    std::vector<std::uint32_t> of_input(system.subsystems->inputs().size());
    for (std::size_t i = 0; i < t.size(); ++i) {
        const subsystem_index s(i);
        const auto number = static_cast<std::uint32_t>(i);
        const auto& d = t.describe(s);
        for (int k = 0; k < d.output_count(); ++k) {
            const std::size_t slot = t.output_offset(s) + static_cast<std::size_t>(k);
            outputs_[slot] = {levels[slot], number};
        }
        std::fill_n(of_input.begin() + static_cast<std::ptrdiff_t>(t.input_offset(s)), d.input_count(), number);
    }
    for (const auto& [input, delivered] : system.coupling.deliveries())
        acting_.push_back({delivered.channel, of_input[input.value()]});
    subsystems_.resize(t.size());
}

void error_constants::update(const coupled_system& system, constants of) {
    const auto history = system.coupling.history();
    // What acts with more roots than there are accepted times is of a rule with rates: the next lower degree has them.
    const int most = std::min<int>(static_cast<int>(history.size()) - 1, max_degree);
    std::fill(subsystems_.begin(), subsystems_.end(), acted_on{most, 1, 1});
    lowest_ = most;
    for (const auto& [channel, subsystem] : acting_) {
        const int n = std::min(system.coupling.degree(channel), most);
        subsystems_[subsystem].degree = std::min(subsystems_[subsystem].degree, n);
        lowest_ = std::min(lowest_, n);
    }
    for (int n = lowest_; n <= most; ++n) by_degree_[static_cast<std::size_t>(n)] = of(history, n);
}

void error_constants::rescale(std::span<const double> seen, std::span<const double> right) {
    for (auto& s : subsystems_) s.seen = s.right = 0;
    for (const auto& [channel, subsystem] : acting_) {
        if (seen[channel.value()] == 0) continue;
        acted_on& s = subsystems_[subsystem];
        s.seen = std::max(s.seen, std::abs(seen[channel.value()]));
        s.right = std::max(s.right, std::abs(right[channel.value()]));
    }
    for (auto& s : subsystems_)
        if (s.seen == 0) s.seen = s.right = 1;
}

void error_constants::take_whole(std::span<const double> by_channel) {
    for (const auto& [channel, subsystem] : acting_)
        if (by_channel[channel.value()] != 0) subsystems_[subsystem].whole = true;
}

void find_misses(coupled_system& system, const macro_step& step, trial_step& kept, std::span<double> missed) {
    const network& net = system.coupling;
    if (!net.raise(missed)) {
        system.advance_trials(step, std::span(&kept, 1));
        net.polynomial_values(step.end - step.begin, missed);
        for (std::size_t c = 0; c < missed.size(); ++c) missed[c] = system.u[c] - missed[c];
        system.restore_begin();
    }
    for (std::size_t c = 0; c < missed.size(); ++c)
        if (net.held(channel_index(c))) missed[c] = 0;
}

}  // namespace mdpcosim
