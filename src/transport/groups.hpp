#pragma once

#include <memory>
#include <string>
#include <vector>

#include "remote/remote_group.hpp"
#include "transport/affinity.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

/// Subsystems that live together elsewhere, not introduced yet; `members` are their numbers, in rising order.
struct served_group {
    std::vector<int> members;
    std::unique_ptr<remote_group> group;
};

/// Subsystems in this process, if any: `members` are their numbers in the order of `transport`.
struct local_group {
    std::vector<int> members;
    std::unique_ptr<mdpcosim::transport> transport;
};

/// One transport of groups that work at the same time: those elsewhere, and here while they do. Every subsystem, by number, is in
/// exactly one group. Workers are numbered through: those of the local group, then the others. Processes of this machine are bound
/// as their members say; with automatic binding and no local group the measured costs decide, longest first, again and again.
std::unique_ptr<transport> make_group_transport(std::vector<std::string> names, std::vector<served_group> elsewhere,
                                                local_group here = {}, const binding& cores = {});

}  // namespace mdpcosim
