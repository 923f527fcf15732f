#pragma once

#include <string>
#include <vector>

#include "expression/expression.hpp"
#include "expression/program.hpp"
#include "scenario/spec.hpp"

namespace mdpcosim {

/// A state with its initial value, an input with its start value or a parameter; in SI.
struct ode_variable {
    std::string name;
    std::string unit;  ///< empty: written without unit
    double value = 0;
    location where;
};

struct ode_formula {
    std::string name;
    std::string unit;  ///< empty: unknown
    std::string description;
    location where;
    expression value;
};

struct ode_jump {
    std::string name;  ///< in messages
    expression when;
    bool on_rising = true;
    bool on_falling = true;
    std::vector<assignment> set;  ///< target: index of the state
};

/// A contact is a state of its own, two events and a force in the equations (ode_contacts.hpp): the state is 1 while it rests, else the level, at most
/// zero, at which the gap closes.
struct ode_resting {
    static constexpr double clearance = 1e-11;    ///< far above rounding, far below what anybody resolves
    static constexpr double most_overlap = 1e-6;  ///< that an event of the user may leave
    std::string name;
    location where;
    int state = 0;         ///< of its own
    int impact = 0;        ///< number of its event; the next one is coming off
    expression gap, rate;  ///< of states and time
    expression restitution;
    std::vector<int> acts_on = {};  ///< other contacts, whose gaps its impulse changes, and those that change its gap
};

/// What a user wrote under `ode:`, names resolved and expressions parsed. Parameters and `$lets` are constants inside
/// the expressions, outputs that are used by others are put in; what remains are time, states and inputs, in these
/// banks.
struct ode_model {
    static constexpr int time_bank = 0;
    static constexpr int state_bank = 1;
    static constexpr int input_bank = 2;

    std::vector<ode_variable> parameters, states, inputs;
    std::size_t differential = 0;         ///< the first states have derivatives, the rest are algebraic
    std::vector<expression> derivatives;  ///< of the states; for algebraic ones what must be zero
    std::vector<ode_formula> outputs;     ///< the states, then the user's outputs
    std::vector<ode_jump> events;
    std::vector<ode_resting> contacts;

    bool is_algebraic(int state) const { return static_cast<std::size_t>(state) >= differential; }
    /// True when an algebraic variable stands in `e`.
    bool has_algebraic(const expression& e) const;
    /// The inputs `e` depends on without a differential state between, also through algebraic variables; sorted.
    std::vector<int> direct_inputs(const expression& e) const;
};

/// Names of states that belong to contacts cannot be written in a scenario.
inline std::string contact_state_name(const std::string& contact) { return "contact " + contact; }

/// Mistakes are user errors at their place in the scenario.
ode_model read_ode_model(const subsystem_spec& spec);

}  // namespace mdpcosim
