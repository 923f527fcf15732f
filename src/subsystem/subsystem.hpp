#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/polynomial.hpp"
#include "core/port_kind.hpp"
#include "core/time_grid.hpp"

/// The subsystem contract.
///
/// Call order (one thread at a time; different subsystems may run in different threads):
///   1. describe(), offers()              at any time, also before initialise(); their answers never change
///      need_outputs(needed)              before initialise(), where not all outputs are read
///      drive_inputs(driven)              before initialise(), where some inputs never change
///      outputs_follow()                  before initialise(), where outputs() comes after every advance()
///   2. initialise(t0)                    once; the state is that of t0
///   3. outputs(u, y)                     any number of times; changes nothing
///   4. advance(step, inputs, y)          step.begin is the end of the last accepted step (t0 at first);
///                                        y are the outputs at step.end with the inputs' values there
///      outputs(u, y)                     between steps: the same time, other input values
///      save(s) / restore(s)              between steps, where offers().save_restore says so
///      rate_sensitivities(u, input, B)     between steps, where offers().rate_sensitivities says so
///   5. statistics()                      at any time
/// An exception from initialise, outputs or advance (a run_error with the reason, without the subsystem's name) leaves the
/// subsystem unusable unless a state saved before is restored. describe() lists real inputs and outputs by slot: the
/// spans u, y and inputs have exactly input_count() and output_count() elements.
namespace mdpcosim {

enum class variable_type { real, integer, boolean, string, binary };

/// A variable with a shape, flattened: elements take consecutive slots and are addressed `name[i]` when size > 1.
struct variable {
    std::string name;  ///< address inside the subsystem, `mass.position`
    std::string unit;  ///< SI; "1" a pure number; "" unknown
    std::string description;
    variable_type type = variable_type::real;
    int size = 1;
    int slot = 0;          ///< of the first element
    bool sampled = false;  ///< an input read, an output changed at sample times only: signals to and from it are held
};

/// `x`, or `x[2]` for the element of a vector at `slot`.
std::string element_name(const variable& v, int slot);

struct input_variable : variable {
    int max_degree =
        mdpcosim::max_degree;  ///< highest degree of polynomial it takes; others are projected by the master
    double start = 0;          ///< value while nothing is connected
};

struct output_variable : variable {
    int rate_slot = -1;  ///< output slot that holds this output's rate (size 1 or element-wise), -1: not offered
    bool rate_needs_input = false;    ///< the rate depends on present inputs, so that laws must not use it (000, 2.2.2)
    std::vector<int> direct;          ///< input slots this output depends on without a state between (feed-through)
    bool rate_sensitivities = false;  ///< rate_sensitivities() knows how its rate answers to inputs
};

/// A physical port. With causality takes_load `motion` are output slots and `load` is an input slot; with
/// takes_motion it is the reverse. -1: not offered.
struct port {
    std::string name;
    port_kind kind = port_kind::translation;
    mdpcosim::causality causality = mdpcosim::causality::takes_load;
    std::array<int, 3> motion{-1, -1, -1};
    int load = -1;
    int load_integral = -1;  ///< takes_motion only: output slot of the load's integral (charge), where it is offered
    std::string description;
    /// Of a frame, which has more than `motion` and `load` hold: the output slots in the order of frame_motion and the input slots of
    /// force and torque; -1: not offered.
    std::vector<int> motion_slots = {}, load_slots = {};
};

/// Shared by all subsystems of one structure; see model and port lists in `mdpcosim check`.
struct subsystem_description {
    std::string type;  ///< "model mass-spring-damper", "ode", "file run42.csv"
    std::vector<input_variable> inputs;
    std::vector<output_variable> outputs;
    std::vector<port> ports;
    /// Of a program, whose parameters nobody else knows: name and values as a scenario would write them.
    struct parameter {
        std::string name;
        std::vector<std::string> values = {};
        bool list = false;
    };
    std::vector<parameter> parameters = {};

    int input_count() const { return inputs.empty() ? 0 : inputs.back().slot + inputs.back().size; }
    int output_count() const { return outputs.empty() ? 0 : outputs.back().slot + outputs.back().size; }
};

/// What a subsystem offers beyond the compulsory calls. A method checks what it needs before the run.
struct capabilities {
    bool save_restore = false;
    bool dense_output = false;
    bool rate_sensitivities = false;  ///< of some outputs (output_variable::rate_sensitivities)
    bool own_equations = false;
    bool chooses_step = false;                ///< next_step() says what its integrator would take next
    std::string why_no_save_restore;          ///< and the way that needs less
    std::string why_fixed_step = {};          ///< why it takes steps of one length only; empty: it takes others, too
    std::vector<double> port_stiffness = {};  ///< against the ground, by port; empty, or NaN for a port: unknown
};

struct subsystem_statistics {
    std::int64_t micro_steps = 0;
    std::int64_t evaluations = 0;  ///< of the right-hand side
    std::int64_t rejected = 0;
    std::int64_t events = 0;
    std::int64_t newton_iterations = 0;  ///< of implicit solvers
    std::int64_t factorisations = 0;     ///< of the Newton matrix

    subsystem_statistics& operator+=(const subsystem_statistics& other) {
        micro_steps += other.micro_steps;
        evaluations += other.evaluations;
        rejected += other.rejected;
        events += other.events;
        newton_iterations += other.newton_iterations;
        factorisations += other.factorisations;
        return *this;
    }
};

/// Storage for one saved state; made by the subsystem it belongs to, reusable, so that saving allocates nothing.
class snapshot {
   public:
    virtual ~snapshot() = default;
};

class subsystem {
   public:
    subsystem() = default;
    subsystem(const subsystem&) = delete;
    subsystem& operator=(const subsystem&) = delete;
    virtual ~subsystem() = default;

    virtual const subsystem_description& describe() const noexcept = 0;
    virtual capabilities offers() const = 0;

    /// By slot: whether anybody reads the output. The others may be left as they are, if that saves time.
    virtual void need_outputs(const std::vector<bool>& needed) { static_cast<void>(needed); }
    /// By slot: whether anything is connected to the input. The others keep their start value.
    virtual void drive_inputs(const std::vector<bool>& driven) { static_cast<void>(driven); }
    /// After every advance() outputs() is called before anybody reads y: advance() may leave y as it is.
    virtual void outputs_follow() {}

    virtual void initialise(double t0) = 0;

    /// Outputs at the present time for the input values `u`.
    virtual void outputs(std::span<const double> u, std::span<double> y) = 0;

    /// Integrates over one macro step with the given input polynomials (in t - step.begin). Allocates nothing.
    virtual void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) = 0;

    /// advance(), then outputs(u, y), after outputs_follow(). `advanced` becomes true between the two.
    virtual void advance_and_follow(const macro_step& step, const polynomial* inputs, const double* u, double* y,
                                    bool& advanced);

    /// How the rates of the outputs answer at once to a change of one input, d(dy/dt)/du at the present time with the input values `u`, by output
    /// slot; NaN where it is not known, which may also turn out here. Whatever an initial state follows from counts from now on;
    /// otherwise nothing changes. Allocates nothing.
    virtual void rate_sensitivities(std::span<const double> u, int input, std::span<double> by_output);

    /// save() may bring the solver into a normal form. Promise: advancing after save(s) equals advancing after
    /// restore(s), bitwise.
    virtual std::unique_ptr<snapshot> make_snapshot() const;
    virtual void save(snapshot& into);
    virtual void restore(const snapshot& from);

    virtual subsystem_statistics statistics() const { return {}; }
    /// The step that its integrator would take next, s, where offers().chooses_step says so; after initialise().
    virtual double next_step() const { return 0; }
};

}  // namespace mdpcosim
