#include "fmu/clocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace mdpcosim {

namespace {

using fmi::clock_interval;

constexpr double shortest_interval = 1e-12;  ///< what is shorter would never come to an end

bool is_periodic(clock_interval kind) {
    return kind == clock_interval::constant || kind == clock_interval::fixed || kind == clock_interval::tunable;
}

/// Inputs that the clock lets in.
std::vector<int> slots_of_clock(const fmi::description& fmu, const fmu_layout& layout, int clock) {
    std::vector<int> slots;
    for (std::size_t slot = 0; slot < layout.inputs.size(); ++slot) {
        const auto clocked =
            std::ranges::find(fmu.clocked, layout.inputs[slot].variable, &fmi::clocked_variable::variable);
        if (clocked != fmu.clocked.end() && std::ranges::find(clocked->clocks, clock) != clocked->clocks.end())
            slots.push_back(static_cast<int>(slot));
    }
    return slots;
}

}  // namespace

bool has_times(const fmi::description& fmu, const fmi::clock_description& clock) {
    return fmu.variables[static_cast<std::size_t>(clock.variable)].causality == fmi::causality::input &&
           clock.interval_kind != clock_interval::triggered;
}

fmu_clocks::fmu_clocks(fmi::instance& instance, const fmu_layout& layout, bool event_mode) : instance_(instance) {
    const fmi::description& fmu = instance.description();
    if (!event_mode) return;
    for (const fmi::clock_description& clock : fmu.clocks) {
        const auto coupled = std::ranges::find_if(
            layout.inputs, [&](const fmu_use& use) { return use.clock && use.variable == clock.variable; });
        const bool timed = has_times(fmu, clock);
        if (!timed && coupled == layout.inputs.end()) continue;
        timed_ += timed ? 1 : 0;
        driven_.push_back({clock, fmu.variables[static_cast<std::size_t>(clock.variable)].reference,
                           timed ? -1 : static_cast<int>(coupled - layout.inputs.begin())});
        inputs_.emplace_back().assign(instance, layout.inputs, slots_of_clock(fmu, layout, clock.variable));
    }
    for (std::size_t slot = 0; slot < layout.outputs.size(); ++slot)
        if (layout.outputs[slot].clock)
            read_.push_back({static_cast<int>(slot),
                             fmu.variables[static_cast<std::size_t>(layout.outputs[slot].variable)].reference});
    states_.resize(driven_.size() + read_.size());
}

double fmu_clocks::next() const {
    double first = std::numeric_limits<double>::infinity();
    for (const clock_state& s : states_) first = std::min(first, s.next);
    return first;
}

void fmu_clocks::start(double t0) {
    forget_inputs();
    std::ranges::fill(states_, clock_state{});
    for (std::size_t i = 0; i < driven_.size(); ++i) {
        const driven_clock& clock = driven_[i];
        const clock_interval kind = clock.is.interval_kind;
        clock_state& s = states_[i];
        if (clock.slot >= 0 || kind == clock_interval::countdown) continue;  // who lets it tick says so
        const bool told = kind == clock_interval::constant;
        bool changed = false;
        if (kind != clock_interval::changing) s.interval = told ? clock.is.interval : ask_interval(clock, changed);
        if (told) check_interval(clock, s.interval);
        s.origin = s.next = t0 + (told ? clock.is.shift : instance_.get_shift(clock.reference));
    }
}

void fmu_clocks::tick(double t) {
    for (std::size_t i = 0; i < driven_.size(); ++i) {
        clock_state& s = states_[i];
        if (s.next > t + slack(t)) continue;
        instance_.set_clock(driven_[i].reference);
        s.ticking = true;
        s.last = s.next;
        s.next = is_periodic(driven_[i].is.interval_kind) ? s.origin + static_cast<double>(++s.count) * s.interval
                                                          : std::numeric_limits<double>::infinity();
    }
}

void fmu_clocks::trigger(std::size_t i, std::int64_t count) {
    clock_state& s = states_[i];
    const std::int64_t ticks = count - std::exchange(s.count, count);
    if (ticks <= 0) return;
    if (ticks > 1)
        throw fmi::fmu_failure(
            fmt::format(
                "its clock '{}' would have to tick {} times at once: what it is coupled to ticked so often since "
                "the last macro point, with other values each time. Choose macro steps that are shorter than "
                "the time between two ticks",
                instance_.description().variables[static_cast<std::size_t>(driven_[i].is.variable)].name, ticks),
            false);
    instance_.set_clock(driven_[i].reference);
    s.ticking = true;
}

void fmu_clocks::forget_inputs() {
    for (fmu_values& group : inputs_) group.forget();
}

void fmu_clocks::look() {
    for (std::size_t i = 0; i < read_.size(); ++i)
        if (clock_state& s = states_[driven_.size() + i]; !s.counted && instance_.get_clock(read_[i].reference)) {
            ++s.ticks;
            s.counted = true;
        }
}

void fmu_clocks::end_ticks() {
    for (std::size_t i = driven_.size(); i < states_.size(); ++i) states_[i].counted = false;
}

void fmu_clocks::begin() {
    for (std::size_t i = driven_.size(); i < states_.size(); ++i) states_[i].ticks = 0;
    for (std::size_t i = 0; i < driven_.size(); ++i)
        if (driven_[i].slot >= 0) states_[i].count = 0;
}

void fmu_clocks::give(std::span<double> y, bool in_event) {
    if (in_event) look();
    for (std::size_t i = 0; i < read_.size(); ++i)
        y[static_cast<std::size_t>(read_[i].slot)] = static_cast<double>(states_[driven_.size() + i].ticks);
}

void fmu_clocks::updated(double t) {
    for (std::size_t i = 0; i < driven_.size(); ++i) {
        clock_state& s = states_[i];
        const clock_interval kind = driven_[i].is.interval_kind;
        const bool ticked = std::exchange(s.ticking, false);
        if (driven_[i].slot >= 0 || kind == clock_interval::constant || kind == clock_interval::fixed) continue;
        if (kind == clock_interval::changing && !ticked) continue;
        bool changed = false;
        const double interval = ask_interval(driven_[i], changed);
        if (kind == clock_interval::changing) {
            s.interval = changed || s.interval == 0 ? interval : s.interval;
            s.next = s.last + s.interval;
        } else if (changed && kind == clock_interval::countdown) {
            s.next = t + interval;
        } else if (changed && interval != s.interval) {
            s.interval = interval;
            s.origin = s.count > 0 ? s.last : s.origin;
            s.count = s.count > 0 ? 1 : 0;
            s.next = s.origin + static_cast<double>(s.count) * s.interval;
        }
    }
}

/// NaN where a countdown has none.
double fmu_clocks::ask_interval(const driven_clock& clock, bool& changed) {
    double interval = std::numeric_limits<double>::quiet_NaN();
    const auto said = instance_.get_interval(clock.reference, interval);
    changed = said == fmi::instance::interval_is::changed;
    if (clock.is.interval_kind == clock_interval::countdown) {
        if (changed && !(interval >= 0)) refuse(clock, fmt::format("{} s", interval));
        return interval;
    }
    if (said == fmi::instance::interval_is::unknown) refuse(clock, "not known");
    check_interval(clock, interval);
    return interval;
}

void fmu_clocks::check_interval(const driven_clock& clock, double interval) const {
    if (!(interval >= shortest_interval) || !std::isfinite(interval)) refuse(clock, fmt::format("{} s", interval));
}

void fmu_clocks::refuse(const driven_clock& clock, const std::string& interval) const {
    throw fmi::fmu_failure(
        fmt::format("the interval of its clock '{}' ({}) is {}",
                    instance_.description().variables[static_cast<std::size_t>(clock.is.variable)].name,
                    fmi::name(clock.is.interval_kind), interval),
        false);
}

}  // namespace mdpcosim
