#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "coupling/correction.hpp"
#include "master/method.hpp"

/// Which outputs couple, and the constants of coupling/correction.hpp for each of them: those of the lowest degree among the
/// polynomials that act on its subsystem.
namespace mdpcosim {

enum class output_level : std::uint8_t { none, value, rate, hidden };

/// By slot: what connections and signals read it as. A value without a rate counts as a rate, which is the lower order. Of a subsystem that
/// nobody reads and that is driven, all outputs count as rates, but for those that follow inputs at once where there are others. Hidden are
/// further outputs of a driven subsystem that is read by signals only: where none of these answers to its inputs, as the mode of a switch does
/// not until it switches, hidden ones stand for them.
std::vector<output_level> output_levels(const coupled_system& system);

/// By channel: a signal that keeps its value over the step because of what it joins, outputs that change at sample times only, or an input
/// that is read at them. Whatever else is held misses what it changes by.
std::vector<bool> held_by_nature(const coupled_system& system);

class error_constants {
   public:
    using constants = correction_constants (*)(std::span<const double> history, int n);

    error_constants() = default;
    explicit error_constants(const coupled_system& system);
    /// For the polynomials of the last extrapolate().
    void update(const coupled_system& system, constants of);
    /// The corrections whose effect was seen, and those that turned out to be right, by channel: from now on every subsystem's
    /// constants are multiplied by how much larger the largest that act on it are.
    void rescale(std::span<const double> seen, std::span<const double> right);
    /// After a step: what the polynomials missed at its end, by channel, `is`, is neither what was expected nor what the steps before made
    /// likely: something new happened. It is remembered when the step is committed.
    bool surprised(const coupled_system& system, double H, std::span<const double> expected,
                   std::span<const double> is);
    /// The same for one channel.
    bool surprised(const coupled_system& system, double H, channel_index channel, double expected, double is) const;
    void remember(const coupled_system& system, double H, std::span<const double> is);
    void committed();
    void state(state_bytes& bytes) { bytes(accepted_, H_accepted_); }
    /// By channel, u less the end of its polynomial; 0 where it is held by nature.
    void misses(const coupled_system& system, double H, std::span<double> missed) const;
    const std::vector<bool>& by_nature() const { return by_nature_; }
    /// The whole difference is the error, of every output: nothing is known of how u went.
    void take_everything();
    /// Where a channel acts whose entry is not 0, u differed by its whole error; what other channels turned out to miss can double it.
    void take_whole(std::span<const double> by_channel);
    double of_output(std::size_t slot) const {
        const auto& [level, subsystem] = outputs_[slot];
        if (level == output_level::none) return 0;
        const acted_on& s = subsystems_[subsystem];
        if (s.whole) return std::clamp(s.right / s.seen, 1.0, 2.0);
        const correction_constants& c = by_degree_[static_cast<std::size_t>(s.degree)];
        return s.right / s.seen * (level == output_level::value ? c.value : c.rate);
    }
    bool is_coupled(std::size_t slot) const { return outputs_[slot].level != output_level::none; }
    bool is_value(std::size_t slot) const { return outputs_[slot].level == output_level::value; }
    estimate_orders orders() const { return {lowest_ + 3, lowest_ + 2}; }

   private:
    struct coupled_output {
        output_level level;
        std::uint32_t subsystem;
    };
    struct acting {
        channel_index channel;
        std::uint32_t subsystem;
    };
    std::vector<coupled_output> outputs_;
    std::vector<acting> acting_;
    struct acted_on {
        int degree;
        double seen, right;
        bool whole = false;
    };
    std::vector<acted_on> subsystems_;
    std::array<correction_constants, max_degree + 1> by_degree_{};
    int lowest_ = 0;
    std::vector<bool> by_nature_;
    static constexpr std::size_t remembered = 3;  ///< steps: misses of one or two may just pass through zero
    struct missed_before {
        std::array<double, remembered> misses{};  ///< at the ends of steps, the last one first
        double largest = 0;                       ///< |u| so far
    };
    std::vector<missed_before> accepted_;
    std::vector<double> tried_, tried_largest_;
    std::array<double, remembered> H_accepted_{};  ///< of their steps; 0: none
    double H_tried_ = 0;
};

/// By channel, after extrapolate(): what the polynomials miss at the end of the step, as one more accepted value has it. While there are
/// too few of them a first integration, of `kept`, shows it, and is undone.
void find_misses(coupled_system& system, const macro_step& step, trial_step& kept, const error_constants& of,
                 std::span<double> missed);

}  // namespace mdpcosim
