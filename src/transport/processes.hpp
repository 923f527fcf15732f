#pragma once

#include <memory>
#include <string>
#include <vector>

#include "subsystem/subsystem_process.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

/// A subsystem that is made where it will live.
struct subsystem_recipe {
    std::string name;
    subsystem_process::factory make;
    double limit = 0;  ///< s of wall time for one macro step; 0: any time
};

/// Subsystems in processes of their own, reached through shared memory. `groups` lists which subsystems share a process, by
/// number; those in no group get a process each. This process should have no other threads yet.
std::unique_ptr<transport> make_process_transport(std::vector<subsystem_recipe> subsystems,
                                                  const std::vector<std::vector<int>>& groups = {});

}  // namespace mdpcosim
