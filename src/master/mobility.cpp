#include "master/mobility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mdpcosim {

namespace {

/// The part of a channel's v that one output gives, or the part of a channel's u that one input takes.
struct part {
    std::uint32_t channel;
    std::size_t slot;
    double weight;
};

/// One subsystem's parts; each input once, with all channels that act on it.
struct ends {
    std::vector<part> outputs;
    std::vector<std::pair<std::size_t, std::vector<part>>> inputs;
};

std::size_t owner(std::size_t slot, std::size_t subsystems, auto&& offset) {
    std::size_t i = subsystems - 1;
    while (offset(subsystem_index(i)) > slot) --i;
    return i;
}

std::vector<ends> find_ends(const coupled_system& system, const std::vector<coupled_channel>& channels) {
    const transport& t = *system.subsystems;
    std::vector<ends> found(t.size());
    std::vector<std::int64_t> row(system.coupling.channels(), -1);
    for (std::uint32_t i = 0; i < channels.size(); ++i) {
        row[channels[i].channel.value()] = i;
        for (const auto& term : system.coupling.terms(channels[i].channel)) {
            const std::size_t slot = (channels[i].first_order ? term.value : term.rate).value();
            const std::size_t at = owner(slot, t.size(), [&t](subsystem_index s) { return t.output_offset(s); });
            found[at].outputs.push_back({i, slot, term.weight});
        }
    }
    for (const auto& [input, what] : system.coupling.deliveries()) {
        const std::int64_t channel = row[what.channel.value()];
        if (channel < 0) continue;
        const std::size_t slot = input.value();
        const std::size_t at = owner(slot, t.size(), [&t](subsystem_index s) { return t.input_offset(s); });
        auto& inputs = found[at].inputs;
        if (inputs.empty() || inputs.back().first != slot) inputs.push_back({slot, {}});
        inputs.back().second.push_back({static_cast<std::uint32_t>(channel), slot, what.factor});
    }
    return found;
}

}  // namespace

std::vector<coupled_channel> coupled_channels(const coupled_system& system) {
    std::vector<coupled_channel> found;
    const network& net = system.coupling;
    for (std::size_t c = 0; c < net.channels(); ++c) {
        const channel_index channel(c);
        const law* l = net.law_of(channel);
        if (l == nullptr) continue;
        const bool first_order = !l->has_rate() && !l->needs_velocity();
        for (const auto& term : net.terms(channel))
            if (!(first_order ? term.value : term.rate).valid())
                throw user_error(
                    fmt::format("method 'one-pass': connection '{}' needs the rates of all its ports (speeds, flows), "
                                "and not all of them "
                                "give one; let the ports give their rates, or take 'method: explicit' with an "
                                "extrapolation without rates",
                                net.name(channel)));
        found.push_back({channel, first_order});
    }
    return found;
}

mobility measure_mobility(coupled_system& system, const macro_step& step,
                          const std::vector<coupled_channel>& channels) {
    transport& t = *system.subsystems;
    const double H = step.end - step.begin;
    const auto found = find_ends(system, channels);
    std::size_t rounds = 0;
    for (const auto& e : found) rounds = std::max(rounds, e.inputs.size());

    for (const auto& c : channels) system.coupling.impose(c.channel, system.u[c.channel.value()]);
    const std::vector<double> before(t.outputs().begin(), t.outputs().end());
    const std::vector<double> u = system.u, du = system.du;
    t.save();
    const auto trial = [&](auto&& disturb) {
        system.coupling.deliver(H, t.inputs());
        disturb(t.inputs());
        t.advance(step);
        system.evaluate(step.end, system.at_each_step);  // subsystems that leave outputs with feed-through to it
        std::vector<double> y(t.outputs().begin(), t.outputs().end());
        t.restore();
        system.u = u;
        system.du = du;
        return y;
    };
    const auto undisturbed = trial([](std::span<polynomial>) {});
    mobility measured{{}, std::vector<double>(channels.size(), 0.0)};
    auto& [Q, rate] = measured;
    for (const auto& e : found)
        for (const auto& out : e.outputs)
            rate[out.channel] += out.weight * (undisturbed[out.slot] - before[out.slot]) / H;
    std::vector<double> by(t.inputs().size());
    for (std::size_t round = 0; round < rounds; ++round) {
        const auto y = trial([&](std::span<polynomial> inputs) {
            for (const auto& e : found) {
                if (round >= e.inputs.size()) continue;
                polynomial& p = inputs[e.inputs[round].first];
                by[e.inputs[round].first] = std::max(1.0, std::abs(p.c[0]));
                p.c[0] += by[e.inputs[round].first];
            }
        });
        for (const auto& e : found) {
            if (round >= e.inputs.size()) continue;
            const auto& [slot, acting] = e.inputs[round];
            for (const auto& out : e.outputs)
                for (const auto& in : acting) {
                    const double response = (y[out.slot] - undisturbed[out.slot]) / (H * by[slot]);
                    const double value = -out.weight * in.weight * response;
                    if (value != 0) Q.push_back({out.channel, in.channel, value});
                }
        }
    }
    for (std::size_t i = 0; i < t.size(); ++i) system.evaluate_one(subsystem_index(i), false);

    std::vector<double> own(channels.size(), 0.0);
    for (const auto& e : Q)
        if (e.row == e.column) own[e.row] += e.value;
    for (std::size_t i = 0; i < channels.size(); ++i)
        if (!(own[i] > 0) || !std::isfinite(own[i]))
            throw run_error(
                fmt::format("method 'one-pass': the ports of connection '{}' do not give way to its coupling variable: "
                            "a trial step over "
                            "{:.6g} s at t = {:.6g} s moved their rate by {:.6g} per unit and second, and a load must "
                            "move them its own way; "
                            "take a smaller macro step, or 'method: explicit'",
                            system.coupling.name(channels[i].channel), H, step.begin, own[i]));
    return measured;
}

}  // namespace mdpcosim
