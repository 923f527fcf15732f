#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scenario/spec.hpp"
#include "transport/affinity.hpp"
#include "transport/processes.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

enum class transport_kind { threads, processes, mpi };

/// One of transport_names(); a user error with a suggestion.
transport_kind transport_named(const std::string& name);

struct transport_options {
    /// Threads: that many serve all subsystems, 0: one per core. Processes: that many, each with neighbours in the scenario's
    /// order, 0: one per subsystem. MPI, on rank 0: threads of each rank, 0: the cores shared fairly.
    int workers = 0;
    transport_kind kind = transport_kind::threads;
    bool pin = false;  ///< bind workers and processes, as the scenario says and where measured costs say so
};

/// Makes the scenario's subsystems and what reaches them.
std::unique_ptr<transport> make_transport(const scenario& s, const transport_options& how);

/// Which subsystems share a process or a rank, by number: what the scenario says, and of the rest `parties` lists of neighbours,
/// 0: none.
std::vector<std::vector<int>> groups_of(const scenario& s, int parties);

/// `placement: cores`. A unit that does not exist is a user error. Nothing without how.pin.
binding binding_of(const scenario& s, const transport_options& how);

/// A subsystem to be made where it will live.
subsystem_recipe recipe(const scenario& s, const subsystem_spec& spec);
/// The groups of that many ranks. More ranks than subsystems, or another number than the scenario's groups allow, are a
/// user_error; `option` is what asked for them.
std::vector<std::vector<int>> groups_of_ranks(const scenario& s, int ranks, const std::string& option);

}  // namespace mdpcosim
