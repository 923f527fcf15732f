#include "master/coupled_system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "transport/failure.hpp"

namespace mdpcosim {

void coupled_system::finish() {
    u.assign(coupling.channels(), 0.0);
    du.assign(coupling.channels(), 0.0);
    by_acceleration_.assign(answers.empty() ? 0 : coupling.channels(), 0.0);
    std::ranges::stable_sort(answers, {}, [](const acceleration_answer& a) { return a.input.value(); });
    inputs_.clear();
    for (std::size_t i = 0; i < subsystems->size(); ++i)
        inputs_.push_back({static_cast<std::uint32_t>(subsystems->input_offset(subsystem_index(i))),
                           static_cast<std::uint32_t>(subsystems->describe(subsystem_index(i)).input_count())});
    plan_.make(*this, &coupled_system::at_each_step, true);
    start_.make(*this, &coupled_system::at_start, false);
    subsystems->prepare(plan_, false);
    subsystems->prepare(start_, true);
    for (plan* each : {&plan_, &start_}) std::exchange(each->sources, {});  // of large systems they take much memory
    find_fed_channels();
    find_event_members();
}

/// Feed-through has its causes before its effects, but for loops, which are gone around once more.
void coupled_system::find_fed_channels() {
    const transport& all = *subsystems;
    std::vector<std::size_t> owner;  // by output
    for (std::size_t i = 0; i < all.size(); ++i)
        owner.resize(owner.size() + static_cast<std::size_t>(all.describe(subsystem_index(i)).output_count()), i);
    std::vector<std::vector<std::size_t>> sources(coupling.channels());  // subsystems
    for (std::size_t c = 0; c < sources.size(); ++c)
        for (const channel_term& t : coupling.terms(channel_index(c)))
            for (const output_slot y : {t.value, t.rate})
                if (y.valid() && std::ranges::find(sources[c], owner[y.value()]) == sources[c].end())
                    sources[c].push_back(owner[y.value()]);
    std::vector<std::vector<std::size_t>> causes(all.size());  // of those that are evaluated at every step
    for (const evaluation& e : at_each_step)
        for (const channel_index c : e.channels)
            causes[e.subsystem.value()].insert(causes[e.subsystem.value()].end(), sources[c.value()].begin(),
                                               sources[c.value()].end());
    fed_.assign(all.size(), {});
    std::vector<std::size_t> waiting;
    for (std::size_t c = 0; c < sources.size(); ++c) {
        waiting = sources[c];
        while (!waiting.empty()) {
            const std::size_t i = waiting.back();
            waiting.pop_back();
            if (!fed_[i].empty() && fed_[i].back() == channel_index(c)) continue;
            fed_[i].emplace_back(c);
            waiting.insert(waiting.end(), causes[i].begin(), causes[i].end());
        }
    }
}

void coupled_system::tell_jumps(const macro_step& step, const step_notices& noticed) {
    restarted = 0;
    if (noticed.jumps > 0) [[unlikely]]
        for (std::size_t i = 0; i < fed_.size(); ++i)
            if (noticed.may_have_jumped(subsystem_index(i)))
                for (const channel_index c : fed_[i]) {
                    if (!coupling.builds_on_history(c)) continue;
                    restarted = std::max(restarted, coupling.tell_jump(c, std::min(noticed.first_event, step.end)));
                }
    restarted = std::max(restarted, coupling.find_jumps(step.end - step.begin, u));
}

void coupled_system::plan::make(const coupled_system& system, std::vector<evaluation> coupled_system::*of_order,
                                bool with_step) {
    const transport& all = *system.subsystems;
    order_ = of_order;
    const std::vector<evaluation>& order = system.*order_;
    const auto first_loop = std::ranges::find_if(order, [](const evaluation& e) { return e.loop >= 0; });
    planned = static_cast<std::size_t>(first_loop - order.begin());
    std::vector<std::uint32_t> owner;  // by output
    for (std::size_t i = 0; i < all.size(); ++i)
        owner.resize(owner.size() + static_cast<std::size_t>(all.describe(subsystem_index(i)).output_count()),
                     static_cast<std::uint32_t>(i));
    std::vector<bool> advanced(all.size(), !with_step);
    items.clear();
    signals.clear();
    sources.clear();
    const auto advance = [&](std::size_t i) {
        if (advanced[i]) return;
        items.push_back({.subsystem = subsystem_index(i)});
        sources.emplace_back();
        advanced[i] = true;
    };
    for (std::size_t k = 0; k < planned; ++k) {
        const auto& [subsystem, channels, loop] = order[k];
        std::vector<std::uint32_t> read;
        for (const channel_index c : channels)
            for (const channel_term& t : system.coupling.terms(c))
                for (const output_slot y : {t.value, t.rate})
                    if (y.valid()) read.push_back(static_cast<std::uint32_t>(y.value()));
        for (const std::uint32_t y : read) advance(owner[y]);
        item next{.subsystem = subsystem, .advance = !advanced[subsystem.value()], .evaluate = true};
        advanced[subsystem.value()] = true;
        const input_range range = system.inputs_[subsystem.value()];
        const auto plain = system.coupling.plain_inputs(channels, range.first, range.count);
        next.signals_only = plain.has_value();
        next.first = static_cast<std::uint32_t>(plain ? signals.size() : k);
        if (plain)
            for (const auto& i : *plain)
                signals.push_back({static_cast<std::uint32_t>(i.source.value()),
                                   static_cast<std::uint32_t>(i.input.value()), i.weight, i.factor});
        next.last = static_cast<std::uint32_t>(plain ? signals.size() : k);
        items.push_back(next);
        sources.push_back(std::move(read));
    }
    for (std::size_t i = 0; i < all.size(); ++i) advance(i);
    values.assign(system.subsystems->inputs().size(), 0.0);
}

void coupled_system::plan::find_values_by_laws(const item& i, double t) {
    const evaluation& e = (of->*order_)[i.first];
    const input_range range = of->inputs_[e.subsystem.value()];
    of->coupling.evaluate_inputs(t, of->subsystems->outputs(), e.channels, of->u, range.first,
                                 std::span(values).subspan(range.first, range.count));
}

void coupled_system::advance(const macro_step& step) {
    plan_.of = this;
    if (journal.kept()) [[unlikely]]
        journal.add(step, subsystems->inputs());
    subsystems->carry_out(step, plan_);
    notices.add(subsystems->notices());
    ++integrations;
    ++advances;
    if (!loops.empty()) evaluate_unplanned(step.end);
    find_coupling(step, subsystems->inputs());
    if (iterates_events()) [[unlikely]]
        return carry_out_events(step);
    tell_jumps(step, subsystems->notices());
}

void coupled_system::find_coupling(const macro_step& step, std::span<const polynomial> inputs) {
    coupling.evaluate(step.end, subsystems->outputs(), u, du, by_acceleration_);
    const double H = step.end - step.begin;
    double missed = 0;  // of an input at the end of the step
    input_slot at;
    for (const acceleration_answer& a : answers) {
        if (a.input != at) {
            at = a.input;
            missed = coupling.input_value(u, at) - inputs[at.value()](H);
        }
        du[a.channel.value()] += by_acceleration_[a.channel.value()] * (a.weight * a.per_unit * missed);
    }
}

void coupled_system::measure_answers() {
    for (acceleration_answer& a : answers) {
        const std::size_t local = a.input.value() - inputs_[a.subsystem.value()].first;
        const double before = subsystems->outputs()[a.output.value()];
        double& value = present_values(a.subsystem)[local];
        const double change = std::max(1.0, 1e-3 * std::abs(value));
        value += change;
        evaluate_outputs(a.subsystem, true);
        const double answer = (subsystems->outputs()[a.output.value()] - before) / change;
        a.per_unit = std::isfinite(answer) ? answer : 0;
        evaluate_one(a.subsystem, true);
    }
}

void coupled_system::evaluate_unplanned(double t) {
    for (const algebraic_loop& loop : loops)
        for (const channel_index c : loop.torn()) u[c.value()] = coupling.expected(c, t);
    evaluate_in_order(t, std::span(at_each_step).subspan(plan_.planned), false);
}

void coupled_system::initialise(double t0) {
    forget_begin();
    subsystems->initialise(t0);
    for (std::size_t i = 0; i < subsystems->size(); ++i) {
        const auto values = values_of(subsystem_index(i));
        for (const auto& input : subsystems->describe(subsystem_index(i)).inputs)
            std::fill_n(values.begin() + input.slot, input.size, input.start);
        for (const free_input& f : free_inputs_)
            if (f.slot.value() - inputs_[i].first < values.size()) values[f.slot.value() - inputs_[i].first] = f.value;
    }
    evaluate_all(true);
    texts.begin(*subsystems, journal);
    coupling.deliver_starts(subsystems->inputs());
    for (const free_input& f : free_inputs_) use_free_input(f);
    coupling.start(t0, subsystems->outputs());
    for (const algebraic_loop& loop : loops)
        for (const channel_index c : loop.torn()) {
            const double guess = coupling.evaluate_one(t0, c, subsystems->outputs());
            u[c.value()] = std::isfinite(guess) ? guess : 0;
        }
    evaluate_at_start(t0);
    // Every input is known now: 1/u with the start value u = 0 was no failure, with the true value it is one.
    coupling.evaluate(t0, subsystems->outputs(), u, du);
    for (const algebraic_loop& loop : loops)  // what goes around a stiff loop once more is further off
        for (std::size_t k = 0; k < loop.torn().size(); ++k) u[loop.torn()[k].value()] = loop.solution()[k];
    for (std::size_t i = 0; i < subsystems->size(); ++i) present_values(subsystem_index(i));
    evaluate_all(false);
    if (iterates_events()) carry_out_events({t0, t0, 0});
    measure_answers();
    coupling.evaluate(t0, subsystems->outputs(), u, du);
}

void coupled_system::evaluate(double t, std::span<const evaluation> order) {
    evaluate_in_order(t, order, false);
    coupling.evaluate(t, subsystems->outputs(), u, du);
}

void coupled_system::make_room_for_begin() {
    if (!begin_) begin_ = subsystems->make_state();
}

void coupled_system::save_begin() {
    if (begin_saved_) return;
    make_room_for_begin();
    subsystems->save(*begin_);
    begin_saved_ = true;
    journal.keep_present();
    noticed_before_ = notices;
}

void coupled_system::restore_begin() {
    subsystems->restore(*begin_);
    journal.take_back();
    notices = noticed_before_;
}

double coupled_system::input_value(input_slot input) const {
    double value = plan_.values[input.value()];
    coupling.input_values(u, input.value(), std::span(&value, 1));
    return value;
}

void coupled_system::set_free_input(input_slot input, double value) {
    const auto known = std::ranges::find(free_inputs_, input, &free_input::slot);
    if (known != free_inputs_.end())
        known->value = value;
    else
        free_inputs_.push_back({input, value});
    use_free_input({input, value});
}

void coupled_system::use_free_input(const free_input& input) {
    subsystems->inputs()[input.slot.value()] = {.c = {input.value}};
    plan_.values[input.slot.value()] = input.value;
}

void coupled_system::state(state_bytes& bytes) {
    bytes(coupling, loops);
    bytes.fixed(u);
    bytes.fixed(du);
    bytes(present, restarted);
}

void coupled_system::used_inputs_and_counts(state_bytes& bytes) {
    for (polynomial& p : subsystems->inputs()) bytes(p);
    bytes.fixed(plan_.values);
    for (acceleration_answer& a : answers) bytes(a.per_unit);
    bytes(free_inputs_, integrations, advances, evaluations);
    for (const free_input& f : free_inputs_)
        if (f.slot.value() >= plan_.values.size())
            throw state_mismatch("the saved state has an input that is not here");
}

void coupled_system::advance_trials(const macro_step& step, std::span<trial_step> trials) {
    save_begin();
    for (const free_input& f : free_inputs_)
        for (trial_step& trial : trials) trial.inputs[f.slot.value()] = {.c = {f.value}};
    if (at_each_step.empty() && !iterates_events()) {
        subsystems->advance_trials(step, trials, *begin_);
        notices = noticed_before_;
        notices.add(subsystems->notices());
        if (journal.kept()) {
            journal.take_back();
            journal.add(step, trials.back().inputs);
        }
        integrations += static_cast<std::int64_t>(trials.size());
        advances += static_cast<std::int64_t>(trials.size());
        find_coupling(step, trials.back().inputs);
        tell_jumps(step, subsystems->notices());
        return;
    }
    // Outputs with feed-through are asked for after each trial, of the subsystem itself.
    for (trial_step& trial : trials) {
        if (&trial != trials.data()) restore_begin();
        std::ranges::copy(trial.inputs, subsystems->inputs().begin());
        advance(step);
        std::ranges::copy(subsystems->outputs(), trial.outputs.begin());
    }
}

void coupled_system::evaluate_in_order(double t, std::span<const evaluation> order, bool provisional) {
    for (std::size_t k = 0; k < order.size();) {
        const evaluation& e = order[k];
        if (e.loop >= 0) {
            std::size_t last = k;
            while (last < order.size() && order[last].loop == e.loop) ++last;
            solve(loops[static_cast<std::size_t>(e.loop)], t, order.subspan(k, last - k), provisional);
            k = last;
            continue;
        }
        coupling.evaluate_inputs(t, subsystems->outputs(), e.channels, u, inputs_[e.subsystem.value()].first,
                                 values_of(e.subsystem));
        evaluate_outputs(e.subsystem, provisional);
        ++k;
    }
}

void coupled_system::solve(algebraic_loop& loop, double t, std::span<const evaluation> members, bool provisional) {
    const std::span<const double> y = subsystems->outputs();
    const auto evaluate = [&] {
        for (const evaluation& e : members) {
            coupling.evaluate_inputs(t, y, e.channels, u, inputs_[e.subsystem.value()].first, values_of(e.subsystem));
            evaluate_outputs(e.subsystem, true);
        }
    };
    loop.solve(t, coupling, y, u, evaluate);
    if (provisional) return;
    // On the way values may have had no answer; the solution must have one.
    for (const evaluation& e : members) {
        const auto count = static_cast<std::size_t>(subsystems->describe(e.subsystem).output_count());
        if (!std::ranges::all_of(y.subspan(subsystems->output_offset(e.subsystem), count),
                                 [](double value) { return std::isfinite(value); }))
            evaluate_outputs(e.subsystem, false);
    }
}

template <class Work>
void coupled_system::blame_inputs(const Work& work) {
    try {
        work();
    } catch (const subsystem_failure& problem) {
        std::size_t i = 0;
        while (subsystems->name(subsystem_index(i)) != problem.subsystem_name()) ++i;
        const subsystem_index failed(i);
        const std::string why = bad_input_reason(subsystems->describe(failed), values_of(failed));
        if (why.empty()) throw;
        throw subsystem_failure(problem.subsystem_name(), problem.time(), why);
    }
}

void coupled_system::evaluate_outputs(subsystem_index subsystem, bool provisional) {
    ++evaluations;
    blame_inputs([&] { subsystems->evaluate(subsystem, values_of(subsystem), provisional); });
}

void coupled_system::evaluate_all(bool provisional) {
    evaluations += static_cast<std::int64_t>(subsystems->size());
    blame_inputs([&] { subsystems->evaluate_all(plan_.values, provisional); });
}

/// Its values are those of the other plan, as are the values of a step.
void coupled_system::evaluate_at_start(double t0) {
    evaluations += static_cast<std::int64_t>(start_.planned);
    start_.of = this;
    std::swap(start_.values, plan_.values);
    try {
        subsystems->evaluate_plan(t0, start_, true);
    } catch (...) {
        std::swap(start_.values, plan_.values);
        blame_inputs([] { throw; });
    }
    std::swap(start_.values, plan_.values);
    evaluate_in_order(t0, std::span(at_start).subspan(start_.planned), true);
}

std::span<double> coupled_system::present_values(subsystem_index subsystem) {
    coupling.input_values(u, inputs_[subsystem.value()].first, values_of(subsystem));
    return values_of(subsystem);
}

void coupled_system::evaluate_one(subsystem_index subsystem, bool provisional) {
    present_values(subsystem);
    evaluate_outputs(subsystem, provisional);
}

std::span<double> coupled_system::values_of(subsystem_index subsystem) {
    const input_range range = inputs_[subsystem.value()];
    return std::span(plan_.values).subspan(range.first, range.count);
}

}  // namespace mdpcosim
