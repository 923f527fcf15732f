#pragma once

#include <memory>

#include "remote/subsystem_process.hpp"

namespace mdpcosim {

/// The only member of a group that has not been introduced yet, as a subsystem.
std::unique_ptr<subsystem> make_remote_subsystem(std::unique_ptr<remote_group> group);

/// A subsystem in a process of its own: whatever it does there (crash, exit, hang beyond the limit), the caller gets a
/// run_error with the reason. It is made in the new process; a user_error and run_error there arrive here as what they are.
std::unique_ptr<subsystem> make_isolated_subsystem(const process_options& options, const subsystem_text& text);

}  // namespace mdpcosim
