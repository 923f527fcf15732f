#pragma once

#include <string>
#include <utility>
#include <vector>

#include "subsystem/ode_model.hpp"

namespace mdpcosim {

/// What a user wrote of one contact, parsed.
struct contact_formulas {
    std::string name;
    location where;
    expression gap, restitution, rest_speed;
    std::vector<std::pair<int, expression>> impulse;  ///< state, its change by a unit of impulse
};

/// Puts contacts into the model as states, events and forces, so that any solver and the reference integrate them. With the rate g' of the gap
/// and its second rate g'' without contact, the impulse p and W = dg'/dx p:
///     impact  g falls through zero:  x += p (1 + e) max(0, -g') / W;  with e = 0, and at rest from then on, where e |g'| <= rest-speed and g'' <= 0
///     rest    x' = f + p lambda,  lambda = -g'' / W: smooth up to the very end, which solvers need to find it
///     off     g'' passes zero, or another event moves it there or opens the gap
/// The states named contact_state_name() are there, with the derivative zero. Mistakes are user errors that name the subsystem.
void put_contacts_into(ode_model& model, const std::vector<contact_formulas>& contacts, const std::string& subsystem);

}  // namespace mdpcosim
