#pragma once

#include <functional>
#include <memory>
#include <string>

#include "subsystem/subsystem.hpp"

namespace mdpcosim {

struct isolation {
    std::string name;  ///< of the subsystem, for the process table and messages
    double limit = 0;  ///< s of wall time that one call may take; 0: any time
};

/// A subsystem in a process of its own: whatever it does there (crash, exit, hang beyond the limit), the caller gets a
/// run_error with the reason and the end of what it wrote to standard output and error.
///
/// `make` runs in the new process, which is a copy of this one; so this one should have no other threads yet. Its user_error
/// and run_error arrive here as what they are. The two share memory without a name, and the new process ends with this
/// one: nothing is left behind, however either ends.
std::unique_ptr<subsystem> make_isolated_subsystem(const isolation& how,
                                                   const std::function<std::unique_ptr<subsystem>()>& make);

}  // namespace mdpcosim
