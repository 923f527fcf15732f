#pragma once

#include <linux/filter.h>

#include <vector>

/// `limits: {system-calls: compute}`: what a process may not ask of the system any more. A short list of what is forbidden, not of what
/// is allowed: any solver or runtime library goes on working. Forbidden are the network, other processes (tracing, their memory,
/// signals, limits), files that are written, made, renamed or removed, namespaces and kernel interfaces. Reading files is not
/// forbidden. What is forbidden for files and sockets fails with EACCES or EPERM, which code may meet by chance; the rest ends the
/// process by SIGSYS.
namespace mdpcosim {

/// Whether this machine's kind is known here.
bool can_restrict_system_calls();

/// The filter for a process. `may_execute`: it may become another program, which has the same filter.
std::vector<sock_filter> compute_filter(bool may_execute);
/// Writes the process's number into the filter: it may send signals to itself. Allocates nothing.
void address_filter(std::vector<sock_filter>& filter, int process);

/// For this process from now on, all its threads. False where the system refuses it; allocates nothing.
bool apply_filter(const std::vector<sock_filter>& filter);

}  // namespace mdpcosim
