#include "transport/plan_levels.hpp"

#include <algorithm>

namespace mdpcosim {

namespace {

/// Whether signals within the group give all inputs.
bool follows_within(const step_plan& plan, std::size_t item, const plan_grounds& grounds) {
    const step_plan::item& i = plan.items[item];
    if (!i.signals_only) return false;
    const auto home = [&](std::uint32_t output) { return grounds.group[grounds.owner[output]]; };
    const int group = grounds.group[i.subsystem.value()];
    std::vector<std::uint32_t> inputs;
    for (std::uint32_t s = i.first; s < i.last; ++s) {
        if (home(plan.signals[s].source) != group) return false;
        inputs.push_back(plan.signals[s].input);
    }
    std::ranges::sort(inputs);
    const auto end = std::unique(inputs.begin(), inputs.end());  // clang 14 cannot read that of std::ranges
    return static_cast<std::size_t>(end - inputs.begin()) == grounds.inputs[i.subsystem.value()];
}

}  // namespace

plan_levels find_levels(const step_plan& plan, const plan_grounds& grounds) {
    const bool advances = plan.advances();
    const int not_evaluated = advances ? 0 : -1;
    struct state {
        int outputs,
            read_until;  ///< levels of its last evaluation, and of the last one that reads what the next one may change
        bool evaluated = false;
    };
    std::vector<state> now(grounds.group.size(), {not_evaluated, -1});
    plan_levels found;
    found.of.resize(plan.items.size());
    for (std::size_t k = 0; k < plan.items.size(); ++k) {
        const step_plan::item& i = plan.items[k];
        if (!i.evaluate) continue;
        state& own = now[i.subsystem.value()];
        const int group = grounds.group[i.subsystem.value()];
        const bool within = grounds.evaluates[static_cast<std::size_t>(group)] != 0 && i.signals_only;
        int level = !within && advances ? 1 : 0;
        for (const std::uint32_t y : plan.sources[k]) {
            const std::uint32_t source = grounds.owner[y];
            level = std::max(level, now[source].outputs + (within && grounds.group[source] == group ? 0 : 1));
        }
        level = std::max(level, own.read_until + 1);
        if (own.evaluated) level = std::max(level, own.outputs + 1);
        for (const std::uint32_t y : plan.sources[k])
            if (state& source = now[grounds.owner[y]]; grounds.direct[y])
                source.read_until = std::max(source.read_until, level);
        own.outputs = level;
        own.evaluated = true;
        found.of[k] = {level, !within || !follows_within(plan, k, grounds)};
        found.items.resize(std::max(found.items.size(), static_cast<std::size_t>(level) + 1));
        found.items[static_cast<std::size_t>(level)].push_back(static_cast<std::uint32_t>(k));
    }
    return found;
}

std::vector<given_plan> by_level(const group_plan& plan, const transport& members) {
    std::vector<given_plan> levels(plan.levels());
    std::size_t inputs = 0;
    for (std::size_t i = 0; i < members.size(); ++i)
        inputs += static_cast<std::size_t>(members.describe(subsystem_index(i)).input_count());
    for (std::size_t n = 0; n < levels.size(); ++n) {
        given_plan& to = levels[n];
        to.values.assign(inputs, 0.0);
        std::vector<char> advanced(members.size(), n > 0 || !plan.advances);
        const auto is_due = [&](std::size_t i) { return std::exchange(advanced[i], 1) == 0; };
        std::vector<char> evaluated(members.size(), false);
        for (const group_plan::item& one : plan.level(n)) evaluated[static_cast<std::size_t>(one.member)] = true;
        for (std::size_t i = 0; i < members.size(); ++i)
            if (!evaluated[i] && is_due(i)) to.items.push_back({.subsystem = subsystem_index(i)});
        for (const group_plan::item& one : plan.level(n)) {
            const subsystem_index i(static_cast<std::size_t>(one.member));
            const auto first = static_cast<std::uint32_t>(to.signals.size());
            for (const group_plan::signal& s : plan.signals_of(one)) {
                plain_signal how = s.how;
                how.source += static_cast<std::uint32_t>(
                    members.output_offset(subsystem_index(static_cast<std::size_t>(s.member))));
                how.input += static_cast<std::uint32_t>(members.input_offset(i));
                to.signals.push_back(how);
            }
            to.items.push_back({.subsystem = i,
                                .advance = is_due(i.value()),
                                .evaluate = true,
                                .signals_only = true,
                                .first = first,
                                .last = static_cast<std::uint32_t>(to.signals.size())});
        }
    }
    return levels;
}

}  // namespace mdpcosim
