#pragma once

#include "assembly/assembly.hpp"
#include "master/coupling_watch.hpp"
#include "results/verdict.hpp"

namespace mdpcosim {

/// The monitor of all connections and signals of a system.
coupling_monitor make_monitor(const scenario& s, const assembly& a);

/// Names for its messages, and what the scenario wants to happen when a coupling diverges.
coupling_watch make_watch(const assembly& a, coupling_monitor& monitor, const monitor_spec& spec);

/// What the monitor has seen so far, and whether outputs are numbers, as one verdict.
verdict judge(const assembly& a, const coupling_watch& watch, double start, std::span<const double> outputs);

}  // namespace mdpcosim
