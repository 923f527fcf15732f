#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/state_bytes.hpp"
#include "core/time_grid.hpp"
#include "master/step_control.hpp"

namespace mdpcosim {

class simulation;

/// An input or a parameter was set from outside.
struct value_written {
    std::string address;
    double value = 0;                      ///< of a number
    std::int64_t step = 0;                 ///< number of the macro step that is the first to see it
    std::optional<std::string> text = {};  ///< of a text
};

/// Looks on while a simulation runs. Nothing here can change the solution; what is thrown ends the step that was looked at.
class observer {
   public:
    virtual ~observer() = default;
    /// The simulation is initialised: its values are those of the start.
    virtual void started(const simulation& /*of*/) {}
    /// An attempt at a macro step, where steps follow the error; a rejected one is repeated.
    virtual void attempted(const step_attempt& /*attempt*/) {}
    /// The macro step stands: the simulation's values are those of its end, and its inputs() are those that led there.
    virtual void committed(const simulation& /*of*/, const macro_step& /*step*/) {}
    /// Before the step that sees it.
    virtual void written(const simulation& /*of*/, const value_written& /*value*/) {}
    /// The simulation has taken over a saved state: its values are those of that time.
    virtual void loaded(const simulation& /*of*/) {}

    /// Where an observer keeps a place (rows that were recorded), it belongs to the saved state of the simulation, under this name.
    virtual std::string name() const { return {}; }
    virtual void state(state_bytes& /*bytes*/) {}
    /// simulation::inputs() are asked for in committed(): keeping them costs a little.
    virtual bool wants_inputs() const { return false; }
};

}  // namespace mdpcosim
