#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/parameter.hpp"
#include "core/registry.hpp"
#include "core/state_bytes.hpp"
#include "core/time_grid.hpp"
#include "master/coupled_system.hpp"

/// How one macro step is done. One method, one file.
///
/// Call order: hand_over() what the scenario says to this method alone; check() before the run; prepare() once, after the system is
/// initialised; then macro step after macro step
///   keep(system)              only where the attempt may be rolled back, which needs subsystems that save and restore
///   attempt(system, step)     or attempt_and_estimate(): from the last committed point to step.end. Outputs and u, du of the system are
///                             those of step.end; the network has accepted the values up to step.begin
///   commit(system)            the attempt stands: what it left is what the next one builds on
///   or rollback(system)       it never was: state of the subsystems, network, u, du and the method's own memory are those of keep(). Also
///                             after an attempt that failed
/// A method never guesses which of the two it was. What it remembers from step to step is listed by state().
namespace mdpcosim {

/// Powers of the macro step that estimated errors of values and of rates grow with.
struct estimate_orders {
    int value, rate;
};

/// What is true of a method whatever its options.
struct method_traits {
    bool reads_accelerations =
        false;  ///< accelerations of connected ports must be among the outputs that subsystems give
    bool evaluates_each_step =
        true;  ///< outputs with feed-through are evaluated after every macro step, before anybody reads them
    /// Accelerations that rates of coupling variables need are those with the present coupling variables.
    bool evaluates_rates = false;
    bool builds_on_history = false;  ///< its order needs as many accepted times as the extrapolations have points
    bool repeats = false;       ///< steps, which it saves the begin of anyway, until it finds a solution or gives up
    bool goes_back = true;      ///< also with steps of one length
    bool holds_joints = false;  ///< others need a scenario without
    bool own_steps = false;     ///< subsystems have steps of their own; `step`, `order` and `delay` in a scenario
    bool estimates = false;     ///< attempt_and_estimate() is there
    int least_micro_steps = 1;  ///< that a solver with a fixed step must do in a macro step, in subsystems with joints
    /// Rules for connections unless others are named, with and without rates; empty: those of the explicit method.
    std::string rule_with_rates = {}, rule_without_rates = {};
    std::string remedy = {};  ///< when a coupling diverges; empty: what helps the explicit method
};

class method {
   public:
    explicit method(const method_traits& traits) : traits_(traits) {}
    virtual ~method() = default;
    const method_traits& traits() const { return traits_; }

    /// Names what a subsystem or connection lacks for this method, and the way that needs less; throws user_error.
    virtual void check(const coupled_system& /*system*/) const {}
    /// The extrapolation that stands for what the method does itself with every channel that is not held; empty: each has its own.
    virtual std::string own_extrapolation() const { return {}; }
    /// For `check`, by subsystem: what the method does with it; empty: nothing worth saying.
    virtual std::vector<std::string> about_subsystems(const coupled_system& /*system*/) const { return {}; }

    /// Whatever has to be allocated.
    virtual void prepare(coupled_system& /*system*/) {}
    /// The same for attempt_and_estimate() and measure_misses(), where they are used.
    virtual void prepare_estimates(coupled_system& /*system*/) {}

    void keep(coupled_system& system);
    virtual void attempt(coupled_system& system, const macro_step& step) = 0;
    /// An attempt that also says, for every output that connections and signals read, the error it made there.
    virtual estimate_orders attempt_and_estimate(coupled_system& system, const macro_step& step,
                                                 std::span<double> error);
    void commit(coupled_system& system) {
        committed();
        system.forget_begin();
    }
    void rollback(coupled_system& system);
    /// An attempt that stands whatever comes.
    void step(coupled_system& system, const macro_step& step) {
        attempt(system, step);
        commit(system);
    }

    /// After an attempt: `missed` holds, by channel, u less the end of its polynomial. A method whose polynomials are not meant to end at u
    /// puts in its own measure of what it missed.
    virtual void measure_misses(double /*H*/, std::span<double> /*missed*/) {}

    /// What the method iterated so far, for the summary; nothing where it does not iterate.
    virtual const iteration_counts* iterations() const { return nullptr; }
    /// "iqn-ils", of what it iterates with.
    virtual std::string iterates_by() const { return {}; }

    /// Everything that one step leaves to the next, after prepare().
    virtual void state(state_bytes& /*bytes*/) {}

    /// What the next step builds on besides the network's memory, while all steps have the length H; linear in a linear system.
    virtual std::size_t memory_size(const coupled_system& /*system*/) const { return 0; }
    virtual void memory(std::span<double> /*into*/) const {}
    virtual void set_memory(double /*H*/, std::span<const double> /*from*/) {}

   private:
    virtual void committed() {}

    const method_traits& traits_;
    state_bytes kept_;
};

/// What a scenario says to some methods only is data of a type of its own; a method that uses it takes it, and keeps it.
template <class Data>
class takes {
   public:
    virtual void take(Data data) = 0;

   protected:
    ~takes() = default;
};

/// Methods that have no use for it never see it.
template <class Data>
void hand_over(method& chosen, Data data) {
    if (auto* to = dynamic_cast<takes<Data>*>(&chosen)) to->take(std::move(data));
}

struct method_info {
    std::string name;
    std::string summary;
    std::function<std::unique_ptr<method>(const parameter_values&)> make_with;
    std::vector<parameter_info> options = {};
    method_traits traits = {};

    std::unique_ptr<method> make() const { return make_with(parameter_values(options)); }
};

using method_registration = registration<method_info>;
using method_registry = registry<method_info>;
inline constexpr const char* default_method = "explicit";

}  // namespace mdpcosim
