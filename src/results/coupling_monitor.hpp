#pragma once

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
///               rule with Hermite values in the middle of the step. energy is the same integral of |u| for comparison.
/// divergence    an unstable coupling oscillates with every macro step and grows: the jumps are then of the size of u itself
///               and set record after record. Windows of 16 steps are compared: divergence is told when in a row of windows the
///               jumps (root mean square) make up more than 0.15 of the range of u, stay near their record, and have grown by
///               1e6 (2 records or more) or by 30 (6 records or more). Physical growth is resolved by the steps: small jumps.
namespace mdpcosim {

/// What u has to be multiplied by to give power.
enum class conjugate { rate, value, one, none };

struct coupling_quality {
    double u_min = 0, u_max = 0;
    double jump_max = 0, jump_rms = 0;
    double energy_error = 0;  ///< signed sum over the run
    double energy = 0;        ///< sum of absolute amounts exchanged
};

class coupling_monitor {
   public:
    /// One entry per channel; channels with conjugate::none (signals) have jumps but no energy.
    explicit coupling_monitor(std::vector<conjugate> conjugates);

    std::size_t channels() const { return state_.size(); }

    /// Values at the start of the run.
    void start(std::span<const double> u, std::span<const double> du, std::span<const double> q,
               std::span<const double> v);

    /// One macro step of length H: u~ at its start, middle and end, and the new values at its end.
    struct step_values {
        std::span<const double> begin, middle, end;  ///< u~
        std::span<const double> u, du, q, v;
    };
    void step(double H, const step_values& s);

    /// Channels whose du (rate of u) and v (rate of q) are known; others are treated as linear in the step.
    void set_rates(std::size_t channel, bool rate_of_u, bool rate_of_q);

    coupling_quality quality(std::size_t channel) const;
    double jump(std::size_t channel) const { return state_[channel].jump; }
    double energy_error(std::size_t channel) const { return state_[channel].energy_error; }
    /// For the recorder: jumps of the last step and energy errors so far, of all channels.
    std::span<const double> jumps() const { return jumps_; }
    std::span<const double> energy_errors() const { return energy_errors_; }

    /// The first channel that diverges or is not finite, or -1; the reason in plain words.
    int diverging() const { return diverging_; }
    std::string reason() const;
    /// What reason() says about the cause and what to do, for methods of their own kind.
    void set_remedy(std::string text) { remedy_ = std::move(text); }

    void state(state_bytes& bytes) { bytes(state_, jumps_, energy_errors_, steps_, diverging_, not_finite_, growth_); }

   private:
    static constexpr int window = 16;

    struct channel_state {
        double u = 0, du = 0, q = 0, v = 0;
        double u_min = 0, u_max = 0;
        double jump = 0, jump_max = 0, jump_squares = 0;
        double energy_error = 0, energy = 0;
        double window_squares = 0, window_low = 0, window_high = 0;
        double record = 0, streak_begin = 0;
        int streak = 0;
        conjugate partner = conjugate::none;
        bool rate_of_u = false, rate_of_q = false;
    };

    void close_window(std::size_t channel);
    void add_energy(channel_state& c, double H, double begin, double middle, double end, double u, double du, double q,
                    double v) const;

    std::string remedy_ =
        "the step is too large for this coupling: use a smaller macro step or a more stable extrapolation";
    std::vector<channel_state> state_;
    std::vector<double> jumps_, energy_errors_;
    std::int64_t steps_ = 0;
    int diverging_ = -1;
    bool not_finite_ = false;
    double growth_ = 0;
};

}  // namespace mdpcosim
