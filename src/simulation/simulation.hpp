#pragma once

#include <atomic>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assembly/assembly.hpp"
#include "assembly/transports.hpp"
#include "core/messages.hpp"
#include "core/time_grid.hpp"
#include "results/coupling_trace.hpp"
#include "results/summary.hpp"
#include "scenario/spec.hpp"
#include "simulation/observer.hpp"

/// A coupled system as an object: built from a scenario, initialised, stepped, looked at. Everything that runs a scenario uses it.
///
/// Call order:
///   1. the constructor               makes every subsystem and the method, once; a user's mistake leaves as user_error
///   2. add(observer), set(), set_text()   before initialise() or between steps; reset(changes) begins anew
///   3. initialise()                  once; what only the initial state shows leaves as user_error, a failing subsystem as run_error
///   4. step(), advance_to(t), advance_over(span)   until done(). A run_error leaves the simulation failed: values are those of the last committed step, or
///                                    of the failure itself where a coupling diverged; it can only be looked at and finished
///      save(to), load(from)          between steps; load also instead of initialise()
///   5. finish()                      the summary, at any time after initialise(); it may be asked for again
/// A call out of this order, an unknown address or a value that does not fit is a user_error that says so and changes nothing. Nothing is
/// printed and no file is written. Two simulations in one process do not know of each other; one is used by one thread at a time.
namespace mdpcosim {

struct simulation_options {
    int workers = 0;  ///< threads (of each MPI rank), 0: one per core; or processes, 0: one per subsystem
    transport_kind transport = transport_kind::threads;
    bool monolithic = false;  ///< the reference: the scenario as one system, no co-simulation
    bool pin = false;         ///< bind workers and processes to processing units
    bool watch = true;        ///< jumps, energy errors and divergence of couplings are looked at
    /// Parameters and inputs that nothing drives can be set() between steps, any output has its value(), and reset() is possible, which costs a
    /// little in every step and some memory. Without, outputs that nothing reads or records may be left as they were.
    bool writable = true;
    /// By somebody else's clock: advance_over() says where macro points are, and an end that does not lie behind the start is none.
    bool led = false;
    remote_options remote = {};                    ///< of the transport tcp
    const std::atomic<bool>* interrupt = nullptr;  ///< ends waiting for others, and a reference's step in work
    message_sink messages = {};                    ///< none: that of the message_scope around, if there is one
};

class simulation {
   public:
    explicit simulation(const scenario& s, const simulation_options& options = {});
    simulation(simulation&&) noexcept;
    ~simulation();

    void initialise();
    /// One macro step; of a reference up to its next row or sample. The step that was done.
    macro_step step();
    /// Macro steps until time() >= t or done().
    void advance_to(double t);
    /// Where the simulation is led: macro steps that lead over the span, as many of the scenario's length as it has, else as few equal ones as
    /// none is longer. User errors where steps are fixed and the span has no whole number of them.
    void advance_over(double span);
    /// Why all macro steps have the scenario's length; empty: others are allowed.
    std::string why_steps_are_fixed() const;

    double time() const;
    double end() const;
    bool done() const;         ///< the end is reached, or a subsystem asked for it
    bool interrupted() const;  ///< a reference was told to end within a step
    bool diverged() const;     ///< a coupling did, and the scenario wants the run to stop then
    bool failed() const;       ///< it can only be looked at
    std::int64_t steps() const;

    /// `engine.shaft.angle`, `strut.u`, `strut.jump`, `strut.energy-error`, an input `brake.torque` as it was used last; after initialise().
    double value(const std::string& address) const;
    /// The place of a value, for reading it again and again; it stays valid as long as the simulation.
    class place;
    place find(const std::string& address) const;
    double value(const place& at) const;
    /// The place of an input that nothing drives, for writing it again and again.
    place find_free_input(const std::string& address) const;
    void set(const place& free_input, double value);
    /// What was set counts now, not only in the next step: outputs that depend on it at once follow.
    void follow();
    /// The text (string or bytes) of an output, or of an input that has been given one.
    std::string text(const std::string& address) const;
    /// An input that nothing drives, or a parameter, `engine.J`, in SI units, from the next macro step on (before initialise(): from the start
    /// on, then any parameter; later only those that subsystems can change while they run). Subsystems with steps of their own see it in their
    /// next one.
    void set(const std::string& address, double value);
    /// The same for an input that takes texts.
    void set_text(const std::string& address, const std::string& text);

    /// Back to before initialise(), with these values set; nothing is read or built again. All subsystems must offer it: who does not is named.
    /// Values that were set before stay, the state and counts do not.
    void reset(std::span<const std::pair<std::string, double>> changes = {});

    /// The whole state, for load() into a simulation of the same scenario, on any transport, with any number of workers, in any process on a
    /// machine of this kind. Neutral: steps afterwards have the same bits as without it. Subsystems that cannot are named in a user_error, which
    /// changes nothing; why_not_saved() asks beforehand, empty: all can.
    void save(std::ostream& to);
    std::string why_not_saved() const;
    /// Throws user_error for a state of another scenario (the end time, the placement and scenes may differ), for one saved before a parameter
    /// was set that is set here, and for a damaged one.
    void load(std::istream& from);

    /// Of the last step() or initialise(): the steps that a subsystem took, each with its inputs, where an observer wants_inputs(). Taken again
    /// with one made by make_alone() they give the same bits.
    const input_journal& inputs() const;
    /// Why the simulation ended before its end; empty: it did not.
    const std::string& early_end() const;

    /// Every subsystem for its present outputs: one that is gone or fails leaves as run_error.
    void ask_everybody();

    /// It must outlive the simulation, or its last step.
    void add(observer& looks_on);

    /// What was asked for, with every default written out.
    const scenario& resolved() const;
    /// resolved() is needed no more: large scenarios take much memory.
    void release_scenario();
    /// How it was put together; its subsystems, network and method are at work here.
    const assembly& parts() const;
    /// All outputs by slot, coupling variables by channel, and what the monitor sees of each; empty without `watch`.
    std::span<const double> outputs() const;
    std::span<const double> coupling_variables() const;
    std::span<const double> jumps() const;
    std::span<const double> energy_errors() const;
    /// So far, with those of steps that were tried; of a reference those of its one solver.
    std::int64_t micro_steps(subsystem_index i) const;
    const coupling_trace* trace() const;  ///< nullptr for a reference and without `watch`

    run_summary finish();

   private:
    struct impl;
    std::unique_ptr<impl> self_;
};

/// One subsystem of a scenario on its own, as a simulation makes it.
std::unique_ptr<subsystem> make_alone(const scenario& s, const std::string& name);

/// Where a value stands.
class simulation::place {
   private:
    friend class simulation;
    enum class source : std::uint8_t { output, coupling, jump, energy_error, input };
    source from_ = source::output;
    std::uint32_t index_ = 0;
    std::uint32_t subsystem_ = 0;  ///< of an input that was found for writing
};

}  // namespace mdpcosim
