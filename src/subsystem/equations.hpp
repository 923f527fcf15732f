#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "subsystem/subsystem.hpp"

/// Equations of a native model: M x' = f(t, x, u), y = g(t, x, u), without a solver. M is the unit matrix but for the rows of
/// algebraic states, where it is zero: 0 = f_i(t, x, u), of index 1 (df_a/dx_a is regular). Only the solver ida takes those.
///
/// A projection after each micro step, onto constraints for example, is a discrete_update(moment::micro_step) that changes x. initial_state()
/// may be called again: everything begins anew.
///
/// All calls are const but apply_event() and discrete_update(): the state lives in the solver. x, u, y have state_count(),
/// describe().input_count() and output_count() elements; the pointers never overlap.
namespace mdpcosim {

/// Where df/dx may differ from zero, in compressed columns: column j has the rows rows[k], k from start[j] to start[j+1] - 1,
/// in ascending order. `start` has n + 1 elements.
struct sparsity {
    std::vector<int> start, rows;
    std::size_t entries() const { return rows.size(); }
};

/// When a discrete part may change: at the begin of an interval, where the inputs jump; at a time event; after a micro step.
enum class moment { interval, time_event, micro_step };

class equations {
   public:
    equations() = default;
    equations(const equations&) = delete;
    equations& operator=(const equations&) = delete;
    virtual ~equations() = default;

    virtual const subsystem_description& describe() const noexcept = 0;
    virtual int state_count() const = 0;
    virtual void initial_state(double t0, double* x) const = 0;
    /// Before initial_state(), where not all of it is used.
    virtual void expect(const usage& /*used*/) {}
    /// Where the initial state follows from the inputs: after initial_state() nothing but outputs() is called, as often as inputs change,
    /// until settle() says which they are and gives x.
    virtual bool settles() const { return false; }
    virtual void settle(double /*t0*/, const double* /*u*/, double* /*x*/) {}
    virtual void derivatives(double t, const double* x, const double* u, double* dx) const = 0;
    virtual void outputs(double t, const double* x, const double* u, double* y) const = 0;
    /// The same between two intervals, where the next one begins with discrete inputs as they are in u.
    virtual void outputs_between(double t, const double* x, const double* u, double* y) { outputs(t, x, u, y); }

    /// What ports give, but for accelerations, where none of it depends on inputs at once; other outputs may be left as they are in y.
    virtual void port_outputs(double t, const double* x, const double* u, double* y) const { outputs(t, x, u, y); }

    /// As capabilities::events_at_points, and that event at time t in state x, after the initial state is known; true: x or f changed.
    virtual bool events_at_points() const { return false; }
    virtual bool carry_out_event(double /*t*/, double* /*x*/, const double* /*u*/) { return false; }

    /// Stiffness of the model against the ground at a port, near its rest position; NaN: it cannot tell.
    virtual double port_stiffness(int /*port*/) const { return std::numeric_limits<double>::quiet_NaN(); }

    /// True where 0 = f_i instead of x_i' = f_i; the answers never change. initial_state() gives a first guess for such x_i.
    virtual bool is_algebraic(int /*i*/) const { return false; }

    /// The structure of df/dx, for models with many states; nullptr: dense. It never changes and lives as long as the model.
    virtual const sparsity* structure() const { return nullptr; }
    /// The same of df/du, by inputs, and of dg/dx: what a larger system needs for its own structure; nullptr: dense.
    virtual const sparsity* input_structure() const { return nullptr; }
    virtual const sparsity* output_structure() const { return nullptr; }
    /// The entries of df/dx in the order of structure(); false when not offered (the solver then takes differences, of
    /// as many columns at a time as share no row).
    virtual bool sparse_jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* /*values*/) const {
        return false;
    }
    /// df/dx, dense and column-major (entry i,j at i + j*n); false when not offered (the solver then takes differences).
    /// A model with a structure offers what sparse_jacobian() gives.
    virtual bool jacobian(double t, const double* x, const double* u, double* dfdx) const;

    /// Begins in equilibrium: who makes it run calls find_equilibrium() with its first inputs. Whether a state has to rest then; others (what has
    /// flowed into a tank, the angle of what turns) stay as they are.
    bool begins_at_rest = false;
    virtual bool rests(int /*state*/) const { return true; }

    /// As in the subsystem contract; where the description names outputs with rate_sensitivities.
    virtual void rate_sensitivities(double t, const double* x, const double* u, int input, double* by_output) const;

    /// State events: a root of indicator i. `rising` tells the direction in which it was crossed.
    virtual int event_count() const { return 0; }
    virtual void event_indicators(double /*t*/, const double* /*x*/, const double* /*u*/, double* /*z*/) const {}
    /// Changes the state at the event; false when nothing changed (a direction that does not matter).
    virtual bool apply_event(int /*event*/, bool /*rising*/, double /*t*/, double* /*x*/, const double* /*u*/) {
        return false;
    }

    /// An event that only tells where f has a corner: nothing changes, solvers start anew behind it, however often it comes.
    virtual bool is_corner(int /*event*/) const { return false; }

    /// How messages call an event: "indicator 3", "event 1 (when: h)".
    virtual std::string event_name(int event) const { return "indicator " + std::to_string(event); }

    /// How messages call a state: "3", or "3 of subsystem 'a'".
    virtual std::string state_name(int state) const { return std::to_string(state); }

    /// The usual size of a state, after initial_state(): solvers multiply their absolute tolerance by it.
    virtual double nominal(int /*state*/) const { return 1; }

    /// The next time after `t` at which f jumps; a solver stops there.
    virtual double next_time_event(double /*t*/) const { return std::numeric_limits<double>::infinity(); }

    /// A model with a discrete part changes it, and x, here. Called at every time event (of the larger system that the model
    /// is part of, so it asks itself whether it is its own), and at the other moments where watches() says so; the
    /// answers of watches() never change. True: x or f changed, the solver starts anew.
    virtual bool watches(moment /*m*/) const { return false; }
    virtual bool discrete_update(moment /*m*/, double /*t*/, double* /*x*/, const double* /*u*/) { return false; }

    /// What happened since the subsystem looked last: solvers note events, the model itself asks for the end.
    step_notice noticed;

    /// Parameters that tune() changes, for a model that cannot be made a second time; others have none. At time t in state x, which may
    /// jump; x is nullptr before initial_state().
    virtual std::vector<tunable_parameter> parameters() const { return {}; }
    virtual void tune(int /*parameter*/, double /*value*/, double /*t*/, double* /*x*/) {}

    /// Texts as in the subsystem contract, at time t in state x, which may jump where a text is set.
    virtual void set_text(int /*input*/, std::string_view /*text*/, double /*t*/, double* /*x*/) {}
    virtual void get_text(int /*output*/, double /*t*/, std::string& /*into*/) const {}

    /// The discrete part, for save/restore; nullptr: there is none.
    virtual std::unique_ptr<snapshot> make_memory() const { return nullptr; }
    virtual void save_memory(snapshot& /*into*/) {}
    virtual void restore_memory(const snapshot& /*from*/) {}
    /// Why the discrete part cannot be saved, and the way that needs less; empty: it can, or there is none.
    virtual std::string why_not_saved() const { return {}; }
    virtual std::string why_no_bytes() const { return {}; }  ///< as capabilities::why_no_bytes
};

/// Spreads entries in compressed columns, at the front of `values`, over the dense column-major matrix of n columns there.
void expand(const sparsity& s, double* values);

bool has_algebraic_states(const equations& model);

}  // namespace mdpcosim
