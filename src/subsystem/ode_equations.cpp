#include "subsystem/ode_equations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "expression/program.hpp"
#include "subsystem/ode_layout.hpp"
#include "subsystem/ode_model.hpp"

namespace mdpcosim {

namespace {

program compile(const std::vector<expression>& formulas) {
    std::vector<assignment> all;
    for (int i = 0; const auto& formula : formulas) all.push_back({formula, i++});
    return program(all);
}

/// The entries of df/dx that can differ from zero, and where they stand.
program compile_jacobian(const ode_model& model, sparsity& structure) {
    const std::size_t n = model.states.size();
    std::vector<std::vector<std::pair<int, expression>>> columns(n);
    for (int i = 0; const auto& f : model.derivatives) {
        for (const auto& v : variables_of(f)) {
            if (v.bank != ode_model::state_bank) continue;
            expression entry = partial_derivative(f, v);
            if (!entry.is(0)) columns[static_cast<std::size_t>(v.index)].emplace_back(i, std::move(entry));
        }
        ++i;
    }
    structure.start.assign(1, 0);
    std::vector<assignment> entries;
    for (const auto& column : columns) {
        for (const auto& [row, entry] : column) {
            entries.push_back({entry, static_cast<int>(structure.rows.size())});
            structure.rows.push_back(row);
        }
        structure.start.push_back(static_cast<int>(structure.rows.size()));
    }
    return program(entries);
}

/// Where df/du or dg/dx may differ from zero: the variables of a bank that stand in the formulas.
sparsity structure_of(const std::vector<expression>& formulas, int bank, std::size_t count) {
    std::vector<std::vector<int>> columns(count);
    for (int i = 0; const auto& f : formulas) {
        for (const auto& v : variables_of(f))
            if (v.bank == bank) columns[static_cast<std::size_t>(v.index)].push_back(i);
        ++i;
    }
    sparsity s;
    s.start.assign(1, 0);
    for (const auto& column : columns) {
        s.rows.insert(s.rows.end(), column.begin(), column.end());
        s.start.push_back(static_cast<int>(s.rows.size()));
    }
    return s;
}

/// The formulas of equations::port_outputs().
program compile_port_outputs(const std::vector<port>& ports, const std::vector<expression>& formulas) {
    std::vector<assignment> some;
    const auto add = [&](int slot) {
        if (slot >= 0) some.push_back({formulas[static_cast<std::size_t>(slot)], slot});
    };
    for (const port& p : ports) {
        const bool motion = p.causality == causality::takes_load;
        for (const int slot : motion ? std::array{p.motion[0], p.motion[1]} : std::array{p.load, p.load_integral})
            add(slot);
    }
    return program(some);
}

class ode_equations final : public equations {
   public:
    ode_equations(const ode_model& model, ode_layout layout)
        : description_(std::move(layout.description)),
          derivatives_(compile(model.derivatives)),
          outputs_(compile(layout.formulas)),
          port_outputs_(compile_port_outputs(description_.ports, layout.formulas)),
          differential_(model.differential),
          contacts_(model.contacts),
          input_structure_(structure_of(model.derivatives, ode_model::input_bank, model.inputs.size())),
          output_structure_(structure_of(layout.formulas, ode_model::state_bank, model.states.size())),
          jacobian_(compile_jacobian(model, structure_)) {
        description_.type = "ode";
        for (const auto& s : model.states) {
            initial_.push_back(s.value);
            state_names_.push_back(s.name);
        }
        std::vector<expression> gaps, rates, restitutions;
        for (const auto& c : contacts_) {
            gaps.push_back(c.gap);
            rates.push_back(c.rate);
            restitutions.push_back(c.restitution);
        }
        gaps_ = compile(gaps);
        rates_ = compile(rates);
        restitutions_ = compile(restitutions);
        now_.resize(contacts_.empty() ? 0 : 2 * contacts_.size() + model.events.size());
        std::vector<expression> indicators;
        for (const auto& e : model.events) {
            indicators.push_back(e.when);
            events_.push_back({program(e.set), e.on_rising, e.on_falling, e.name});
        }
        indicators_ = compile(indicators);
        for (const auto& f : model.derivatives)
            for (const double time : switching_points(f, {ode_model::time_bank, 0})) jump_times_.push_back(time);
        for (const auto& y : model.outputs)
            for (const double time : switching_points(y.value, {ode_model::time_bank, 0})) jump_times_.push_back(time);
        std::sort(jump_times_.begin(), jump_times_.end());
    }

    const subsystem_description& describe() const noexcept override { return description_; }
    int state_count() const override { return static_cast<int>(initial_.size()); }
    std::string state_name(int i) const override { return state_names_[static_cast<std::size_t>(i)]; }
    /// Contacts that touch are open by the least there is.
    void initial_state(double t0, double* x) const override {
        std::copy(initial_.begin(), initial_.end(), x);
        std::vector<double> gaps(contacts_.size());
        gaps_.evaluate({&t0, x, nullptr}, gaps.data());
        for (std::size_t k = 0; k < contacts_.size(); ++k) {
            const ode_resting& c = contacts_[k];
            if (gaps[k] > ode_resting::clearance) continue;
            if (gaps[k] < -ode_resting::clearance)
                throw user_error(c.where,
                                 fmt::format("contact '{}': its gap is {:.6g} at the start (t = {:.6g} s). Move "
                                             "the start values so that it is not negative.",
                                             c.name, gaps[k], t0));
            x[c.state] = std::min(0.0, gaps[k]) - ode_resting::clearance;
        }
    }

    void derivatives(double t, const double* x, const double* u, double* dx) const override {
        derivatives_.evaluate({&t, x, u}, dx);
    }

    void outputs(double t, const double* x, const double* u, double* y) const override {
        outputs_.evaluate({&t, x, u}, y);
    }

    void port_outputs(double t, const double* x, const double* u, double* y) const override {
        port_outputs_.evaluate({&t, x, u}, y);
    }

    bool is_algebraic(int i) const override { return static_cast<std::size_t>(i) >= differential_; }
    const sparsity* structure() const override { return &structure_; }
    const sparsity* input_structure() const override { return &input_structure_; }
    const sparsity* output_structure() const override { return &output_structure_; }
    bool sparse_jacobian(double t, const double* x, const double* u, double* values) const override {
        jacobian_.evaluate({&t, x, u}, values);
        return true;
    }

    int event_count() const override { return static_cast<int>(events_.size()); }

    void event_indicators(double t, const double* x, const double* u, double* z) const override {
        indicators_.evaluate({&t, x, u}, z);
    }

    bool apply_event(int event, bool rising, double t, double* x, const double* u) override {
        const jump& e = events_[static_cast<std::size_t>(event)];
        if (rising ? !e.on_rising : !e.on_falling) return false;
        bool of_contact = false;
        for (const auto& c : contacts_) {
            if (event == c.impact) check_impact(c, t, x, u);
            of_contact |= event == c.impact || event == c.impact + 1;
        }
        // A program computes everything before it writes: all new values see the state before the event.
        e.set.evaluate({&t, x, u}, x);
        check_states(event, t, x);
        if (!contacts_.empty()) free_what_moves(event, of_contact, t, x, u);
        return true;
    }

    std::string event_name(int event) const override { return events_[static_cast<std::size_t>(event)].name; }

    double next_time_event(double t) const override {
        const auto next = std::upper_bound(jump_times_.begin(), jump_times_.end(), t);
        return next == jump_times_.end() ? std::numeric_limits<double>::infinity() : *next;
    }

   private:
    /// No rebound makes energy, and an impulse that reaches what rests elsewhere would have to be spread over both.
    void check_impact(const ode_resting& c, double t, const double* x, const double* u) {
        restitutions_.evaluate({&t, x, u}, now_.data());
        const double restitution = now_[static_cast<std::size_t>(&c - contacts_.data())];
        if (!(restitution >= 0 && restitution <= 1))
            throw run_error(
                fmt::format("at t = {:.9g}: contact '{}': restitution {:.6g} is not allowed. Allowed: 0 to 1", t,
                            c.name, restitution));
        for (const int other : c.acts_on)
            if (const auto& o = contacts_[static_cast<std::size_t>(other)]; x[o.state] > 0.5)
                throw run_error(
                    fmt::format("at t = {:.9g}: contact '{}' closes while '{}' rests, and each acts on the "
                                "other. An 'ode' solves one contact at a time; take the model contact-bodies",
                                t, c.name, o.name));
    }

    /// What an event has set is told by its name, not by equations that cannot go on from there.
    void check_states(int event, double t, const double* x) const {
        for (std::size_t i = 0; i < state_names_.size(); ++i)
            if (!std::isfinite(x[i]))
                throw run_error(fmt::format("at t = {:.9g}: {} sets state '{}' to {}", t, event_name(event),
                                            state_names_[i], x[i]));
    }

    /// Where an event has ended the rest of a contact: by a force that opens the gap or, if it is the user's, by states that it moves.
    void free_what_moves(int event, bool of_contact, double t, double* x, const double* u) {
        double* const gaps = now_.data();
        double* const rates = gaps + contacts_.size();
        double* const indicators = rates + contacts_.size();
        gaps_.evaluate({&t, x, u}, gaps);
        rates_.evaluate({&t, x, u}, rates);
        indicators_.evaluate({&t, x, u}, indicators);
        for (std::size_t k = 0; k < contacts_.size(); ++k) {
            const ode_resting& c = contacts_[k];
            if (!of_contact && gaps[k] < -ode_resting::most_overlap)
                throw run_error(
                    fmt::format("at t = {:.9g}: {} leaves a gap of {:.6g} in contact '{}'. Set the states so "
                                "that it is not negative",
                                t, event_name(event), gaps[k], c.name));
            const int off = c.impact + 1;
            const bool moved = x[c.state] > 0.5 ? rates[k] != 0 : gaps[k] <= x[c.state];
            if ((x[c.state] > 0.5 && indicators[off] > 0) || (!of_contact && moved))
                events_[static_cast<std::size_t>(off)].set.evaluate({&t, x, u}, x);
        }
    }

    struct jump {
        program set;
        bool on_rising;
        bool on_falling;
        std::string name;
    };

    subsystem_description description_;
    std::vector<std::string> state_names_;
    std::vector<double> initial_;
    std::vector<double> jump_times_;  // sorted: where an if() on time switches a derivative or an output
    program derivatives_, outputs_, port_outputs_;
    std::size_t differential_;
    std::vector<ode_resting> contacts_;
    program gaps_, rates_, restitutions_;
    std::vector<double> now_;  ///< scratch: gaps, their rates, indicators
    sparsity structure_, input_structure_, output_structure_;
    program jacobian_, indicators_;
    std::vector<jump> events_;
};

}  // namespace

std::unique_ptr<equations> make_ode_equations(const subsystem_spec& spec) {
    const ode_model model = read_ode_model(spec);
    return std::make_unique<ode_equations>(model, lay_out(model, spec));
}

}  // namespace mdpcosim
