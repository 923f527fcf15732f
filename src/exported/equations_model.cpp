#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/state_bytes.hpp"
#include "exported/model.hpp"
#include "exported/places.hpp"
#include "subsystem/equilibrium.hpp"
#include "subsystem/tuning.hpp"

namespace mdpcosim {

namespace {

/// The equations of one subsystem, for the solver of the host.
///
/// Its events are carried out in event mode: indicators that are on another side than before, times that have come, what the model changes after
/// a step of the solver. The sides are those of the last step; where an event leaves an indicator at zero, that of the motion that follows.
class equations_model final : public exported_model, public exported_exchange {
   public:
    equations_model(exported_contents contents, const std::filesystem::path& resources)
        : exported_model(std::move(contents)), entry_(resources, name()) {}

    exported_exchange* exchange() override { return this; }

    std::size_t state_count() const override { return count(exported_variable::role::state); }
    std::size_t indicator_count() const override { return count(exported_variable::role::indicator); }
    void set_time(double t) override {
        if (t != t_) stay();
        t_ = t;
    }
    void set_states(std::span<const double> x) override {
        stay();
        std::ranges::copy(x, x_.begin());
    }
    void get_states(std::span<double> x) override { std::ranges::copy(x_, x.begin()); }
    void get_derivatives(std::span<double> dx) override {
        know_rates();
        std::ranges::copy(dx_, dx.begin());
    }
    void get_indicators(std::span<double> z) override {
        know_indicators();
        std::ranges::copy(z_, z.begin());
    }
    void get_nominals(std::span<double> nominals) override {
        for (std::size_t i = 0; i < nominals.size(); ++i) nominals[i] = model_->nominal(static_cast<int>(i));
    }
    void enter_event_mode() override { entered_ = true; }
    changes update() override;
    void enter_continuous_mode() override {
        if (model_->watches(moment::interval) && model_->discrete_update(moment::interval, t_, x_.data(), u_.data()))
            stay();
    }
    bool completed_step(bool& terminate) override;

   private:
    using role = exported_variable::role;

    std::size_t count(role what) const {
        return static_cast<std::size_t>(std::ranges::count(variables(), what, &exported_variable::what));
    }

    void make() override {
        made_from_ = settings();
        tuning_ = tuning_of_equations(entry_.spec);
        model_ = tuning_->make_equations(-1, 0);
        tuning_->accept();
        places_ = places_of(variables(), model_->describe(), tuning_->parameters);
        for (std::size_t i = 0; i < places_.size(); ++i)
            if (variable(i).is_parameter() && given(i))
                model_ = tuned(*tuning_, *model_, static_cast<int>(places_[i]), value(i));
        if (static_cast<std::size_t>(model_->state_count()) != state_count() ||
            static_cast<std::size_t>(model_->event_count()) != indicator_count())
            throw user_error("the FMU's subsystem has another number of states or events.");
        u_.resize(static_cast<std::size_t>(model_->describe().input_count()));
        y_.resize(static_cast<std::size_t>(model_->describe().output_count()));
        x_.resize(state_count());
        dx_.resize(state_count());
        z_.resize(static_cast<std::size_t>(model_->event_count()));
        sides_.assign(z_.size(), 0);
        t_ = start();
        begun_ = false;
        take_inputs();
    }
    bool make_again() override {
        if (begun_ || made_from_ != settings()) return false;
        take_inputs();
        return true;
    }
    void take_inputs() {
        for (const auto& u : model_->describe().inputs) std::fill_n(u_.begin() + u.slot, u.size, u.start);
        for (std::size_t i = 0; i < places_.size(); ++i)
            if (variable(i).what == role::input) u_[places_[i]] = value(i);
        model_->initial_state(t_, x_.data());
        if (model_->begins_at_rest) find_equilibrium(*model_, t_, u_.data(), x_.data());
        stay();
    }
    void started() override {
        begun_ = entered_ = true;
        if (model_->settles()) model_->settle(t_, u_.data(), x_.data());
        if (model_->begins_at_rest) find_equilibrium(*model_, t_, u_.data(), x_.data());
        stay();
        take_sides();
    }

    /// What is known of outputs and rates is known no longer.
    void stay() { knows_y_ = knows_dx_ = knows_z_ = knows_jacobian_ = false; }
    void know_rates() {
        if (std::exchange(knows_dx_, true)) return;
        model_->derivatives(t_, x_.data(), u_.data(), dx_.data());
    }
    void know_indicators() {
        if (std::exchange(knows_z_, true)) return;
        model_->event_indicators(t_, x_.data(), u_.data(), z_.data());
    }
    double output(std::size_t i) override {
        switch (variable(i).what) {
            case role::state:
                return x_[places_[i]];
            case role::derivative:
                know_rates();
                return dx_[places_[i]];
            case role::indicator:
                know_indicators();
                return z_[places_[i]];
            default:
                if (!std::exchange(knows_y_, true)) model_->outputs(t_, x_.data(), u_.data(), y_.data());
                return y_[places_[i]];
        }
    }
    void write(std::size_t i, double value) override {
        stay();
        if (!variable(i).is_parameter()) {
            u_[places_[i]] = value;
            return;
        }
        auto made = tuned(*tuning_, *model_, static_cast<int>(places_[i]), value);
        const auto memory = model_->make_memory();
        if (memory) model_->save_memory(*memory);
        model_ = std::move(made);
        std::vector<double> woken(x_.size());
        model_->initial_state(t_, woken.data());  // one with a memory
        if (memory) model_->restore_memory(*memory);
    }

    // events

    void take_sides() {
        know_indicators();
        for (std::size_t i = 0; i < z_.size(); ++i)
            if (z_[i] != 0) sides_[i] = z_[i] > 0 ? 1 : -1;
    }
    bool apply_crossings();
    void look_ahead(std::size_t i, double before);

    void differentiate(std::span<const std::size_t> unknowns, std::span<const std::size_t> knowns,
                       std::span<const double> seed, std::span<double> sensitivity) override;
    bool know_jacobian() {
        if (knows_jacobian_) return true;
        jacobian_.resize(x_.size() * x_.size());
        return knows_jacobian_ = model_->jacobian(t_, x_.data(), u_.data(), jacobian_.data());
    }

    double now() const override { return t_; }
    bool go_on(double) override { throw user_error("this instance is for model exchange: its host integrates it."); }

    std::string saved() override;
    void restore(const std::string& from) override;
    void forget() override { model_.reset(); }
    bool failed() const override { return false; }

    const exported_entry entry_;
    std::unique_ptr<tuning<equations>> tuning_;
    std::unique_ptr<equations> model_;
    std::vector<std::size_t> places_;
    std::vector<double> made_from_, x_, dx_, u_, y_, z_, sides_, jacobian_;
    std::vector<double>
        pending_;  ///< the state that the model wanted after a step of the solver; empty: it wanted nothing
    double t_ = 0;
    bool knows_y_ = false, knows_dx_ = false, knows_z_ = false, knows_jacobian_ = false;
    bool begun_ = false;
    bool entered_ = false;  ///< event mode, where update() was not called yet
};

exported_exchange::changes equations_model::update() {
    changes result;
    if (std::exchange(entered_, false)) {
        if (!pending_.empty()) {
            x_ = std::exchange(pending_, {});
            result.states = true;
            stay();
        }
        result.states |= apply_crossings();
        if (model_->discrete_update(moment::time_event, t_, x_.data(), u_.data())) {
            result.states = true;
            stay();
            apply_crossings();
        }
    }
    take_sides();
    model_->noticed.first_event = std::numeric_limits<double>::infinity();
    result.terminate = std::exchange(model_->noticed, {}).ask_to_end;
    result.next_event = model_->next_time_event(t_);
    return result;
}

/// True: the states were changed.
bool equations_model::apply_crossings() {
    know_indicators();
    bool changed = false;
    const std::vector<double> before = z_;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (sides_[i] == 0 || before[i] * sides_[i] > 0) continue;
        const bool rising = sides_[i] < 0;
        sides_[i] = -sides_[i];
        if (model_->is_corner(static_cast<int>(i))) continue;
        changed |= model_->apply_event(static_cast<int>(i), rising, t_, x_.data(), u_.data());
        stay();
        look_ahead(i, before[i]);
    }
    return changed;
}

/// An indicator that its event leaves at zero but for rounding is on the side where the motion leads it, as for the solvers of this program.
void equations_model::look_ahead(std::size_t i, double before) {
    know_indicators();
    const double after = z_[i];
    if (std::abs(after) > 2 * std::abs(before)) {
        sides_[i] = after > 0 ? 1 : -1;
        return;
    }
    know_rates();
    std::vector<double> x(x_.size()), z(z_.size());
    for (double ahead = 1e-12 * std::max(1.0, std::abs(t_)); ahead < 1; ahead *= 4) {
        for (std::size_t k = 0; k < x.size(); ++k) x[k] = x_[k] + ahead * dx_[k];
        model_->event_indicators(t_ + ahead, x.data(), u_.data(), z.data());
        if (z[i] == after) continue;
        sides_[i] = z[i] > after ? 1 : -1;
        return;
    }
}

bool equations_model::completed_step(bool& terminate) {
    bool wanted = false;
    know_indicators();
    for (std::size_t i = 0; i < z_.size(); ++i) {
        wanted |= z_[i] * sides_[i] < 0;
        if (sides_[i] == 0 && z_[i] != 0) sides_[i] = z_[i] > 0 ? 1 : -1;
    }
    if (model_->watches(moment::micro_step)) {
        pending_ = x_;
        if (model_->discrete_update(moment::micro_step, t_, pending_.data(), u_.data()))
            wanted = true;
        else
            pending_.clear();
    }
    terminate = model_->noticed.ask_to_end;
    return wanted;
}

void equations_model::differentiate(std::span<const std::size_t> unknowns, std::span<const std::size_t> knowns,
                                    std::span<const double> seed, std::span<double> sensitivity) {
    bool exact = know_jacobian();
    for (const std::size_t i : unknowns) exact = exact && variable(i).what == role::derivative;
    std::vector<double> values;
    for (const std::size_t i : knowns) {
        const role what = variable(i).what;
        if (what != role::state && what != role::input)
            throw user_error(variable(i).address + " is neither a state nor an input; derivatives are by these");
        values.push_back(what == role::state ? x_[places_[i]] : u_[places_[i]]);
        exact = exact && what == role::state;
    }
    if (exact) {
        std::ranges::fill(sensitivity, 0);
        for (std::size_t k = 0; k < knowns.size(); ++k)
            for (std::size_t i = 0; i < unknowns.size() && seed[k] != 0; ++i)
                sensitivity[i] += seed[k] * jacobian_[places_[knowns[k]] * x_.size() + places_[unknowns[i]]];
        return;
    }
    for (const std::size_t i : unknowns)
        if (variable(i).settable() || variable(i).what == role::state)
            throw user_error(variable(i).address + " is neither an output nor the derivative of a state");
    std::vector<double> room;
    difference(values, seed, sensitivity, room, [&](double step, std::span<double> into) {
        for (std::size_t k = 0; k < knowns.size(); ++k)
            (variable(knowns[k]).what == role::state ? x_ : u_)[places_[knowns[k]]] = values[k] + step * seed[k];
        stay();
        for (std::size_t i = 0; i < into.size(); ++i) into[i] = output(unknowns[i]);
    });
}

std::string equations_model::saved() {
    for (const auto& why : {model_->why_not_saved(), model_->why_no_bytes()})
        if (!why.empty()) throw user_error("its state cannot be saved: " + why);
    std::vector<std::byte> inside;
    if (const auto memory = model_->make_memory()) {
        model_->save_memory(*memory);
        inside = to_bytes(*memory);
    }
    state_bytes bytes;
    bytes.write();
    bytes(x_, u_, sides_, t_, pending_, entered_, inside);
    return {reinterpret_cast<const char*>(bytes.bytes().data()), bytes.bytes().size()};
}

void equations_model::restore(const std::string& from) {
    state_bytes bytes;
    const auto* first = reinterpret_cast<const std::byte*>(from.data());
    bytes.bytes().assign(first, first + from.size());
    bytes.read();
    std::vector<std::byte> inside;
    try {
        bytes.fixed(x_);
        bytes.fixed(u_);
        bytes.fixed(sides_);
        bytes(t_, pending_, entered_, inside);
        bytes.finish();
        if (const auto memory = model_->make_memory()) {
            from_bytes(*memory, inside);
            model_->restore_memory(*memory);
        }
    } catch (const state_mismatch&) {
        throw user_error("the state is that of another FMU.");
    }
    begun_ = true;
    stay();
}

}  // namespace

std::unique_ptr<exported_model> make_exported_equations(exported_contents contents,
                                                        const std::filesystem::path& resources) {
    return std::make_unique<equations_model>(std::move(contents), resources);
}

}  // namespace mdpcosim
