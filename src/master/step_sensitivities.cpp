#include "master/step_sensitivities.hpp"

#include <algorithm>
#include <cmath>

#include "master/owner.hpp"

namespace mdpcosim {

step_sensitivities::step_sensitivities(const coupled_system& system) {
    const transport& t = *system.subsystems;
    const network& net = system.coupling;
    blocks_.resize(t.size());
    std::vector<std::int64_t> row(net.channels(), -1);
    for (std::size_t c = 0; c < net.channels(); ++c) {
        const law* acting = net.law_of(channel_index(c));
        if (acting == nullptr || !acting->physical()) continue;
        const auto number = static_cast<std::uint32_t>(channels_.size());
        row[c] = number;
        channels_.emplace_back(c);
        for (const auto& term : net.terms(channel_index(c))) {
            const auto place = [&](output_slot slot) -> output& {
                return output_at(
                    blocks_[owner(slot.value(), t.size(), [&t](subsystem_index s) { return t.output_offset(s); })],
                    slot.value());
            };
            if (term.value.valid()) {
                output& o = place(term.value);
                o.value.push_back({number, term.weight});
                o.power = term.rate.valid() ? 2 : 1;
                if (term.rate.valid()) o.moved = term.rate.value();
            }
            if (!term.rate.valid()) continue;
            output& o = place(term.rate);
            o.rate.push_back({number, term.weight});
            if (!term.value.valid()) o.integrated.push_back({number, term.weight});
        }
    }
    for (const auto& [slot, delivered] : net.deliveries()) {
        if (row[delivered.channel.value()] < 0) continue;
        auto& inputs =
            blocks_[owner(slot.value(), t.size(), [&t](subsystem_index s) { return t.input_offset(s); })].inputs;
        if (inputs.empty() || inputs.back().slot != slot.value()) inputs.push_back({slot.value(), {}});
        inputs.back().channels.push_back(
            {static_cast<std::uint32_t>(row[delivered.channel.value()]), delivered.factor});
    }
    std::erase_if(blocks_, [](const block& b) { return b.inputs.empty() || b.outputs.empty(); });
    for (auto& b : blocks_) {
        b.response.assign(b.outputs.size() * b.inputs.size(), 0.0);
        b.change.assign(b.inputs.size(), 0.0);
        rounds_ = std::max(rounds_, b.inputs.size());
        ask(t, b);
    }
    std::size_t count = channels_.size();
    for (const auto& b : blocks_)
        for (const auto& o : b.outputs)
            for (const auto& i : b.inputs)
                count += (o.value.size() + o.rate.size() + o.integrated.size()) * i.channels.size();
    entries_.reserve(count);
}

void step_sensitivities::ask(const transport& t, block& b) {
    auto& [subsystem, inputs, outputs, own, insist] = b.asked;
    insist = false;
    subsystem =
        subsystem_index(owner(b.inputs.front().slot, t.size(), [&t](subsystem_index s) { return t.input_offset(s); }));
    for (const input& i : b.inputs) inputs.push_back(i.slot);
    for (const output& o : b.outputs) {
        if (o.power != 1) continue;
        outputs.push_back(o.slot);
        for (const input& i : b.inputs)
            own.push_back(std::ranges::any_of(i.channels, [&](const part& delivered) {
                const auto same = [&](const part& p) { return p.channel == delivered.channel; };
                return std::ranges::any_of(o.value, same) || std::ranges::any_of(o.rate, same);
            }));
    }
    b.known = rate_sensitivity(t, b.asked);
    b.B.resize(own.size());
}

bool step_sensitivities::estimate(coupled_system& system, double H) {
    for (auto& b : blocks_) {
        if (!b.known.evaluate(system, b.asked, b.B)) return false;
        for (std::size_t k = 0; k < b.B.size(); ++k)
            if (b.asked.own[k] && b.B[k] == 0) return false;
    }
    for (auto& b : blocks_)
        for (std::size_t i = 0; i < b.inputs.size(); ++i) {
            polynomial w;
            system.coupling.correct_input(input_slot(b.inputs[i].slot), H, 1, w);
            double on_rate = 0, on_value = 0, power = H;
            for (int k = 0; k <= w.degree; ++k, power *= H) {
                on_rate += w.c[k] * power / (k + 1);
                on_value += w.c[k] * power * H / ((k + 1) * (k + 2));
            }
            for (std::size_t o = 0; o < b.outputs.size(); ++o) {
                const auto row = std::ranges::find(b.asked.outputs, b.outputs[o].moved) - b.asked.outputs.begin();
                if (row == std::ssize(b.asked.outputs)) return false;
                b.at(o, i) = b.B[static_cast<std::size_t>(row) * b.inputs.size() + i] *
                             (b.outputs[o].power == 2 ? on_value : on_rate);
            }
        }
    return true;
}

step_sensitivities::output& step_sensitivities::output_at(block& b, std::size_t slot) {
    const auto found = std::ranges::find(b.outputs, slot, &output::slot);
    if (found != b.outputs.end()) return *found;
    b.outputs.push_back({slot, {}, {}, {}, 1, slot});
    return b.outputs.back();
}

void step_sensitivities::disturb(std::size_t round, const network& net, double H, std::span<polynomial> inputs) {
    for (auto& b : blocks_) {
        if (round >= b.inputs.size()) continue;
        input& i = b.inputs[round];
        polynomial& p = inputs[i.slot];
        // Small against u for laws and models that are not linear, and far above the noise of solvers.
        const double u = std::max(std::abs(p.c[0]), std::abs(p(H)));
        i.disturbance = std::max(i.size, 1e-3 * u);
        if (i.disturbance == 0) i.disturbance = 1;
        net.correct_input(input_slot(i.slot), H, i.disturbance, p);
    }
}

void step_sensitivities::measured(std::size_t round, std::span<const double> y, std::span<const double> undisturbed) {
    for (auto& b : blocks_) {
        if (round >= b.inputs.size()) continue;
        for (std::size_t o = 0; o < b.outputs.size(); ++o) {
            const std::size_t slot = b.outputs[o].slot;
            b.at(o, round) = (y[slot] - undisturbed[slot]) / b.inputs[round].disturbance;
        }
    }
}

void step_sensitivities::rescale(double ratio) {
    for (auto& b : blocks_)
        for (std::size_t o = 0; o < b.outputs.size(); ++o)
            for (std::size_t i = 0; i < b.inputs.size(); ++i)
                b.at(o, i) *= b.outputs[o].power == 2 ? ratio * ratio : ratio;
}

double step_sensitivities::learn(std::span<const double> by, std::span<const double> before,
                                 std::span<const double> y) {
    double worst = 0;
    for (auto& b : blocks_) {
        double square = 0;
        for (std::size_t i = 0; i < b.inputs.size(); ++i) {
            double sum = 0;
            for (const auto& [channel, weight] : b.inputs[i].channels) sum += weight * by[channel];
            b.change[i] = sum;
            square += sum * sum;
            if (sum != 0) b.inputs[i].size = std::abs(sum);
        }
        if (square == 0) continue;
        for (std::size_t o = 0; o < b.outputs.size(); ++o) {
            const std::size_t slot = b.outputs[o].slot;
            const double answer = y[slot] - before[slot];
            double predicted = 0;
            for (std::size_t i = 0; i < b.inputs.size(); ++i) predicted += b.at(o, i) * b.change[i];
            const double miss = answer - predicted;
            // What rounding and the solvers' tolerances leave says nothing.
            constexpr double noise = 1e-10;
            if (!(std::abs(miss) > noise * std::abs(y[slot]))) continue;
            const double share = std::abs(miss) / (std::abs(answer) + std::abs(predicted));
            worst = std::max(worst, share);
            if (share > 0.5) continue;
            for (std::size_t i = 0; i < b.inputs.size(); ++i) b.at(o, i) += miss * b.change[i] / square;
        }
    }
    return worst;
}

std::span<const matrix_entry> step_sensitivities::system(std::span<const law_slope> slopes, double integral_weight) {
    entries_.clear();
    for (std::uint32_t c = 0; c < channels_.size(); ++c) entries_.push_back({c, c, 1});
    for (auto& b : blocks_)
        for (std::size_t o = 0; o < b.outputs.size(); ++o)
            for (std::size_t i = 0; i < b.inputs.size(); ++i) {
                const double answer = b.at(o, i);
                const auto add = [&](const std::vector<part>& parts, auto&& slope) {
                    for (const part& row : parts)
                        for (const part& column : b.inputs[i].channels)
                            entries_.push_back({row.channel, column.channel,
                                                -slope(slopes[row.channel]) * row.weight * answer * column.weight});
                };
                add(b.outputs[o].value, [](const law_slope& s) { return s.c; });
                add(b.outputs[o].rate, [](const law_slope& s) { return s.d; });
                add(b.outputs[o].integrated, [&](const law_slope& s) { return s.c * integral_weight; });
            }
    return entries_;
}

}  // namespace mdpcosim
