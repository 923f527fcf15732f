#pragma once

#include <memory>
#include <string>

#include "scenario/spec.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

enum class transport_kind { threads, processes };

/// One of transport_names(); a user error with a suggestion.
transport_kind transport_named(const std::string& name);

/// Makes the scenario's subsystems and what reaches them. Threads: `workers` threads serve them all, 0: one per core. Processes:
/// `workers` processes, each with neighbours in the scenario's order, 0: one per subsystem.
std::unique_ptr<transport> make_transport(const scenario& s, int workers, transport_kind kind);

}  // namespace mdpcosim
