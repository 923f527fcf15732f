#pragma once

#include "core/time_grid.hpp"
#include "master/step_control.hpp"

namespace mdpcosim {

class simulation;

/// Looks on while a simulation runs. Nothing here can change the solution; what is thrown ends the step that was looked at.
class observer {
   public:
    virtual ~observer() = default;
    /// The simulation is initialised: its values are those of the start.
    virtual void started(const simulation& /*of*/) {}
    /// An attempt at a macro step, where steps follow the error; a rejected one is repeated.
    virtual void attempted(const step_attempt& /*attempt*/) {}
    /// The macro step stands: the simulation's values are those of its end.
    virtual void committed(const simulation& /*of*/, const macro_step& /*step*/) {}
};

}  // namespace mdpcosim
