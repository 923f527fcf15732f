#include "reference/composite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "subsystem/equilibrium.hpp"

namespace mdpcosim {

namespace {

std::size_t size(int count) { return static_cast<std::size_t>(count); }

}  // namespace

composite_equations::composite_equations(composite_parts parts, double t0, const std::atomic<bool>* interrupt)
    : coupling_(std::move(parts.coupling)),
      order_(std::move(parts.at_each_step)),
      loops_(std::move(parts.loops)),
      interrupt_(interrupt),
      t0_(t0),
      arrived_(t0) {
    for (auto& p : parts.subsystems) add(std::move(p));
    std::vector<composite_joints::range> states;
    for (const auto& p : places_) states.push_back({p.state, p.states});
    joints_ = composite_joints(std::move(parts.joints), std::move(states));
    rates_ = coupling_.read_integrals_from(output_slot(first_integral_));
    law_states_ = coupling_.read_law_states_from(output_slot(first_integral_ + rates_.size()));
    y_.resize(first_integral_ + integral_count());
    u_.resize(coupling_.channels());
    du_.resize(coupling_.channels());
    inputs_ = start_inputs_;

    description_.type = "reference";
    int slot = 0;
    for (const auto& [name, count] :
         {std::pair("y", first_integral_), std::pair("integral", integral_count()), std::pair("u", u_.size())}) {
        if (count == 0) continue;
        output_variable v;
        v.name = name;
        v.size = static_cast<int>(count);
        v.slot = slot;
        slot += v.size;
        description_.outputs.push_back(std::move(v));
    }
    corners_ = coupling_.corners();
    for (const auto& c : corners_) corner_count_ += c.corners;
    coupling_.use_limit();
    start(t0);
    find_readers();
}

void composite_equations::add(composite_parts::part from) {
    place p;
    p.name = std::move(from.name);
    p.model = std::move(from.model);
    p.input = from.input_offset;
    p.output = from.output_offset;
    p.sampled = std::move(from.sampled);
    p.clock = from.clock;
    const subsystem_description& d = p.describe();
    p.inputs = size(d.input_count());
    p.state = states_;
    p.event = events_;
    if (p.model) {
        p.states = size(p.model->state_count());
        p.events = p.model->event_count();
    } else {
        p.samples.resize(p.inputs);
    }
    states_ += p.states;
    events_ += p.events;
    first_integral_ = std::max(first_integral_, p.output + size(d.output_count()));
    start_inputs_.resize(std::max(start_inputs_.size(), p.input + p.inputs));
    for (const auto& input : d.inputs)
        std::fill_n(start_inputs_.begin() + static_cast<std::ptrdiff_t>(p.input) + input.slot, input.size, input.start);
    places_.push_back(std::move(p));
}

void composite_equations::start(double t0) {
    x0_.assign(states_ + integral_count(), 0.0);
    for (const auto& p : places_) {
        guarded(p, t0, [&] {
            if (p.model)
                p.model->initial_state(t0, x0_.data() + p.state);
            else
                p.sampled->initialise(t0);
        });
        evaluate(p, t0, x0_.data(), start_inputs_.data(), y_.data());
    }
    coupling_.start(t0, y_);
    settle_models(t0);
    if (joints_.empty()) return;
    couple(t0, x0_.data());
    joints_.check_start();
}

void composite_equations::open(std::vector<input_slot> inputs) {
    open_ = std::move(inputs);
    if (std::ranges::any_of(open_, [&](input_slot i) { return coupling_.is_driven(i); }))
        added_.assign(start_inputs_.size(), 0.0);
}

void composite_equations::take(const double* u) const {
    if (u == nullptr) return;
    for (std::size_t k = 0; k < open_.size(); ++k) {
        const std::size_t i = open_[k].value();
        if (coupling_.is_driven(open_[k]))
            added_[i] = u[k];
        else
            start_inputs_[i] = inputs_[i] = u[k];
    }
}

void composite_equations::add_open(const place& p, std::span<double> values) const {
    if (added_.empty()) return;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += added_[p.input + i];
}

void composite_equations::input_values(const place& p, std::span<const double> u, std::span<double> values) const {
    coupling_.input_values(u, p.input, values);
    add_open(p, values);
}

void composite_equations::begin(double t0, const double* u) {
    take(u);
    t0_ = arrived_ = t0;
    start(t0);
}

bool composite_equations::settles() const {
    return std::ranges::any_of(
        places_, [](const place& p) { return p.model && (p.model->settles() || p.model->begins_at_rest); });
}

/// Initial states that follow from inputs, which outputs give that need no state, or are an equilibrium under them.
void composite_equations::settle_models(double t0) {
    if (!settles()) return;
    const auto waits = [](const place& p) { return p.model && (p.model->settles() || p.model->begins_at_rest); };
    couple(t0, x0_.data());
    const std::vector<double> inputs = inputs_;
    for (const auto& p : places_) {
        if (!waits(p)) continue;
        const double* u = inputs.data() + p.input;
        double* x = x0_.data() + p.state;
        guarded(p, t0, [&] {
            if (p.model->settles()) p.model->settle(t0, u, x);
            if (p.model->begins_at_rest) find_equilibrium(*p.model, t0, u, x);
        });
    }
    couple(t0, x0_.data());
    coupling_.start(t0, y_);
}

/// Failures name the subsystem, as they do in the co-simulation.
template <class Call>
void composite_equations::guarded(const place& p, double t, const Call& call) const {
    try {
        call();
    } catch (const std::exception& problem) {
        throw run_error(fmt::format("subsystem '{}' failed at t = {} s: {}", p.name, t, problem.what()));
    }
}

void composite_equations::evaluate(const place& p, double t, const double* x, const double* inputs, double* y) const {
    guarded(p, t, [&] {
        if (p.model)
            p.model->outputs(t, x + p.state, inputs + p.input, y + p.output);
        else
            p.sampled->outputs({inputs + p.input, p.inputs}, {y + p.output, size(p.describe().output_count())});
    });
}

bool composite_equations::samples_at(double t) const {
    return std::any_of(places_.begin(), places_.end(),
                       [&](const place& p) { return p.sampled && p.clock.acts_at(t0_, t); });
}

void composite_equations::arrive(double t) {
    sampling_ = true;
    if (!(t > arrived_)) return;  // at t0
    for (const auto& p : places_)
        if (p.sampled)
            guarded(p, t, [&] {
                p.sampled->advance({arrived_, t, 0}, p.samples,
                                   std::span(y_).subspan(p.output, size(p.describe().output_count())));
            });
    arrived_ = t;
}

void composite_equations::take_samples(double t, const double* x) {
    couple(t, x);
    sampling_ = false;
    for (auto& p : places_)
        for (std::size_t i = 0; i < p.samples.size(); ++i) p.samples[i].c[0] = inputs_[p.input + i];
}

std::int64_t composite_equations::samples() const {
    std::int64_t sum = 0;
    for (const auto& p : places_)
        if (p.sampled) sum += p.sampled->statistics().micro_steps;
    return sum;
}

void composite_equations::couple(double t, const double* x) const {
    if (joints_.empty()) return couple_in_order(t, x);
    std::ranges::fill(u_, 0);
    couple_in_order(t, x);
    for (const subsystem_index s : joints_.subsystems()) evaluate(places_[s.value()], t, x, inputs_.data(), y_.data());
    without_joints_ = inputs_;
    joints_.hold(x, inputs_, y_, u_, at(t));
    // Once more for outputs that depend on the loads of joints. Where these act on joined subsystems again, the loads are not the right ones.
    const std::vector<double> u = u_;
    couple_in_order(t, x);
    for (const subsystem_index s : joints_.subsystems()) {
        const place& p = places_[s.value()];
        input_values(p, u, std::span(without_joints_).subspan(p.input, p.inputs));
        if (!std::equal(inputs_.begin() + p.input, inputs_.begin() + p.input + p.inputs,
                        without_joints_.begin() + p.input))
            throw run_error(fmt::format(
                "subsystem '{}' has a joint and an input that depends at once on the joints' loads, through outputs "
                "with feed-through: the reference does not solve such loops",
                p.name));
    }
}

composite_joints::evaluation composite_equations::at(double t) const {
    return [this, t](subsystem_index s, const double* x, const double* inputs, double* y) {
        evaluate(places_[s.value()], t, x, inputs, y);
    };
}

void composite_equations::couple_in_order(double t, const double* x) const {
    // Outputs without feed-through are right at once; those with it get start values first, as at the start of a run.
    for (const auto& p : places_)
        if (p.by_ports)
            guarded(p, t, [&] {
                p.model->port_outputs(t, x + p.state, start_inputs_.data() + p.input, y_.data() + p.output);
            });
        else if (p.model || sampling_)
            evaluate(p, t, x, start_inputs_.data(), y_.data());
    std::copy(x + states_, x + x0_.size(), y_.begin() + static_cast<std::ptrdiff_t>(first_integral_));
    const auto inputs_of = [&](const place& p) { return std::span(inputs_).subspan(p.input, p.inputs); };
    const auto follow = [&](const coupling_structure::evaluation& e) {
        const place& p = places_[e.subsystem.value()];
        if (!p.model && !sampling_) return;
        coupling_.evaluate_inputs(t, y_, e.channels, u_, p.input, inputs_of(p));
        add_open(p, inputs_of(p));
        evaluate(p, t, x, inputs_.data(), y_.data());
    };
    for (auto e = order_.begin(); e != order_.end();) {
        if (e->loop < 0) {
            follow(*e++);
            continue;
        }
        const auto last = std::find_if(e, order_.end(), [&](const auto& other) { return other.loop != e->loop; });
        loops_[size(e->loop)].solve(t, coupling_, y_, u_, [&] { std::for_each(e, last, follow); });
        e = last;
    }
    coupling_.evaluate_values(t, y_, u_, du_);
    for (const auto& p : places_) input_values(p, u_, inputs_of(p));
}

const composite_equations::place* composite_equations::owner_of(int& state) const {
    for (const auto& p : places_)
        if (size(state) >= p.state && size(state) < p.state + p.states) {
            state -= static_cast<int>(p.state);
            return &p;
        }
    return nullptr;
}

std::string composite_equations::state_name(int state) const {
    if (const place* p = owner_of(state))
        return fmt::format("{} of subsystem '{}'", p->model->state_name(state), p->name);
    if (size(state) >= states_ + rates_.size())
        return fmt::format("the state of connection '{}'",
                           coupling_.name(law_states_[size(state) - states_ - rates_.size()]));
    return fmt::format("{} (the integral of a flow)", state);
}

double composite_equations::nominal(int state) const {
    const place* p = owner_of(state);
    return p != nullptr ? p->model->nominal(state) : 1;
}

bool composite_equations::rests(int state) const {
    const place* p = owner_of(state);
    return p == nullptr || p->model->rests(state);
}

std::string composite_equations::output_name(std::size_t slot) const {
    if (slot >= y_.size()) return fmt::format("u of connection '{}'", coupling_.name(channel_index(slot - y_.size())));
    for (const auto& p : places_)
        for (const auto& v : p.describe().outputs) {
            const int local = static_cast<int>(slot) - static_cast<int>(p.output);
            if (local >= v.slot && local < v.slot + v.size)
                return fmt::format("output '{}' of subsystem '{}'", element_name(v, local), p.name);
        }
    if (slot >= first_integral_ + rates_.size())
        return fmt::format("the state of connection '{}'",
                           coupling_.name(law_states_[slot - first_integral_ - rates_.size()]));
    return fmt::format("the integral of {}", output_name(rates_[slot - first_integral_].value()));
}

bool composite_equations::is_algebraic(int state) const {
    const place* p = owner_of(state);
    return p != nullptr && p->model->is_algebraic(state);
}

void composite_equations::initial_state(double, double* x) const { std::copy(x0_.begin(), x0_.end(), x); }

void composite_equations::derivatives(double t, const double* x, const double* u, double* dx) const {
    take(u);
    if (interrupt_ != nullptr && interrupt_->load(std::memory_order_relaxed)) throw composite_interrupted();
    couple(t, x);
    for (const auto& p : places_)
        if (p.states > 0)
            guarded(p, t, [&] { p.model->derivatives(t, x + p.state, inputs_.data() + p.input, dx + p.state); });
    for (std::size_t k = 0; k < rates_.size(); ++k) dx[states_ + k] = y_[rates_[k].value()];
    for (std::size_t k = 0; k < law_states_.size(); ++k)
        dx[states_ + rates_.size() + k] = coupling_.state_rate(t, law_states_[k], y_);
}

void composite_equations::outputs(double t, const double* x, const double* u, double* y) const {
    take(u);
    couple(t, x);
    y = std::copy(y_.begin(), y_.end(), y);
    std::copy(u_.begin(), u_.end(), y);
    y -= y_.size();
    for (const auto& p : places_)
        if (p.model && (p.inputs > 0 || p.by_ports)) evaluate(p, t, x, inputs_.data(), y);
}

void composite_equations::event_indicators(double t, const double* x, const double* u, double* z) const {
    take(u);
    couple(t, x);
    for (const auto& p : places_)
        if (p.events > 0)
            guarded(p, t, [&] { p.model->event_indicators(t, x + p.state, inputs_.data() + p.input, z + p.event); });
    coupling_.corner_values(t, y_, corners_, z + events_);
}

bool composite_equations::apply_event(int event, bool rising, double t, double* x, const double* u) {
    take(u);
    couple(t, x);
    const place& p = place_of_event(event);
    bool changed = false;
    guarded(p, t,
            [&] { changed = p.model->apply_event(event - p.event, rising, t, x + p.state, inputs_.data() + p.input); });
    look_for_the_end(p);
    return changed;
}

std::string composite_equations::event_name(int event) const {
    for (int first = events_; const auto& c : corners_)
        if (event >= std::exchange(first, first + c.corners) && event < first)
            return fmt::format("a corner of connection '{}'", coupling_.name(c.channel));
    const place& p = place_of_event(event);
    return fmt::format("{} of subsystem '{}'", p.model->event_name(event - p.event), p.name);
}

const composite_equations::place& composite_equations::place_of_event(int event) const {
    return *std::find_if(places_.begin(), places_.end(), [&](const place& p) { return event < p.event + p.events; });
}

double composite_equations::next_time_event(double t) const {
    double next = std::numeric_limits<double>::infinity();
    for (const auto& p : places_)
        if (p.model) next = std::min(next, p.model->next_time_event(t));
    return next;
}

bool composite_equations::watches(moment m) const {
    if (m == moment::micro_step && !joints_.empty()) return true;
    return std::any_of(places_.begin(), places_.end(), [m](const place& p) { return p.model && p.model->watches(m); });
}

bool composite_equations::discrete_update(moment m, double t, double* x, const double* u) {
    take(u);
    bool changed = false;
    for (const auto& p : places_) {
        if (!p.model || (m != moment::time_event && !p.model->watches(m))) continue;
        couple(t, x);
        guarded(p, t, [&] { changed |= p.model->discrete_update(m, t, x + p.state, inputs_.data() + p.input); });
        look_for_the_end(p);
    }
    if (m == moment::micro_step && !joints_.empty()) changed |= joints_.project(x, inputs_, y_, at(t));
    return changed;
}

namespace {

/// Discrete parts of all models that have one.
struct composite_memory final : snapshot {
    std::vector<std::unique_ptr<snapshot>> models;
    void state(state_bytes& bytes) override {
        for (const auto& m : models)
            if (m) m->state(bytes);
    }
};

}  // namespace

std::unique_ptr<snapshot> composite_equations::make_memory() const {
    auto made = std::make_unique<composite_memory>();
    for (const auto& p : places_) made->models.push_back(p.model ? p.model->make_memory() : nullptr);
    return made;
}

void composite_equations::save_memory(snapshot& into) {
    const auto& models = static_cast<composite_memory&>(into).models;
    for (std::size_t i = 0; i < models.size(); ++i)
        if (models[i]) places_[i].model->save_memory(*models[i]);
}

void composite_equations::restore_memory(const snapshot& from) {
    const auto& models = static_cast<const composite_memory&>(from).models;
    for (std::size_t i = 0; i < models.size(); ++i)
        if (models[i]) places_[i].model->restore_memory(*models[i]);
}

std::string composite_equations::why_not_saved() const {
    for (const auto& p : places_)
        if (p.model && !p.model->why_not_saved().empty())
            return fmt::format("subsystem '{}': {}", p.name, p.model->why_not_saved());
    return {};
}

std::string composite_equations::why_no_bytes() const {
    for (const auto& p : places_)
        if (p.model && !p.model->why_no_bytes().empty())
            return fmt::format("subsystem '{}': {}", p.name, p.model->why_no_bytes());
    return {};
}

}  // namespace mdpcosim
