#pragma once

#include <memory>

#include "remote/remote_group.hpp"
#include "scenario/spec.hpp"

namespace mdpcosim {

/// The process that a subsystem has for itself (see lives_apart), started, with the subsystem as its only member. `spin`: every party
/// has a core of its own.
std::unique_ptr<remote_group> make_remote_group(const subsystem_spec& spec, bool spin = true);

}  // namespace mdpcosim
