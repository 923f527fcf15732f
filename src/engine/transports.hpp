#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "engine/engine.hpp"
#include "scenario/spec.hpp"
#include "subsystem/remote/host.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

enum class transport_kind { threads, processes, tcp };

/// One of transport_names(); a user error with a suggestion.
transport_kind transport_named(const std::string& name);

/// Makes the scenario's subsystems and what reaches them. Threads: `workers` threads serve them all, 0: one per core. Processes
/// and tcp: `workers` processes, each with neighbours in the scenario's order, 0: one per subsystem. `interrupt`: see tcp_options.
std::unique_ptr<transport> make_transport(const scenario& s, int workers, transport_kind kind,
                                          const remote_options& remote = {},
                                          const std::atomic<bool>* interrupt = nullptr);

/// The entry as it is made in a process that is its own already.
subsystem_maker maker_of(const subsystem_spec& spec, double macro_step);

}  // namespace mdpcosim
