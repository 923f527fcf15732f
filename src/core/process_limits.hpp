#pragma once

namespace mdpcosim {

/// What a process of a subsystem may use at most.
struct process_limits {
    double memory = 0;          ///< bytes of its address space; 0: any number
    double cpu = 0;             ///< s of CPU time in all, taken as whole seconds, rounded up; 0: any time
    bool compute_only = false;  ///< no system calls but those of computing, see remote/system_calls.hpp

    bool any() const { return memory > 0 || cpu > 0 || compute_only; }
    bool operator==(const process_limits&) const = default;
};

}  // namespace mdpcosim
