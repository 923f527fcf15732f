#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/state_bytes.hpp"

/// How far a coupling can be trusted, per channel, watched at every macro step.
///
/// jump          the extrapolated u~(t_{n+1}) against the new u(t_{n+1}): what the extrapolation missed.
/// energy error  what the coupled subsystems received against what the law says: the integral of (u~ - u) times the
///               conjugate flow (dq for springs and nodes, q dt for conductors between potentials, dt for heat), by Simpson's
///               rule with Hermite values in the middle of the step. energy sums up what was exchanged, without sign, for comparison.
/// defect        u~ - u over the whole step, in between as well: the subsystems have integrated exactly the coupled system plus this. Where
///               du/dt is not known, u in the middle of the step lies on the parabola through the last three macro points, so that inputs
///               that a corrector has put onto the line between macro points are judged, too. Three figures without unit follow:
///   unresolved  defect (root mean square) over the deviation of u from its mean: above some 0.3 the step does not see what u does
///   phase       a defect in step with u is a wrong stiffness of the coupling, alpha of it, at most alpha/2 of the frequency: over the
///               angle that u has gone through (its rate over its size, times the time) this is the phase error at the end, in rad
///   amplitude   half the energy error over the largest energy that the coupling has stored or passed on (what u dq has swung by)
/// divergence    an unstable coupling oscillates with every macro step and grows: what was missed is then of the size of u itself
///               and sets record after record. Windows are compared, of 16 steps for jumps and of 8 for defects: divergence is told when in
///               a row of windows they (root mean square) make up more than 0.15 of the range of u, stay near their record, and have
///               grown by 1e6 (2 records or more), or with 6 records or more by 30 (jumps) or 1e4 (defects), from more than a millionth
///               of the largest u on. Physical growth is resolved by the steps: little is missed.
namespace mdpcosim {

/// What u has to be multiplied by to give power.
enum class conjugate { rate, value, one, none };

struct coupling_quality {
    double u_min = 0, u_max = 0;
    double jump_max = 0, jump_rms = 0;
    double energy_error = 0;  ///< signed sum over the run
    double energy = 0;        ///< sum of absolute amounts exchanged in macro steps
    double energy_peak = 0;   ///< what the coupling has stored or passed on at most
    double unresolved = 0, phase = 0, amplitude = 0;
    std::int64_t contacts = 0;  ///< times that u, having been zero, was not
    double worst_after = 0;     ///< s since the start: the largest jump
    /// The largest of the three, of phase the half, since that is an upper bound; every six contacts multiply what was wrong before them once more.
    double deviation() const;
};

class coupling_monitor {
   public:
    /// One entry per channel; channels with conjugate::none (signals) have jumps but no energy.
    explicit coupling_monitor(std::vector<conjugate> conjugates);

    std::size_t channels() const { return past_.size(); }

    /// Values at the start of the run.
    void start(std::span<const double> u, std::span<const double> du, std::span<const double> q,
               std::span<const double> v);

    /// One macro step of length H: u~ at its start, middle and end, and the new values at its end.
    struct step_values {
        std::span<const double> begin, middle, end;  ///< u~
        std::span<const double> u, du, q, v;
    };
    /// A part of a macro step that is not its last has a defect like any other, but it is not counted, and its end is no macro point: no jump.
    void step(double H, const step_values& s, bool counts = true);

    /// Channels whose du (rate of u) and v (rate of q) are known; others are treated as linear in the step.
    void set_rates(std::size_t channel, bool rate_of_u, bool rate_of_q);
    /// Channels whose u follows from no law (multipliers of joints): between macro points there is nothing to compare with.
    void set_free(std::size_t channel);
    /// Channels that nothing comes back from (a signal of a source): they cannot diverge, and errors of phase do not add up.
    void set_one_way(std::size_t channel) { past_[channel].one_way = true; }

    coupling_quality quality(std::size_t channel) const;
    std::int64_t steps() const { return steps_; }
    double last(std::size_t channel) const { return now(channel).u[channel % 2]; }
    /// The last value over the root mean square of all, both against the mean; 0 while there is little to compare with.
    double surge(std::size_t channel) const;
    double jump(std::size_t channel) const { return jumps_[channel]; }
    double energy_error(std::size_t channel) const { return energy_errors_[channel]; }
    /// For the recorder: jumps of the last step and energy errors so far, of all channels.
    std::span<const double> jumps() const { return std::span(jumps_).first(channels()); }
    std::span<const double> energy_errors() const { return std::span(energy_errors_).first(channels()); }

    /// The first channel that diverges or is not finite, or -1; the reason in plain words.
    int diverging() const { return diverging_; }
    std::string reason() const;
    /// What reason() says about the cause and what to do, for methods of their own kind.
    void set_remedy(std::string text) { remedy_ = std::move(text); }

    void state(state_bytes& bytes) {
        bytes(now_, past_, weights_, H_weighted_, jumps_, energy_errors_, steps_, elapsed_, window_begin_, H_past_,
              diverging_, not_finite_, growth_);
    }

   private:
    static constexpr int window = 8, jump_window = 16;
    static constexpr std::int64_t least_reversals = 2;  ///< of the direction of u, before it has a phase

    /// Windows of steps in which something was of the size of u itself, one record after the other.
    struct growth_record {
        double record = 0, streak_begin = 0;
        int streak = 0;
        /// How much it has grown, at the end of a window; 0: it does not grow, or not beyond what may be noise.
        double close(double rms, double range, double noise);
    };

    /// Two channels side by side: one operation works on both.
    using pair = double __attribute__((vector_size(16)));

    /// What every macro step changes, of two channels. Flags are 1 or 0 and multiply.
    struct channel_pair {
        pair u, du, q, flow;       ///< flow: what gives power with u
        std::array<pair, 2> past;  ///< u one and two macro points earlier
        pair jump_max, jump_squares;
        pair sum_u, sum_uu, sum_rate;        ///< integrals over time, of u, its square and that of its rate
        pair sum_d, sum_du, defect_squares;  ///< of the defect, its product with u and its square
        pair low, high;                      ///< of u in the present window
        pair direction;                      ///< of the last change of u
        pair contacts, reversals;
        pair energy_error, energy;
        pair exchanged, exchanged_min, exchanged_max;  ///< since the start
        pair worst_after;
        pair rate_of_u, between_known;   ///< flags; the second is 0 where u follows from no law
        pair by_value, by_rate, by_one;  ///< flags: what gives power with u at a macro point, of q, v and 1,
        pair by_change;                  ///< or over the step, of (q(t_{n+1}) - q(t_n))/H
    };

    /// What changes at the ends of windows, of one channel.
    struct channel_past {
        double u_min = 0, u_max = 0, long_low = 0, long_high = 0;
        double jump_squares_before = 0, defect_squares_before = 0;
        double turned = 0;  ///< largest phase error times size of u
        growth_record jumps, defects;
        bool free = false, one_way = false, has_energy = false;
    };

    channel_pair& now(std::size_t channel) { return now_[channel / 2]; }
    const channel_pair& now(std::size_t channel) const { return now_[channel / 2]; }
    void close_window(std::size_t channel);
    double turned(std::size_t channel) const;
    /// What the values at the last macro points, newest first, weigh in the middle of the step: a polynomial through as many as there
    /// are, and what one through one less lacks, which tells how well the middle is known.
    struct middle_weights {
        std::array<pair, 4> best = {}, lacking = {};
        /// Where rates are known: of u(t_{n-1}), u and du/dt at both ends, what it adds to the cubic Hermite polynomial.
        pair past = {};
        std::array<pair, 2> value = {}, rate = {};
        pair sixth = {}, eighth = {}, per_second = {};  ///< of H; 1/H
    };
    middle_weights weights(double H) const;
    struct pair_values {
        pair begin, middle, end, u, du, q, v;
    };
    void step_pair(std::size_t index, const pair_values& s);

    std::string remedy_ =
        "the step is too large for this coupling: use a smaller macro step or a more stable extrapolation";
    std::vector<channel_pair> now_;
    std::vector<channel_past> past_;
    std::vector<double> jumps_, energy_errors_;  ///< an even number
    middle_weights weights_;
    pair counts_ = {};               ///< of the present step: 1, or 0 for a part
    double H_ = 0, H_weighted_ = 0;  ///< the present step; the one that weights_ hold for, after two of the same length
    std::int64_t steps_ = 0;
    double elapsed_ = 0, window_begin_ = 0;
    std::array<double, 2> H_past_ = {};  ///< of the last steps, newest first; 0: there was none
    int diverging_ = -1;
    bool not_finite_ = false;
    double growth_ = 0;
};

}  // namespace mdpcosim
