#pragma once

#include "assembly/assembly.hpp"
#include "master/multirate_order.hpp"

namespace mdpcosim {

/// What the scenario says about steps of its subsystems; delays are added with the channels. `step`, `order` and `delay` with another
/// method are user errors.
multirate_plan multirate_plan_of(const scenario& s);

/// Whether the system fits: what is held between samples must be read at every sample, what remembers cannot look back; throws user_error.
void check_multirate(const scenario& s, const assembly& a);

/// Connections and signals with a delay are no part of a system of equations; throws user_error.
void refuse_delays(const scenario& s, const std::string& why);

}  // namespace mdpcosim
