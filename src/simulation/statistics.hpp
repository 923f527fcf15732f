#pragma once

#include "results/summary.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

inline void enter(const subsystem_statistics& from, run_summary::subsystem& entry) {
    entry.micro_steps = from.micro_steps;
    entry.evaluations = from.evaluations;
    entry.rejected = from.rejected;
    entry.events = from.events;
    entry.newton_iterations = from.newton_iterations;
    entry.factorisations = from.factorisations;
}

}  // namespace mdpcosim
