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
/// At the start of smooth systems, as long as errors leave room for it; a single step may then have more than its share of the run's tolerance.
constexpr double most_growth_at_start = 10;
/// Steps stay as they are while they should change by less: equal steps are cheaper, and answers, weights and what iterations have learned
/// are kept.
constexpr double worth_growing = 1.2, worth_shrinking = 0.95;
/// What steps before allowed counts the less the longer ago it was, by so much a step; nothing once errors leave room for almost the largest growth.
constexpr double forgetting = 1.02, much_room = 0.9 * most_growth;
/// Steps up to a point that must be met that are made equal.
constexpr double equal_at_the_end = 24;
/// Errors that are nothing say nothing about longer steps: beyond the step that the user named, steps then grow slowly. Of high orders, errors are
/// nothing where steps could grow twice by as much as they ever do.
constexpr double growth_while_quiet = 1.25;
double quiet(int order) { return order <= 4 ? 1e-2 : std::pow(most_growth, -2 * order); }
/// Without contacts only errors that cannot be told from rounding are nothing: small ones are those of smooth motion.
constexpr double nothing = 1e-10;
/// Of the tolerance that estimated errors of all steps may add up to; the system itself may enlarge what it is given. Contacts that close
/// again and again enlarge most.
constexpr double sum_of_errors = 0.25, sum_with_contacts = 0.1;
/// Of what steps before have left: for one that was rejected, where something new happens, and for others. The former have at least a part of the
/// first step, or many events in a row would leave nothing for the next.
constexpr double loan_at_events = 0.25, loan_else = 1.0 / 64, least_loan = 0.5;
/// What subsystems' solvers are off by does not shrink with the macro step, and must not be taken for its error: part of the first step.
constexpr double for_noise = 0.02;
/// Estimates are right to leading order: true errors may be larger by some percent.
constexpr double estimates_fall_short = 1.07;
/// Of the run: contacts that begin and end within shorter steps change little.
constexpr double shortest_for_contacts = 1e-6;
/// Part of the user's step that comes first where nothing can be undone.
constexpr double careful = 1e-3;

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

std::string name_of_output(const coupled_system& system, const std::string& address, std::size_t slot) {
    const std::string readers = connections_of(system, slot);
    return readers.empty() ? fmt::format("output '{}'", address)
                           : fmt::format("output '{}' of connection {}", address, readers);
}

}  // namespace

step_controller::step_controller(const step_control_options& options, double start, double end,
                                 std::function<void(const step_attempt&)> looked)
    : options_(options),
      start_(start),
      end_(end),
      t_(start),
      goal_(end),
      H_(options.first),
      looked_(std::move(looked)),
      bank_(options.first) {}

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
    sum_of_errors_ = sum_of_errors;
    for (std::size_t c = 0; c < channels; ++c)
        if (const law* l = system.coupling.law_of(channel_index(c)); l != nullptr && l->corner_count() > 0)
            sum_of_errors_ = sum_with_contacts;
    smooth_ = options_.estimate == estimator::trial && options_.whole_run && sum_of_errors_ != sum_with_contacts;
    starting_ = smooth_;
    if (options_.estimate == estimator::trial) {
        chosen.keep(system);  // makes room
        system.forget_begin();
        corners_.prepare(system);
        levels_ = output_levels(system);
        error_.assign(levels_.size(), 0.0);
        largest_.assign(levels_.size(), 0.0);
        for (std::size_t slot = 0; slot < levels_.size(); ++slot) largest_[slot] = std::abs(t.outputs()[slot]);
        names_.resize(levels_.size());
        owner_.resize(levels_.size());
        seen_.resize(t.size());
        for (std::size_t i = 0; i < t.size(); ++i) {
            const subsystem_index s(i);
            std::fill_n(owner_.begin() + static_cast<std::ptrdiff_t>(t.output_offset(s)), t.describe(s).output_count(),
                        static_cast<std::uint32_t>(i));
            for (const auto& y : t.describe(s).outputs)
                for (int k = 0; k < y.size; ++k) {
                    const std::size_t slot = t.output_offset(s) + static_cast<std::size_t>(y.slot + k);
                    if (levels_[slot] != output_level::none)
                        names_[slot] =
                            name_of_output(system, fmt::format("{}.{}", t.name(s), element_name(y, y.slot + k)), slot);
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
    largest_tried_ = largest_;
    by_nature_ = held_by_nature(system);
    for (std::size_t i = 0; i < t.size(); ++i) goes_back_ = goes_back_ && t.offers(subsystem_index(i)).save_restore;
    if (goes_back_) {
        chosen.keep(system);
        system.forget_begin();
        corners_.prepare(system);
    } else {
        H_ = first_step_for_good(system);
    }
}

/// Of which nothing is known but the rates of coupling variables, and these not always.
double step_controller::first_step_for_good(const coupled_system& system) {
    const network& net = system.coupling;
    net.motions(t_, system.subsystems->outputs(), q_, v_);
    double H = careful * options_.first;
    for (std::size_t c = 0; c < net.channels(); ++c) {
        const law* acting = net.law_of(channel_index(c));
        if (acting == nullptr || !acting->physical()) continue;
        // Of a law with a damper what its spring tells: the rest needs accelerations.
        const double slope = acting->slope(q_[c], v_[c]).c;
        const double rate = std::abs(acting->has_rate() ? system.du[c] : slope * v_[c]);
        const double allowed = options_.rtol * std::abs(system.u[c]) + options_.atol * std::abs(slope);
        if (rate * H > allowed) H = allowed / rate;
    }
    return std::clamp(H, options_.smallest, options_.first);
}

macro_step step_controller::step(coupled_system& system, method& chosen) {
    return options_.estimate == estimator::trial ? step_with_trials(system, chosen) : step_and_look(system, chosen);
}

/// The last steps up to a point that must be met are equal: none is left over that is much shorter than the others. A jump that a subsystem announces is met,
/// so that extrapolations do not run across it.
bool step_controller::lead_over(double span, bool /*other_lengths*/) {
    goal_ = t_ + span;
    if (goal_ > end_ - 1e-9 * span) goal_ = end_;
    return true;
}

macro_step step_controller::next_step(const transport& subsystems) const {
    double goal = goal_;
    for (const subsystem_index i : with_events_)
        if (const double event = subsystems.next_event(i); event > t_ + options_.smallest) goal = std::min(goal, event);
    if (options_.meet > 0) {
        const double k = std::floor((t_ - start_) / options_.meet * (1 + 1e-12) + 1e-9) + 1;
        goal = std::min(goal, start_ + k * options_.meet);
    }
    const double left = goal - t_;
    const double steps = std::ceil(left / H_ * (1 - 1e-9));
    if (steps <= 1) return {t_, goal, n_};
    return {t_, t_ + (steps <= equal_at_the_end ? left / steps : H_), n_};
}

macro_step step_controller::step_with_trials(coupled_system& system, method& chosen) {
    while (true) {
        chosen.keep(system);
        const macro_step step = next_step(*system.subsystems);
        const double H = step.end - step.begin;
        corners_.begin(system, step.begin);
        verdict v;
        try {
            const estimate_orders orders = chosen.attempt_and_estimate(system, step, error_);
            v = judge(system.subsystems->outputs(), orders, H);
            if (v.error <= 1) look_for_contacts(system, step, v);
        } catch (const run_error&) {
            // A model or a law that has no answer over a long step may have one over a shorter one.
            if (std::min(H, H_) <= options_.smallest) throw;
            v = {std::numeric_limits<double>::infinity(), most_shrinking, 0};
        }
        const std::string_view worst = name_of_worst(v);
        if (v.error <= 1 && v.flown_through.empty()) {
            chosen.commit(system);
            corners_.accept();
            const auto y = system.subsystems->outputs();
            for (std::size_t slot = 0; slot < largest_.size(); ++slot)
                largest_[slot] = std::max(largest_[slot], std::abs(y[slot]));
            accept(step, v, worst);
            return step;
        }
        reject(step, v, worst);
        chosen.rollback(system);
    }
}

/// The step then ends where the contact is deepest, and what it does is to be seen there.
void step_controller::look_for_contacts(const coupled_system& system, const macro_step& step, verdict& v) {
    const double H = step.end - step.begin;
    if (H < shortest_for_contacts * (end_ - start_) || std::min(H, H_) <= options_.smallest) return;
    const corner_watch::turn found = corners_.end(system, step.end);
    if (found.at == 1) return;
    v.flown_through = found.name;
    v.factor = std::max(found.at, most_shrinking);
}

std::string_view step_controller::name_of_worst(const verdict& v) const {
    if (!std::isfinite(v.error)) return "a failure";
    if (!v.flown_through.empty()) return v.flown_through;
    return names_.empty() ? std::string_view{} : std::string_view(names_[v.worst]);
}

void step_controller::reject(const macro_step& step, const verdict& v, std::string_view worst) {
    const double H = step.end - step.begin;
    if (looked_) looked_({step.begin, H, v.error, false, worst});
    ++counts_.rejected;
    starting_ = false;
    // Ends of steps are rounded: a step of the smallest length may seem to be longer.
    if (std::min(H, H_) <= options_.smallest) give_up(step, v);
    repeated_ = true;
    H_ = std::max(options_.smallest, H * std::min(v.factor, safety));
}

double step_controller::loan() const {
    const double unit = std::min(options_.first, (end_ - start_) / 1000);
    return repeated_ ? std::max(loan_at_events * bank_, least_loan * unit)
                     : std::max(loan_else * bank_, for_noise * unit);
}

double step_controller::share(double H) const {
    return options_.whole_run ? sum_of_errors_ * (H + loan()) / (end_ - start_) : 1;
}

double step_controller::tolerance_of(std::size_t slot, double y) const {
    const double size = options_.whole_run ? std::max(largest_[slot], std::abs(y)) : std::abs(y);
    return (levels_[slot] == output_level::value ? options_.atol : options_.atol_rate) + options_.rtol * size;
}

step_controller::verdict step_controller::judge(std::span<const double> y, const estimate_orders& orders, double H) {
    const double most = starting_ ? most_growth_at_start : most_growth;
    verdict v{0, most, 0};
    double of_values = 0, of_rates = 0;
    const double part = share(H);
    std::fill(seen_.begin(), seen_.end(), false);
    for (std::size_t slot = 0; slot < levels_.size(); ++slot)
        if (levels_[slot] != output_level::hidden && error_[slot] != 0) seen_[owner_[slot]] = true;
    for (std::size_t slot = 0; slot < levels_.size(); ++slot) {
        if (levels_[slot] == output_level::none) continue;
        if (levels_[slot] == output_level::hidden && seen_[owner_[slot]]) continue;
        const bool rate = levels_[slot] != output_level::value;
        if (options_.of == (rate ? level::value : level::rate)) continue;
        const double ratio = estimates_fall_short * std::abs(error_[slot]) / (part * tolerance_of(slot, y[slot]));
        if (!std::isfinite(ratio)) return {std::numeric_limits<double>::infinity(), most_shrinking, slot};
        double& largest = rate ? of_rates : of_values;
        largest = std::max(largest, ratio);
        if (ratio > v.error) v.error = ratio, v.worst = slot;
    }
    // What a step may add grows with its length, too.
    const int less = options_.whole_run ? 1 : 0;
    const auto factor = [](double error, int order) { return safety * std::pow(std::max(error, 1e-12), -1.0 / order); };
    v.factor = std::clamp(std::min(factor(of_values, orders.value - less), factor(of_rates, orders.rate - less)),
                          most_shrinking, most);
    v.quiet = smooth_ ? nothing : quiet(orders.rate - less);
    return v;
}

macro_step step_controller::step_and_look(coupled_system& system, method& chosen) {
    while (true) {
        if (goes_back_) chosen.keep(system);
        const macro_step step = next_step(*system.subsystems);
        const double H = step.end - step.begin;
        corners_.begin(system, step.begin);
        verdict v;
        try {
            chosen.attempt(system, step);
            v = look(system, chosen, H);
            if (v.error <= 1) look_for_contacts(system, step, v);
        } catch (const run_error&) {
            if (!goes_back_ || std::min(H, H_) <= options_.smallest) throw;
            v = {std::numeric_limits<double>::infinity(), most_shrinking, 0};
        }
        const std::string_view worst = name_of_worst(v);
        if ((v.error <= 1 && v.flown_through.empty()) || !goes_back_) {
            chosen.commit(system);
            corners_.accept();
            largest_.swap(largest_tried_);
            error_before_ = std::max(v.error, 1e-6);
            if (v.error > 1) {
                ++counts_.above;
                if (v.error > counts_.most_above) counts_.most_above = v.error, counts_.above_at = step.begin;
            }
            accept(step, v, worst);
            return step;
        }
        reject(step, v, worst);
        chosen.rollback(system);
    }
}

step_controller::verdict step_controller::look(const coupled_system& system, method& chosen, double H) {
    const network& net = system.coupling;
    net.polynomial_values(H, missed_);
    for (std::size_t c = 0; c < missed_.size(); ++c) missed_[c] = system.u[c] - missed_[c];
    net.forgive(missed_);
    chosen.measure_misses(H, missed_);
    net.motions(t_ + H, system.subsystems->outputs(), q_, v_);
    std::ranges::copy(largest_, largest_tried_.begin());
    verdict v;
    int order = max_degree + 1;
    for (std::size_t c = 0; c < net.channels(); ++c) {
        const channel_index channel(c);
        const channel_index other = options_.estimate == estimator::energy ? other_of_bond_[c] : channel_index();
        if (by_nature_[c] && !other.valid()) continue;
        const double jump = missed_[c];
        const law* acting = net.law_of(channel);
        const bool physical = acting != nullptr && acting->physical();
        double& largest = largest_tried_[c];
        double ratio = 0;
        const double absolute = options_.atol * (physical ? std::abs(acting->slope(q_[c], v_[c]).c) : 1);
        if (options_.estimate == estimator::energy && (physical || other.valid())) {
            // The power of a bond is that of its two signals. From rest there is none to compare with.
            const double conjugate = other.valid() ? system.u[other.value()] : v_[c];
            largest = std::max(largest, std::abs(system.u[c] * conjugate));
            const double allowed = options_.rtol * largest + absolute * std::abs(conjugate);
            if (allowed > 0) ratio = std::abs(jump * conjugate) / (net.degree(channel) + 2) / allowed;
        } else {
            largest = std::max(largest, std::abs(system.u[c]));
            if (jump != 0) ratio = std::abs(jump) / (options_.rtol * largest + absolute);
        }
        order = std::min(order, net.degree(channel) + 1);
        if (ratio > v.error) v.error = ratio, v.worst = c;
    }
    // Too much is made good by shorter steps at once; growth, and small changes, are those of a PI controller.
    const double error = std::max(v.error, 1e-6);
    v.factor =
        error > 1 ? std::clamp(safety * std::pow(error, -1.0 / order), most_shrinking, safety)
                  : std::clamp(safety * std::pow(error, -0.7 / order) * std::pow(error_before_, 0.4 / order), 0.5, 1.5);
    v.quiet = quiet(order);
    return v;
}

void step_controller::accept(const macro_step& step, const verdict& v, std::string_view worst) {
    const double H = step.end - step.begin;
    if (looked_) looked_({step.begin, H, v.error, true, worst});
    ++counts_.accepted;
    // Ends of short steps are rounded, which is no cut.
    const double rounding =
        4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(step.begin), std::abs(step.end));
    const bool cut = H < 0.75 * H_ - rounding;
    if (!cut || counts_.accepted == 1) {
        counts_.smallest = counts_.smallest == 0 ? H : std::min(counts_.smallest, H);
        counts_.largest = std::max(counts_.largest, H);
    }
    // The leading error may just change its sign: what steps before allowed counts, too.
    const double before = starting_ ? v.factor : std::max(1.0, factor_before_);
    starting_ = starting_ && v.factor >= most_growth_at_start;
    double allowed = std::min(v.factor, before);
    factor_before_ = v.factor >= much_room ? v.factor : std::min(v.factor, forgetting * before);
    bank_ = std::max(0.0, bank_ + H - std::min(v.error, 1.0) * (H + loan()));
    if (!cut && v.error < v.quiet && H >= options_.first * (1 - 1e-9)) allowed = std::min(allowed, growth_while_quiet);
    if (cut) {
        // What a step that was cut off says about a free one ends where growth is limited.
        H_ = allowed < most_growth ? H * allowed : H_;
    } else if (allowed < worth_shrinking || (allowed >= worth_growing && !repeated_)) {
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
