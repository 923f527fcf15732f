#include "transport/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "transport/failure.hpp"
#include "transport/plan_levels.hpp"
#include "transport/schedule.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

double seconds(clock::time_point t) { return std::chrono::duration<double>(t.time_since_epoch()).count(); }

class group_transport final : public transport {
   public:
    group_transport(std::vector<std::string> names, std::vector<served_group> elsewhere, local_group here,
                    const binding& cores)
        : groups_(std::move(elsewhere)),
          here_(std::move(here)),
          places_(names.size()),
          group_cost_(groups_.size()),
          ahead_(groups_.size(), 0.0),
          unit_(groups_.size(), -1) {
        const int local_workers = here_.transport ? here_.transport->workers() : 0;
        for (std::size_t k = 0; k < here_.members.size(); ++k)
            places_[static_cast<std::size_t>(here_.members[k])].member = k;
        for (std::size_t g = 0; g < groups_.size(); ++g)
            for (std::size_t k = 0; k < groups_[g].members.size(); ++k) {
                place& at = places_[static_cast<std::size_t>(groups_[g].members[k])];
                at.group = groups_[g].group.get();
                at.member = k;
                at.worker = local_workers + static_cast<int>(g);
            }
        // All have been started; now each says what it made.
        for (auto& g : groups_) {
            try {
                g.group->introduce();
                ahead_[static_cast<std::size_t>(&g - groups_.data())] = clock_ahead(*g.group);
            } catch (const run_error& problem) {
                throw run_error(fmt::format("subsystem '{}' failed at its start: {}",
                                            names[static_cast<std::size_t>(g.members.front())], problem.what()));
            }
        }
        waiting_.reserve(groups_.size());
        queues_.resize(groups_.size());
        for (std::size_t g = 0; g < groups_.size(); ++g) queues_[g].reserve(groups_[g].members.size());
        here_some_.reserve(here_.members.size());
        std::size_t input = 0, output = 0;
        for (std::size_t i = 0; i < places_.size(); ++i) {
            place& at = places_[i];
            const subsystem_description& d = describe(subsystem_index(i));
            at.name = std::move(names[i]);
            at.input = input, at.output = output;
            at.input_count = static_cast<std::size_t>(d.input_count());
            at.output_count = static_cast<std::size_t>(d.output_count());
            input += at.input_count;
            output += at.output_count;
        }
        inputs_.resize(input);
        outputs_.resize(output);
        bind_as_told(cores);
        for (std::size_t w = 0; w < groups_.size(); ++w) profile_.emplace_back(most_events / groups_.size());
    }

    std::size_t size() const override { return places_.size(); }
    const std::string& name(subsystem_index i) const override { return places_[i.value()].name; }
    const subsystem_description& describe(subsystem_index i) const override {
        const place& at = places_[i.value()];
        return at.group != nullptr ? at.group->describe(at.member) : here_.transport->describe(local(at));
    }
    capabilities offers(subsystem_index i) const override {
        const place& at = places_[i.value()];
        return at.group != nullptr ? at.group->offers(at.member) : here_.transport->offers(local(at));
    }
    std::size_t input_offset(subsystem_index i) const override { return places_[i.value()].input; }
    std::size_t output_offset(subsystem_index i) const override { return places_[i.value()].output; }
    std::span<polynomial> inputs() override { return inputs_; }
    std::span<const double> outputs() const override { return outputs_; }

    void expect(subsystem_index i, const usage& used) override {
        place& at = places_[i.value()];
        at.outputs_follow = used.outputs_follow;
        if (at.group == nullptr) return here_.transport->expect(local(at), used);
        at.group->areas().put_usage(at.member, used);
        untold_.push_back(i);
    }

    void tune(subsystem_index i, int parameter, double value) override {
        tell_usages();
        place& at = places_[i.value()];
        if (at.group == nullptr) return here_.transport->tune(local(at), parameter, value);
        at.group->call({.command = remote_command::tune,
                        .subsystem = static_cast<int>(at.member),
                        .t0 = value,
                        .number = parameter});
    }

    void set_text(subsystem_index i, int input, const std::string& text) override {
        tell_usages();
        const place& at = places_[i.value()];
        if (at.group == nullptr) return here_.transport->set_text(local(at), input, text);
        in_its_name(at, [&] { at.group->set_text(at.member, input, text); });
    }
    void get_text(subsystem_index i, int output, std::string& into) override {
        const place& at = places_[i.value()];
        if (at.group == nullptr) return here_.transport->get_text(local(at), output, into);
        in_its_name(at, [&] { at.group->get_text(at.member, output, into); });
    }

    void initialise(double t0) override {
        time_ = t0;
        tell_usages();
        all({.command = remote_command::initialise, .t0 = t0}, [&] { here_.transport->initialise(t0); });
        report_failures();
    }

    void reset() override {
        tell_usages();
        all({.command = remote_command::reset}, [&] { here_.transport->reset(); });
        report_failures();
        notices_ = {};
    }

    void evaluate(subsystem_index i, std::span<const double> u, bool provisional) override {
        place& at = places_[i.value()];
        if (at.group == nullptr) {
            here_.transport->evaluate(local(at), u, provisional);
            return fetch(at);
        }
        std::ranges::copy(u, at.group->areas().inputs(at.member).begin());
        call(at, remote_command::outputs);
        fetch(at);
        const int bad = provisional ? -1 : first_not_finite(output_of(at));
        if (bad >= 0) throw subsystem_failure(at.name, time_, not_finite_reason(describe(i), output_of(at), bad));
    }

    void evaluate_all(std::span<const double> u, bool provisional) override {
        for (place& at : places_)
            if (at.group != nullptr)
                std::ranges::copy(u.subspan(at.input, at.input_count), at.group->areas().inputs(at.member).begin());
        all({.command = remote_command::outputs}, [&] {
            for (const int i : here_.members) {
                const place& at = places_[static_cast<std::size_t>(i)];
                here_.transport->evaluate(local(at), u.subspan(at.input, at.input_count), provisional);
            }
        });
        for (const place& at : places_) fetch(at);
        for (std::size_t i = 0; !provisional && i < places_.size(); ++i)
            if (const int bad = first_not_finite(output_of(places_[i])); bad >= 0)
                failures_.push_back({i, not_finite_reason(describe(subsystem_index(i)), output_of(places_[i]), bad)});
        report_failures();
    }

    void prepare(step_plan& plan, bool provisional) override {
        if (std::ranges::none_of(plan.items, &step_plan::item::evaluate)) return;
        if (plan.number < 0) {
            plan.number = static_cast<int>(plans_.size());
            plans_.emplace_back();
        }
        split(plan, provisional, plans_[static_cast<std::size_t>(plan.number)]);
    }

    /// Level by level.
    void carry_out(const macro_step& step, step_plan& plan) override {
        if (plan.number < 0) return transport::carry_out(step, plan);
        split_plan& all = plans_[static_cast<std::size_t>(plan.number)];
        for (std::size_t n = 0; n < all.levels.size(); ++n) {
            give_values(plan, all, n, step.end);
            if (n > 0)
                ask_for_level(all, n, step, false);
            else
                step_of_all(step, all.at_once, [&](bool timed) { ask_for_level(all, n, step, timed); });
            take_level(plan, all, n, step, false);
        }
    }

    void evaluate_plan(double t, step_plan& plan, bool provisional) override {
        if (plan.number < 0) return transport::evaluate_plan(t, plan, provisional);
        split_plan& all = plans_[static_cast<std::size_t>(plan.number)];
        const macro_step present{t, t, 0};
        for (std::size_t n = 0; n < all.levels.size(); ++n) {
            give_values(plan, all, n, t);
            ask_for_level(all, n, present, false);
            take_level(plan, all, n, present, provisional);
        }
    }

    void rate_sensitivities(subsystem_index i, std::span<const double> u, int input,
                            std::span<double> by_output) override {
        place& at = places_[i.value()];
        if (at.group == nullptr) return here_.transport->rate_sensitivities(local(at), u, input, by_output);
        std::ranges::copy(u, at.group->areas().inputs(at.member).begin());
        call(at, remote_command::rate_sensitivities, input);
        std::ranges::copy(at.group->areas().derivatives(at.member), by_output.begin());
    }

    void advance(const macro_step& step) override {
        step_of_all(step, {}, [&](bool timed) {
            all({.command = remote_command::advance, .step = step, .timed = timed},
                [&] { here_.transport->advance(step); });
        });
    }

    /// Those of one group take turns.
    void advance_some(std::span<const subsystem_step> some) override {
        const bool timed = calls_ >= next_sample_ && !groups_.empty();
        const auto begin = timed ? clock::now() : clock::time_point{};
        for (auto& q : queues_) q.clear();
        here_some_.clear();
        std::size_t turns = 1;
        for (const auto& [i, step] : some) {
            const place& at = places_[i.value()];
            std::ranges::copy(input_of(at), polynomials_of(at).begin());
            if (at.group == nullptr) {
                here_some_.push_back({local(at), step});
            } else {
                auto& queue = queues_[group_of(at)];
                queue.push_back({.command = remote_command::advance,
                                 .subsystem = static_cast<std::int32_t>(at.member),
                                 .step = step,
                                 .timed = timed});
                turns = std::max(turns, queue.size());
            }
        }
        for (std::size_t turn = 0; turn < turns && failures_.empty() && !local_failure_; ++turn)
            ask([&](std::size_t g) { return turn < queues_[g].size() ? &queues_[g][turn] : nullptr; },
                [&] {
                    if (turn == 0 && !here_some_.empty()) here_.transport->advance_some(here_some_);
                });
        for (const auto& [i, step] : some) fetch(places_[i.value()]);
        notices_ = {};
        if (!here_some_.empty()) notice_here();
        for (const auto& [i, step] : some) notice(i.value());
        if (timed && failures_.empty() && !local_failure_) learn(some.front().step, begin, some);
        ++calls_;
        report_failures(some);
        time_ = some.front().step.end;
    }

    double next_step(subsystem_index i) const override {
        const place& at = places_[i.value()];
        return at.group == nullptr ? here_.transport->next_step(local(at)) : report(*at.group, at.member).next_step;
    }

    double next_event(subsystem_index i) const override {
        const place& at = places_[i.value()];
        return at.group == nullptr ? here_.transport->next_event(local(at))
                                   : at.group->areas().report(at.member).next_event;
    }
    const step_notices& notices() const override { return notices_; }

    std::vector<std::byte> get_state(state_id of, subsystem_index i) override {
        const place& at = places_[i.value()];
        if (at.group != nullptr) return at.group->get_state(at.member, static_cast<int>(of));
        return here_.transport->get_state(states_[static_cast<std::size_t>(of)].here, local(at));
    }
    void set_state(state_id of, subsystem_index i, const std::vector<std::byte>& bytes) override {
        tell_usages();
        const place& at = places_[i.value()];
        if (at.group != nullptr) return at.group->set_state(at.member, static_cast<int>(of), bytes);
        here_.transport->set_state(states_[static_cast<std::size_t>(of)].here, local(at), bytes);
    }
    void set_state(state_id of, double time, std::span<const double> outputs) override {
        saved_state& saved = states_[static_cast<std::size_t>(of)];
        if (outputs.size() != saved.outputs.size())
            throw state_mismatch("the saved state has another number of outputs");
        saved.time = time;
        std::ranges::copy(outputs, saved.outputs.begin());
        if (!here_.transport) return;
        std::vector<double> local_outputs;
        for (const int i : here_.members) {
            const auto own = output_of(places_[static_cast<std::size_t>(i)]);
            const auto first = outputs.begin() + (own.data() - outputs_.data());
            local_outputs.insert(local_outputs.end(), first, first + static_cast<std::ptrdiff_t>(own.size()));
        }
        here_.transport->set_state(saved.here, time, local_outputs);
    }

    state_id make_state() override {
        tell_usages();
        const auto number = static_cast<std::int32_t>(states_.size());
        saved_state& made = states_.emplace_back();
        made.outputs = outputs_;
        all({.command = remote_command::make_snapshot, .number = number},
            [&] { made.here = here_.transport->make_state(); });
        report_failures();
        return static_cast<state_id>(number);
    }

    void save(state_id into) override {
        saved_state& to = states_[static_cast<std::size_t>(into)];
        all({.command = remote_command::save, .number = static_cast<std::int32_t>(into)},
            [&] { here_.transport->save(to.here); });
        report_failures();
        to.time = time_;
        to.outputs = outputs_;
    }

    void restore(state_id from) override {
        const saved_state& saved = states_[static_cast<std::size_t>(from)];
        all({.command = remote_command::restore, .number = static_cast<std::int32_t>(from)},
            [&] { here_.transport->restore(saved.here); });
        report_failures();
        time_ = saved.time;
        outputs_ = saved.outputs;
        notices_ = {};
    }

    subsystem_statistics statistics(subsystem_index i) const override {
        const place& at = places_[i.value()];
        if (at.group == nullptr) return here_.transport->statistics(local(at));
        return report(*at.group, at.member).statistics;
    }
    subsystem_cost cost(subsystem_index i) const override {
        const place& at = places_[i.value()];
        if (at.group == nullptr) return here_.transport->cost(local(at));
        return {at.seconds, at.worker};
    }
    double cpu_seconds() const override {
        double sum = process_cpu_seconds();
        for (const auto& g : groups_) sum += report(*g.group, 0).cpu_seconds;
        return sum;
    }
    int workers() const override {
        return static_cast<int>(groups_.size()) + (here_.transport ? here_.transport->workers() : 0);
    }
    std::int64_t parallel_steps() const override {
        if (groups_.empty()) return here_.transport ? here_.transport->parallel_steps() : 0;
        return workers() > 1 ? calls_ : 0;
    }

    std::span<const profile_log> profile() const override {
        shown_.clear();
        if (here_.transport)
            for (profile_log log : here_.transport->profile()) {
                for (auto& e : log.events())
                    if (e.subsystem >= 0) e.subsystem = here_.members[static_cast<std::size_t>(e.subsystem)];
                shown_.push_back(std::move(log));
            }
        shown_.insert(shown_.end(), profile_.begin(), profile_.end());
        return shown_;
    }

   private:
    struct place {
        std::string name;
        remote_group* group = nullptr;  ///< none: here
        std::size_t member = 0;
        int worker = 0;
        std::size_t input = 0, output = 0, input_count = 0, output_count = 0;
        bool outputs_follow = false;
        double seconds = 0;  ///< of a step
        std::int64_t samples = 0;
    };

    struct failure {
        std::size_t subsystem = 0;
        std::string reason;
    };

    /// What the groups do of a plan.
    struct split_plan {
        struct level {
            std::vector<std::uint32_t> items;      ///< of the plan
            std::vector<std::uint32_t> given;      ///< those of them whose inputs come from here
            std::vector<remote_request> requests;  ///< by group
            std::vector<char> takes_part;          ///< the same
            bool here = false;                     ///< the local group takes part
        };
        bool advances = false;
        std::vector<char> at_once;  ///< by subsystem: evaluated on level 0
        std::vector<level> levels;
        std::vector<given_plan> here;  ///< by level
    };

    static constexpr std::size_t most_events = 20000;

    /// What all are used for, group by group; before any other request, since replies depend on it.
    void tell_usages() {
        if (untold_.empty()) return;
        std::vector<std::size_t> told(groups_.size(), 0);
        for (const subsystem_index i : untold_) ++told[group_of(places_[i.value()])];
        const remote_request everyone{.command = remote_command::expect};
        ask([&](std::size_t g) { return told[g] == groups_[g].members.size() ? &everyone : nullptr; }, [] {});
        report_failures();
        for (const subsystem_index i : untold_)
            if (place& at = places_[i.value()]; told[group_of(at)] != at.group->size())
                call(at, remote_command::expect);
        untold_.clear();
    }

    plan_grounds grounds() const {
        plan_grounds all;
        const bool local = here_.transport != nullptr;
        for (const auto& g : groups_) all.evaluates.push_back(g.group->takes_plans());
        if (local) all.evaluates.push_back(true);
        for (std::size_t i = 0; i < places_.size(); ++i) {
            const subsystem_description& d = describe(subsystem_index(i));
            all.group.push_back(places_[i].group != nullptr ? static_cast<int>(group_of(places_[i]))
                                                            : static_cast<int>(groups_.size()));
            all.inputs.push_back(static_cast<std::uint32_t>(places_[i].input_count));
            all.owner.resize(all.owner.size() + places_[i].output_count, static_cast<std::uint32_t>(i));
            all.direct.resize(all.owner.size(), false);
            for (const output_variable& y : d.outputs)
                std::fill_n(all.direct.begin() + static_cast<std::ptrdiff_t>(places_[i].output) + y.slot, y.size,
                            !y.direct.empty());
        }
        return all;
    }

    void split(const step_plan& plan, bool provisional, split_plan& into) {
        const plan_grounds all = grounds();
        const plan_levels found = find_levels(plan, all);
        std::vector<group_plan> parts(all.evaluates.size());
        for (auto& p : parts) p.advances = plan.advances(), p.provisional = provisional;
        into.advances = plan.advances();
        into.levels.assign(found.items.size(), {});
        into.at_once.assign(size(), false);
        for (const std::uint32_t k : found.items.front()) into.at_once[plan.items[k].subsystem.value()] = true;
        for (std::size_t n = 0; n < found.items.size(); ++n) {
            split_plan::level& level = into.levels[n];
            level.items = found.items[n];
            const bool step = n == 0 && into.advances;
            level.requests.assign(
                groups_.size(),
                {.command = remote_command::carry_out, .number = plan.number, .level = static_cast<std::int32_t>(n)});
            level.takes_part.assign(groups_.size(), step);
            level.here = step;
            for (const std::uint32_t k : level.items) {
                const step_plan::item& i = plan.items[k];
                const place& at = places_[i.subsystem.value()];
                if (found.of[k].given) level.given.push_back(k);
                add(plan, i, found.of[k].given, all, parts[static_cast<std::size_t>(all.group[i.subsystem.value()])]);
                if (at.group == nullptr)
                    level.here = true;
                else
                    level.takes_part[group_of(at)] = true;
                if (at.group != nullptr && !at.group->takes_plans())
                    level.requests[group_of(at)] = {.command = remote_command::outputs,
                                                    .subsystem = static_cast<std::int32_t>(at.member)};
            }
            for (auto& p : parts) p.ends.push_back(static_cast<std::uint32_t>(p.items.size()));
            for (std::size_t g = 0; g < groups_.size() && step; ++g)
                if (!groups_[g].group->takes_plans()) level.requests[g] = {.command = remote_command::advance};
        }
        for (std::size_t g = 0; g < groups_.size(); ++g)
            if (groups_[g].group->takes_plans())
                in_its_name(places_[static_cast<std::size_t>(groups_[g].members.front())],
                            [&] { groups_[g].group->set_plan(plan.number, parts[g]); });
        if (here_.transport) into.here = by_level(parts.back(), *here_.transport);
    }

    /// An item, with the signals from outputs of its own group.
    void add(const step_plan& plan, const step_plan::item& i, bool given, const plan_grounds& all,
             group_plan& to) const {
        const place& at = places_[i.subsystem.value()];
        const auto first = static_cast<std::uint32_t>(to.signals.size());
        for (std::uint32_t s = i.first; s < i.last && i.signals_only; ++s) {
            plain_signal how = plan.signals[s];
            const std::uint32_t source = all.owner[how.source];
            if (all.group[source] != all.group[i.subsystem.value()]) continue;
            how.source -= static_cast<std::uint32_t>(places_[source].output);
            how.input -= static_cast<std::uint32_t>(at.input);
            to.signals.push_back({static_cast<std::int32_t>(places_[source].member), how});
        }
        to.items.push_back(
            {static_cast<std::int32_t>(at.member), given, first, static_cast<std::uint32_t>(to.signals.size())});
    }

    /// What comes from elsewhere to those who are evaluated on this level.
    void give_values(step_plan& plan, split_plan& all, std::size_t n, double t) {
        for (const std::uint32_t k : all.levels[n].given) {
            const step_plan::item& i = plan.items[k];
            const place& at = places_[i.subsystem.value()];
            plan.find_values(i, t, outputs_.data());
            const auto values = std::span(plan.values).subspan(at.input, at.input_count);
            if (at.group != nullptr)
                std::ranges::copy(values, at.group->areas().inputs(at.member).begin());
            else
                std::ranges::copy(values, all.here[n].values.begin() +
                                              static_cast<std::ptrdiff_t>(here_.transport->input_offset(local(at))));
        }
    }

    void ask_for_level(split_plan& all, std::size_t n, const macro_step& step, bool timed) {
        split_plan::level& level = all.levels[n];
        const bool advances = n == 0 && all.advances;
        for (remote_request& r : level.requests) r.step = step, r.timed = timed;
        evaluating_ = !advances;
        ask([&](std::size_t g) { return level.takes_part[g] ? &level.requests[g] : nullptr; },
            [&] {
                if (!level.here) return;
                if (advances)
                    here_.transport->carry_out(step, all.here[n]);
                else
                    here_.transport->evaluate_plan(step.end, all.here[n], true);  // judged as the others are
            });
        evaluating_ = false;
    }

    /// The outputs, and the values that the groups have found themselves, by the same arithmetic.
    void take_level(step_plan& plan, const split_plan& all, std::size_t n, const macro_step& step, bool provisional) {
        const auto& items = all.levels[n].items;
        if (n > 0 || !all.advances)
            for (const std::uint32_t k : items) fetch(places_[plan.items[k].subsystem.value()]);
        for (const std::uint32_t k : items)
            if (plan.items[k].signals_only) plan.find_values(plan.items[k], step.end, outputs_.data());
        report_failures();
        report_evaluations(plan, all, n, step, provisional);
    }

    void report_evaluations(step_plan& plan, const split_plan& all, std::size_t n, const macro_step& step,
                            bool provisional) {
        for (const std::uint32_t k : all.levels[n].items) {
            const std::size_t i = plan.items[k].subsystem.value();
            const auto told = std::ranges::find(failed_evaluations_, i, &failure::subsystem);
            const int bad = provisional ? -1 : first_not_finite(output_of(places_[i]));
            if (told == failed_evaluations_.end() && bad < 0) [[likely]]
                continue;
            const std::string reason =
                told != failed_evaluations_.end()
                    ? told->reason
                    : not_finite_reason(describe(subsystem_index(i)), output_of(places_[i]), bad);
            failed_evaluations_.clear();
            evaluate_before(plan, all, n, k, step.end, provisional);
            throw failed_evaluation(i, reason, all.advances, step);
        }
        if (failed_evaluations_.empty()) [[likely]]
            return;
        const failure wrong = failed_evaluations_.front();  // of who was not evaluated at all
        failed_evaluations_.clear();
        throw failed_evaluation(wrong.subsystem, wrong.reason, all.advances, step);
    }

    subsystem_failure failed_evaluation(std::size_t i, const std::string& reason, bool advanced,
                                        const macro_step& step) const {
        const place& at = places_[i];
        if (advanced && at.outputs_follow)
            return failure_in_step(at.name, reason, step, describe(subsystem_index(i)),
                                   std::span(inputs_).subspan(at.input, at.input_count));
        return subsystem_failure(at.name, step.end, reason);
    }

    /// One after the other, as they stand in the plan: whoever of the later levels stands before a failure may fail, too, and be told first.
    void evaluate_before(step_plan& plan, const split_plan& all, std::size_t n, std::uint32_t failed, double t,
                         bool provisional) {
        std::vector<std::uint32_t> before;
        for (std::size_t later = n + 1; later < all.levels.size(); ++later)
            for (const std::uint32_t k : all.levels[later].items)
                if (k < failed) before.push_back(k);
        std::ranges::sort(before);
        for (const std::uint32_t k : before) {
            const place& at = places_[plan.items[k].subsystem.value()];
            plan.find_values(plan.items[k], t, outputs_.data());
            evaluate(plan.items[k].subsystem, std::span(plan.values).subspan(at.input, at.input_count), provisional);
        }
    }

    /// `evaluated`, by subsystem: together with the step; empty: nobody.
    template <class Ask>
    void step_of_all(const macro_step& step, std::span<const char> evaluated, const Ask& ask_for_step) {
        const bool timed = calls_ >= next_sample_ && !groups_.empty();
        const auto begin = timed ? clock::now() : clock::time_point{};
        for (place& at : places_) std::ranges::copy(input_of(at), polynomials_of(at).begin());
        if (cores_ && master_) take_turns(true);
        ask_for_step(timed);
        for (place& at : places_) fetch(at);
        notices_ = {};
        if (here_.transport) notice_here();
        for (std::size_t i = 0; i < places_.size(); ++i) notice(i);
        if (timed && !any_failure()) learn(step, begin, {});
        ++calls_;
        report_failures(step, evaluated);
        time_ = step.end;
    }

    bool any_failure() const { return !failures_.empty() || local_failure_ || !failed_evaluations_.empty(); }

    /// What the members that took part in a step noticed.
    void notice(std::size_t i) {
        const place& at = places_[i];
        if (at.group != nullptr && at.group->areas().top().noticed)
            notices_.add(subsystem_index(i), at.group->areas().report(at.member).notice);
    }
    void notice_here() {
        step_notices all = here_.transport->notices();
        const auto there = [&](subsystem_index i) {
            return subsystem_index(static_cast<std::size_t>(here_.members[i.value()]));
        };
        for (std::size_t k = 0; k < std::min(all.jumps, step_notices::most); ++k) all.jumped[k] = there(all.jumped[k]);
        if (all.asked_to_end.valid()) all.asked_to_end = there(all.asked_to_end);
        notices_.add(all);
    }

    int first_worker() const { return here_.transport ? here_.transport->workers() : 0; }

    /// Its place in groups_; it is elsewhere.
    std::size_t group_of(const place& at) const { return static_cast<std::size_t>(at.worker - first_worker()); }
    std::size_t named(const std::string& name) const {
        return static_cast<std::size_t>(std::ranges::find(places_, name, &place::name) - places_.begin());
    }

    static subsystem_index local(const place& at) { return subsystem_index(at.member); }

    /// What it says now; of a group that has gone what it said last, since figures after a failure must not fail.
    static const remote_report& report(remote_group& group, std::size_t member) {
        try {
            if (!group.gone())
                group.call({.command = remote_command::statistics, .subsystem = static_cast<int>(member)});
        } catch (const run_error&) {
        }
        return group.areas().report(member);
    }

    /// By how much the clock of the other side is ahead of ours, s: from the quickest of some questions, which was answered in the
    /// middle between asking and hearing the answer. A process of this machine has our clock.
    static double clock_ahead(remote_group& group) {
        if (group.process() > 0) return 0;
        constexpr int questions = 10;
        double ahead = 0, quickest = std::numeric_limits<double>::infinity();
        for (int n = 0; n < questions; ++n) {
            const double asked = seconds(clock::now());
            group.call({.command = remote_command::clock, .subsystem = 0, .timed = true});
            const double heard = seconds(clock::now());
            if (heard - asked >= quickest) continue;
            quickest = heard - asked;
            const remote_report& told = group.areas().report(0);
            ahead = 0.5 * (told.begin + told.end) - 0.5 * (asked + heard);
        }
        return ahead;
    }

    template <class Work>
    void in_its_name(const place& at, const Work& work) const {
        try {
            work();
        } catch (const run_error& problem) {
            throw subsystem_failure(at.name, time_, problem.what());
        }
    }
    void call(place& at, remote_command command, int number = 0) {
        in_its_name(at, [&] {
            at.group->call({.command = command, .subsystem = static_cast<int>(at.member), .number = number});
        });
    }

    /// Posts to all groups elsewhere, does the local part, then waits for all, whatever becomes of one.
    template <class Local>
    void all(const remote_request& request, const Local& do_here) {
        ask([&](std::size_t) { return &request; }, do_here);
    }
    /// The same with a request for each group, by number, or none.
    template <class Request, class Local>
    void ask(const Request& request_for, const Local& do_here) {
        for (std::size_t g = 0; g < groups_.size(); ++g)
            if (const remote_request* request = request_for(g)) groups_[g].group->post(*request);
        if (here_.transport) {
            try {
                do_here();
            } catch (const subsystem_failure& problem) {
                if (problem.in_evaluation())
                    failed_evaluations_.push_back({named(problem.subsystem_name()), problem.cause()});
                else
                    local_failure_ = std::make_unique<subsystem_failure>(problem);
            }
        }
        for (std::size_t g = 0; g < groups_.size(); ++g)
            if (request_for(g) != nullptr &&
                !settled(groups_[g], waiting_.empty() ? remote_group::look_after : std::chrono::milliseconds(0)))
                waiting_.push_back(&groups_[g]);
        if (!waiting_.empty()) wait_for_slow_ones();
    }

    /// Whether the group is at rest; its failure is noted.
    bool settled(served_group& g, std::chrono::milliseconds wait) {
        try {
            return g.group->done(wait);
        } catch (const run_error& problem) {
            const int member = std::max(0, g.group->which_failed());
            const auto& top = g.group->areas().top();
            const bool by_plan = top.request.command == remote_command::carry_out;
            const bool evaluation = g.group->which_failed() >= 0 && (by_plan ? top.in_evaluation : evaluating_);
            (evaluation ? failed_evaluations_ : failures_)
                .push_back({static_cast<std::size_t>(g.members[static_cast<std::size_t>(member)]), problem.what()});
            return true;
        }
    }

    /// Looks at all of them in turn. After a failure the others may come to rest for a moment, then they are ended: a run that has
    /// failed does not wait for the slowest.
    void wait_for_slow_ones() {
        constexpr std::chrono::milliseconds moment{300};
        std::optional<clock::time_point> failed_at;
        while (!waiting_.empty()) {
            const served_group* patient = waiting_.front();
            std::erase_if(waiting_, [&](served_group* g) {
                return settled(*g, g == patient ? remote_group::look_after : std::chrono::milliseconds(0));
            });
            if (!any_failure()) continue;
            if (!failed_at) failed_at = clock::now();
            if (clock::now() - *failed_at < moment) continue;
            for (served_group* g : waiting_) g->group->end("it was ended because another subsystem had failed");
            waiting_.clear();
        }
    }

    std::span<double> output_of(const place& at) { return std::span(outputs_).subspan(at.output, at.output_count); }
    std::span<const polynomial> input_of(const place& at) {
        return std::span(inputs_).subspan(at.input, at.input_count);
    }
    std::span<polynomial> polynomials_of(const place& at) {
        if (at.group != nullptr) return at.group->areas().polynomials(at.member);
        return here_.transport->inputs().subspan(here_.transport->input_offset(local(at)), at.input_count);
    }
    void fetch(const place& at) {
        if (at.group != nullptr)
            std::ranges::copy(at.group->areas().outputs(at.member), output_of(at).begin());
        else
            std::ranges::copy(
                here_.transport->outputs().subspan(here_.transport->output_offset(local(at)), at.output_count),
                output_of(at).begin());
    }

    void bind_as_told(const binding& cores) {
        if (cores.master >= 0) master_.emplace(cores.master);
        for (std::size_t g = 0; g < groups_.size(); ++g)
            for (const int i : groups_[g].members)
                if (const int unit = cores.of(static_cast<std::size_t>(i)); unit >= 0) bind(g, unit);
        const bool free = !master_ && std::ranges::all_of(unit_, [](int unit) { return unit < 0; });
        // Where the master and every process have a core of their own the system does well without us.
        if (cores.automatic && free && !here_.transport && workers() + 1 > available_cores())
            cores_.emplace(groups_.size(), available_cores());
    }

    void bind(std::size_t group, int unit) {
        const pid_t process = groups_[group].group->process();
        if (process > 0 && unit_[group] != unit && bind_to_unit(process, unit)) unit_[group] = unit;
    }

    /// Which core serves which process, from what their members cost.
    void distribute() {
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            group_cost_[g] = 0;
            for (const int i : groups_[g].members) group_cost_[g] += cost(subsystem_index(i)).seconds_per_step;
        }
        const bool apart = master_better_apart();
        if (!apart) cores_->decide(group_cost_);
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const std::size_t core = apart ? 1 + g % static_cast<std::size_t>(available_cores() - 1)
                                           : static_cast<std::size_t>(cores_->worker_of(g));
            bind(g, processing_units()[core]);
        }
        if (apart == master_.has_value()) return;
        if (apart)
            master_.emplace(processing_units()[0]);
        else
            master_.reset();
        take_turns(apart);
    }

    /// Where two processes share a core that is not the master's, the one that answers a step last looks for the next one, which it
    /// answers first and then leaves the core to the other.
    void take_turns(bool apart) {
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const auto on_its_core = static_cast<std::int64_t>(g) / std::max(1, available_cores() - 1);
            groups_[g].group->areas().top().next_at_once.store(apart && (calls_ + on_its_core) % 2 == 0,
                                                               std::memory_order_relaxed);
        }
    }

    /// With hardly any work, what a macro step costs is the switching between those who share a core: with k processes on the
    /// master's own k + 1 switches, on another one k - 1 (see take_turns()).
    bool master_better_apart() const {
        constexpr double one_switch = 1e-6;  // s
        const int others = available_cores() - 1;
        return others > 0 && groups_.size() <= 2 * static_cast<std::size_t>(others) &&
               std::accumulate(group_cost_.begin(), group_cost_.end(), 0.0) < one_switch * others;
    }

    /// The failure of the lowest subsystem number.
    void report_failures() {
        if (const auto first = first_failure())
            throw subsystem_failure(places_[first->subsystem].name, time_, first->reason);
    }
    void report_failures(const macro_step& step, std::span<const char> evaluated) {
        // Who has been evaluated shows other outputs than those of the step, which were looked at there, and is judged by them.
        const auto shows_others = [&](std::size_t i) {
            return !evaluated.empty() && evaluated[i] && places_[i].group != nullptr &&
                   places_[i].group->areas().top().in_evaluation;
        };
        for (std::size_t i = 0; i < places_.size(); ++i)
            if (!shows_others(i) && !finite(i)) break;
        report_first_failure([&](std::size_t) { return step; });
    }
    void report_failures(std::span<const subsystem_step> some) {
        if (failures_.empty() && !local_failure_)
            for (const auto& [i, step] : some) finite(i.value());
        report_first_failure([&](std::size_t i) {
            const auto own = std::ranges::find(some, subsystem_index(i), &subsystem_step::subsystem);
            return own == some.end() ? some.front().step : own->step;  // a whole group may have gone
        });
    }
    /// Notes a failure where it is not. What is here was looked at already.
    bool finite(std::size_t i) {
        if (places_[i].group == nullptr || places_[i].outputs_follow) return true;
        const int bad = first_not_finite(output_of(places_[i]));
        if (bad < 0) return true;
        failures_.push_back({i, not_finite_reason(describe(subsystem_index(i)), output_of(places_[i]), bad)});
        return false;
    }
    template <class Step>
    void report_first_failure(const Step& step_of) {
        if (const auto first = first_failure()) {
            const place& at = places_[first->subsystem];
            throw failure_in_step(at.name, first->reason, step_of(first->subsystem),
                                  describe(subsystem_index(first->subsystem)), input_of(at));
        }
    }
    /// Throws it where it is the local group's.
    std::optional<failure> first_failure() {
        if (failures_.empty() && !local_failure_) return {};
        failed_evaluations_.clear();
        const auto lower = [](const failure& a, const failure& b) { return a.subsystem < b.subsystem; };
        const auto first = std::min_element(failures_.begin(), failures_.end(), lower);
        if (local_failure_) {
            const std::size_t at = named(local_failure_->subsystem_name());
            if (first == failures_.end() || at < first->subsystem) {
                failures_.clear();
                throw subsystem_failure(*std::exchange(local_failure_, nullptr));
            }
        }
        failure found = std::move(*first);
        failures_.clear();
        local_failure_ = nullptr;
        return found;
    }

    /// Costs and the profile, from steps that are timed ever more rarely: clock reads cost as much as a small step.
    /// `some` took part; none: all.
    void learn(const macro_step& step, clock::time_point begin, std::span<const subsystem_step> some) {
        const double wall_begin = seconds(begin), wall_end = seconds(clock::now());
        next_sample_ = calls_ + std::clamp<std::int64_t>(calls_ / 8, 1, 1000);
        if (std::any_of(profile_.begin(), profile_.end(), [](const profile_log& l) { return l.full(); })) {
            stride_ *= 2;
            for (auto& l : profile_) l.thin_out(stride_);
        }
        const bool logged = samples_ % stride_ == 0;
        const auto ahead = [&](const place& at) -> double& { return ahead_[group_of(at)]; };
        const auto took_part = [&](const place& at) {
            const subsystem_index i(static_cast<std::size_t>(&at - places_.data()));
            return at.group != nullptr &&
                   (some.empty() || std::ranges::find(some, i, &subsystem_step::subsystem) != some.end());
        };
        // Times of another machine, or of nobody's good will: they must lie within the step, also when the clocks drift apart.
        for (place& at : places_) {
            if (!took_part(at)) continue;
            const remote_report& t = at.group->areas().report(at.member);
            ahead(at) = std::max(std::min(ahead(at), t.begin - wall_begin), t.end - wall_end);
        }
        for (std::size_t i = 0; i < places_.size(); ++i) {
            place& at = places_[i];
            if (!took_part(at)) continue;
            const remote_report& t = at.group->areas().report(at.member);
            const double took = std::min(std::max(0.0, t.end - t.begin), wall_end - wall_begin);
            const double from = std::isfinite(t.begin - ahead(at)) ? t.begin - ahead(at) : wall_begin;
            at.seconds = blend(at.seconds, took, at.samples++);
            if (logged)
                profile_[group_of(at)].add(
                    {from, from + took, static_cast<std::int32_t>(i), at.worker, step.counter, samples_});
        }
        if (logged) profile_[0].add({wall_begin, wall_end, -1, 0, step.counter, samples_});
        ++samples_;
        if (cores_ && samples_ >= first_samples) distribute();
    }

    std::vector<served_group> groups_;
    local_group here_;
    std::vector<place> places_;
    std::vector<polynomial> inputs_;
    std::vector<double> outputs_;
    std::vector<double> group_cost_;
    std::vector<double> ahead_;      ///< s that the clock of a group is ahead of ours
    std::vector<int> unit_;          ///< that a group's process is bound to, or -1
    std::optional<schedule> cores_;  ///< of the groups' processes, where they are bound by cost
    std::optional<bound_thread> master_;
    std::vector<failure> failures_;
    std::vector<failure> failed_evaluations_;  ///< of members that had done their step of the plan
    bool evaluating_ = false;
    std::vector<split_plan> plans_;                    ///< by number
    std::vector<subsystem_index> untold_;              ///< how they are used
    std::vector<std::vector<remote_request>> queues_;  ///< by group: steps of some of its members
    std::vector<subsystem_step> here_some_;
    std::vector<served_group*> waiting_;  ///< slower than the others in this request
    std::unique_ptr<subsystem_failure> local_failure_;
    std::vector<profile_log> profile_;        ///< of the groups elsewhere
    mutable std::vector<profile_log> shown_;  ///< with those of the local group
    step_notices notices_;
    std::int64_t calls_ = 0, next_sample_ = 0, samples_ = 0, stride_ = 1;
    double time_ = 0;
    struct saved_state {
        std::vector<double> outputs;
        double time = 0;
        state_id here{};  ///< of the local group
    };
    std::vector<saved_state> states_;  ///< by state_id
};

}  // namespace

std::unique_ptr<transport> make_group_transport(std::vector<std::string> names, std::vector<served_group> elsewhere,
                                                local_group here, const binding& cores) {
    return std::make_unique<group_transport>(std::move(names), std::move(elsewhere), std::move(here), cores);
}

}  // namespace mdpcosim
