#pragma once

#include <memory>
#include <string>
#include <vector>

#include "remote/host_task.hpp"
#include "transport/affinity.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

class program_launcher;

/// A subsystem that is made where it will live.
struct subsystem_recipe {
    std::string name;
    subsystem_text text;
    double limit = 0;  ///< s of wall time for one macro step; 0: any time
    /// Of a program, which the host program has no part in: it is in a group of its own.
    std::shared_ptr<const program_launcher> program = {};
    std::uint64_t fingerprint = 0;  ///< that who brings it from elsewhere must have, see remote_hello; 0: any
};

/// Which subsystems share a process, by number, complete: those in no group get one of their own. Groups and members rise.
std::vector<std::vector<int>> complete_groups(std::size_t subsystems, const std::vector<std::vector<int>>& groups);

/// What the members of one group need, one after the other.
struct group_recipe {
    std::string name;  ///< theirs, with commas
    std::vector<subsystem_text> texts;
    double limit = 0;  ///< all of them may take theirs; 0: any time
    std::shared_ptr<const program_launcher> program = {};
};
group_recipe gather(const std::vector<int>& members, std::vector<subsystem_recipe>& recipes);

/// Subsystems in processes of their own, reached through shared memory. `groups` lists which subsystems share a process, by
/// number; those in no group get a process each.
std::unique_ptr<transport> make_process_transport(std::vector<subsystem_recipe> subsystems,
                                                  const std::vector<std::vector<int>>& groups = {},
                                                  const binding& cores = {});

}  // namespace mdpcosim
