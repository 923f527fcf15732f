#pragma once

#include <algorithm>

#include "subsystem/sampling.hpp"
#include "subsystem/subsystem.hpp"

/// Equations of a discrete-time model, without a clock:
///
///     y_k = g(t_k, x_k, u_k)        x_{k+1} = f(t_k, x_k, u_k)        u_k: inputs at the sample time t_k
///
/// Who runs the model (a sampled subsystem, the monolithic reference) does, once per run and in this order:
///   1. initial_state(t0, x)          x_0; at the start, not at the first sample
///   2. initial_outputs(t0, x, y)     what the outputs are until those of the first sample appear
/// and at every sample time t_k = sampling.sample_time(t0, k), k = 0, 1, ...
///   3. outputs(t_k, x_k, u_k, y_k)   any number of times, also with trial inputs
///   4. update(t_k, x_k, u_k, x_next) once, with the inputs of the last call of outputs()
/// y_k is held from sampling.release_time(t0, k) to that of the next sample. Nothing happens between samples: to a
/// solver of a larger system sample times and release times are time events at which its inputs jump.
///
/// All calls are const: state, held outputs and delayed outputs live with the caller. x, u, y have state_count(),
/// describe().input_count() and output_count() elements; the pointers never overlap. The description has no ports, since a
/// sampled model couples by signals, and no rates; `direct` says what y_k depends on through g.
namespace mdpcosim {

class sampled_equations {
   public:
    sampled_equations() = default;
    sampled_equations(const sampled_equations&) = delete;
    sampled_equations& operator=(const sampled_equations&) = delete;
    virtual ~sampled_equations() = default;

    virtual const subsystem_description& describe() const noexcept = 0;
    virtual int state_count() const = 0;
    virtual void initial_state(double t0, double* x) const = 0;
    virtual void initial_outputs(double /*t0*/, const double* /*x*/, double* y) const {
        std::fill_n(y, describe().output_count(), 0.0);
    }
    virtual void outputs(double t, const double* x, const double* u, double* y) const = 0;
    virtual void update(double t, const double* x, const double* u, double* x_next) const = 0;
};

}  // namespace mdpcosim
