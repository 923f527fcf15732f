#include "subsystem/ode_contacts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

expression state_variable(int state) { return expression(variable_id{ode_model::state_bank, state}); }

expression rate_along(const expression& e, const std::vector<expression>& f) {
    return derivative(e, [&f](variable_id v) {
        if (v.bank == ode_model::time_bank) return expression(1.0);
        return v.bank == ode_model::state_bank ? f[static_cast<std::size_t>(v.index)] : expression(0.0);
    });
}

/// How an impulse changes `e`.
expression change(const expression& e, const contact_formulas& by) {
    expression sum(0.0);
    for (const auto& [state, factor] : by.impulse)
        sum = sum + partial_derivative(e, {ode_model::state_bank, state}) * factor;
    return sum;
}

struct contact_motion {
    expression rate, second, own;
};

contact_motion motion_of(const ode_model& model, const contact_formulas& c, const std::string& subsystem) {
    const auto fail = [&](const std::string& message) {
        throw user_error(c.where, fmt::format("subsystem '{}': contact '{}': {}", subsystem, c.name, message));
    };
    const auto plain = [&model](const expression& e) {
        return !depends_on_bank(e, ode_model::input_bank) && !model.has_algebraic(e);
    };
    if (!plain(c.gap)) fail("its gap depends on an input or an algebraic variable. Write it with states and time.");
    contact_motion m;
    m.rate = rate_along(c.gap, model.derivatives);
    if (!plain(m.rate))
        fail(
            "the rate of its gap depends on an input or an algebraic variable: the gap must follow from positions, "
            "whose rates are states.");
    m.second = rate_along(m.rate, model.derivatives);
    if (model.has_algebraic(m.second)) fail("its second rate depends on an algebraic variable, which is not possible.");
    m.own = change(m.rate, c);
    if (m.own.is_constant() && !(m.own.value() > 0))
        fail(
            fmt::format("a unit of impulse changes the rate of its gap by {}; it must open the gap. Give 'impulse' "
                        "for velocities that the rate depends on, with the other sign where it is negative.",
                        m.own.value()));
    return m;
}

/// Both events leave the gap above the level at which it closes, by `clearance`: rounding cannot close it again at once, nor open it unseen.
void add_events(ode_model& model, const contact_formulas& c, const contact_motion& m, int own_state) {
    const expression r = state_variable(own_state), rests = call(operation::less, 0.5, r);
    const expression closing = call(operation::max, 0.0, -m.rate);
    const expression slow = call(operation::less_equal, c.restitution * closing, c.rest_speed);
    const expression ends = call(operation::logical_and, slow, call(operation::less_equal, m.second, 0.0));
    const expression impulse = (1.0 + if_then_else(ends, 0.0, c.restitution)) * closing / m.own;
    const expression below = call(operation::min, 0.0, c.gap) - ode_resting::clearance;
    ode_jump impact{fmt::format("contact '{}'", c.name), if_then_else(rests, 1.0, c.gap - r), false, true, {}};
    for (const auto& [state, factor] : c.impulse)
        impact.set.push_back({state_variable(state) + factor * impulse, state});
    impact.set.push_back({if_then_else(ends, 1.0, if_then_else(slow, below, r)), own_state});
    model.events.push_back(std::move(impact));
    model.events.push_back({fmt::format("coming off of contact '{}'", c.name),
                            if_then_else(rests, m.second, -1.0),
                            true,
                            false,
                            {{below, own_state}}});
}

}  // namespace

void put_contacts_into(ode_model& model, const std::vector<contact_formulas>& contacts, const std::string& subsystem) {
    std::vector<contact_motion> motions;
    for (const auto& c : contacts) motions.push_back(motion_of(model, c, subsystem));
    for (std::size_t k = 0; k < contacts.size(); ++k) {
        const contact_formulas& c = contacts[k];
        const int own_state = static_cast<int>(model.differential - contacts.size() + k);
        ode_resting made{c.name, c.where,         own_state,     static_cast<int>(model.events.size()),
                         c.gap,  motions[k].rate, c.restitution, {}};
        for (std::size_t l = 0; l < contacts.size(); ++l)
            if (l != k && !(change(motions[l].rate, c).is(0) && change(motions[k].rate, contacts[l]).is(0)))
                made.acts_on.push_back(static_cast<int>(l));
        model.contacts.push_back(std::move(made));
        add_events(model, c, motions[k], own_state);
        const expression rests = call(operation::less, 0.5, state_variable(own_state));
        const expression force = if_then_else(rests, -(motions[k].second / motions[k].own), 0.0);
        for (const auto& [state, factor] : c.impulse) {
            auto& f = model.derivatives[static_cast<std::size_t>(state)];
            f = f + factor * force;
        }
        // Where inputs jump, it is asked for before it comes off.
        model.outputs.push_back(
            {c.name, {}, "force of the contact while it rests", c.where, call(operation::max, 0.0, force)});
    }
}

}  // namespace mdpcosim
