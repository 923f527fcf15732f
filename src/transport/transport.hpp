#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/cpu_time.hpp"
#include "core/error.hpp"
#include "core/index.hpp"
#include "core/plain_signal.hpp"
#include "core/profile.hpp"
#include "subsystem/subsystem.hpp"

/// How the master reaches subsystems; the only way it knows them.
///
/// Call order as in the subsystem contract, for all subsystems at once: initialise, evaluate, then advance any number of
/// times. inputs() and outputs() are the exchange areas: the master writes input polynomials before advance() and reads
/// outputs after it; subsystem i owns the slots from input_offset(i) and output_offset(i). Inputs that are not written keep
/// their polynomials.
namespace mdpcosim {

/// A subsystem failed: which, when and why. Thrown after all subsystems of the step have come to rest.
class subsystem_failure : public run_error {
   public:
    /// `cause`: the reason without step and inputs, where it is another text.
    subsystem_failure(std::string subsystem, double t, const std::string& reason, std::string cause = {});
    const std::string& subsystem_name() const { return subsystem_; }
    double time() const { return time_; }
    const std::string& cause() const { return cause_; }
    /// In outputs(), after a step that all had done.
    bool in_evaluation() const { return in_evaluation_; }
    subsystem_failure&& of_evaluation() && {
        in_evaluation_ = true;
        return std::move(*this);
    }

   private:
    std::string subsystem_;
    double time_;
    std::string cause_;
    bool in_evaluation_ = false;
};

/// What one subsystem cost so far, from sampled steps.
struct subsystem_cost {
    double seconds_per_step = 0;
    int worker = 0;
    double begin = 0, end = 0;  ///< of the last timed step, steady clock, s
};

/// A macro step with what follows it: subsystems whose outputs depend on inputs of the same time are evaluated at its end.
class step_plan {
   public:
    /// First the subsystem is advanced, if so, then evaluated, if so. Every subsystem is advanced once, before any evaluation
    /// needs its outputs.
    struct item {
        subsystem_index subsystem;
        bool advance = true, evaluate = false;
        bool signals_only = false;  ///< input values follow from the signals of the range
        std::uint32_t first = 0, last = 0;
    };
    std::vector<item> items;
    std::vector<plain_signal> signals;
    std::vector<double> values;                       ///< of all inputs
    std::vector<std::vector<std::uint32_t>> sources;  ///< by item: the outputs that its values follow from
    int number = -1;                                  ///< that transport::prepare() gave it
    bool advances() const { return std::ranges::any_of(items, &item::advance); }

    virtual ~step_plan() = default;

    /// The values for an evaluation at `t`, from all outputs.
    void find_values(const item& i, double t, const double* outputs) {
        if (!i.signals_only) return find_values_by_laws(i, t);
        find_input_values({signals.data() + i.first, i.last - i.first}, outputs, values.data());
    }

   private:
    virtual void find_values_by_laws(const item& i, double t) = 0;
};

/// A step of one subsystem.
struct subsystem_step {
    subsystem_index subsystem;
    macro_step step;
};

/// A macro step that may be thrown away, of all subsystems: what goes in and what comes out, by slot.
struct trial_step {
    std::vector<polynomial> inputs;
    std::vector<double> outputs;
};

/// A saved state of all subsystems.
enum class state_id : std::int32_t {};

/// What the subsystems noticed in a step, together.
struct step_notices {
    double first_event = std::numeric_limits<double>::infinity();
    /// Who jumped, each once and in no order; where there are more than `most`, it may have been anybody.
    static constexpr std::size_t most = 16;
    std::array<subsystem_index, most> jumped{};
    std::size_t jumps = 0;
    subsystem_index asked_to_end;  ///< the first that asks for the end of the simulation; not valid: none does

    void add(subsystem_index i, const step_notice& one) {
        first_event = std::min(first_event, one.first_event);
        if (one.first_event < std::numeric_limits<double>::infinity()) add_jump(i);
        if (one.ask_to_end && (!asked_to_end.valid() || i.value() < asked_to_end.value())) asked_to_end = i;
    }
    void add(const step_notices& other) {
        first_event = std::min(first_event, other.first_event);
        if (other.jumps > most) jumps = most + 1;
        for (std::size_t k = 0; k < other.jumps && jumps <= most; ++k) add_jump(other.jumped[k]);
        if (other.asked_to_end.valid()) add(other.asked_to_end, {.ask_to_end = true});
    }
    bool may_have_jumped(subsystem_index i) const {
        return jumps > most || std::find(jumped.begin(), jumped.begin() + jumps, i) != jumped.begin() + jumps;
    }

   private:
    void add_jump(subsystem_index i) {
        if (may_have_jumped(i)) return;
        if (jumps < most) jumped[jumps] = i;
        ++jumps;
    }
};

class transport {
   public:
    virtual ~transport() = default;

    virtual std::size_t size() const = 0;
    virtual const std::string& name(subsystem_index i) const = 0;
    virtual const subsystem_description& describe(subsystem_index i) const = 0;
    virtual capabilities offers(subsystem_index i) const = 0;

    virtual std::size_t input_offset(subsystem_index i) const = 0;
    virtual std::size_t output_offset(subsystem_index i) const = 0;
    virtual std::span<polynomial> inputs() = 0;
    virtual std::span<const double> outputs() const = 0;

    /// As in the subsystem contract, for one subsystem; where outputs follow, evaluate(i) is called after every advance() before they are read.
    virtual void expect(subsystem_index i, const usage& used) = 0;
    /// As in the subsystem contract, with the same user_error, or run_error where the subsystem lives elsewhere.
    virtual void tune(subsystem_index i, int parameter, double value) = 0;
    /// As in the subsystem contract; a failure is that of the subsystem.
    virtual void set_text(subsystem_index i, int input, const std::string& text) = 0;
    virtual void get_text(subsystem_index i, int output, std::string& into) = 0;
    virtual void initialise(double t0) = 0;
    /// As in the subsystem contract, for all.
    virtual void reset() = 0;
    /// Outputs of one subsystem at the present time for the given input values. With `provisional` values (inputs that other
    /// subsystems have not given yet) outputs that are not finite are no failure.
    virtual void evaluate(subsystem_index i, std::span<const double> u, bool provisional = false) = 0;
    /// The same for all, with the values of all inputs.
    virtual void evaluate_all(std::span<const double> u, bool provisional);
    /// The plan will be carried out, or where it advances nobody evaluated, as it is now; `sources` are there.
    virtual void prepare(step_plan& /*plan*/, bool /*provisional*/) {}
    /// The evaluations of a plan at the present time, item by item, if results and failures are the same.
    virtual void evaluate_plan(double t, step_plan& plan, bool provisional);
    /// As in the subsystem contract, for one subsystem and an input of its own; all NaN where the transport does not pass it on.
    virtual void rate_sensitivities(subsystem_index i, std::span<const double> u, int input,
                                    std::span<double> by_output);
    /// The next macro step is one of the timed ones.
    virtual void time_next_step() {}
    /// All subsystems over one macro step, in parallel where it pays.
    virtual void advance(const macro_step& step) = 0;
    /// Some subsystems, each once and over a step of its own, in parallel where it pays. The others stay where they are.
    virtual void advance_some(std::span<const subsystem_step> some) = 0;
    /// The step that the subsystem's own integrator would take next; 0: nobody knows.
    virtual double next_step(subsystem_index i) const {
        static_cast<void>(i);
        return 0;
    }
    /// As in the subsystem contract, where usage::next_event was said.
    virtual double next_event(subsystem_index i) const = 0;
    /// Of the last step of any kind.
    virtual const step_notices& notices() const = 0;
    /// advance(), then the evaluations of the plan; or item by item, if results and failures are the same.
    virtual void carry_out(const macro_step& step, step_plan& plan) {
        advance(step);
        transport::evaluate_plan(step.end, plan, false);
    }
    /// Room for one more saved state: that of every subsystem, which must offer save_restore, and outputs(). It may be saved into again
    /// and again; every user of saved states has its own.
    virtual state_id make_state() = 0;
    virtual void save(state_id into) = 0;
    virtual void restore(state_id from) = 0;
    /// What a saved state holds of one subsystem, as bytes that do not depend on the transport.
    virtual std::vector<std::byte> get_state(state_id of, subsystem_index i) = 0;
    /// Another state in place of the saved one, subsystem by subsystem; in the end what belongs to all: time and outputs().
    virtual void set_state(state_id of, subsystem_index i, const std::vector<std::byte>& bytes) = 0;
    virtual void set_state(state_id of, double time, std::span<const double> outputs) = 0;
    /// The step once for each trial, from the present state, which was saved as `begin`. State and outputs() afterwards are those of the
    /// last trial. One after the other; at the same time where there are replicas.
    virtual void advance_trials(const macro_step& step, std::span<trial_step> trials, state_id begin);

    virtual subsystem_statistics statistics(subsystem_index i) const = 0;
    virtual subsystem_cost cost(subsystem_index i) const = 0;
    /// CPU time so far of all processes that take part.
    virtual double cpu_seconds() const { return process_cpu_seconds(); }
    virtual int workers() const = 0;
    /// Macro steps that were done in parallel; the others ran serially because that was cheaper.
    virtual std::int64_t parallel_steps() const = 0;
    /// Who worked when, from sampled macro steps; one log per worker.
    virtual std::span<const profile_log> profile() const = 0;
};

}  // namespace mdpcosim
