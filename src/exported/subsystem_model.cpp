#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/state_bytes.hpp"
#include "exported/model.hpp"
#include "exported/places.hpp"
#include "subsystem/factory.hpp"
#include "subsystem/shown_equations.hpp"

namespace mdpcosim {

namespace {

/// One subsystem with its own solver: a step of the host is one macro step.
class subsystem_model final : public exported_model {
   public:
    subsystem_model(exported_contents contents, const std::filesystem::path& resources)
        : exported_model(std::move(contents)), entry_(resources, name()) {}

   private:
    using role = exported_variable::role;

    void make() override {
        made_from_ = settings();
        subsystem_ = make_subsystem(entry_.spec);
        const subsystem_description& d = subsystem_->describe();
        places_ = places_of(variables(), d, subsystem_->offers().parameters);
        u_.resize(static_cast<std::size_t>(d.input_count()));
        y_.resize(static_cast<std::size_t>(d.output_count()));
        inputs_.resize(u_.size());
        for (std::size_t i = 0; i < places_.size(); ++i)
            if (variable(i).is_parameter() && given(i)) subsystem_->tune(static_cast<int>(places_[i]), value(i));
        if (stop()) subsystem_->expect({.end = *stop()});
        t_ = start();
        count_ = 0;
        failed_ = begun_ = false;
        subsystem_->initialise(t_);
        take_inputs();
    }
    /// Nothing but inputs has changed, which the initial state waits for.
    bool make_again() override {
        if (begun_ || made_from_ != settings()) return false;
        take_inputs();
        return true;
    }
    void take_inputs() {
        for (const auto& u : subsystem_->describe().inputs)
            std::fill_n(u_.begin() + u.slot, u.size, u.start);  // what the host does not see stays there
        for (std::size_t i = 0; i < places_.size(); ++i)
            if (variable(i).what == role::input) u_[places_[i]] = value(i);
        for (std::size_t k = 0; k < u_.size(); ++k) hold(k);
        subsystem_->outputs(u_, y_);
        follows_ = true;
    }
    void started() override { begun_ = true; }
    void hold(std::size_t slot) {
        inputs_[slot].degree = 0;
        inputs_[slot].c[0] = u_[slot];
    }

    double output(std::size_t i) override {
        const role what = variable(i).what;
        if (what == role::output) {
            if (!follows_) follow();
            return y_[places_[i]];
        }
        // As the solver's last step left them.
        auto& shown = dynamic_cast<shows_equations&>(*subsystem_);
        const double* x = shown.shown_state(is_running());
        if (what == role::state) return x[places_[i]];
        const equations& model = shown.shown_equations();
        numbers_.resize(static_cast<std::size_t>(std::max(model.state_count(), model.event_count())));
        if (what == role::derivative)
            model.derivatives(t_, x, u_.data(), numbers_.data());
        else
            model.event_indicators(t_, x, u_.data(), numbers_.data());
        return numbers_[places_[i]];
    }
    void follow() {
        subsystem_->outputs(u_, y_);
        follows_ = true;
    }
    void write(std::size_t i, double value) override {
        if (variable(i).is_parameter()) {
            subsystem_->tune(static_cast<int>(places_[i]), value);
        } else {
            u_[places_[i]] = value;
            hold(places_[i]);
        }
        follows_ = false;
    }
    void slope(std::size_t i, int order, double value) override {
        polynomial& p = inputs_[places_[i]];
        for (int k = 2; k <= order; ++k) value /= k;
        std::fill(p.c.begin() + p.degree + 1, p.c.begin() + std::max(order, p.degree) + 1, 0.0);
        p.c[static_cast<std::size_t>(order)] = value;
        p.degree = std::max(p.degree, order);
        sloped_ = true;
    }

    double now() const override { return t_; }
    bool go_on(double h) override {
        const macro_step step{t_, end_of(h), count_};
        if (sloped_) take_what_it_takes(step.end - step.begin);
        try {
            subsystem_->advance(step, inputs_, y_);
        } catch (...) {
            failed_ = true;
            throw;
        }
        ++count_;
        t_ = step.end;
        follows_ = true;
        if (std::exchange(sloped_, false)) {
            for (std::size_t i = 0; i < places_.size(); ++i)
                if (variable(i).what == role::input)
                    moved(i, u_[places_[i]] = asked_[places_[i]](step.end - step.begin));
            for (std::size_t k = 0; k < u_.size(); ++k) hold(k);
        }
        return !(subsystem_->has_notice() && subsystem_->take_notice().ask_to_end);
    }
    /// The host's steps are those of the scenario but for rounding: then the times are the scenario's, too.
    double end_of(double h) const {
        const double end = t_ + h;
        const double near = start() + std::round((end - start()) / entry_.step) * entry_.step;
        return std::abs(near - end) <= 1e-9 * h ? near : end;
    }
    /// As a master does it.
    void take_what_it_takes(double h) {
        asked_ = inputs_;
        for (const auto& u : subsystem_->describe().inputs)
            for (int slot = u.slot; slot < u.slot + u.size; ++slot) {
                polynomial& p = inputs_[static_cast<std::size_t>(slot)];
                if (p.degree > u.max_degree) p = project(p, h, u.max_degree);
            }
    }

    void differentiate(std::span<const std::size_t> unknowns, std::span<const std::size_t> knowns,
                       std::span<const double> seed, std::span<double> sensitivity) override {
        for (const std::size_t i : unknowns)
            if (variable(i).what != role::output)
                throw user_error(variable(i).address + " is no output; in co-simulation only outputs have derivatives");
        std::vector<double> values;
        for (const std::size_t i : knowns) {
            if (variable(i).what != role::input)
                throw user_error(variable(i).address + " is no input; in co-simulation derivatives are by inputs");
            values.push_back(u_[places_[i]]);
        }
        std::vector<double> room, u = u_, y(y_.size());
        difference(values, seed, sensitivity, room, [&](double step, std::span<double> into) {
            for (std::size_t k = 0; k < knowns.size(); ++k) u[places_[knowns[k]]] = values[k] + step * seed[k];
            if (into.empty()) return;
            subsystem_->outputs(u, y);
            for (std::size_t k = 0; k < unknowns.size(); ++k) into[k] = y[places_[unknowns[k]]];
        });
        follow();
    }

    std::string saved() override {
        const capabilities offered = subsystem_->offers();
        for (const auto& why : {offered.why_no_save_restore, offered.why_no_bytes})
            if (!why.empty()) throw user_error("its state cannot be saved: " + why);
        const auto state = subsystem_->make_snapshot();
        subsystem_->save(*state);
        std::vector<std::byte> inside = to_bytes(*state);
        state_bytes bytes;
        bytes.write();
        bytes(u_, y_, t_, count_, follows_, inside);
        return {reinterpret_cast<const char*>(bytes.bytes().data()), bytes.bytes().size()};
    }
    void restore(const std::string& from) override {
        state_bytes bytes;
        const auto* first = reinterpret_cast<const std::byte*>(from.data());
        bytes.bytes().assign(first, first + from.size());
        bytes.read();
        std::vector<std::byte> inside;
        try {
            bytes.fixed(u_);
            bytes.fixed(y_);
            bytes(t_, count_, follows_, inside);
            bytes.finish();
            const auto state = subsystem_->make_snapshot();
            from_bytes(*state, inside);
            subsystem_->restore(*state);
        } catch (const state_mismatch&) {
            throw user_error("the state is that of another FMU.");
        }
        for (std::size_t k = 0; k < u_.size(); ++k) hold(k);
        sloped_ = false;
        begun_ = true;
    }
    void forget() override { subsystem_.reset(); }
    bool failed() const override { return failed_; }

    const exported_entry entry_;
    std::unique_ptr<subsystem> subsystem_;
    std::vector<std::size_t> places_;
    std::vector<double> made_from_, u_, y_, numbers_;
    std::vector<polynomial> inputs_, asked_;  ///< what the subsystem takes of what the host asked for
    double t_ = 0;
    std::int64_t count_ = 0;
    bool follows_ = false, sloped_ = false;  ///< y_ belongs to u_; inputs have derivatives
    bool begun_ = false, failed_ = false;
};

}  // namespace

std::unique_ptr<exported_model> make_exported_subsystem(exported_contents contents,
                                                        const std::filesystem::path& resources) {
    return std::make_unique<subsystem_model>(std::move(contents), resources);
}

}  // namespace mdpcosim
