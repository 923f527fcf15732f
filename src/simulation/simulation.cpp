#include "simulation/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "assembly/address_book.hpp"
#include "assembly/iteration.hpp"
#include "assembly/signal_targets.hpp"
#include "assembly/step_control.hpp"
#include "core/suggest.hpp"
#include "simulation/blame.hpp"
#include "simulation/identity.hpp"
#include "simulation/parallel_figures.hpp"
#include "simulation/reference_run.hpp"
#include "simulation/saved_simulation.hpp"
#include "simulation/statistics.hpp"
#include "simulation/trust.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

namespace {

/// Steps that could not be undone may be so many times above the tolerance before a run is doubted: the next ones are shortened.
constexpr double doubtful_above = 3;

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

/// Of a simulation that is led: as far away as macro steps can be counted.
scenario without_end(scenario s) {
    s.time.end = s.time.start + std::ldexp(s.time.step, 45);
    if (!(s.time.end > s.time.start))
        throw user_error(fmt::format(
            "simulation: it cannot start at {:.10g} s: macro steps of {} s are less than the last digit of such times.",
            s.time.start, s.time.step));
    return s;
}

assembly put_together(const scenario& s, const simulation_options& options) {
    std::optional<message_scope> scope;
    if (options.messages) scope.emplace(options.messages);
    if (options.monolithic) return assemble_reference(s);
    return assemble(s, {.workers = options.workers,
                        .kind = options.transport,
                        .pin = options.pin,
                        .remote = options.remote,
                        .interrupt = options.interrupt,
                        .writable = options.writable});
}

/// Explicit solvers that take very many micro steps: most often the model is stiff.
void add_stiffness_notes(run_summary& told) {
    constexpr std::int64_t many = 1000;  // micro steps per integration of a macro step
    const std::int64_t integrations = std::max({std::int64_t{1}, told.integrations, told.steps});
    for (const auto& x : told.subsystems) {
        const bool without_newton = x.solver.starts_with("erk-") || x.solver == "cvode-adams";
        if (!without_newton || x.micro_steps <= many * integrations) continue;
        told.notes.push_back(
            fmt::format("subsystem '{}': solver {} took {} micro steps for each macro step. If the model is stiff, an "
                        "implicit solver needs far fewer: 'solver: cvode-bdf' or 'solver: dirk-4'.",
                        x.name, x.solver, x.micro_steps / integrations));
    }
}

}  // namespace

struct simulation::impl {
    enum class stage { built, running, failed };

    impl(const scenario& s, const simulation_options& given)
        : options(given),
          parts(put_together(s, given)),
          grid(s.time.start, s.time.end, s.time.step),
          record_every(s.record.every),
          time(s.time.start) {
        if (options.monolithic && parts.system.texts.any_driven())
            throw user_error(
                fmt::format("{}: a reference is one system of equations, which passes no texts on. Run the "
                            "scenario without --monolithic, or take its signals of strings and bytes out.",
                            s.path.string()));
        if (options.monolithic)
            reference.emplace(s, parts);
        else
            check_method(s, parts);
        resolved = mdpcosim::resolved(s, parts);
        describe_before();
        if (options.monolithic) return;
        if (options.writable) {
            contents = contents_of(resolved);
            pristine.write();
            pristine(system());
        }
        make_masters(s);
    }

    /// Of subsystems that hear of what they do.
    std::int64_t events_in_loops() const {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < in_loops.size(); ++i)
            if (in_loops[i]) sum += summary.subsystems[i].events;
        return sum;
    }

    /// Monitors and whoever chooses the steps.
    void make_masters(const scenario& s) {
        if (options.watch) {
            watch.reset();
            monitor.emplace(make_monitor(s, parts));
            in_loops = subsystems_in_loops(s);
            if (const std::string& remedy = chosen().traits().remedy; !remedy.empty()) monitor->set_remedy(remedy);
            watch.emplace(make_watch(parts, *monitor, s.monitor));
        }
        if (s.step_control.given())
            control_steps(s);
        else
            steps = std::make_unique<constant_stepper>(grid, parts_of_first_step(system(), chosen()), options.led);
    }

    std::string why_steps_are_fixed() const {
        if (parts.chosen_method->traits().own_steps)
            return fmt::format("method '{}' has steps that follow from it", resolved.method.value);
        for (std::size_t i = 0; i < resolved.subsystems.size(); ++i) {
            const subsystem_spec& spec = resolved.subsystems[i];
            if (spec.sample || is_sampled(spec))
                return fmt::format("subsystem '{}' is sampled at multiples of it", spec.name);
            const std::string why = parts.system.subsystems->offers(subsystem_index(i)).why_fixed_step;
            if (!why.empty()) return fmt::format("subsystem '{}': {}", spec.name, why);
        }
        return {};
    }

    coupled_system& system() { return parts.system; }
    method& chosen() { return *parts.chosen_method; }

    void control_steps(const scenario& s) {
        const step_control_options control = step_control_of(s);
        summary.control = {s.step_control.estimate.empty() ? "trial" : s.step_control.estimate.value, control.rtol,
                           control.atol};
        auto made =
            std::make_unique<step_controller>(control, s.time.start, s.time.end, [this](const step_attempt& attempt) {
                for (observer* o : observers) o->attempted(attempt);
                if (watch) watch->trace().attempt(attempt.length, attempt.error, attempt.accepted);
            });
        controller = made.get();
        steps = std::move(made);
    }

    void describe_before() {
        summary.scenario = resolved.path.string();
        summary.method = resolved.method.value;
        summary.start = resolved.time.start;
        summary.end = resolved.time.end;
        summary.step = resolved.time.step;
        summary.reached = resolved.time.start;
        summary.notes = parts.notes;
        if (!options.monolithic) summary.transport = transport_names()[static_cast<std::size_t>(options.transport)];
        summary.subsystems.reserve(resolved.subsystems.size());
        for (const auto& spec : resolved.subsystems) {
            summary.subsystems.emplace_back();
            summary.subsystems.back().name = spec.name;
            summary.subsystems.back().solver = spec.solver.name.value;
        }
    }

    void initialise() {
        if (reached != stage::built)
            throw user_error("simulation: initialise() was called before; make another simulation.");
        try {
            if (reference) {
                setup_seconds = seconds_since(made_at);
                loop_begin = clock::now();
                reference->start(grid, record_every, options.interrupt);
            } else {
                if (std::ranges::any_of(observers, [](const observer* o) { return o->wants_inputs(); }))
                    system().journal.keep(*system().subsystems);
                for (const auto& w : writes)
                    if (w.slot.valid()) system().set_free_input(w.slot, w.value);
                writes.clear();
                summary.initialisation = mdpcosim::initialise(system(), grid.start());
                chosen().prepare(system());
                steps->prepare(system(), chosen());
                setup_seconds = seconds_since(made_at);
                cpu_begin = system().subsystems->cpu_seconds();
                loop_begin = clock::now();
            }
        } catch (const composite_interrupted&) {
            interrupted = true;
        } catch (...) {
            reached = stage::failed;
            throw;
        }
        reached = stage::running;
        at_end = reference ? reference->done() : steps->done();
    }

    void check_running(const char* call) const {
        if (reached == stage::built)
            throw user_error(fmt::format("simulation: {} before initialise(). Call initialise() once, first.", call));
        if (reached == stage::failed)
            throw user_error(
                fmt::format("simulation: {} after a failure at t = {:.10g} s; it can only be looked at.", call, time));
    }

    macro_step step() {
        if (reached != stage::running || at_end) [[unlikely]] {
            check_running("step()");
            throw user_error(fmt::format("simulation: step() after the end, t = {:.10g} s, was reached.", time));
        }
        try {
            return reference ? step_reference() : step_system();
        } catch (...) {
            reached = stage::failed;
            throw;
        }
    }

    macro_step step_system() {
        if (!writes.empty()) [[unlikely]]
            apply_writes();
        system().journal.clear();
        system().notices = {};
        system().texts.pass(*system().subsystems, system().journal);
        macro_step part = steps->step(system(), chosen());
        macro_step done_step = part;
        while (steps->within_step()) [[unlikely]] {
                if (watch) watch->after_part(system(), part);
                part = steps->step(system(), chosen());
            }
        time = done_step.end = part.end;
        at_end = steps->done();
        ++count;
        if (const subsystem_index by = system().notices.asked_to_end; by.valid()) [[unlikely]]
            end_early(system().subsystems->name(by));
        if (watch && watch->after(system(), done_step, part.begin)) diverged = true;
        return done_step;
    }

    [[gnu::cold]] void end_early(const std::string& by) {
        at_end = true;
        early_end = fmt::format("subsystem '{}' asked to end the simulation, which ended at t = {:.10g} s", by, time);
    }

    macro_step step_reference() {
        const double begin = time;
        interrupted = !reference->step();
        time = reference->reached();
        at_end = reference->done();
        if (!reference->asked_to_end().empty()) end_early(reference->asked_to_end());
        return {begin, time, 0};
    }

    std::span<const double> outputs() const { return reference ? reference->outputs() : parts.system.outputs(); }
    std::span<const double> coupling_variables() const {
        return reference ? reference->coupling_variables() : std::span<const double>(parts.system.u);
    }

    /// Inputs jump at the macro point, parameters have jumped; outputs that depend on them at once follow, and whatever depends on those.
    [[gnu::cold]] void apply_writes() {
        for (const auto& w : writes)
            if (w.slot.valid()) system().set_free_input(w.slot, w.value);
        // Subsystems with steps of their own may be ahead: they see it in their next one.
        if (!chosen().traits().own_steps) {
            for (const auto& w : writes) system().evaluate_one(w.subsystem, false);
            system().evaluate(time, system().at_start);
            system().measure_answers();
        }
        writes.clear();
    }

    void check_writable(const std::string& address) const {
        if (reached == stage::failed) check_running("set()");
        if (options.monolithic)
            throw user_error(
                fmt::format("simulation: '{}' cannot be set: a reference has no inputs from outside.", address));
        if (!options.writable)
            throw user_error(
                fmt::format("simulation: '{}' cannot be set: the simulation was made with writable = false.", address));
    }
    [[noreturn]] static void refuse_driven(const std::string& address) {
        throw user_error(
            fmt::format("simulation: input '{}' is driven by the scenario and cannot be set. Take its connection or "
                        "signal out of the scenario.",
                        address));
    }

    void check_tunable(const address_book::parameter_place& at, const std::string& address) const {
        if (reached == stage::running && !at.parameter.between_steps)
            throw user_error(fmt::format(
                "simulation: parameter '{}' can be set before initialise() only, or with reset().", address));
    }

    void tune(const address_book::parameter_place& at, const std::string& address, double value) {
        check_tunable(at, address);
        try {
            system().subsystems->tune(at.subsystem, at.number, value);
        } catch (const std::exception& problem) {
            throw user_error(fmt::format("simulation: '{}' cannot be set to {}: {}", address, value, problem.what()));
        }
        const auto known = std::ranges::find(tuned, address, &std::pair<std::string, double>::first);
        if (known != tuned.end())
            known->second = value;
        else
            tuned.emplace_back(address, value);
    }

    std::string identity() const {
        return identity_of(resolved, parts.chosen_method->traits().own_steps) +
               (options.writable ? contents : contents_of(resolved));
    }

    std::string why_not_saved() const {
        if (reference) return "a reference cannot be saved: it is one system of equations in the hands of one solver";
        std::string who;
        for (std::size_t i = 0; i < parts.system.subsystems->size(); ++i) {
            const capabilities offered = parts.system.subsystems->offers(subsystem_index(i));
            const std::string& why = offered.save_restore ? offered.why_no_bytes : offered.why_no_save_restore;
            if (offered.save_restore && why.empty()) continue;
            who += fmt::format("{}subsystem '{}' cannot be saved: {}", who.empty() ? "" : "; ",
                               parts.system.subsystems->name(subsystem_index(i)), why);
        }
        return who;
    }

    void need_scenario(const char* call) const {
        if (resolved.subsystems.empty())
            throw user_error(fmt::format("simulation: {} after release_scenario().", call));
    }

    state_id checkpoint() {
        if (!checkpoint_state) checkpoint_state = system().subsystems->make_state();
        return *checkpoint_state;
    }

    /// All that the master itself remembers.
    template <class Visit>
    void visit_masters(const Visit& visit) {
        const auto counted = [this](state_bytes& bytes) {
            bytes(time, count, at_end, diverged, early_end, writes);
            system().used_inputs_and_counts(bytes);
        };
        struct {
            const decltype(counted)& visit;
            void state(state_bytes& bytes) { visit(bytes); }
        } counts{counted};
        visit("counts", counts);
        visit("texts", system().texts);
        visit("system", system());
        visit("method", chosen());
        visit("steps", *steps);
        if (watch) visit("watch", *watch);
        for (observer* o : observers)
            if (!o->name().empty()) visit("observer " + o->name(), *o);
    }

    void save(std::ostream& to) {
        check_running("save()");
        if (const std::string why = why_not_saved(); !why.empty())
            throw user_error(fmt::format("simulation: save(): {}.", why));
        need_scenario("save()");
        if (options.writable && contents != contents_of(resolved))
            throw user_error(
                "simulation: save(): a file that the scenario names has changed since the simulation was made.");
        saved_simulation all;
        all.add_text("scenario", identity());
        std::string set;
        for (const auto& [address, value] : tuned) set += fmt::format("{} {:a}\n", address, value);
        all.add_text("parameters", set);
        visit_masters([&](const std::string& name, auto& part) { all.add_state_of(name, part); });
        transport& subsystems = *system().subsystems;
        const std::vector<double> outputs(subsystems.outputs().begin(), subsystems.outputs().end());
        std::vector<double> kept = outputs;
        all.add_state_of("outputs", kept);
        subsystems.save(checkpoint());
        for (std::size_t i = 0; i < subsystems.size(); ++i)
            all.add(fmt::format("subsystem {}", subsystems.name(subsystem_index(i))),
                    subsystems.get_state(checkpoint(), subsystem_index(i)));
        all.write(to);
    }

    void load(std::istream& from) {
        if (reached == stage::failed) check_running("load()");
        if (const std::string why = why_not_saved(); !why.empty())
            throw user_error(fmt::format("simulation: load(): {}.", why));
        need_scenario("load()");
        const saved_simulation all = saved_simulation::read(from);
        if (const std::string other = first_difference(all.text("scenario"), identity()); !other.empty())
            throw user_error(
                fmt::format("simulation: load(): the state was saved by a simulation of another scenario: {}.", other));
        check_texts(all);
        set_parameters(all.text("parameters"));
        if (reached == stage::built) initialise();
        try {
            visit_masters([&](const std::string& name, auto& part) {
                if (all.has(name)) all.put_state_of(name, part);
            });
            transport& subsystems = *system().subsystems;
            std::vector<double> outputs;
            all.put_state_of("outputs", outputs);
            for (std::size_t i = 0; i < subsystems.size(); ++i)
                subsystems.set_state(checkpoint(), subsystem_index(i),
                                     all.bytes(fmt::format("subsystem {}", subsystems.name(subsystem_index(i)))));
            subsystems.set_state(checkpoint(), time, outputs);
            subsystems.restore(checkpoint());
            system().texts.give_again(subsystems);
            system().forget_begin();
            if (watch && !all.has("watch")) watch->start(system(), time);
            if (!steps->stands_at(time))
                throw user_error(
                    fmt::format("simulation: load(): the state was saved after a last step that its end, {:.10g} s, "
                                "had cut short. Load it with that end.",
                                time));
        } catch (const state_mismatch& problem) {
            reached = stage::failed;
            throw user_error(fmt::format("simulation: load(): {}.", problem.what()));
        } catch (...) {
            reached = stage::failed;
            throw;
        }
        at_end = !early_end.empty() || steps->done();
    }

    void check_texts(const saved_simulation& saved) {
        text_signals there = system().texts;
        saved.put_state_of("texts", there);
        if (const auto at = system().texts.set_here_only(there))
            throw user_error(fmt::format(
                "simulation: load(): the text of '{}.{}' was set here, but not in the simulation that was saved. "
                "Load into a new simulation.",
                system().subsystems->name(at->subsystem),
                system().subsystems->describe(at->subsystem).text_inputs[static_cast<std::size_t>(at->input)].name));
    }

    /// As save() wrote them.
    void set_parameters(const std::string& text) {
        std::vector<std::pair<std::string, double>> saved;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('\n', at), blank = text.rfind(' ', end);
            saved.emplace_back(text.substr(at, blank - at), std::strtod(text.c_str() + blank + 1, nullptr));
            at = end + 1;
        }
        for (const auto& [address, value] : tuned)
            if (std::ranges::find(saved, address, &std::pair<std::string, double>::first) == saved.end())
                throw user_error(fmt::format(
                    "simulation: load(): '{}' was set to {} here, but not in the simulation that was saved.", address,
                    value));
        const address_book book(*system().subsystems);
        std::erase_if(saved, [&](const auto& s) { return std::ranges::find(tuned, s) != tuned.end(); });
        for (const auto& [address, value] : saved)
            check_tunable(book.find_parameter({address, {}}, "simulation"), address);
        for (const auto& [address, value] : saved)
            tune(book.find_parameter({address, {}}, "simulation"), address, value);
    }

    void reset() {
        if (reference) throw user_error("simulation: reset(): a reference does not begin anew; make another.");
        if (!options.writable) throw user_error("simulation: reset(): the simulation was made with writable = false.");
        need_scenario("reset()");
        transport& subsystems = *system().subsystems;
        for (std::size_t i = 0; i < subsystems.size(); ++i)
            if (!subsystems.offers(subsystem_index(i)).starts_again)
                throw user_error(
                    fmt::format("simulation: reset(): subsystem '{}' ({}) cannot begin anew. Make another simulation.",
                                subsystems.name(subsystem_index(i)), subsystems.describe(subsystem_index(i)).type));
        subsystems.reset();
        pristine.read();
        pristine(system());
        system().integrations = system().advances = system().evaluations = 0;
        system().forget_begin();
        parts.chosen_method = make_method(resolved);
        parts.brief(*parts.chosen_method);
        make_masters(resolved);
        reached = stage::built;
        made_at = clock::now();
        time = grid.start();
        count = 0;
        at_end = interrupted = diverged = false;
        early_end.clear();
    }

    void describe_after() {
        coupled_system& all = system();
        const transport& subsystems = *all.subsystems;
        // With steps of their own subsystems are asked more often than once per macro step, and not all at once.
        const std::int64_t rounds = chosen().traits().own_steps ? summary.integrations : summary.steps;
        summary.work = parallel_figures(subsystems, rounds > 0 ? summary.wall_seconds / static_cast<double>(rounds) : 0,
                                        subsystems.cpu_seconds() - cpu_begin);
        summary.workers = subsystems.workers();
        // Counted per integration, told per macro step; any at all are told.
        const std::int64_t integrations = std::max<std::int64_t>(1, std::max(summary.steps, all.advances));
        summary.parallel_steps = (subsystems.parallel_steps() * summary.steps + integrations - 1) / integrations;
        for (std::size_t i = 0; i < subsystems.size(); ++i) {
            const subsystem_index index(i);
            const subsystem_cost cost = subsystems.cost(index);
            run_summary::subsystem& entry = summary.subsystems[i];
            entry.type = subsystems.describe(index).type;
            enter(subsystems.statistics(index), entry);
            entry.seconds_per_step = cost.seconds_per_step;
            entry.worker = cost.worker;
        }
        summary.connections.clear();
        summary.signals.clear();
        for (std::size_t c = 0; c < parts.channels.size(); ++c) {
            const channel_report& channel = parts.channels[c];
            if (channel.internal) continue;
            const coupling_quality q = watch ? watch->monitor().quality(c) : coupling_quality{};
            (channel.is_signal ? summary.signals : summary.connections)
                .push_back({channel.name, channel.law_name, channel.extrapolation, q.u_min, q.u_max, all.u[c],
                            channel.unit, q.jump_max, q.jump_rms, q.energy_error, q.energy, q.energy_peak, q.unresolved,
                            q.phase, q.amplitude, q.contacts});
        }
        summary.bonds.clear();
        for (std::size_t i = 0; i < all.bonds.size(); ++i) {
            const auto& bond = all.bonds[i];
            const bond_quality q = watch ? watch->bonds().quality(i) : bond_quality{};
            const auto name = [&](channel_index c) { return parts.channels[c.value()].name; };
            summary.bonds.push_back({bond.name, name(bond.flow), name(bond.effort), bond.corrected, q.energy_error,
                                     q.energy, q.energy_peak});
        }
    }

    simulation_options options;
    clock::time_point made_at = clock::now(), loop_begin = made_at;
    assembly parts;
    scenario resolved;
    time_grid grid;
    std::optional<double> record_every;
    std::unique_ptr<stepper> steps;
    step_controller* controller = nullptr;
    std::optional<reference_run> reference;
    std::optional<coupling_monitor> monitor;
    std::optional<coupling_watch> watch;
    std::vector<bool> in_loops;
    std::vector<observer*> observers;
    struct written_value {
        input_slot slot;  ///< not valid: a parameter, which the subsystem has already
        subsystem_index subsystem;
        double value;
    };
    std::vector<written_value> writes;  ///< for the next macro point
    std::vector<std::pair<std::string, double>> tuned;
    state_bytes pristine;  ///< the system before its start
    std::string contents;  ///< of the files that were read
    std::optional<state_id> checkpoint_state;
    std::string early_end;
    std::optional<std::string> why_fixed;  ///< macro steps; asked for in each
    stage reached = stage::built;
    double time;
    std::int64_t count = 0;
    bool at_end = false, interrupted = false, diverged = false;
    double setup_seconds = 0, cpu_begin = 0;
    run_summary summary;
};

simulation::simulation(const scenario& s, const simulation_options& options)
    : self_(options.led && s.time.end <= s.time.start ? simulation(without_end(s), options).self_
            : may_have_signal_targets(s) ? std::make_unique<impl>(with_signal_targets(s, !options.monolithic), options)
                                         : std::make_unique<impl>(s, options)) {}
simulation::simulation(simulation&&) noexcept = default;
simulation::~simulation() = default;

void simulation::initialise() {
    self_->initialise();
    if (self_->interrupted) return;
    if (self_->watch) self_->watch->start(self_->system(), self_->time);
    for (observer* o : self_->observers) o->started(*this);
}

macro_step simulation::step() {
    const macro_step done_step = [&] {
        try {
            return self_->step();
        } catch (const run_error& problem) {
            if (self_->reference) throw;
            throw run_error(explained(self_->parts, self_->watch ? &*self_->watch : nullptr, problem, self_->time));
        }
    }();
    if (self_->interrupted) return done_step;
    for (observer* o : self_->observers) o->committed(*this, done_step);
    if (self_->diverged) [[unlikely]] {
        self_->reached = impl::stage::failed;
        const channel_index first(static_cast<std::size_t>(self_->watch->monitor().diverging()));
        const std::string values = unusable_values(self_->parts, first, done_step.end);
        throw run_error(fmt::format("{}{}{}", self_->watch->divergence(), values.empty() ? "" : ". The ", values));
    }
    return done_step;
}

void simulation::reset(std::span<const std::pair<std::string, double>> changes) {
    const address_book book(*self_->parts.system.subsystems);
    for (const auto& [address, value] : changes) {
        if (!book.has_input(address)) book.find_parameter({address, {}}, "simulation");
        if (!std::isfinite(value))
            throw user_error(fmt::format("simulation: '{}' cannot be set to {}.", address, value));
    }
    self_->reset();
    for (const auto& [address, value] : changes) set(address, value);
}

void simulation::save(std::ostream& to) { self_->save(to); }
std::string simulation::why_not_saved() const { return self_->why_not_saved(); }

void simulation::load(std::istream& from) {
    self_->load(from);
    for (observer* o : self_->observers) o->loaded(*this);
}

const input_journal& simulation::inputs() const { return self_->parts.system.journal; }
const std::string& simulation::early_end() const { return self_->early_end; }

void simulation::advance_to(double t) {
    self_->check_running("advance_to()");
    if (!std::isfinite(t)) throw user_error(fmt::format("simulation: advance_to({}) is no time.", t));
    if (t < self_->time)
        throw user_error(
            fmt::format("simulation: advance_to({:.10g}) lies before the present time, {:.10g} s.", t, self_->time));
    while (!self_->at_end && self_->time < t && !self_->interrupted) step();
}

void simulation::advance_over(double span) {
    impl& s = *self_;
    s.check_running("advance_over()");
    if (!s.options.led)
        throw user_error("simulation: advance_over() needs a simulation that was made with led = true.");
    if (!std::isfinite(span) || span <= 0) throw user_error(fmt::format("simulation: advance_over({}).", span));
    if (s.at_end)
        throw user_error(fmt::format("simulation: advance_over() after the end, t = {:.10g} s, was reached.", s.time));
    if (!s.why_fixed) s.why_fixed = s.why_steps_are_fixed();
    const std::string& fixed = *s.why_fixed;
    if (!s.steps->lead_over(span, fixed.empty()))
        throw user_error(fmt::format(
            "a step over {:.10g} s is no whole multiple of the macro step, {:.10g} s, which cannot change: {}.", span,
            s.resolved.time.step, fixed));
    do step();
    while (!s.at_end && !s.steps->arrived());
}

std::string simulation::why_steps_are_fixed() const { return self_->why_steps_are_fixed(); }

double simulation::time() const { return self_->time; }
double simulation::end() const { return self_->grid.end(); }
bool simulation::done() const { return self_->at_end; }
bool simulation::interrupted() const { return self_->interrupted; }
bool simulation::diverged() const { return self_->diverged; }
bool simulation::failed() const { return self_->reached == impl::stage::failed; }
std::int64_t simulation::steps() const { return self_->count; }

simulation::place simulation::find(const std::string& address) const {
    const assembly& parts = self_->parts;
    place at;
    const std::size_t dot = address.rfind('.');
    const std::string name = address.substr(0, dot), rest = dot == std::string::npos ? "" : address.substr(dot + 1);
    for (std::size_t c = 0; c < parts.channels.size(); ++c) {
        if (parts.channels[c].internal || parts.channels[c].name != name) continue;
        at.index_ = static_cast<std::uint32_t>(c);
        if (rest == "u") return at.from_ = place::source::coupling, at;
        if (rest == "jump") return at.from_ = place::source::jump, at;
        if (rest == "energy-error") return at.from_ = place::source::energy_error, at;
    }
    const address_book book(*parts.system.subsystems);
    try {
        at.index_ = static_cast<std::uint32_t>(book.find_output({address, {}}, "simulation").slot.value());
        return at;
    } catch (const user_error&) {
        if (!book.has_input(address)) throw;
    }
    at.from_ = place::source::input;
    at.index_ = static_cast<std::uint32_t>(book.find_input({address, {}}, "simulation").slot.value());
    return at;
}

double simulation::value(const place& at) const {
    if (self_->reached == impl::stage::built) [[unlikely]]
        throw user_error("simulation: there are no values before initialise().");
    // A reference that was interrupted or failed at its start has no values.
    const auto of = [&](std::span<const double> values) {
        if (at.index_ >= values.size()) throw user_error("simulation: there are no values, its start has failed.");
        return values[at.index_];
    };
    switch (at.from_) {
        case place::source::output:
            return of(outputs());
        case place::source::coupling:
            return of(coupling_variables());
        case place::source::jump:
            return self_->watch ? jumps()[at.index_] : 0;
        case place::source::energy_error:
            return self_->watch ? energy_errors()[at.index_] : 0;
        case place::source::input:
            return self_->options.monolithic ? std::nan("") : self_->system().input_value(input_slot(at.index_));
    }
    return 0;
}

std::string simulation::text(const std::string& address) const {
    if (self_->options.monolithic)
        throw user_error(fmt::format("simulation: '{}': a reference has no texts.", address));
    transport& subsystems = *self_->system().subsystems;
    const address_book book(subsystems);
    std::string found;
    if (const auto output = book.text_output(address)) {
        if (self_->reached == impl::stage::built)
            throw user_error(fmt::format("simulation: '{}' has no text before initialise().", address));
        subsystems.get_text(output->subsystem, output->slot, found);
        return found;
    }
    const auto input = book.text_input(address);
    if (!input) book.unknown_text({address, {}}, "simulation", false);
    if (const std::string* given = self_->system().texts.find(input->subsystem, input->slot)) return *given;
    throw user_error(fmt::format("simulation: input '{}' has been given no text yet.", address));
}

double simulation::value(const std::string& address) const {
    if (self_->reached == impl::stage::built)
        throw user_error(fmt::format("simulation: '{}' has no value before initialise().", address));
    return value(find(address));
}

void simulation::set_text(const std::string& address, const std::string& text) {
    self_->check_writable(address);
    const address_book book(*self_->parts.system.subsystems);
    const auto input = book.text_input(address);
    if (!input) book.unknown_text({address, {}}, "simulation", true);
    if (self_->system().texts.is_driven(input->subsystem, input->slot)) self_->refuse_driven(address);
    if (input->variable->type == variable_type::string && text.find('\0') != std::string::npos)
        throw user_error(fmt::format("simulation: '{}' takes a string, which has no zero bytes.", address));
    self_->system().texts.set(input->subsystem, input->slot, text);
    for (observer* o : self_->observers) o->written(*this, {address, 0, self_->count, text});
}

void simulation::set(const std::string& address, double value) {
    self_->check_writable(address);
    if (!std::isfinite(value)) throw user_error(fmt::format("simulation: '{}' cannot be set to {}.", address, value));
    const address_book book(*self_->parts.system.subsystems);
    if (!book.has_input(address)) {
        const auto parameter = book.find_parameter({address, {}}, "simulation");
        self_->tune(parameter, address, value);
        if (self_->reached == impl::stage::running) self_->writes.push_back({{}, parameter.subsystem, value});
        for (observer* o : self_->observers) o->written(*this, {address, value, self_->count});
        return;
    }
    const auto input = book.find_input({address, {}}, "simulation");
    if (self_->system().coupling.is_driven(input.slot)) self_->refuse_driven(address);
    self_->writes.push_back({input.slot, input.subsystem, value});
    for (observer* o : self_->observers) o->written(*this, {address, value, self_->count});
}

simulation::place simulation::find_free_input(const std::string& address) const {
    const auto input = address_book(*self_->parts.system.subsystems).find_input({address, {}}, "simulation");
    if (self_->parts.system.coupling.is_driven(input.slot)) self_->refuse_driven(address);
    place at;
    at.from_ = place::source::input;
    at.index_ = static_cast<std::uint32_t>(input.slot.value());
    at.subsystem_ = static_cast<std::uint32_t>(input.subsystem.value());
    return at;
}

void simulation::set(const place& free_input, double value) {
    if (self_->reached == impl::stage::failed) self_->check_running("set()");
    if (!std::isfinite(value)) throw user_error(fmt::format("simulation: an input cannot be set to {}.", value));
    self_->writes.push_back({input_slot(free_input.index_), subsystem_index(free_input.subsystem_), value});
}

void simulation::follow() {
    if (self_->reached == impl::stage::running && !self_->at_end && !self_->writes.empty()) self_->apply_writes();
}

void simulation::ask_everybody() {
    coupled_system& system = self_->system();
    for (std::size_t i = 0; i < system.subsystems->size(); ++i) system.evaluate_one(subsystem_index(i), true);
}

void simulation::add(observer& looks_on) { self_->observers.push_back(&looks_on); }

const scenario& simulation::resolved() const { return self_->resolved; }
void simulation::release_scenario() { self_->resolved = {}; }
const assembly& simulation::parts() const { return self_->parts; }
std::span<const double> simulation::outputs() const { return self_->outputs(); }
std::span<const double> simulation::coupling_variables() const { return self_->coupling_variables(); }
std::span<const double> simulation::jumps() const {
    return self_->monitor ? self_->monitor->jumps() : std::span<const double>{};
}
std::int64_t simulation::micro_steps(subsystem_index i) const {
    if (self_->reference) return self_->reference->micro_steps();
    return self_->parts.system.subsystems->statistics(i).micro_steps;
}
std::span<const double> simulation::energy_errors() const {
    return self_->monitor ? self_->monitor->energy_errors() : std::span<const double>{};
}
const coupling_trace* simulation::trace() const { return self_->watch ? &self_->watch->trace() : nullptr; }

run_summary simulation::finish() {
    impl& s = *self_;
    run_summary& summary = s.summary;
    summary.wall_seconds = s.reached == impl::stage::built ? 0 : seconds_since(s.loop_begin);
    summary.setup_seconds = s.setup_seconds;
    summary.reached = s.time;
    summary.steps = s.count;
    summary.integrations = s.parts.system.integrations;
    if (s.reference) {
        s.reference->describe(summary, s.parts);
        return summary;
    }
    summary.iterations = iterations_of(s.parts.system, s.chosen());
    if (s.controller != nullptr) {
        const step_control_counts& counts = s.controller->counts();
        summary.control->rejected = counts.rejected;
        summary.control->smallest = counts.smallest;
        summary.control->largest = counts.largest;
        summary.control->above = counts.above;
        summary.control->most_above = counts.most_above;
        summary.control->above_at = counts.above_at;
    }
    s.describe_after();
    if (s.watch && s.reached != impl::stage::built)
        summary.judged = judge(s.parts, *s.watch, s.grid.start(), s.outputs(), s.events_in_loops());
    if (summary.judged && summary.control && summary.control->most_above > doubtful_above)
        summary.judged->add(
            trust::doubtful,
            fmt::format("{} macro steps stand with errors above the tolerance of step-control, up to {:.3g} times, at "
                        "t = {:.6g} s: not all subsystems can go back",
                        summary.control->above, summary.control->most_above, summary.control->above_at),
            "bound the steps from above, 'step-control: {largest: ...}'");
    if (s.watch) summary.grown = ports_that_grew(s.parts, *s.watch);
    run_summary told = summary;
    if (s.watch && !s.watch->divergence().empty() && !s.diverged) told.notes.push_back(s.watch->divergence());
    if (!s.early_end.empty()) told.notes.push_back(s.early_end);
    add_stiffness_notes(told);
    return told;
}

std::unique_ptr<subsystem> make_alone(const scenario& whole, const std::string& name) {
    const scenario s = with_signal_targets(whole, true);
    const auto found = std::ranges::find(s.subsystems, name, &subsystem_spec::name);
    if (found != s.subsystems.end())
        return make_subsystem(on_macro_grid(*found, s.time.step, s.time.end - s.time.start));
    std::vector<std::string> names;
    for (const auto& entry : s.subsystems) names.push_back(entry.name);
    throw user_error(fmt::format("simulation: {}", unknown_name("subsystem", name, "The scenario", names)));
}

}  // namespace mdpcosim
