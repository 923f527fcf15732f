// Events at a macro point that lead to others there: in FMUs with an event mode, whose discrete states change with their inputs and at ticks of
// their clocks, so that outputs change which others take as discrete inputs and clocks at the same time.
//
// Round by round: everyone whose inputs are not those that it was given last has an event, at once in the first round; then signals carry the new outputs
// on. It ends where nobody's inputs change any more.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "master/coupled_system.hpp"

namespace mdpcosim {

namespace {

constexpr int most_rounds = 100;

}  // namespace

void coupled_system::find_event_members() {
    const transport& all = *subsystems;
    std::vector<char> may(all.size()), takes_part(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) may[i] = all.offers(subsystem_index(i)).events_at_points ? 1 : 0;
    if (std::ranges::count(may, 1) == 0) return;
    // By channel: subsystems with an event input that it leads to.
    std::vector<std::vector<std::size_t>> reached(coupling.channels());
    for (const auto& [input, delivered] : coupling.deliveries())
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::size_t first = inputs_[i].first;
            if (may[i] == 0 || input.value() < first || input.value() >= first + inputs_[i].count) continue;
            const int slot = static_cast<int>(input.value() - first);
            const auto& inputs = all.describe(subsystem_index(i)).inputs;
            if (std::ranges::any_of(
                    inputs, [slot](const auto& w) { return w.sampled && slot >= w.slot && slot < w.slot + w.size; }))
                reached[delivered.channel.value()].push_back(i);
        }
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const channel_index c : may[i] != 0 ? fed_by(subsystem_index(i)) : std::span<const channel_index>())
            for (const std::size_t to : reached[c.value()]) takes_part[i] = takes_part[to] = 1;
    event_members_.clear();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (takes_part[i] != 0) event_members_.push_back({subsystem_index(i), std::vector<double>(inputs_[i].count)});
    event_turn_.reserve(event_members_.size());
    used_inputs_.resize(subsystems->inputs().size());
}

void coupled_system::carry_out_events(const macro_step& step) {
    step_notices noticed = subsystems->notices();
    std::ranges::copy(subsystems->inputs(), used_inputs_.begin());
    for (int round = 0;; ++round) {
        event_turn_.clear();
        for (event_member& m : event_members_) {
            const std::span<const double> now = present_values(m.subsystem);
            if (round > 0 && std::ranges::equal(now, m.given)) continue;
            std::ranges::copy(now, m.given.begin());
            m.round = round;
            const auto inputs = subsystems->inputs().subspan(inputs_[m.subsystem.value()].first, now.size());
            for (std::size_t k = 0; k < now.size(); ++k) inputs[k] = {.c = {now[k]}};
            event_turn_.push_back({m.subsystem, {step.end, step.end, step.counter}});
        }
        if (event_turn_.empty()) break;
        if (round == most_rounds) {
            std::string names;
            for (const event_member& m : event_members_)
                if (m.round > most_rounds / 2)
                    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", subsystems->name(m.subsystem));
            throw run_error(fmt::format(
                "the events at t = {} s come to no end: after {} rounds the discrete inputs of {} still change. "
                "They depend on each other without a delay; let one of the signals go through a state",
                step.end, most_rounds, names));
        }
        if (journal.kept()) journal.add(event_turn_, subsystems->inputs());
        subsystems->advance_some(event_turn_);
        noticed.add(subsystems->notices());
        notices.add(subsystems->notices());
        evaluate_in_order(step.end, at_each_step, false);
        coupling.evaluate_values(step.end, subsystems->outputs(), u, du);
    }
    std::ranges::copy(used_inputs_, subsystems->inputs().begin());
    if (step.end == step.begin) return;
    find_coupling(step, used_inputs_);
    tell_jumps(step, noticed);
}

}  // namespace mdpcosim
