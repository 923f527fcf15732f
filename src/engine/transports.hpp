#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scenario/spec.hpp"
#include "transport/processes.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

enum class transport_kind { threads, processes, mpi };

/// One of transport_names(); a user error with a suggestion.
transport_kind transport_named(const std::string& name);

/// Makes the scenario's subsystems and what reaches them. Threads: `workers` threads serve them all, 0: one per core. Processes:
/// `workers` processes, each with neighbours in the scenario's order, 0: one per subsystem. MPI, on rank 0: `workers` threads of each
/// rank serve neighbours, 0: the cores shared fairly.
std::unique_ptr<transport> make_transport(const scenario& s, int workers, transport_kind kind);

/// As many groups of neighbours in the scenario's order, all of one size or nearly so.
std::vector<std::vector<int>> neighbours(std::size_t subsystems, std::size_t groups);
/// A subsystem to be made where it will live.
subsystem_recipe recipe(const scenario& s, const subsystem_spec& spec);
/// More ranks than subsystems are a user_error; `option` is what asked for them.
void check_ranks(const scenario& s, int ranks, const std::string& option);

}  // namespace mdpcosim
