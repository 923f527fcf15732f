#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "subsystem/subsystem.hpp"

/// Equations of a native model: x' = f(t, x, u), y = g(t, x, u), without a solver.
///
/// All calls are const but apply_event(): the state lives in the solver. x, u, y have state_count(),
/// describe().input_count() and output_count() elements; the pointers never overlap.
namespace mdpcosim {

class equations {
   public:
    equations() = default;
    equations(const equations&) = delete;
    equations& operator=(const equations&) = delete;
    virtual ~equations() = default;

    virtual const subsystem_description& describe() const noexcept = 0;
    virtual int state_count() const = 0;
    virtual void initial_state(double t0, double* x) const = 0;
    virtual void derivatives(double t, const double* x, const double* u, double* dx) const = 0;
    virtual void outputs(double t, const double* x, const double* u, double* y) const = 0;

    /// df/dx, dense and column-major (entry i,j at i + j*n); false when not offered (the solver then takes differences).
    virtual bool jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* /*dfdx*/) const { return false; }

    /// State events: a root of indicator i. `rising` tells the direction in which it was crossed.
    virtual int event_count() const { return 0; }
    virtual void event_indicators(double /*t*/, const double* /*x*/, const double* /*u*/, double* /*z*/) const {}
    /// Changes the state at the event; false when nothing changed (a direction that does not matter).
    virtual bool apply_event(int /*event*/, bool /*rising*/, double /*t*/, double* /*x*/, const double* /*u*/) { return false; }

    /// How messages call a state: "3", or "3 of subsystem 'a'".
    virtual std::string state_name(int state) const { return std::to_string(state); }

    /// The next time after `t` at which f jumps; a solver stops there.
    virtual double next_time_event(double /*t*/) const { return std::numeric_limits<double>::infinity(); }
};

}  // namespace mdpcosim
