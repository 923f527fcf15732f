#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "coupling/correction.hpp"
#include "master/method.hpp"

/// Which outputs couple, and the constants of coupling/correction.hpp for each of them: those of the lowest degree among the
/// polynomials that act on its subsystem.
namespace mdpcosim {

enum class output_level : std::uint8_t { none, value, rate };

/// By slot: what connections and signals read it as. A value without a rate counts as a rate, which is the lower order.
std::vector<output_level> output_levels(const coupled_system& system);

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
};

/// By channel, after extrapolate(): what the polynomials miss at the end of the step, as one more accepted value has it. While there are
/// too few of them a first integration, of `kept`, shows it, and is undone.
void find_misses(coupled_system& system, const macro_step& step, trial_step& kept, std::span<double> missed);

}  // namespace mdpcosim
