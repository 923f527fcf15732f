#pragma once

#include "assembly/assembly.hpp"
#include "master/coupling_watch.hpp"
#include "results/verdict.hpp"

namespace mdpcosim {

/// The monitor of all connections and signals of a system.
coupling_monitor make_monitor(const scenario& s, const assembly& a);

/// Names for its messages, and what the scenario wants to happen when a coupling diverges.
coupling_watch make_watch(const assembly& a, coupling_monitor& monitor, const monitor_spec& spec);

/// By subsystem: whether something of what it gives comes back to it.
std::vector<bool> subsystems_in_loops(const scenario& s);

/// What the monitor has seen so far, and whether outputs are numbers, as one verdict. `events` are those of subsystems in loops.
verdict judge(const assembly& a, const coupling_watch& watch, double start, std::span<const double> outputs,
              std::int64_t events);

/// Of a run that failed after a coupling had begun to diverge: which, and that this is why; otherwise empty.
std::string cause_of_failure(const assembly& a, const coupling_watch& watch);

/// Ports of connections whose variable was largest by far at the end: it grows, as it does where a load has the wrong sign.
std::vector<std::string> ports_that_grew(const assembly& a, const coupling_watch& watch);

/// A connection or signal of which nothing is recorded; empty: there is none.
std::string unmeasured_coupling(const assembly& a);

/// Outputs that couplings are made of, the coupling variables themselves, and motions of joined ports; multipliers of joints follow from
/// accelerations, which are none of it.
/// Subsystems that take part in couplings and give nothing to them count with all their outputs.
std::vector<std::string> coupled_columns(const assembly& a);

}  // namespace mdpcosim
