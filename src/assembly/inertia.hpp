#pragma once

#include "assembly/address_book.hpp"
#include "master/port_sensitivities.hpp"

namespace mdpcosim {

/// What `inertia:` of a subsystem says about its ports, added to `into`. Throws user_error for ports that do not exist or
/// have no inertia, and for values that are not greater than zero.
void add_inertias(subsystem_index s, const subsystem_spec& spec, const address_book& book, const transport& subsystems,
                  given_sensitivities& into);

}  // namespace mdpcosim
