#include "transport/transport_host.hpp"

#include <algorithm>
#include <chrono>

#include "transport/failure.hpp"

namespace mdpcosim {

transport_host::transport_host(const std::function<std::unique_ptr<transport>()>& make, wire_writer& introduction) {
    introduce(
        [&] {
            inner_ = make();
            for (std::size_t i = 0; i < inner_->size(); ++i)
                members_.push_back({inner_->describe(subsystem_index(i)), inner_->offers(subsystem_index(i))});
        },
        introduction);
}

void transport_host::carry_out(exchange& areas) noexcept {
    areas.top().failed = -1;
    areas.top().noticed = false;
    areas.top().in_evaluation = false;
    try {
        attempt(areas);
    } catch (const subsystem_failure& problem) {
        areas.top().in_evaluation = problem.in_evaluation();
        areas.fail(numbered(problem.subsystem_name()), problem.cause().c_str());
    } catch (...) {
        areas.fail(areas.addressed().begin, reason_of_exception().c_str());
    }
}

std::size_t transport_host::numbered(const std::string& name) const {
    std::size_t i = 0;
    while (inner_->name(subsystem_index(i)) != name) ++i;
    return i;
}

void transport_host::attempt(exchange& areas) {
    const remote_request& r = areas.top().request;
    switch (r.command) {
        case remote_command::initialise:
            inner_->initialise(r.t0);
            return tell_notices(areas);
        case remote_command::reset:
            return inner_->reset();
        case remote_command::advance:
            return advance(areas);
        case remote_command::make_snapshot:
            states_.resize(std::max(states_.size(), static_cast<std::size_t>(r.number) + 1));
            states_[static_cast<std::size_t>(r.number)] = inner_->make_state();
            return;
        case remote_command::save:
            return inner_->save(saved(r.number));
        case remote_command::restore:
            inner_->restore(saved(r.number));
            return tell_notices(areas);
        case remote_command::quit:
            return inner_.reset();
        case remote_command::clock:
            areas.report(0).begin = areas.report(0).end =
                std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
            return;
        case remote_command::set_plan:
            if (auto plan = take_plan(areas)) {
                plans_.resize(std::max(plans_.size(), static_cast<std::size_t>(r.number) + 1));
                plans_[static_cast<std::size_t>(r.number)] = by_level(*plan, *inner_);
                areas.set_plan(r.number, std::move(*plan));
            }
            return;
        case remote_command::carry_out:
            return carry_out_level(areas);
        case remote_command::expect:
        case remote_command::tune:
        case remote_command::set_text:
        case remote_command::get_text:
        case remote_command::write_state:
        case remote_command::read_state:
        case remote_command::outputs:
        case remote_command::rate_sensitivities:
        case remote_command::statistics:
            break;
    }
    for (auto [i, end] = areas.addressed(); i < end; ++i) {
        const subsystem_index index(i);
        if (r.command == remote_command::expect) {
            inner_->expect(index, areas.get_usage(i));
        } else if (r.command == remote_command::tune) {
            if (static_cast<std::size_t>(r.number) >= members_[i].offers.parameters.size())
                throw run_error("it has no parameter of that number");
            inner_->tune(index, r.number, r.t0);
            if (areas.expected(i).next_event) areas.report(i).next_event = inner_->next_event(index);
        } else if (r.command == remote_command::write_state || r.command == remote_command::read_state) {
            carry_state(areas, index);
        } else if (r.command == remote_command::set_text || r.command == remote_command::get_text) {
            carry_text(areas, index);
        } else if (r.command == remote_command::statistics) {
            areas.report(i).statistics = inner_->statistics(index);
            areas.report(i).cpu_seconds = inner_->cpu_seconds();
            areas.report(i).next_step = inner_->next_step(index);
        } else if (r.command == remote_command::rate_sensitivities) {
            inner_->rate_sensitivities(index, areas.inputs(i), r.number, areas.derivatives(i));
        } else {
            inner_->evaluate(index, areas.inputs(i), true);  // the master judges what is finite
            std::ranges::copy(inner_->outputs().subspan(inner_->output_offset(index), areas.outputs(i).size()),
                              areas.outputs(i).begin());
        }
    }
}

void transport_host::advance(exchange& areas) {
    const remote_request& r = areas.top().request;
    if (r.timed) inner_->time_next_step();
    if (r.subsystem >= 0) return advance_one(areas, static_cast<std::size_t>(r.subsystem));
    set_inputs(areas);
    inner_->advance(r.step);
    for (std::size_t i = 0; i < areas.members(); ++i) fetch(areas, i);
    tell_notices(areas);
}

/// Subsystem after subsystem, as here, so do the transport's areas hold them.
void transport_host::set_inputs(const exchange& areas) {
    auto input = inner_->inputs().begin();
    for (std::size_t i = 0; i < areas.members(); ++i) input = std::ranges::copy(areas.polynomials(i), input).out;
}

void transport_host::carry_out_level(exchange& areas) {
    const remote_request& r = areas.top().request;
    const group_plan* plan = areas.present_plan();
    if (plan == nullptr) throw run_error("it knows no such plan");
    given_plan& level = plans_[static_cast<std::size_t>(r.number)][static_cast<std::size_t>(r.level)];
    for (const group_plan::item& one : areas.evaluated()) {
        const auto i = static_cast<std::size_t>(one.member);
        const auto to = static_cast<std::ptrdiff_t>(inner_->input_offset(subsystem_index(i)));
        if (one.given) std::ranges::copy(areas.inputs(i), level.values.begin() + to);
    }
    const auto fetch_all = [&] {
        if (areas.advances())
            for (std::size_t i = 0; i < areas.members(); ++i) fetch(areas, i);
        else
            for (const group_plan::item& one : areas.evaluated()) fetch(areas, static_cast<std::size_t>(one.member));
    };
    try {
        if (areas.advances()) {
            if (r.timed) inner_->time_next_step();
            set_inputs(areas);
            inner_->carry_out(r.step, level);
        } else {
            inner_->evaluate_plan(r.step.end, level, plan->provisional);
        }
    } catch (const subsystem_failure&) {
        fetch_all();  // what comes before the failure is of use
        throw;
    }
    fetch_all();
    areas.top().in_evaluation = true;
    if (areas.advances()) tell_notices(areas);
}

void transport_host::advance_one(exchange& areas, std::size_t i) {
    const subsystem_step one{subsystem_index(i), areas.top().request.step};
    std::ranges::copy(areas.polynomials(i),
                      inner_->inputs().begin() + static_cast<std::ptrdiff_t>(inner_->input_offset(one.subsystem)));
    inner_->advance_some(std::span(&one, 1));
    fetch(areas, i);
    tell_notices(areas);
}

state_id transport_host::saved(std::int32_t number) const {
    const auto at = static_cast<std::size_t>(number);
    if (at >= states_.size() || !states_[at]) throw run_error("it has saved no state of that number");
    return *states_[at];
}

void transport_host::carry_state(exchange& areas, subsystem_index i) {
    const state_id id = saved(areas.top().request.number);
    if (areas.top().request.command == remote_command::write_state) {
        if (areas.top().piece.at == 0) bytes_ = inner_->get_state(id, i);
        areas.give_piece(bytes_);
    } else if (areas.take_piece(bytes_)) {
        inner_->set_state(id, i, bytes_);
    }
}

void transport_host::carry_text(exchange& areas, subsystem_index i) {
    const remote_request& r = areas.top().request;
    const subsystem_description& d = members_[i.value()].description;
    if (r.command == remote_command::get_text) {
        check_text(static_cast<std::size_t>(r.number), d.text_outputs);
        if (areas.top().piece.at == 0) inner_->get_text(i, r.number, text_);
        areas.give_piece(std::as_bytes(std::span(text_)));
    } else {
        check_text(static_cast<std::size_t>(r.number), d.text_inputs);
        if (!areas.take_piece(bytes_)) return;
        text_.assign(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
        inner_->set_text(i, r.number, text_);
        if (areas.expected(i.value()).next_event) areas.report(i.value()).next_event = inner_->next_event(i);
    }
}

/// What the members noticed in the step, and their next events.
void transport_host::tell_notices(exchange& areas) {
    const step_notices& all = inner_->notices();
    if (all.first_event < std::numeric_limits<double>::infinity()) {
        for (auto [i, end] = areas.addressed(); i < end; ++i)
            if (all.may_have_jumped(subsystem_index(i))) areas.notice(i, {.first_event = all.first_event});
    }
    if (all.asked_to_end.valid()) {
        step_notice told = areas.top().noticed ? areas.report(all.asked_to_end.value()).notice : step_notice{};
        told.ask_to_end = true;
        areas.notice(all.asked_to_end.value(), told);
    }
    for (auto [i, end] = areas.addressed(); i < end; ++i)
        if (areas.expected(i).next_event) areas.report(i).next_event = inner_->next_event(subsystem_index(i));
}

void transport_host::fetch(exchange& areas, std::size_t i) {
    const auto to = areas.outputs(i);
    std::ranges::copy(inner_->outputs().subspan(inner_->output_offset(subsystem_index(i)), to.size()), to.begin());
    if (!areas.top().request.timed) return;
    const subsystem_cost cost = inner_->cost(subsystem_index(i));
    areas.report(i).begin = cost.begin;
    areas.report(i).end = cost.end;
}

}  // namespace mdpcosim
