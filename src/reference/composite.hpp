#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "reference/composite_joints.hpp"
#include "subsystem/equations.hpp"
#include "subsystem/sampling.hpp"

/// The equations of a whole scenario as one system, without co-simulation:
///
///     x' = f(t, x, u),  y = g(t, x, u),  u = laws(y)      all at the same time t
///
/// x are the states of all subsystems one after the other, then the integrals of flows that the co-simulation's network
/// would form from its history (V' = Q, V(t0) = 0) and the states of laws that have one. Outputs with feed-through are evaluated in a given order in which every
/// cause comes before its effect, so that u is exact; algebraic loops are solved wherever the equations are asked. State and time events are those of the
/// subsystems. There is no extrapolation and no history; laws are those of H -> 0 and never asked to accept().
///
/// Joints: composite_joints.hpp; their multipliers are coupling variables, and after micro steps the state is projected.
///
/// Outputs of sampled subsystems are constants of these equations. Who integrates them stops at every time t, t0 included, where
/// samples_at(t) holds, and at the end, and calls
///   1. arrive(t)                     delayed outputs appear; outputs with feed-through follow the inputs of every call
///      (here algebraic states are solved anew)
///   2. take_samples(t, x)            with the inputs at t; the outputs are held again
/// and restarts its solver, since f has jumped.
namespace mdpcosim {

/// What the composite is made of: what couples, with a network after finish() and before start(), and the subsystems. Their offsets are the
/// slots of the co-simulation, so that outputs stand where its recorder looks for them.
struct composite_parts : coupling_structure {
    struct part {
        std::string name;
        std::unique_ptr<equations> model;
        std::size_t input_offset = 0, output_offset = 0;
        std::unique_ptr<subsystem> sampled{};  ///< instead of a model
        sampling clock{};                      ///< of `sampled`
    };
    std::vector<part> subsystems;
};

/// Leaves derivatives() when `interrupt` was set: the solver gives up and the last row stands.
class composite_interrupted : public run_error {
   public:
    composite_interrupted() : run_error("interrupted") {}
};

/// Outputs: those of all subsystems, the integrals, the coupling variables. Inputs: those that open() names, else none. One thread at a time.
class composite_equations final : public equations {
   public:
    /// Asks the subsystems for their states at t0 and starts the network there.
    composite_equations(composite_parts parts, double t0, const std::atomic<bool>* interrupt = nullptr);

    /// Inputs from outside: from now on the u of every call has their values, which are added to what is delivered inside.
    void open(std::vector<input_slot> inputs);
    /// Everything begins anew at t0, with these inputs; nullptr: with those of the last call.
    void begin(double t0, const double* u);

    std::size_t output_count() const { return first_integral_; }  ///< of the subsystems
    std::size_t integral_count() const { return rates_.size() + law_states_.size(); }
    std::size_t channel_count() const { return u_.size(); }

    bool samples_at(double t) const;
    void arrive(double t);
    void take_samples(double t, const double* x);
    std::int64_t samples() const;  ///< taken so far

    /// The subsystem that asked to end the simulation; empty: none has.
    const std::string& asked_to_end() const { return asked_to_end_; }

    /// "output 'mass.position' of subsystem 'a'", for messages; `slot` counts through everything outputs() gives.
    std::string output_name(std::size_t slot) const;

    const subsystem_description& describe() const noexcept override { return description_; }
    int state_count() const override { return static_cast<int>(x0_.size()); }
    std::string state_name(int state) const override;
    double nominal(int state) const override;
    void initial_state(double t0, double* x) const override;
    bool settles() const override;
    bool rests(int state) const override;
    /// Of the subsystems' own structures and of what couples them; none with joints, whose multipliers depend on everything.
    const sparsity* structure() const override;
    void derivatives(double t, const double* x, const double*, double* dx) const override;
    void outputs(double t, const double* x, const double*, double* y) const override;
    bool is_algebraic(int state) const override;
    /// Those of the subsystems, then the corners of the laws.
    int event_count() const override { return events_ + corner_count_; }
    bool is_corner(int event) const override { return event >= events_; }
    void event_indicators(double t, const double* x, const double*, double* z) const override;
    std::string event_name(int event) const override;
    bool apply_event(int event, bool rising, double t, double* x, const double*) override;
    double next_time_event(double t) const override;
    bool watches(moment m) const override;
    bool discrete_update(moment m, double t, double* x, const double*) override;
    std::unique_ptr<snapshot> make_memory() const override;
    void save_memory(snapshot& into) override;
    void restore_memory(const snapshot& from) override;
    std::string why_not_saved() const override;
    std::string why_no_bytes() const override;

   private:
    struct place {
        std::string name;
        std::unique_ptr<equations> model;
        std::unique_ptr<subsystem> sampled;
        sampling clock;
        std::vector<polynomial> samples;  ///< the inputs of `sampled` since the last stop
        std::size_t input = 0, inputs = 0, output = 0, state = 0, states = 0;
        int event = 0, events = 0;
        bool by_ports = false;  ///< nobody reads more of it than equations::port_outputs() gives

        const subsystem_description& describe() const { return model ? model->describe() : sampled->describe(); }
    };

    void settle_models(double t0);
    void find_readers();
    sparsity find_structure() const;
    void add(composite_parts::part from);
    void start(double t0);
    void take(const double* u) const;
    /// Of one subsystem, with what comes from outside.
    void input_values(const place& p, std::span<const double> u, std::span<double> values) const;
    void add_open(const place& p, std::span<double> values) const;
    /// Whose state it is, and which one there; nullptr: of an integral.
    const place* owner_of(int& state) const;
    /// y_ of everything that coupling variables depend on, then u_ and the inputs of all subsystems.
    void couple(double t, const double* x) const;
    void couple_in_order(double t, const double* x) const;
    composite_joints::evaluation at(double t) const;
    const place& place_of_event(int event) const;
    void evaluate(const place& p, double t, const double* x, const double* inputs, double* y) const;
    void look_for_the_end(const place& p) {
        if (p.model->noticed.ask_to_end && asked_to_end_.empty()) asked_to_end_ = p.name;
    }
    template <class Call>
    void guarded(const place& p, double t, const Call& call) const;

    std::vector<place> places_;
    network coupling_;
    std::vector<coupling_structure::evaluation> order_;
    mutable std::vector<algebraic_loop> loops_;
    const std::atomic<bool>* interrupt_;
    subsystem_description description_;
    std::vector<output_slot> rates_;         ///< of the integrals
    std::vector<channel_index> law_states_;  ///< they follow
    double t0_, arrived_;                    ///< where the sampled subsystems are
    bool sampling_ = false;                  ///< between arrive() and take_samples()
    std::size_t first_integral_ = 0, states_ = 0;
    int events_ = 0, corner_count_ = 0;
    std::vector<network::corner_of> corners_;
    std::vector<input_slot> open_;
    std::vector<double> x0_;
    mutable std::vector<double> added_;  ///< by input, to what is delivered; empty: nothing
    mutable std::vector<double> start_inputs_, y_, u_, du_, inputs_;
    mutable composite_joints joints_;
    mutable std::vector<double> without_joints_;  ///< inputs
    std::string asked_to_end_;
    mutable std::optional<sparsity> structure_;
};

}  // namespace mdpcosim
