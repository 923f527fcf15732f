#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/index.hpp"
#include "core/polynomial.hpp"
#include "coupling/extrapolation.hpp"
#include "coupling/law.hpp"

/// The coupled system's arithmetic: outputs of all subsystems to input polynomials of all subsystems.
///
/// Call order: add_channel / add_delivery while building, then finish(); start(t0, y) once per run; per macro step
///   evaluate(t, y, u, du)         const: coupling variables and rates of all channels
///   accept(t, y, u, du)           the values of an accepted time enter the history; laws remember
///   extrapolate(t_next)           polynomials of all channels from the last accepted time to t_next
///   deliver(H, inputs)            const: sums of channel polynomials per input, projected to what the input takes
/// deliver_starts(inputs) once before the first deliver(): the inputs that nothing is delivered to, which stay as they are.
/// accept() at the last accepted time again replaces that entry (values after an event); an earlier time needs
/// clear_history(). extrapolate() may be called again with another t_next: a trial step changes no history.
/// After finish() nothing allocates, and sums are formed in the order in which terms and deliveries were added.
namespace mdpcosim {

/// A port's or a signal source's part in a channel: q += weight * y[value], v += weight * y[rate], dv/dt += weight * y[acceleration]. Without a value (a
/// hydraulic port that gives its flow only) the network integrates the rate over the accepted times, by parabolas through
/// the last three flows (third order; the first step by the trapezoidal rule), starting from zero.
struct channel_term {
    output_slot value;
    output_slot rate;  ///< invalid where the channel needs no rate
    double weight = 1;
    output_slot acceleration = {};  ///< where a law that needs v is to have a rate: du/dt = du/dq v + du/dv dv/dt
    bool piston = false;            ///< its part is told to the law by itself, too (piston_motion)
};

struct delivery {
    channel_index channel;
    double factor = 1;
};

class network {
   public:
    /// Without a law (signals) u = q and du/dt = v. Throws std::invalid_argument when the law or the rule needs rates
    /// that a term does not give, or the rule needs du/dt and the law has none.
    channel_index add_channel(std::string name, std::unique_ptr<law> channel_law, std::vector<channel_term> terms,
                              const extrapolation_rule& rule);
    /// A channel whose polynomials are not extrapolated but given by impose(), up to the highest degree; evaluate() leaves its u alone.
    channel_index add_imposed(std::string name);
    /// Adds factor * u of `channel` to the input; `degree` is the highest degree the input takes.
    void add_delivery(input_slot input, int degree, delivery d);
    /// From now on the channel's polynomials are shifted by what those before them have missed: the integral of u less the polynomials, over
    /// the length of the step. The integral of u between accepted times is that of the cubic with the rates at both ends where the rule uses
    /// rates, else that of the parabola through the last three values. Steps with a jump are left out, and what was missed before them is forgotten.
    void give_back(channel_index channel) { giving_.push_back({static_cast<std::uint32_t>(channel.value())}); }
    /// `start` are the values of all inputs, used for those that nothing is delivered to.
    void finish(std::span<const double> start);

    /// Polynomials of all channels get room for this degree, whatever their rules have; those there were are gone. After finish().
    void widen(int degree);

    std::size_t channels() const { return laws_.size(); }
    const std::string& name(channel_index channel) const { return names_[channel.value()]; }

    /// Corners of all laws, channel after channel.
    struct corner_of {
        channel_index channel;
        int corners;
    };
    std::vector<corner_of> corners() const;
    void corner_values(double t, std::span<const double> y, std::span<const corner_of> some, double* z) const;

    /// For integrating the coupled system as one, after finish() and before start(). The laws become those of H -> 0.
    void use_limit();
    /// The same: integrated values are no longer formed here, but read from y[first], y[first + 1], ... . Returns the outputs whose
    /// integrals must stand there.
    std::vector<output_slot> read_integrals_from(output_slot first);
    /// The same for the states of laws that have one; returns their channels. state_rate() is what to integrate.
    std::vector<channel_index> read_law_states_from(output_slot first);
    double state_rate(double t, channel_index channel, std::span<const double> y) const;

    /// Begins a run: forgets the history, tells the laws q at the start, integrated values begin at zero.
    void start(double t, std::span<const double> y);
    /// Throws run_error with the channel's name where a law has no answer. `by_acceleration` (by channel) receives what a rate that accelerations
    /// are needed for changes with them.
    void evaluate(double t, std::span<const double> y, std::span<double> u, std::span<double> du,
                  std::span<double> by_acceleration = {}) const;
    /// The same but for those rates.
    void evaluate_values(double t, std::span<const double> y, std::span<double> u, std::span<double> du) const;
    void accept(double t, std::span<const double> y, std::span<const double> u, std::span<const double> du);
    /// Without `values` the polynomials are left to impose().
    void extrapolate(double t_next, bool values = true);
    void deliver(double H, std::span<polynomial> inputs) const;
    void deliver_starts(std::span<polynomial> inputs) const;
    /// The same for a part of the step that begins `from` after its start and has the length `H`.
    void deliver_part(double from, double H, std::span<polynomial> inputs) const;
    /// For methods that find u by themselves, after extrapolate(): the mean of the channel's polynomial over a step of length H,
    double mean(channel_index channel, double H) const;
    /// and the polynomial with another mean and `part` of its variation; a constant for part = 0.
    void impose(channel_index channel, double H, double mean, double part);
    /// The polynomial itself, of a degree that there is room for: by the channel's rule, by widen(), or by add_imposed().
    void impose(channel_index channel, const polynomial& p);
    /// Constants for many channels.
    void impose(std::span<const channel_index> some, std::span<const double> u);
    /// After extrapolate(): adds `by` at the end of the step to the channel's polynomial, and nothing at the n newest accepted times, n
    /// the rule's degree or as many as there are. For a rule poly-K that is the interpolation of those values and the new end.
    void correct(channel_index channel, double by);
    /// The same at an input, in the shape that the corrections of its channels have there.
    void correct_input(input_slot input, double H, double by, polynomial& p) const;
    /// After extrapolate(): what one more accepted value than the rule uses would change at the end of the step, per channel. False
    /// while there are too few accepted values.
    bool raise(std::span<double> by) const;
    /// A signal that keeps its value over the step, as those of sampled subsystems do, misses nothing.
    bool held(channel_index channel) const {
        const law* acting = law_of(channel);
        return (acting == nullptr || !acting->physical()) && groups_[places_[channel.value()].group].rule.degree == 0;
    }
    /// Of the channel's present polynomial.
    int degree(channel_index channel) const { return groups_[places_[channel.value()].group].weights.degree; }
    /// Past accepted times, newest first, as (t_k - t_n)/H of the last extrapolate().
    std::span<const double> history() const { return std::span(tau_).first(static_cast<std::size_t>(points_)); }
    /// Of a value that is integrated here: what a unit of the rate at time t adds to it.
    double integral_weight(double t) const;
    /// Values of the inputs of one subsystem (slots first .. first+values.size()) for coupling variables u; those of inputs that
    /// nothing is delivered to are not written.
    void input_values(std::span<const double> u, std::size_t first, std::span<double> values) const;
    /// The same of one, to which something is delivered.
    double input_value(std::span<const double> u, input_slot input) const {
        return input_value(u, driven_[first_driven_[input.value()]]);
    }
    /// Coupling variable of one channel.
    double evaluate_one(double t, channel_index channel, std::span<const double> y) const;
    /// For the ordered evaluation of outputs with feed-through: u of `some` channels, then the input values that follow.
    void evaluate_inputs(double t, std::span<const double> y, std::span<const channel_index> some, std::span<double> u,
                         std::size_t first, std::span<double> values) const;

    /// What evaluate_inputs() does where every driven input takes one of `some` signals that is an output times a weight; nothing
    /// where it does more. input = factor * (weight * source).
    struct plain_input {
        output_slot source;
        input_slot input;
        double weight, factor;
    };
    std::optional<std::vector<plain_input>> plain_inputs(std::span<const channel_index> some, std::size_t first,
                                                         std::size_t count) const;

    polynomial channel_polynomial(channel_index channel) const;
    /// What the channel's present polynomial says of a time t.
    double expected(channel_index channel, double t) const { return channel_polynomial(channel)(t - times_[0]); }
    /// The polynomials of all channels at s = t - t_n.
    void polynomial_values(double s, std::span<double> values) const;
    /// Adds, to what those values have missed, what they were raised by on purpose (give_back()).
    void forgive(std::span<double> missed) const {
        for (const giving& g : giving_) missed[g.channel] += g.given;
    }
    /// The same at s = 0, H/2 and H.
    void polynomial_values(double H, std::span<double> begin, std::span<double> middle, std::span<double> end) const;
    /// q and v of all channels, for those who look on.
    void motions(double t, std::span<const double> y, std::span<double> q, std::span<double> v) const;

    struct linearised {
        double q, v, u;
        law_slope slope;
    };
    /// A channel with a law at the outputs y.
    linearised linearise(double t, channel_index channel, std::span<const double> y) const;

    /// The structure as it was built, for methods that solve for coupling variables. A signal has no law.
    const law* law_of(channel_index channel) const { return laws_[channel.value()].get(); }
    std::vector<channel_term> terms(channel_index channel) const;
    struct connected {
        input_slot input;
        delivery delivered;
    };
    std::vector<connected> deliveries() const;
    bool is_driven(input_slot input) const { return first_driven_[input.value() + 1] > first_driven_[input.value()]; }
    /// The highest degree that the input takes; something is delivered to it.
    int degree_limit(input_slot input) const { return driven_[first_driven_[input.value()]].limit; }
    /// Whether a value is integrated here, or the law remembers something.
    bool has_memory(channel_index channel) const;

    /// The order that the values of accepted times alone give, of the channel that needs most of them.
    int highest_order() const;

    /// Forgets all accepted values (after a discontinuity); the next steps start up again. Laws keep their memory.
    void clear_history();

    /// What the channel reads may have jumped at t, which lies in the last step. Where it did, extrapolations must not run across it. The
    /// order of a signal's rule, which a corner spoils, too; 0 for a law between ports, whose bodies make corners smooth.
    int tell_jump(channel_index channel, double t) {
        jump_[channel.value()] = std::max(jump_[channel.value()], t);
        latest_jump_ = std::max(latest_jump_, t);
        const law* acting = law_of(channel);
        return acting != nullptr && acting->physical() ? 0 : groups_[places_[channel.value()].group].rule.R;
    }
    bool builds_on_history(channel_index channel) const {
        const group& g = groups_[places_[channel.value()].group];
        return !g.imposed &&
               (g.rule.K > 1 || std::ranges::find(giving_, channel.value(), &giving::channel) != giving_.end());
    }
    /// After a step of length H, with the present u and the polynomials of that step: channels that were told of a jump, and whose u is off
    /// by more than it was expected to change, start anew from it. The highest order of their rules; 0: there are none.
    int find_jumps(double H, std::span<const double> u);
    /// Accepted values that the channel's polynomials are made of while there are fewer than its rule has.
    int points_of(channel_index channel) const;

    /// What the next accept() and extrapolate() build on while all accepted times lie H apart, as a vector: group after group
    /// (a group: channels with one rule, in the order in which they were added) u at the last K - 1 accepted times, newest
    /// first, each followed by du where the rule uses rates; then the end of the last polynomial (forced continuity only);
    /// at last value, flow and flow before of every integrated value. `t` is the time of the next accept(), H after the last one.
    /// What laws remember is no part of it.
    std::size_t memory_size() const;
    void memory(double t, std::span<double> into) const;
    void set_memory(double t, double H, std::span<const double> from);

    /// All of it, what laws remember and the present polynomials included.
    void state(state_bytes& bytes);

   private:
    struct term {
        std::int32_t value, rate;  ///< value < 0: integral -1 - value; rate < 0: the channel has no velocity
        double weight;
        std::int32_t acceleration;  ///< < 0: none
        bool piston;
    };
    /// The integral of an output up to the last accepted time, and the output at the last two accepted times.
    struct integral {
        std::int32_t rate;
        double value = 0, flow = 0, flow_before = 0;
    };
    struct motion {
        double q, v;
    };
    struct giving {
        std::uint32_t channel;
        double missing = 0;  ///< the integral of u that polynomials have not given yet
        double given = 0;    ///< what the polynomials of the present step are raised by for it
    };
    /// A channel whose u is an output times a weight, as most signals are; value < 0: it is not; found_elsewhere: it is imposed; accelerated: its rate
    /// comes from accelerations.
    static constexpr std::int32_t found_elsewhere = -2, accelerated = -3;
    struct plain_channel {
        std::int32_t value;
        double weight;
    };
    /// Channels with the same rule share weights. Rows of history are contiguous over the group's channels.
    struct group {
        extrapolation_rule rule;
        std::vector<std::uint32_t> channels;  ///< position in the group -> channel
        bool imposed = false;                 ///< by add_imposed()
        bool contiguous = false;              ///< channels are first, first + 1, ...
        std::size_t width = 0;                ///< coefficients of a channel
        std::size_t padded = 0;               ///< length of a row, a multiple of the block
        int newest = 0;                       ///< ring: row of the last accepted time
        std::vector<double> u, du;            ///< [K + 1][padded]; du only where the rule uses rates
        std::vector<double> end;              ///< end of the last polynomial; forced continuity only
        std::size_t coefficients = 0;         ///< where this group begins in coefficients_
        extrapolation_weights weights;
        bool weights_on_constant_grid = false;

        std::size_t stride() const { return width; }
        std::size_t row(int k) const { return static_cast<std::size_t>((newest + k) % (rule.K + 1)) * padded; }
    };
    struct place {
        std::uint32_t group, position;
    };
    struct delivered {
        std::uint32_t channel;
        std::uint32_t at;            ///< place in coefficients_
        std::uint32_t coefficients;  ///< degree of the rule + 1
        double factor;
    };
    /// An input that something is delivered to.
    struct driven_input {
        std::uint32_t input;
        std::uint32_t first, last;  ///< range in deliveries_
        int limit = max_degree;
        int degree = 0;  ///< of the sum, before projection
    };
    struct pending_delivery {
        std::size_t input;
        int degree;
        delivery delivered;
    };

    void join_group(std::size_t channel, const extrapolation_rule& rule, bool imposed);
    bool is_plain(std::size_t channel) const { return plain_[channel].value >= 0; }
    double plain_value(std::size_t channel, const double* y) const {
        return 0 + plain_[channel].weight * y[plain_[channel].value];
    }
    motion channel_motion(double t, std::size_t channel, const double* y) const;
    double integrate(const integral& i, double t, const double* y) const;
    template <bool with_rates>
    void evaluate_channels(double t, const double* y, double* u, double* du, double* by_acceleration) const;
    double input_value(std::span<const double> u, const driven_input& target) const {
        double sum = 0;
        for (std::uint32_t d = target.first; d < target.last; ++d)
            sum += deliveries_[d].factor * u[deliveries_[d].channel];
        return sum;
    }
    law_value channel_value(double t, std::size_t channel, const double* y) const;
    law_value ask_law(double t, std::size_t channel, const motion& m) const;
    law_value ask_with_pistons(double t, std::size_t channel, const double* y) const;
    piston_motion motion_with_pistons(double t, std::size_t channel, const double* y) const;
    void make_groups();
    void make_coefficients();
    void make_inputs(std::span<const double> start);
    void remember(group& g, double elapsed, bool replace, std::span<const double> u, std::span<const double> du);
    void update_weights(group& g, std::span<const double> tau);
    void extrapolate_group(const group& g, double H);
    void extrapolate_few(const group& g, double H);
    template <class Add>
    static void for_rows(const group& g, int n, double H, const Add& add);
    void extrapolate_restarted(const group& g, std::span<const double> tau, double H);
    double mean(const driven_input& target, double H) const;
    void find_missing(double elapsed, std::span<const double> u, std::span<const double> du);
    std::size_t coefficients_of(std::size_t channel) const;

    std::vector<std::string> names_;
    std::vector<std::unique_ptr<law>> laws_;
    std::vector<term> terms_;
    std::vector<integral> integrals_;
    std::vector<std::uint32_t> first_term_{0};  ///< channels + 1 entries
    std::vector<plain_channel> plain_;          ///< by channel
    /// Of a channel with pistons: the output that its law's state stands in.
    static constexpr std::int32_t no_pistons = -2, kept_by_law = -1;
    std::vector<std::int32_t> law_states_;    ///< by channel
    std::vector<std::uint32_t> remembering_;  ///< channels whose laws remember
    std::vector<giving> giving_;
    std::vector<group> groups_;
    std::vector<place> places_;
    std::vector<double> coefficients_;  ///< per channel degree + 1 numbers, group after group
    std::vector<pending_delivery> pending_;
    std::vector<delivered> deliveries_;
    std::vector<driven_input> driven_;         ///< in the order of inputs
    std::vector<std::uint32_t> first_driven_;  ///< by input: how many before it are driven; inputs + 1 entries
    std::vector<double> start_;                ///< by input

    /// By channel: when it was last told of a jump, and the last jump that its polynomials do not run across.
    std::vector<double> jump_, cut_;
    double latest_jump_ = never, latest_cut_ = never;
    static constexpr double never = -std::numeric_limits<double>::infinity();

    int least_degree_ = 0;                     ///< that there is room for
    std::array<double, max_history> times_{};  ///< accepted times, newest first
    std::array<double, max_history> tau_{};    ///< of the last extrapolation
    double step_ = 0;                          ///< the same
    int points_ = 0;
    bool extrapolated_ = false;  ///< polynomials begin at the newest time
    bool has_end_ = false;       ///< the newest time is the end of a polynomial
};

}  // namespace mdpcosim
