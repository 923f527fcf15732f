#pragma once

#include <vector>

#include "coupling/sparse_lu.hpp"
#include "master/rate_sensitivity.hpp"

/// How the outputs of every subsystem at the end of a macro step answer to corrections of its inputs (network::correct), for the
/// channels that have a law. Subsystems do not touch each other within a step: one trial disturbs one input of every subsystem,
/// and as many trials as the subsystem with most coupled inputs has are enough. After construction nothing allocates.
namespace mdpcosim {

class step_sensitivities {
   public:
    step_sensitivities() = default;
    explicit step_sensitivities(const coupled_system& system);

    /// Channels with a law, in the order of rows and columns below.
    const std::vector<channel_index>& channels() const { return channels_; }
    /// Trials that measuring takes besides the undisturbed one.
    std::size_t rounds() const { return rounds_; }

    /// The answers to leading order, from what all subsystems know about their rates: a correction b w(s) of an input changes a rate by
    /// B b times the integral of w, its value by B b times the integral of (H - s) w. False where a subsystem does not know.
    bool estimate(coupled_system& system, double H);

    /// Disturbs the inputs of one round, by about the size of what the last corrections were.
    void disturb(std::size_t round, const network& net, double H, std::span<polynomial> inputs);
    void measured(std::size_t round, std::span<const double> y, std::span<const double> undisturbed);
    /// The step becomes `ratio` times as long: what positions and rates answer grows with its square and with the step.
    void rescale(double ratio);

    /// The corrections `by` of the channels changed the outputs from `before` to `y`. Learns from it (Broyden's rank-one update) and
    /// says by how much the answer was mispredicted, relative to the largest answer of the same subsystem.
    double learn(std::span<const double> by, std::span<const double> before, std::span<const double> y);

    /// Entries of 1 - du/d(correction), where law i has the slope slopes[i]; the places are always the same.
    std::span<const matrix_entry> system(std::span<const law_slope> slopes, double integral_weight);

    void state(state_bytes& bytes) {
        for (block& b : blocks_) {
            for (input& i : b.inputs) bytes(i.disturbance, i.size);
            bytes(b.response, b.known);
        }
    }

   private:
    /// An output's part in a channel, or a channel's part in an input.
    struct part {
        std::uint32_t channel;
        double weight;
    };
    struct output {
        std::size_t slot;
        std::vector<part> value, rate, integrated;  ///< in q, in v, and in q through an integral
        int power;                                  ///< of H, that its answers grow with
        std::size_t moved;                          ///< its rate's slot where it has one, else its own
    };
    struct input {
        std::size_t slot;
        std::vector<part> channels;
        double disturbance = 0;  ///< of the last trial
        double size = 0;         ///< of the last correction that was not zero
    };
    struct block {
        std::vector<output> outputs;
        std::vector<input> inputs;
        std::vector<double> response;      ///< [output][input]
        std::vector<double> change;        ///< scratch, by input
        rate_sensitivity::question asked;  ///< about what is moved
        rate_sensitivity known;
        std::vector<double> B;
        double& at(std::size_t o, std::size_t i) { return response[o * inputs.size() + i]; }
    };

    output& output_at(block& b, std::size_t slot);
    void ask(const transport& t, block& b);

    std::vector<channel_index> channels_;
    std::vector<block> blocks_;
    std::vector<matrix_entry> entries_;
    std::size_t rounds_ = 0;
};

}  // namespace mdpcosim
