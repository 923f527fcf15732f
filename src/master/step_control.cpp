#include "master/step_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "master/requirements.hpp"

namespace mdpcosim {

namespace {

using estimator = step_control_options::estimator;
using level = step_control_options::level;

constexpr double safety = 0.9;
constexpr double most_growth = 2, most_shrinking = 0.2;
/// Steps stay as they are while they could grow by less: equal steps are cheaper, and answers and weights are kept.
constexpr double worth_growing = 1.2;

std::string connections_of(const coupled_system& system, std::size_t slot) {
    const network& net = system.coupling;
    std::string found;
    for (const joint_connection& j : system.joints)
        for (const auto& end : j.ends)
            if (std::ranges::find(end.motion, output_slot(slot)) != end.motion.end())
                found += fmt::format("{}'{}'", found.empty() ? "" : ", ", j.name);
    for (std::size_t c = 0; c < net.channels(); ++c)
        for (const auto& term : net.terms(channel_index(c)))
            for (const output_slot s : {term.value, term.rate})
                if (s.valid() && s.value() == slot &&
                    found.find("'" + net.name(channel_index(c)) + "'") == std::string::npos)
                    found += fmt::format("{}'{}'", found.empty() ? "" : ", ", net.name(channel_index(c)));
    return found;
}

}  // namespace

step_controller::step_controller(const step_control_options& options, double start, double end,
                                 std::function<void(const step_attempt&)> looked)
    : options_(options), start_(start), end_(end), t_(start), H_(options.first), looked_(std::move(looked)) {}

void step_controller::check(const step_control_options& options, const coupled_system& system, const method& chosen,
                            const std::string& method_name) {
    if (options.estimate != estimator::trial) {
        if (!system.joints.empty())
            throw user_error(
                "step-control: multipliers of joints are found, not extrapolated, so that 'estimate: jump' and "
                "'estimate: energy' see nothing of them. Take 'estimate: trial'.");
        return;
    }
    if (!chosen.traits().estimates)
        throw user_error(
            fmt::format("step-control: method '{}' has no estimate by trial steps. Take 'estimate: jump' or 'estimate: "
                        "energy' with it.",
                        method_name));
    require_save_restore(system, "step-control: 'estimate: trial' repeats macro steps",
                         "'estimate: jump' or 'estimate: energy', which repeat nothing");
}

void step_controller::prepare(coupled_system& system, method& chosen) {
    transport& t = *system.subsystems;
    const std::size_t channels = system.coupling.channels();
    chosen.prepare_estimates(system);
    for (std::size_t i = 0; i < t.size(); ++i)
        if (t.offers(subsystem_index(i)).tells_next_event) with_events_.emplace_back(i);
    if (options_.estimate == estimator::trial) {
        chosen.keep(system);  // makes room
        system.forget_begin();
        levels_ = output_levels(system);
        error_.assign(levels_.size(), 0.0);
        names_.resize(levels_.size());
        for (std::size_t i = 0; i < t.size(); ++i) {
            const subsystem_index s(i);
            for (const auto& y : t.describe(s).outputs)
                for (int k = 0; k < y.size; ++k) {
                    const std::size_t slot = t.output_offset(s) + static_cast<std::size_t>(y.slot + k);
                    if (levels_[slot] != output_level::none)
                        names_[slot] = fmt::format("output '{}.{}' of connection {}", t.name(s),
                                                   element_name(y, y.slot + k), connections_of(system, slot));
                }
        }
        return;
    }
    for (std::size_t c = 0; c < channels; ++c)
        names_.push_back(fmt::format("connection '{}'", system.coupling.name(channel_index(c))));
    for (auto* values : {&missed_, &q_, &v_, &largest_}) values->assign(channels, 0.0);
    other_of_bond_.assign(channels, channel_index());
    for (const auto& b : system.bonds) {
        other_of_bond_[b.flow.value()] = b.effort;
        other_of_bond_[b.effort.value()] = b.flow;
    }
}

macro_step step_controller::step(coupled_system& system, method& chosen) {
    return options_.estimate == estimator::trial ? step_with_trials(system, chosen) : step_and_look(system, chosen);
}

/// Up to the next point that must be met no step is left over that is much shorter than the others. A jump that a subsystem announces is met,
/// so that extrapolations do not run across it.
macro_step step_controller::next_step(const transport& subsystems) const {
    double goal = end_;
    for (const subsystem_index i : with_events_)
        if (const double event = subsystems.next_event(i); event > t_ + options_.smallest) goal = std::min(goal, event);
    if (options_.meet > 0) {
        const double k = std::floor((t_ - start_) / options_.meet * (1 + 1e-12) + 1e-9) + 1;
        goal = std::min(goal, start_ + k * options_.meet);
    }
    const double left = goal - t_;
    const double steps = std::ceil(left / H_ * (1 - 1e-9));
    if (steps <= 1) return {t_, goal, n_};
    return {t_, t_ + (steps <= 2 ? left / 2 : H_), n_};
}

macro_step step_controller::step_with_trials(coupled_system& system, method& chosen) {
    while (true) {
        chosen.keep(system);
        const macro_step step = next_step(*system.subsystems);
        const double H = step.end - step.begin;
        verdict v;
        try {
            const estimate_orders orders = chosen.attempt_and_estimate(system, step, error_);
            v = judge(system.subsystems->outputs(), orders);
        } catch (const run_error&) {
            // A model or a law that has no answer over a long step may have one over a shorter one.
            if (H <= options_.smallest) throw;
            v = {std::numeric_limits<double>::infinity(), most_shrinking, 0};
        }
        const std::string_view worst = std::isfinite(v.error) ? std::string_view(names_[v.worst]) : "a failure";
        if (v.error <= 1) {
            chosen.commit(system);
            accept(step, v, worst);
            return step;
        }
        if (looked_) looked_({step.begin, H, v.error, false, worst});
        ++counts_.rejected;
        if (H <= options_.smallest) give_up(step, v);
        repeated_ = true;
        H_ = std::max(options_.smallest, H * std::min(v.factor, safety));
        chosen.rollback(system);
    }
}

step_controller::verdict step_controller::judge(std::span<const double> y, const estimate_orders& orders) const {
    verdict v{0, most_growth, 0};
    double of_values = 0, of_rates = 0;
    for (std::size_t slot = 0; slot < levels_.size(); ++slot) {
        if (levels_[slot] == output_level::none) continue;
        const bool rate = levels_[slot] == output_level::rate;
        if (options_.of == (rate ? level::value : level::rate)) continue;
        const double allowed = (rate ? options_.atol_rate : options_.atol) + options_.rtol * std::abs(y[slot]);
        const double ratio = std::abs(error_[slot]) / allowed;
        double& largest = rate ? of_rates : of_values;
        largest = std::max(largest, ratio);
        if (ratio > v.error) v.error = ratio, v.worst = slot;
    }
    const auto factor = [](double error, int order) { return safety * std::pow(std::max(error, 1e-12), -1.0 / order); };
    v.factor = std::clamp(std::min(factor(of_values, orders.value), factor(of_rates, orders.rate)), most_shrinking,
                          most_growth);
    return v;
}

macro_step step_controller::step_and_look(coupled_system& system, method& chosen) {
    const macro_step step = next_step(*system.subsystems);
    chosen.attempt(system, step);
    const verdict v = look(system, chosen, step.end - step.begin);
    chosen.commit(system);
    accept(step, v, names_.empty() ? std::string_view{} : std::string_view(names_[v.worst]));
    return step;
}

step_controller::verdict step_controller::look(const coupled_system& system, method& chosen, double H) {
    const network& net = system.coupling;
    net.polynomial_values(H, missed_);
    for (std::size_t c = 0; c < missed_.size(); ++c) missed_[c] = system.u[c] - missed_[c];
    chosen.measure_misses(H, missed_);
    net.motions(t_ + H, system.subsystems->outputs(), q_, v_);
    verdict v;
    int order = max_degree + 1;
    for (std::size_t c = 0; c < net.channels(); ++c) {
        const channel_index channel(c);
        const channel_index other = options_.estimate == estimator::energy ? other_of_bond_[c] : channel_index();
        if (net.held(channel) && !other.valid()) continue;
        const double jump = missed_[c];
        const law* acting = net.law_of(channel);
        const bool physical = acting != nullptr && acting->physical();
        double ratio = 0;
        if (options_.estimate == estimator::energy && (physical || other.valid())) {
            // The power of a bond is that of its two signals.
            const double conjugate = other.valid() ? system.u[other.value()] : v_[c];
            largest_[c] = std::max(largest_[c], std::abs(system.u[c] * conjugate));
            const double allowed = options_.rtol * largest_[c];
            if (allowed > 0) ratio = std::abs(jump * conjugate) / (net.degree(channel) + 2) / allowed;
        } else {
            largest_[c] = std::max(largest_[c], std::abs(system.u[c]));
            const double stiffness = physical ? std::abs(acting->slope(q_[c], v_[c]).c) : 1;
            const double allowed = options_.rtol * largest_[c] + stiffness * options_.atol;
            ratio = std::abs(jump) / allowed;
        }
        order = std::min(order, net.degree(channel) + 1);
        if (ratio > v.error) v.error = ratio, v.worst = c;
    }
    const double error = std::max(v.error, 1e-6);
    v.factor = std::clamp(safety * std::pow(error, -0.7 / order) * std::pow(error_before_, 0.4 / order), 0.5, 1.5);
    error_before_ = error;
    return v;
}

void step_controller::accept(const macro_step& step, const verdict& v, std::string_view worst) {
    const double H = step.end - step.begin;
    if (looked_) looked_({step.begin, H, v.error, true, worst});
    ++counts_.accepted;
    const bool cut = H < H_ * (1 - 1e-9);
    if (!cut || counts_.accepted == 1) {
        counts_.smallest = counts_.smallest == 0 ? H : std::min(counts_.smallest, H);
        counts_.largest = std::max(counts_.largest, H);
    }
    // The leading error may just change its sign: what the step before allowed counts, too.
    const double allowed = std::min(v.factor, std::max(1.0, factor_before_));
    factor_before_ = v.factor;
    if (cut) {
        // What a step that was cut off says about a free one ends where growth is limited.
        H_ = allowed < most_growth ? H * allowed : H_;
    } else if (allowed < 1 || (allowed >= worth_growing && !repeated_)) {
        H_ = H * allowed;
    }
    H_ = std::clamp(H_, options_.smallest, options_.largest);
    repeated_ = false;
    t_ = step.end;
    ++n_;
}

void step_controller::give_up(const macro_step& step, const verdict& v) const {
    throw run_error(
        fmt::format("step-control at t = {:.10g} s: the tolerance cannot be met. With the smallest macro step, {:.6g} "
                    "s, {} is off by {:.3g} times "
                    "what rtol = {:.6g} and atol = {:.6g} allow. Allow smaller steps ('smallest') or larger errors.",
                    step.begin, step.end - step.begin, names_[v.worst], v.error, options_.rtol, options_.atol));
}

}  // namespace mdpcosim
