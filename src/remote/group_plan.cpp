#include "remote/group_plan.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

[[noreturn]] void misfit_in_plan() { throw run_error("a plan that does not fit came"); }

template <class T>
void put_list(wire_writer& to, const std::vector<T>& values) {
    to.put(values.size());
    to.put_bytes(values.data(), values.size() * sizeof(T));
}

template <class T>
std::vector<T> get_list(wire_reader& from) {
    std::vector<T> values(from.get_count(sizeof(T)));
    from.take(values.data(), values.size() * sizeof(T));
    return values;
}

/// As they travel, without gaps.
struct [[gnu::packed]] item_bytes {
    std::int32_t member;
    char given;
    std::uint32_t first, last;
};
struct [[gnu::packed]] signal_bytes {
    std::int32_t member;
    std::uint32_t source, input;
    double weight, factor;
};

void check(const group_plan& plan, std::span<const remote_member> members) {
    const auto is_member = [&](std::int32_t i) { return i >= 0 && static_cast<std::size_t>(i) < members.size(); };
    for (const group_plan::item& i : plan.items) {
        if (!is_member(i.member) || i.first > i.last || i.last > plan.signals.size()) misfit_in_plan();
        const auto inputs = members[static_cast<std::size_t>(i.member)].description.input_count();
        for (const group_plan::signal& s : plan.signals_of(i)) {
            if (!is_member(s.member) || s.how.input >= static_cast<std::uint32_t>(inputs)) misfit_in_plan();
            const auto outputs = members[static_cast<std::size_t>(s.member)].description.output_count();
            if (s.how.source >= static_cast<std::uint32_t>(outputs)) misfit_in_plan();
        }
    }
    if (!std::ranges::is_sorted(plan.ends) || (plan.ends.empty() ? 0 : plan.ends.back()) != plan.items.size())
        misfit_in_plan();
}

}  // namespace

void put(wire_writer& to, const group_plan& plan) {
    std::vector<item_bytes> items;
    for (const auto& i : plan.items) items.push_back({i.member, i.given, i.first, i.last});
    std::vector<signal_bytes> signals;
    for (const auto& s : plan.signals)
        signals.push_back({s.member, s.how.source, s.how.input, s.how.weight, s.how.factor});
    to.put(plan.advances);
    to.put(plan.provisional);
    put_list(to, items);
    put_list(to, signals);
    put_list(to, plan.ends);
}

group_plan get_group_plan(wire_reader& from, std::span<const remote_member> members) {
    group_plan plan;
    plan.advances = from.get<bool>();
    plan.provisional = from.get<bool>();
    for (const item_bytes& i : get_list<item_bytes>(from))
        plan.items.push_back({i.member, i.given != 0, i.first, i.last});
    for (const signal_bytes& s : get_list<signal_bytes>(from))
        plan.signals.push_back({s.member, {s.source, s.input, s.weight, s.factor}});
    plan.ends = get_list<std::uint32_t>(from);
    if (!from.empty()) misfit_in_plan();
    check(plan, members);
    return plan;
}

}  // namespace mdpcosim
