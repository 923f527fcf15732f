#include "master/error_constants.hpp"

#include <algorithm>
#include <cmath>

namespace mdpcosim {

namespace {

/// What a step missed is new where it is so many times what was expected.
constexpr double new_from = 2;
/// Of what was expected to be missed, where less was: the miss may just pass through zero.
constexpr double least_part = 0.5;
/// Of the largest value: less was expected to be missed, and how much more was says nothing.
constexpr double next_to_nothing = 1e-13;

}  // namespace

std::vector<output_level> output_levels(const coupled_system& system) {
    std::vector<output_level> levels(system.subsystems->outputs().size(), output_level::none);
    for (std::size_t c = 0; c < system.coupling.channels(); ++c)
        for (const auto& term : system.coupling.terms(channel_index(c))) {
            if (term.rate.valid()) levels[term.rate.value()] = output_level::rate;
            if (!term.value.valid()) continue;
            output_level& level = levels[term.value.value()];
            if (level != output_level::rate) level = term.rate.valid() ? output_level::value : output_level::rate;
        }
    std::vector<bool> physical(levels.size(), false);
    for (std::size_t c = 0; c < system.coupling.channels(); ++c)
        if (const law* l = system.coupling.law_of(channel_index(c)); l != nullptr && l->physical())
            for (const auto& term : system.coupling.terms(channel_index(c)))
                for (const output_slot y : {term.value, term.rate})
                    if (y.valid()) physical[y.value()] = true;
    for (const joint_connection& j : system.joints)
        for (const auto& end : j.ends) {
            for (const output_slot y : end.motion)
                if (y.valid()) physical[y.value()] = true;
            const std::size_t values = end.motion.size() == 3 ? 1 : frame_motion::velocity;
            const std::size_t rates = end.motion.size() == 3 ? 2 : frame_motion::acceleration;
            for (std::size_t k = 0; k < rates; ++k) {
                output_level& level = levels[end.motion[k].value()];
                level = k < values && level != output_level::rate ? output_level::value : output_level::rate;
            }
        }
    const transport& t = *system.subsystems;
    std::vector<bool> driven(system.subsystems->inputs().size(), false);
    for (const auto& [input, delivered] : system.coupling.deliveries()) driven[input.value()] = true;
    for (std::size_t i = 0; i < t.size(); ++i) {
        const subsystem_index s(i);
        const auto& d = t.describe(s);
        const auto inputs = driven.begin() + static_cast<std::ptrdiff_t>(t.input_offset(s));
        const auto own = std::span(levels).subspan(t.output_offset(s), static_cast<std::size_t>(d.output_count()));
        const auto ports = physical.begin() + static_cast<std::ptrdiff_t>(t.output_offset(s));
        if (std::find(inputs, inputs + d.input_count(), true) == inputs + d.input_count() ||
            std::find(ports, ports + d.output_count(), true) != ports + d.output_count())
            continue;
        const bool read = std::ranges::any_of(own, [](output_level l) { return l != output_level::none; });
        const auto counts = [](const output_variable& y) { return y.type == variable_type::real && !y.sampled; };
        const bool some_follow_states =
            std::ranges::any_of(d.outputs, [&](const auto& y) { return counts(y) && y.direct.empty(); });
        for (const auto& y : d.outputs)
            if (counts(y) && (y.direct.empty() || !some_follow_states))
                for (auto& level : own.subspan(static_cast<std::size_t>(y.slot), static_cast<std::size_t>(y.size)))
                    if (level == output_level::none) level = read ? output_level::hidden : output_level::rate;
    }
    return levels;
}

std::vector<bool> held_by_nature(const coupled_system& system) {
    const transport& t = *system.subsystems;
    const network& net = system.coupling;
    std::vector<bool> sampled_output(system.subsystems->outputs().size(), false);
    std::vector<bool> sampled_input(system.subsystems->inputs().size(), false);
    for (std::size_t i = 0; i < t.size(); ++i) {
        const subsystem_index s(i);
        for (const auto& y : t.describe(s).outputs)
            for (int k = 0; k < y.size; ++k)
                sampled_output[t.output_offset(s) + static_cast<std::size_t>(y.slot + k)] = y.sampled;
        for (const auto& u : t.describe(s).inputs)
            for (int k = 0; k < u.size; ++k)
                sampled_input[t.input_offset(s) + static_cast<std::size_t>(u.slot + k)] = u.sampled;
    }
    std::vector<bool> held(net.channels()), read_at_samples(net.channels(), true);
    for (const auto& [input, delivered] : net.deliveries())
        if (!sampled_input[input.value()]) read_at_samples[delivered.channel.value()] = false;
    for (std::size_t c = 0; c < held.size(); ++c)
        held[c] =
            net.held(channel_index(c)) &&
            (read_at_samples[c] || std::ranges::all_of(net.terms(channel_index(c)), [&](const channel_term& term) {
                 return term.value.valid() && sampled_output[term.value.value()];
             }));
    return held;
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
    by_nature_ = held_by_nature(system);
    accepted_.assign(system.coupling.channels(), {});
    tried_.assign(accepted_.size(), 0.0);
    tried_largest_ = tried_;
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
        if (std::abs(seen[channel.value()]) <= next_to_nothing * tried_largest_[channel.value()]) continue;
        acted_on& s = subsystems_[subsystem];
        s.seen = std::max(s.seen, std::abs(seen[channel.value()]));
        s.right = std::max(s.right, std::abs(right[channel.value()]));
    }
    for (auto& s : subsystems_) {
        if (s.seen == 0) s.seen = s.right = 1;
        s.right = std::max(s.right, least_part * s.seen);
    }
}

void error_constants::misses(const coupled_system& system, double H, std::span<double> missed) const {
    system.coupling.polynomial_values(H, missed);
    for (std::size_t c = 0; c < missed.size(); ++c) missed[c] = by_nature_[c] ? 0 : system.u[c] - missed[c];
}

bool error_constants::surprised(const coupled_system& system, double H, channel_index channel, double expected,
                                double is) const {
    const auto& [misses, largest] = accepted_[channel.value()];
    double likely = 0;
    for (std::size_t k = 0; k < remembered && H_accepted_[k] > 0; ++k)
        likely = std::max(likely, std::abs(misses[k]) *
                                      std::pow(std::max(1.0, H / H_accepted_[k]), system.coupling.degree(channel) + 1));
    const double noise = 1e-9 * std::max(largest, std::abs(system.u[channel.value()]));
    return std::abs(is) > new_from * std::max(std::abs(expected), likely) + noise;
}

bool error_constants::surprised(const coupled_system& system, double H, std::span<const double> expected,
                                std::span<const double> is) {
    bool any = false;
    for (std::size_t c = 0; c < is.size(); ++c)
        any = any || (!by_nature_[c] && surprised(system, H, channel_index(c), expected[c], is[c]));
    remember(system, H, is);
    return any;
}

void error_constants::remember(const coupled_system& system, double H, std::span<const double> is) {
    for (std::size_t c = 0; c < is.size(); ++c) {
        tried_[c] = is[c];
        tried_largest_[c] = std::max(accepted_[c].largest, std::abs(system.u[c]));
    }
    H_tried_ = H;
}

void error_constants::committed() {
    if (H_tried_ == 0) return;
    for (std::size_t c = 0; c < tried_.size(); ++c) {
        std::ranges::copy_backward(std::span(accepted_[c].misses).first(remembered - 1), accepted_[c].misses.end());
        accepted_[c].misses[0] = tried_[c];
        accepted_[c].largest = tried_largest_[c];
    }
    std::ranges::copy_backward(std::span(H_accepted_).first(remembered - 1), H_accepted_.end());
    H_accepted_[0] = H_tried_;
    H_tried_ = 0;
}

void error_constants::take_everything() {
    for (auto& s : subsystems_) s.whole = true, s.right = s.seen = 1;
}

void error_constants::take_whole(std::span<const double> by_channel) {
    for (const auto& [channel, subsystem] : acting_)
        if (by_channel[channel.value()] != 0) subsystems_[subsystem].whole = true;
}

void find_misses(coupled_system& system, const macro_step& step, trial_step& kept, const error_constants& of,
                 std::span<double> missed) {
    if (!system.coupling.raise(missed)) {
        system.advance_trials(step, std::span(&kept, 1));
        of.misses(system, step.end - step.begin, missed);
        system.restore_begin();
    }
    for (std::size_t c = 0; c < missed.size(); ++c)
        if (of.by_nature()[c]) missed[c] = 0;
}

}  // namespace mdpcosim
