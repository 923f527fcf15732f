#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/hot_memory.hpp"
#include "core/polynomial.hpp"
#include "core/port_kind.hpp"
#include "core/state_bytes.hpp"
#include "core/time_grid.hpp"

/// The subsystem contract.
///
/// Call order (one thread at a time; different subsystems may run in different threads):
///   1. describe(), offers()              at any time, also before initialise(); their answers never change
///      expect(usage)                     before initialise(), where not all of it is used
///   2. initialise(t0)                    once; the state is that of t0
///   3. outputs(u, y)                     any number of times; changes nothing
///   4. advance(step, inputs, y)          step.begin is the end of the last accepted step (t0 at first);
///                                        y are the outputs at step.end with the inputs' values there
///      outputs(u, y)                     between steps: the same time, other input values
///      save(s) / restore(s)              between steps, where offers().save_restore says so
///      set_text(input, text), get_text   between steps, where describe() lists texts
///      tune(parameter, value)            between steps, where offers().parameters says so; before initialise() any of them
///      rate_sensitivities(u, input, B)   between steps, where offers().rate_sensitivities says so
///      reset()                           between steps, where offers().starts_again says so: as before initialise(), with the parameters of now
///   5. statistics()                      at any time
///   6. end()                             where somebody wants to know how it ends; otherwise destruction does
/// An exception from initialise, outputs or advance (a run_error with the reason, without the subsystem's name) leaves the
/// subsystem unusable unless a state saved before is restored. describe() lists inputs and outputs by slot: the spans u, y and
/// inputs have exactly input_count() and output_count() elements. Whole numbers and booleans (0 and 1) stand there as the doubles that
/// equal them, and are held over a step; texts have slots of their own.
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
    bool clock = false;    ///< an output: how often it ticked since the step began; an input: what it ticks with
};

/// `x`, or `x[2]` for the element of a vector at `slot`.
std::string element_name(const variable& v, int slot);

/// A string, bytes, or a whole number by its digits, of any length. Its slot is its place in the description's list, where elements of arrays stand one by one. A text carries
/// no polynomial: an input keeps it until another one is set.
struct text_variable {
    std::string name;
    std::string description;
    variable_type type =
        variable_type::string;  ///< or binary, or integer: one of 64 bits, of which doubles lose digits
};

/// "string", "binary", "64-bit integer".
const char* text_kind(variable_type type);

/// How the author of a model would show a variable: display value = factor * SI value + offset.
struct display_form {
    std::string unit = {};  ///< empty: as it is
    double factor = 1, offset = 0;
};

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
    display_form display;
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
    std::vector<text_variable> text_inputs = {}, text_outputs = {};
    /// Of programs and plugins, which a resolved scenario may know by this alone: name and value as a scenario would write them.
    struct parameter {
        std::string name;
        std::vector<std::string> values = {};
        bool list = false;
    };
    std::vector<parameter> parameters = {};

    int input_count() const { return inputs.empty() ? 0 : inputs.back().slot + inputs.back().size; }
    int output_count() const { return outputs.empty() ? 0 : outputs.back().slot + outputs.back().size; }
};

/// A number that tune() changes.
struct tunable_parameter {
    std::string name;
    bool between_steps = false;  ///< else before initialise() only
    std::string symbol = {};     ///< a second name, or none
};

/// Whether a master that was built on one of them may use the other: the same variables with the same dependencies.
bool same_structure(const subsystem_description& a, const subsystem_description& b);

/// What a subsystem offers beyond the compulsory calls. A method checks what it needs before the run.
struct capabilities {
    bool save_restore = false;
    bool rate_sensitivities = false;  ///< of some outputs (output_variable::rate_sensitivities)
    bool chooses_step = false;        ///< next_step() says what its integrator would take next
    bool tells_next_event = false;    ///< next_event() knows something
    bool starts_again = false;        ///< reset() is there
    /// Its steps are not this program's: macro steps much shorter than the others may end before its first one, and its outputs stay as they were.
    bool hidden_steps = false;
    /// It may have an event at a macro point, with the inputs of that point: advance() over no time carries it out.
    bool events_at_points = false;
    std::string why_no_save_restore;  ///< and the way that needs less
    std::string why_no_bytes = {};    ///< why a snapshot cannot leave this process; empty: it can, where there is one
    std::string why_fixed_step = {};  ///< why it takes steps of one length only; empty: it takes others, too
    std::vector<double> port_stiffness = {};         ///< against the ground, by port; empty, or NaN for a port: unknown
    std::vector<tunable_parameter> parameters = {};  ///< in the order of the numbers that tune() takes
};

/// How the master uses a subsystem.
struct usage {
    std::vector<bool> outputs =
        {};  ///< by slot: somebody reads it; the others may be left as they are. Empty: all are read
    std::vector<bool> inputs = {};  ///< by slot: it may change; the others keep their start value. Empty: all may
    /// outputs() is called after every advance() before anybody reads y: advance() may leave y as it is.
    bool outputs_follow = false;
    bool next_event = false;                               ///< next_event() is asked for after every advance()
    bool goes_back = true;                                 ///< restore() may lead behind the last step
    double end = std::numeric_limits<double>::infinity();  ///< nobody goes on behind it
    double step = 0;                                       ///< macro steps are this long; 0: of any length
};

/// What a subsystem has to tell about a step besides its outputs. However it got there, at step.end it is.
struct step_notice {
    double first_event = std::numeric_limits<double>::infinity();  ///< when it jumped inside the step
    bool ask_to_end = false;  ///< the simulation, in order, at the end of this step
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
    /// To bytes and back, where offers().why_no_bytes is empty: what one subsystem wrote, another one made from the same entry takes, in any
    /// process on a machine of the same kind.
    virtual void state(state_bytes& bytes) = 0;
};
std::vector<std::byte> to_bytes(snapshot& s);
/// Throws state_mismatch where the bytes are those of another kind of state.
void from_bytes(snapshot& s, const std::vector<std::byte>& bytes);

/// Subsystems of one kind that advance with one call, as each of them would alone. Between steps they are used one by one, as others.
class subsystem_batch {
   public:
    virtual ~subsystem_batch() = default;
    virtual std::size_t size() const = 0;
    /// Inputs and outputs of the members follow each other, as their slots do. `done` counts the members that are: what is thrown is the
    /// failure of the next one, and those behind it stay where they are. Allocates nothing.
    virtual void advance(const macro_step& step, const polynomial* inputs, double* y, std::size_t& done) = 0;
};

class subsystem : public in_hot_memory {
   public:
    subsystem() = default;
    subsystem(const subsystem&) = delete;
    subsystem& operator=(const subsystem&) = delete;
    virtual ~subsystem() = default;

    virtual const subsystem_description& describe() const noexcept = 0;
    virtual capabilities offers() const = 0;

    virtual void expect(const usage& /*used*/) {}

    virtual void initialise(double t0) = 0;
    virtual void reset();

    /// Outputs at the present time for the input values `u`.
    virtual void outputs(std::span<const double> u, std::span<double> y) = 0;

    /// Integrates over one macro step with the given input polynomials (in t - step.begin). Allocates nothing, but in the first step of one whose
    /// initial state has waited for its inputs (an FMU in model exchange). A step without length is an event at the present time, where
    /// offers().events_at_points; any number of them follow each other.
    virtual void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) = 0;

    /// advance(), then outputs(u, y), where usage says that outputs follow. `advanced` becomes true between the two.
    virtual void advance_and_follow(const macro_step& step, const polynomial* inputs, const double* u, double* y,
                                    bool& advanced);

    /// How the rates of the outputs answer at once to a change of one input, d(dy/dt)/du at the present time with the input values `u`, by output
    /// slot; NaN where it is not known, which may also turn out here. Whatever an initial state follows from counts from now on;
    /// otherwise nothing changes. Allocates nothing.
    virtual void rate_sensitivities(std::span<const double> u, int input, std::span<double> by_output);

    /// save() is neutral: advancing after save(s), after restore(s) and without either is the same, bitwise.
    virtual std::unique_ptr<snapshot> make_snapshot() const;
    virtual void save(snapshot& into);
    virtual void restore(const snapshot& from);

    /// A new value of offers().parameters[parameter], from the present time on. Throws user_error for a value that is not allowed, and is
    /// then as before.
    virtual void tune(int parameter, double value);

    /// An input has this text from now on; an output's present one.
    virtual void set_text(int input, std::string_view text);
    virtual void get_text(int output, std::string& into);

    /// One call for this one and those of its kind that follow it directly, all of `behind` or the first of them; nullptr: it has none.
    /// Asked after initialise(), again after each.
    virtual std::unique_ptr<subsystem_batch> make_batch(std::span<subsystem* const> /*behind*/) { return nullptr; }

    virtual subsystem_statistics statistics() const { return {}; }
    /// The step that its integrator would take next, s, where offers().chooses_step says so; after initialise().
    virtual double next_step() const { return 0; }
    /// When it will jump next by its own clock, as far as it knows now; after initialise(), between steps.
    virtual double next_event() const { return std::numeric_limits<double>::infinity(); }

    /// Where it lives elsewhere it ends there, which is waited for and judged: a run_error where it does not end in order. Nothing follows.
    virtual void end() {}

    /// Whether the last advance() left a notice.
    bool has_notice() const { return noticed_; }
    step_notice take_notice() {
        noticed_ = false;
        return std::exchange(notice_, {});
    }

   protected:
    void tell_event(double t) {
        noticed_ = true;
        notice_.first_event = std::min(notice_.first_event, t);
    }
    void ask_to_end() { noticed_ = notice_.ask_to_end = true; }

   private:
    bool noticed_ = false;
    step_notice notice_;
};

}  // namespace mdpcosim
