#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coupling/coupling_structure.hpp"
#include "master/input_journal.hpp"
#include "master/text_signals.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

/// Subsystems behind their transport and what couples them: all a method works on.
struct coupled_system : coupling_structure {
    std::unique_ptr<transport> subsystems;
    std::vector<evaluation> at_start;  ///< as at_each_step, for every output with feed-through

    /// How the acceleration that a channel's rate needs, `weight` times an output, answers to an input at once. Subsystems give it as it was with
    /// the extrapolated input.
    struct acceleration_answer {
        channel_index channel;
        double weight;
        subsystem_index subsystem;
        output_slot output;
        input_slot input;
        double per_unit = 0;
    };
    std::vector<acceleration_answer> answers;  ///< those to an input one behind the other

    /// Two signals whose product is a power, a force and a velocity: what one side receives the other gives.
    struct power_bond {
        std::string name;
        channel_index flow, effort;
        double scale = 1;  ///< of the product of the two coupling variables, to be the power
        bool corrected = false;
    };
    std::vector<power_bond> bonds;

    text_signals texts;
    input_journal journal;  ///< kept where somebody asks for it
    step_notices notices;   ///< since the begin of the macro step; who drives the steps clears them
    /// The highest order of rules that what happened in the last step spoils: what they extrapolate has jumped, or turned a corner; 0: none.
    int restarted = 0;
    std::int64_t integrations = 0;  ///< of all subsystems over a macro step, trials included
    std::int64_t advances = 0;      ///< the same, each part of a divided macro step counted
    std::int64_t evaluations = 0;   ///< of the outputs of one subsystem, outside of steps without loops
    std::vector<double> u, du;      ///< coupling variables and rates at the present time
    std::vector<double> present;    ///< outputs at the present time, where subsystems are ahead of it; else empty
    std::span<const double> outputs() const { return present.empty() ? subsystems->outputs() : present; }

    /// Sizes the vectors; after it nothing allocates.
    void finish();
    /// Outputs of all subsystems at t0, consistent with each other through feed-through, and u, du.
    void initialise(double t0);
    /// u, du from the present outputs, after re-evaluating feed-through in the given order.
    void evaluate(double t, std::span<const evaluation> order);
    /// All subsystems over the step with the inputs as delivered; then u, du at its end.
    void advance(const macro_step& step);
    /// The step once for each trial, whose inputs are given, from the begin, which is saved. Afterwards state, outputs and u, du are those
    /// of the last trial.
    void advance_trials(const macro_step& step, std::span<trial_step> trials);

    /// Where events at macro points lead to others there (events_at_points): who takes part.
    bool iterates_events() const { return !event_members_.empty(); }

    /// The begin of the macro step in work, for those who repeat it: state and outputs of all subsystems. Saved once, however many ask
    /// for it, until forget_begin() says that the step stands.
    void make_room_for_begin();
    void save_begin();
    void restore_begin();
    void forget_begin() { begin_saved_ = false; }
    /// What the master itself remembers: network, loops, u, du.
    void state(state_bytes& bytes);
    /// The rest that a saved simulation has: the inputs as they were used last, and counts.
    void used_inputs_and_counts(state_bytes& bytes);
    /// The values of its inputs that belong to the present u.
    std::span<double> present_values(subsystem_index subsystem);
    /// With these inputs.
    void evaluate_one(subsystem_index subsystem, bool provisional);
    std::span<double> values_of(subsystem_index subsystem);  ///< its inputs as they were evaluated last
    double input_value(input_slot input) const;              ///< that belongs to the present u
    /// The answers of accelerations, by evaluating outputs with two values of each input.
    void measure_answers();
    /// An input that nothing is delivered to, from now on; after another initialise(), too.
    void set_free_input(input_slot input, double value);
    /// Channels that jump with the subsystem, at once or by feed-through.
    std::span<const channel_index> fed_by(subsystem_index subsystem) const { return fed_[subsystem.value()]; }

   private:
    struct free_input {
        input_slot slot;
        double value;
    };
    std::vector<double> by_acceleration_;  ///< by channel: what its rate changes with
    std::vector<free_input> free_inputs_;  ///< that were set
    void use_free_input(const free_input& input);

    std::vector<std::vector<channel_index>> fed_;  ///< by subsystem
    void find_fed_channels();
    void tell_jumps(const macro_step& step, const step_notices& noticed);

    struct event_member {
        subsystem_index subsystem;
        std::vector<double> given;  ///< values of its inputs, as it was given them last
        int round = 0;              ///< when
    };
    std::vector<event_member> event_members_;
    std::vector<subsystem_step> event_turn_;
    std::vector<polynomial> used_inputs_;  ///< of the step that led to the events
    void find_event_members();
    /// At the end of the step; without a length, at its time.
    void carry_out_events(const macro_step& step);

    std::optional<state_id> begin_;
    bool begin_saved_ = false;
    step_notices noticed_before_;  ///< of the same macro step, in parts before

    struct input_range {
        std::uint32_t first, count;
    };
    std::vector<input_range> inputs_;  ///< by subsystem

    /// Evaluations up to the first loop, and before them a step, with every subsystem advanced as late as possible.
    class plan final : public step_plan {
       public:
        /// `of_order`: where its order stands in the system.
        void make(const coupled_system& system, std::vector<evaluation> coupled_system::*of_order, bool with_step);
        coupled_system* of = nullptr;  ///< while it is carried out: coupled systems may be moved
        std::size_t planned = 0;       ///< evaluations that are in it

       private:
        void find_values_by_laws(const item& i, double t) override;
        std::vector<evaluation> coupled_system::*order_ = nullptr;
    };
    plan plan_;  ///< at_each_step
    plan start_;

    void evaluate_outputs(subsystem_index subsystem, bool provisional);
    void evaluate_all(bool provisional);
    void evaluate_at_start(double t0);
    /// A failure where the inputs were no numbers tells that.
    template <class Work>
    void blame_inputs(const Work& work);
    /// u and du after a step of length H with these inputs.
    void find_coupling(const macro_step& step, std::span<const polynomial> inputs);
    void solve(algebraic_loop& loop, double t, std::span<const evaluation> members, bool provisional);
    /// The rest of at_each_step, which begins with a loop; nothing where there are none.
    void evaluate_unplanned(double t);
    void evaluate_in_order(double t, std::span<const evaluation> order, bool provisional);
};

}  // namespace mdpcosim
