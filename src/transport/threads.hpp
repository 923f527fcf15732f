#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/affinity.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

struct named_subsystem {
    std::string name;
    std::unique_ptr<subsystem> model;
    /// More of the same, for trial steps at the same time; each can restore what any other has saved.
    std::vector<std::unique_ptr<subsystem>> replicas = {};
};

/// Subsystems in this process, served by threads. `workers` 0 takes one per core. Small systems run serially on the
/// caller's thread where measured costs say that parallel work does not pay; results do not depend on it. Not `timed`: no step
/// is measured, so that there are no costs and no profile, and all steps are serial. A subsystem bound to a unit is served by the
/// worker there and by no other; with automatic binding all workers have a unit each.
std::unique_ptr<transport> make_thread_transport(std::vector<named_subsystem> subsystems, int workers,
                                                 bool timed = true, const binding& cores = {});

}  // namespace mdpcosim
