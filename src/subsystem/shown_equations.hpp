#pragma once

#include "subsystem/equations.hpp"
#include "subsystem/touched.hpp"

namespace mdpcosim {

/// A subsystem made of equations and a solver that shows them, between steps, to somebody who names states: an FMU's host. One base with
/// tells_touched, so that the object, of which each step needs all, gets no longer.
class shows_equations : public tells_touched {
   public:
    virtual const equations& shown_equations() const = 0;
    /// The state at the present time, state_count() numbers. `started`: it waits for inputs no longer.
    virtual const double* shown_state(bool started) = 0;

   protected:
    ~shows_equations() = default;
};

}  // namespace mdpcosim
