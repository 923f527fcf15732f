#pragma once

#include "assembly/assembly.hpp"
#include "master/coupling_watch.hpp"

namespace mdpcosim {

/// The monitor of all connections and signals of a system.
coupling_monitor make_monitor(const assembly& a);

/// Names for its messages, and what the scenario wants to happen when a coupling diverges.
coupling_watch make_watch(const assembly& a, coupling_monitor& monitor, const monitor_spec& spec);

}  // namespace mdpcosim
