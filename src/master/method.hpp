#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/parameter.hpp"
#include "core/registry.hpp"
#include "core/time_grid.hpp"
#include "master/coupled_system.hpp"

/// How one macro step is done. One method, one file.
///
/// Call order: check() before the run, prepare(), then step() or estimate() over consecutive macro steps of an initialised system. After step() the
/// outputs and u, du of the system are those of step.end; accepted are the values up to step.begin. What a method has to
/// remember from step to step it keeps in the network's history or gives as its memory, so that the analyses find it.
namespace mdpcosim {

/// Powers of the macro step that estimated errors of values and of rates grow with.
struct estimate_orders {
    int value, rate;
};

class method {
   public:
    virtual ~method() = default;
    /// Names what a subsystem or connection lacks for this method, and the way that needs less; throws user_error.
    virtual void check(const coupled_system& /*system*/) const {}
    /// Whether accelerations of connected ports must be among the outputs that subsystems give.
    virtual bool reads_accelerations() const { return false; }
    /// Whether outputs with feed-through are evaluated after every macro step, before anybody reads them.
    virtual bool evaluates_each_step() const { return true; }
    /// The extrapolation that stands for what the method does itself with every channel that is not held; empty: each has its own.
    virtual std::string own_extrapolation() const { return {}; }
    /// Whether it can hold joints; others need a scenario without.
    virtual bool holds_joints() const { return false; }
    /// Micro steps that a solver with a fixed step must do in a macro step at least, in subsystems with joints.
    virtual int least_micro_steps() const { return 1; }
    /// For `check`, by subsystem: what the method does with it; empty: nothing worth saying.
    virtual std::vector<std::string> about_subsystems(const coupled_system& /*system*/) const { return {}; }
    /// What to do when a coupling diverges; empty: what helps the explicit method.
    virtual std::string remedy() const { return {}; }

    /// Once, after the system is initialised and before the first step: whatever has to be allocated.
    virtual void prepare(coupled_system& /*system*/) {}
    virtual void step(coupled_system& system, const macro_step& step) = 0;

    /// A step that also says, for every output that connections and signals read, the error it made there. subsystems->restore()
    /// undoes it; the next step may then begin at the same time again.
    virtual bool estimates() const { return false; }
    virtual void prepare_estimates(coupled_system& /*system*/) {
    }  ///< once, before the first estimate() or see_missed()
    /// After step(): `missed` holds, by channel, u less the end of its polynomial. A method whose polynomials are not meant to end at u
    /// puts in its own measure of what it missed.
    virtual void see_missed(double /*H*/, std::span<double> /*missed*/) {}
    virtual estimate_orders estimate(coupled_system& system, const macro_step& step, std::span<double> error);

    /// What the method iterated so far, for the summary; nothing where it does not iterate.
    virtual const iteration_counts* iterations() const { return nullptr; }
    /// "iqn-ils", of what it iterates with.
    virtual std::string iterates_by() const { return {}; }

    /// What the next step builds on besides the network's memory, while all steps have the length H; linear in a linear system.
    virtual std::size_t memory_size(const coupled_system& /*system*/) const { return 0; }
    virtual void memory(std::span<double> /*into*/) const {}
    virtual void set_memory(double /*H*/, std::span<const double> /*from*/) {}
};

struct method_info {
    std::string name;
    std::string summary;
    std::function<std::unique_ptr<method>(const parameter_values&)> make_with;
    std::vector<parameter_info> options = {};

    std::unique_ptr<method> make() const { return make_with(parameter_values(options)); }
};

using method_registration = registration<method_info>;
using method_registry = registry<method_info>;
inline constexpr const char* default_method = "explicit";

}  // namespace mdpcosim
