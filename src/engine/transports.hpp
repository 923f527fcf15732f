#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scenario/spec.hpp"
#include "transport/affinity.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

enum class transport_kind { threads, processes };

/// One of transport_names(); a user error with a suggestion.
transport_kind transport_named(const std::string& name);

struct transport_options {
    /// Threads: that many serve all subsystems, 0: one per core. Processes: that many, each with neighbours in the scenario's
    /// order, 0: one per subsystem.
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

}  // namespace mdpcosim
