#include "simulation/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "master/error_constants.hpp"

namespace mdpcosim {

namespace {

std::string_view subsystem_of(std::string_view address) { return address.substr(0, address.find('.')); }

/// Subsystems that stand in no loop: whatever they read comes from others that stand in none, or whatever they give goes there.
class feedback {
   public:
    explicit feedback(const scenario& s) : outside_(s.subsystems.size(), false), connected_(outside_) {
        for (std::size_t i = 0; i < outside_.size(); ++i) numbers_.emplace(s.subsystems[i].name, i);
        for (const auto& connection : s.connections)
            for (const auto& port : connection.between)
                if (const auto i = number_of(port.value)) connected_[*i] = true;  // what it gives comes back
        std::vector<std::vector<std::size_t>> forward(outside_.size()), backward(outside_.size());
        for (const auto& signal : s.signals)
            for (const auto& term : signal.terms) {
                const auto from = number_of(term.address.value), to = number_of(signal.target.value);
                if (!from || !to) continue;
                forward[*from].push_back(*to);
                backward[*to].push_back(*from);
            }
        peel(backward, forward);
        peel(forward, backward);
    }

    bool is_outside(std::size_t subsystem) const { return outside_[subsystem]; }
    bool is_outside(std::string_view address) const {
        const auto i = number_of(address);
        return i && outside_[*i];
    }

   private:
    using edges = std::vector<std::vector<std::size_t>>;

    std::optional<std::size_t> number_of(std::string_view address) const {
        const auto found = numbers_.find(subsystem_of(address));
        return found == numbers_.end() ? std::nullopt : std::optional(found->second);
    }

    void peel(const edges& causes, const edges& effects) {
        std::vector<std::size_t> left, next;
        for (std::size_t i = 0; i < outside_.size(); ++i) {
            left.push_back(causes[i].size() + (connected_[i] ? 1 : 0));
            if (left[i] == 0) next.push_back(i);
        }
        while (!next.empty()) {
            const std::size_t i = next.back();
            next.pop_back();
            outside_[i] = true;
            for (const std::size_t other : effects[i])
                if (--left[other] == 0) next.push_back(other);
        }
    }

    std::unordered_map<std::string_view, std::size_t> numbers_;
    std::vector<bool> outside_, connected_;
};

}  // namespace

std::vector<bool> subsystems_in_loops(const scenario& s) {
    const feedback all(s);
    std::vector<bool> inside;
    for (std::size_t i = 0; i < s.subsystems.size(); ++i) inside.push_back(!all.is_outside(i));
    return inside;
}

coupling_monitor make_monitor(const scenario& s, const assembly& a) {
    const feedback all(s);
    std::unordered_set<std::string_view> one_way;
    for (const auto& signal : s.signals) {
        const bool outside =
            all.is_outside(signal.target.value) ||
            std::ranges::all_of(signal.terms, [&](const auto& term) { return all.is_outside(term.address.value); });
        if (outside) one_way.insert(signal.target.value);
    }

    std::vector<conjugate> powers;
    for (const auto& channel : a.channels) powers.push_back(channel.power);
    coupling_monitor monitor(std::move(powers));
    for (std::size_t c = 0; c < a.channels.size(); ++c) {
        monitor.set_rates(c, a.channels[c].has_rate, a.channels[c].has_velocity);
        const auto& ends = a.channels[c].ends;
        if (a.channels[c].is_signal && !ends.empty() &&
            one_way.contains(std::string_view(ends.front().address).substr(0, ends.front().address.find('['))))
            monitor.set_one_way(c);
        if (a.channels[c].equation >= 0 || a.channels[c].internal) monitor.set_free(c);
    }
    return monitor;
}

coupling_watch make_watch(const assembly& a, coupling_monitor& monitor, const monitor_spec& spec) {
    const auto name_of = [&channels = a.channels](std::size_t c) {
        return fmt::format("{} '{}'", channels[c].is_signal ? "signal to" : "connection", channels[c].name);
    };
    std::vector<bond_monitor::bond> bonds;
    const auto has_rate = [&](channel_index c) { return a.system.coupling.terms(c).front().rate.valid(); };
    for (const auto& b : a.system.bonds)
        bonds.push_back({b.flow.value(), b.effort.value(), b.scale, has_rate(b.flow), has_rate(b.effort)});
    using reaction = coupling_watch::on_divergence;
    return {monitor, name_of, spec.divergence.value == "note" ? reaction::note : reaction::stop,
            bond_monitor(std::move(bonds))};
}

namespace {

// Of the range of the coupling variable. Drawn from generated systems whose true errors are known (docs/trust.md).
constexpr double good_below = 0.02, wrong_from = 0.3;
constexpr std::size_t most_reasons = 5;
constexpr std::int64_t least_steps = 7;

/// A small error moves an event, and what jumps there is then wrong by the jump; one run alone cannot tell which events that happens to.
double with_events(double deviation, std::int64_t events) {
    return deviation * static_cast<double>(1 + std::min<std::int64_t>(events, 5));
}

std::string share(double x) { return x < 10 ? fmt::format("{:.2g} %", 100 * x) : "far more than all"; }

std::string what_was_seen(const channel_report& channel, const coupling_quality& q, double start, std::int64_t events) {
    std::string text = channel.is_signal ? fmt::format("signal to '{}': ", channel.name)
                                         : fmt::format("connection '{}': ", channel.name);
    if (q.unresolved >= std::max(q.phase / 2, q.amplitude))
        text += fmt::format(
            "between macro points what subsystems received was off by {} of what it varies by (most, {:.3g}{}{}, at t "
            "= "
            "{:.4g} s): the macro step does not resolve this coupling",
            share(q.unresolved), q.jump_max, channel.unit.empty() ? "" : " ", channel.unit, start + q.worst_after);
    else if (q.amplitude >= q.phase / 2)
        text += fmt::format("it {} {:.3g} J, {} of what it stored or passed on at most: amplitudes are off by about {}",
                            q.energy_error > 0 ? "added" : "lost", std::abs(q.energy_error), share(2 * q.amplitude),
                            share(q.amplitude));
    else
        text += fmt::format("its oscillation is out of step by about {} of its range", share(q.phase / 2));
    if (events > 0) text += fmt::format("; {} events multiply such errors", events);
    if (q.contacts >= 6) text += fmt::format("; {} contacts multiply such errors", q.contacts);
    return text;
}

}  // namespace

verdict judge(const assembly& a, const coupling_watch& watch, double start, std::span<const double> outputs,
              std::int64_t events) {
    verdict found;
    found.measured = a.channels.empty();
    if (!watch.divergence().empty()) found.add(trust::wrong, watch.divergence(), {});
    if (std::ranges::any_of(outputs, [](double y) { return !std::isfinite(y); }))
        found.add(trust::wrong, "there are outputs that are no finite numbers at the end", {});
    if (watch.monitor().steps() < least_steps && !a.channels.empty()) {
        found.add(trust::doubtful, fmt::format("{} macro steps are too few to judge by", watch.monitor().steps()), "",
                  verdict::reason::basis::guess);
        return found;
    }
    struct suspect {
        std::size_t channel;
        coupling_quality quality;
        double deviation;
    };
    std::vector<suspect> list;
    // A coupling that hardly moves among others that do is not wrong because what it does is.
    constexpr double least_share = 1e-6;
    const auto kind = [&](std::size_t c) { return std::pair(a.channels[c].unit, a.channels[c].is_signal); };
    std::map<std::pair<std::string, bool>, double> ranges;
    for (std::size_t c = 0; c < a.channels.size(); ++c) {
        const coupling_quality q = watch.monitor().quality(c);
        double& largest = ranges[kind(c)];
        largest = std::max(largest, q.u_max - q.u_min);
    }
    const std::vector<bool> held = held_by_nature(a.system);
    for (std::size_t c = 0; c < a.channels.size(); ++c) {
        if (a.channels[c].internal || held[c]) continue;
        const coupling_quality q = watch.monitor().quality(c);
        const double range = q.u_max - q.u_min, least = least_share * ranges[kind(c)];
        const double deviation = with_events(q.deviation(), events) * (range < least ? range / least : 1);
        if (!(deviation < good_below)) list.push_back({c, q, deviation});
    }
    std::ranges::stable_sort(list, std::ranges::greater{}, &suspect::deviation);
    if (list.size() > most_reasons) list.resize(most_reasons);
    for (const auto& [channel, quality, deviation] : list)
        found.add(deviation < wrong_from ? trust::doubtful : trust::wrong,
                  what_was_seen(a.channels[channel], quality, start, events),
                  found.reasons.empty() ? "take a smaller macro step or another method" : "",
                  events > 0 ? verdict::reason::basis::guess_with_events : verdict::reason::basis::guess);
    for (std::size_t i = 0; i < a.system.bonds.size(); ++i) {
        const bond_quality q = watch.bonds().quality(i);
        const double deviation = with_events(q.deviation(), events);
        if (deviation < good_below) continue;
        found.add(
            deviation < wrong_from ? trust::doubtful : trust::wrong,
            fmt::format("bond '{}': it {} {:.3g} J, {} of what it stored or passed on at most: amplitudes are off "
                        "by about {}",
                        a.system.bonds[i].name, q.energy_error > 0 ? "added" : "lost", std::abs(q.energy_error),
                        share(2 * q.deviation()), share(q.deviation())),
            a.system.bonds[i].corrected ? "take a smaller macro step or another method"
                                        : "take a smaller macro step or another method, or 'correct: true'",
            events > 0 ? verdict::reason::basis::guess_with_events : verdict::reason::basis::guess);
    }
    return found;
}

std::string cause_of_failure(const assembly& a, const coupling_watch& watch) {
    constexpr double sudden = 5;
    std::string text;
    double worst = 0;
    const std::vector<bool> held = held_by_nature(a.system);
    for (std::size_t c = 0; c < a.channels.size(); ++c) {
        const channel_report& channel = a.channels[c];
        if (channel.internal || held[c]) continue;
        const double surge = watch.monitor().surge(c);
        const bool wrong = channel.equation < 0 && watch.monitor().quality(c).deviation() >= wrong_from;
        if (!(surge > worst) || !(wrong || surge > sudden)) continue;
        worst = surge;
        text = fmt::format(
            "Most likely this comes from {} '{}', which had begun to diverge: its last value, {:.3g}{}{}, is {:.3g} "
            "times "
            "its root mean square. Use a smaller macro step or a more stable method",
            channel.is_signal ? "the signal to" : "connection", channel.name, watch.monitor().last(c),
            channel.unit.empty() ? "" : " ", channel.unit, surge);
    }
    return text;
}

std::vector<std::string> ports_that_grew(const assembly& a, const coupling_watch& watch) {
    constexpr double grown = 2.5;  // exponential growth by 20 or more; oscillations have 1.4, parabolas 2.2
    std::vector<std::string> found;
    for (std::size_t c = 0; c < a.channels.size(); ++c)
        if (!a.channels[c].is_signal && a.channels[c].equation < 0 && watch.monitor().surge(c) > grown)
            for (const auto& end : a.channels[c].ends) found.push_back(end.address);
    return found;
}

std::string unmeasured_coupling(const assembly& a) {
    std::set<std::size_t> outputs, variables;
    for (const auto& column : a.columns)
        if (column.from != recorded_column::source::micro_steps)
            (column.from == recorded_column::source::output ? outputs : variables).insert(column.index);
    for (std::size_t c = 0; c < a.channels.size(); ++c) {
        const channel_report& channel = a.channels[c];
        if (channel.internal || channel.equation >= 0 || variables.contains(c)) continue;
        const auto recorded = [&](const channel_term& term) {
            return (term.value.valid() && outputs.contains(term.value.value())) ||
                   (term.rate.valid() && outputs.contains(term.rate.value()));
        };
        if (!std::ranges::any_of(a.system.coupling.terms(channel_index(c)), recorded)) return channel.name;
    }
    return {};
}

std::vector<std::string> coupled_columns(const assembly& a) {
    std::set<std::size_t> slots;
    std::set<std::string> joined;
    for (std::size_t c = 0; c < a.channels.size(); ++c) {
        for (const channel_term& term : a.system.coupling.terms(channel_index(c)))
            for (const output_slot slot : {term.value, term.rate})
                if (slot.valid()) slots.insert(slot.value());
        if (a.channels[c].equation >= 0)
            for (const auto& end : a.channels[c].ends) joined.insert(end.address);
    }
    const auto moves_with_joint = [&](const std::string& name) {
        const std::size_t dot = name.rfind('.');
        return name.find("acceleration") == std::string::npos && joined.contains(name.substr(0, dot));
    };
    std::set<std::string, std::less<>> giving;
    for (const auto& column : a.columns)
        if (column.from == recorded_column::source::output && slots.contains(column.index))
            giving.emplace(subsystem_of(column.name));
    std::set<std::string, std::less<>> taking;
    for (const auto& channel : a.channels)
        for (const auto& end : channel.ends)
            if (!giving.contains(subsystem_of(end.address))) taking.emplace(subsystem_of(end.address));
    std::vector<std::string> names;
    for (const auto& column : a.columns) {
        const bool output = column.from == recorded_column::source::output &&
                            (slots.contains(column.index) || moves_with_joint(column.name) ||
                             taking.contains(subsystem_of(column.name)));
        const bool coupling = column.from == recorded_column::source::coupling && a.channels[column.index].equation < 0;
        if (output || coupling) names.push_back(column.name);
    }
    return names;
}

}  // namespace mdpcosim
