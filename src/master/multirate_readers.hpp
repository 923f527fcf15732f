#pragma once

#include <optional>
#include <vector>

#include "coupling/output_history.hpp"
#include "master/coupled_system.hpp"
#include "master/multirate_order.hpp"

namespace mdpcosim {

struct multirate_options {
    multirate_scheme scheme = multirate_scheme::slowest_first;
    int slow_order = 1;  ///< of what comes from a subsystem with a longer step, or the same
    int fast_order = 1;  ///< of what comes from one with a shorter step
    bool smoothing = false;
    bool least_squares = false;
};

/// What every subsystem reads: outputs of others at times of its own, from their histories; laws are evaluated there. A channel's
/// polynomial over a step runs through its values at equidistant times, the step's ends among them.
class multirate_readers {
   public:
    multirate_readers() = default;
    multirate_readers(const coupled_system& system, const multirate_plan& plan, const multirate_options& options);

    /// The subsystems that send to this one.
    const std::vector<std::size_t>& senders(std::size_t i) const { return readers_[i].senders; }
    /// The longest delay with which anybody reads this one.
    double longest_delay(std::size_t i) const { return longest_delay_[i]; }

    /// Coupling variables of the channels that the subsystem receives, at time t; with `begin` and `end` means are those over that step.
    void find_channels(const network& net, const std::vector<output_history>& outputs, std::size_t i, double t,
                       double begin, double end);
    void find_inputs(const network& net, const std::vector<output_history>& outputs, std::size_t i, double begin,
                     double end, std::span<polynomial> inputs);
    /// Those that were found last, by channel.
    std::span<const double> u() const { return u_; }
    const std::vector<channel_index>& channels(std::size_t i) const { return readers_[i].channels; }
    /// Coupling variables with a delay, at time t.
    void find_delayed(const network& net, const std::vector<output_history>& outputs, double t, std::span<double> u);

   private:
    enum class way : std::uint8_t { interpolate, fit, mean, hold };
    struct source {
        std::size_t subsystem;
        way taken;
        int order;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> outputs;  ///< its own number, and that among all
    };
    /// Channels that look equally far back.
    struct reading {
        double delay;
        bool held;  ///< over a step the value at its beginning
        std::vector<channel_index> channels;
        std::vector<source> sources;
    };
    struct reader {
        std::vector<reading> readings;
        std::vector<channel_index> channels;
        std::vector<std::size_t> senders;
        std::vector<std::pair<std::uint32_t, int>> inputs;  ///< slot and highest degree
        std::size_t first = 0, count = 0;                   ///< slots of its inputs
        int degree = 0;
    };

    void add(reader& to, const coupled_system& system, const multirate_plan& plan, std::size_t i, channel_index channel,
             const multirate_options& options);
    void look(const std::vector<output_history>& outputs, const source& s, double t, double begin, double end);

    std::vector<reader> readers_;
    std::vector<double> longest_delay_;
    std::vector<double> y_, u_;
    std::vector<double> values_;  ///< of a subsystem's inputs, one row per time
};

}  // namespace mdpcosim
