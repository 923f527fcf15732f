#include "remote/host.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <new>
#include <string_view>

#include "core/cpu_time.hpp"
#include "core/error.hpp"
#include "core/finite.hpp"

namespace mdpcosim {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string out_of_memory() {
    rlimit most{};
    if (getrlimit(RLIMIT_AS, &most) != 0 || most.rlim_cur == RLIM_INFINITY) return "there is no more memory for it";
    return fmt::format("there is no more memory for it within its limit of {:g} MB ('limits: memory')",
                       static_cast<double>(most.rlim_cur) / 1e6);
}

}  // namespace

void request_host::introduce(const std::function<void()>& make, wire_writer& introduction) {
    try {
        make();
        put_introduction(introduction, members_);
        made_ = true;
    } catch (const user_error& problem) {
        put_refusal(introduction, true, problem.what());
    } catch (const std::bad_alloc&) {
        put_refusal(introduction, false, out_of_memory());
    } catch (const std::exception& problem) {
        put_refusal(introduction, false, problem.what());
    } catch (...) {
        put_refusal(introduction, false, "an exception of unknown type");
    }
}

void request_host::check_text(std::size_t number, const std::vector<text_variable>& texts) {
    if (number >= texts.size()) throw run_error("it has no text of that number");
}

std::optional<group_plan> request_host::take_plan(const exchange& areas) {
    if (!areas.take_piece(bytes_)) return {};
    wire_reader words({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
    return get_group_plan(words, members_);
}

subsystem_host::subsystem_host(const std::vector<subsystem_maker>& make, wire_writer& introduction) {
    introduce(
        [&] {
            for (const auto& m : make) {
                models_.push_back(m());
                members_.push_back({models_.back()->describe(), models_.back()->offers()});
            }
            snapshots_.resize(models_.size());
        },
        introduction);
}

void subsystem_host::carry_out(exchange& areas) noexcept {
    areas.top().failed = -1;
    areas.top().noticed = false;
    areas.top().in_evaluation = false;
    const remote_command command = areas.top().request.command;
    if (command == remote_command::quit) return models_.clear();
    if (command == remote_command::carry_out) return carry_out_level(areas);
    for (auto [i, end] = areas.addressed(); i < end; ++i) attempt(areas, i);
}

/// As the master would have it done call by call: after a failed step nobody is evaluated, and what is no number is passed on to nobody.
void subsystem_host::carry_out_level(exchange& areas) noexcept {
    const group_plan* plan = areas.present_plan();
    if (plan == nullptr) return areas.fail(0, "it knows no such plan");
    if (areas.advances()) {
        for (std::size_t i = 0; i < models_.size(); ++i) attempt(areas, i);
        if (areas.top().failed >= 0) return;
        for (std::size_t i = 0; i < models_.size(); ++i)
            if (!areas.expected(i).outputs_follow && !all_finite(areas.outputs(i))) return;
    }
    evaluate(areas, *plan);
}

void subsystem_host::evaluate(exchange& areas, const group_plan& plan) noexcept {
    areas.top().in_evaluation = true;
    for (const group_plan::item& one : areas.evaluated()) {
        const auto i = static_cast<std::size_t>(one.member);
        for (const group_plan::signal& s : plan.signals_of(one))
            areas.inputs(i)[s.how.input] = s.how.value(areas.outputs(static_cast<std::size_t>(s.member)).data());
        attempt(areas, i, [&] { models_[i]->outputs(areas.inputs(i), areas.outputs(i)); });
        if (areas.top().failed >= 0) return;
        if (!plan.provisional && !all_finite(areas.outputs(i))) return;
    }
}

void subsystem_host::attempt(exchange& areas, std::size_t i) noexcept {
    const bool timed = areas.top().request.timed;
    remote_report& told = areas.report(i);
    if (timed) told.begin = now();
    attempt(areas, i, [&] { carry_out(areas, i); });
    if (timed) told.end = now();
}

template <class Work>
void subsystem_host::attempt(exchange& areas, std::size_t i, const Work& work) noexcept {
    try {
        work();
    } catch (const std::bad_alloc&) {
        areas.fail(i, out_of_memory().c_str());
    } catch (const std::exception& problem) {
        // Code of others tells of a failed allocation in its own words.
        const bool starved = std::string_view(problem.what()).find("bad_alloc") != std::string_view::npos;
        areas.fail(i, starved ? out_of_memory().c_str() : problem.what());
    } catch (...) {
        areas.fail(i, "an exception of unknown type");
    }
}

snapshot& subsystem_host::saved(std::size_t i, std::size_t number) {
    if (number >= snapshots_[i].size() || !snapshots_[i][number])
        throw run_error("it has saved no state of that number");
    return *snapshots_[i][number];
}

void subsystem_host::tell_next_event(exchange& areas, std::size_t i) {
    if (areas.expected(i).next_event) areas.report(i).next_event = models_[i]->next_event();
}

void subsystem_host::carry_out(exchange& areas, std::size_t i) {
    const remote_request& r = areas.top().request;
    subsystem& model = *models_[i];
    const auto number = static_cast<std::size_t>(r.number);
    switch (r.command) {
        case remote_command::expect:
            return model.expect(areas.get_usage(i));
        case remote_command::initialise:
            model.initialise(r.t0);
            return tell_next_event(areas, i);
        case remote_command::outputs:
            return model.outputs(areas.inputs(i), areas.outputs(i));
        case remote_command::advance:
        case remote_command::carry_out:
            model.advance(r.step, areas.polynomials(i), areas.outputs(i));
            if (model.has_notice()) areas.notice(i, model.take_notice());
            return tell_next_event(areas, i);
        case remote_command::make_snapshot:
            if (snapshots_[i].size() <= number) snapshots_[i].resize(number + 1);
            snapshots_[i][number] = model.make_snapshot();
            return;
        case remote_command::save:
            return model.save(saved(i, number));
        case remote_command::restore:
            model.restore(saved(i, number));
            return tell_next_event(areas, i);
        case remote_command::write_state:
            if (areas.top().piece.at == 0) bytes_ = to_bytes(saved(i, number));
            return areas.give_piece(bytes_);
        case remote_command::read_state:
            if (areas.take_piece(bytes_)) from_bytes(saved(i, number), bytes_);
            return;
        case remote_command::tune:
            if (number >= members_[i].offers.parameters.size()) throw run_error("it has no parameter of that number");
            model.tune(r.number, r.t0);
            return tell_next_event(areas, i);
        case remote_command::set_text:
            check_text(number, members_[i].description.text_inputs);
            if (areas.take_piece(bytes_))
                model.set_text(r.number, {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
            return tell_next_event(areas, i);
        case remote_command::get_text:
            check_text(number, members_[i].description.text_outputs);
            if (areas.top().piece.at == 0) model.get_text(r.number, text_);
            return areas.give_piece(std::as_bytes(std::span(text_)));
        case remote_command::reset:
            return model.reset();
        case remote_command::statistics:
            areas.report(i).statistics = model.statistics();
            areas.report(i).cpu_seconds = process_cpu_seconds();
            areas.report(i).next_step = model.next_step();
            return;
        case remote_command::rate_sensitivities:
            return model.rate_sensitivities(areas.inputs(i), r.number, areas.derivatives(i));
        case remote_command::set_plan:
            if (auto plan = take_plan(areas)) areas.set_plan(r.number, std::move(*plan));
            return;
        case remote_command::clock:
        case remote_command::quit:
            return;
    }
}

}  // namespace mdpcosim
