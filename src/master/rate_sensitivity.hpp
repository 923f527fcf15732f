#pragma once

#include <optional>
#include <vector>

#include "master/coupled_system.hpp"

namespace mdpcosim {

/// How the rates of some outputs of one subsystem answer at once to some of its inputs, B = d(dy/dt)/du (1/m for the velocity of
/// a mass under a force), found without any step, in the first of these ways that is offered:
///   derivatives     the subsystem knows them (rate_sensitivities)
///   accelerations   the rates are outputs that depend on the inputs at once: evaluated with two values of an input, exact
/// After construction nothing allocates.
class rate_sensitivity {
   public:
    enum class way { derivatives, accelerations, none };
    /// What is asked for; slots of the whole system.
    struct question {
        subsystem_index subsystem;
        std::vector<std::size_t> inputs, outputs;
        std::vector<bool> own;  ///< [output][input]: entries that are not zero
        bool insist = true;     ///< values of inputs may differ ever more, until the answers show clearly
    };

    rate_sensitivity() = default;
    rate_sensitivity(const transport& t, const question& asked);

    way present() const { return way_; }
    /// B[output][input] for the present time and u. A way whose numbers are not all finite is left for the next one; none: false.
    bool evaluate(coupled_system& system, const question& asked, std::span<double> B);
    /// Leaves the present way for the next one.
    void leave();
    /// The rates under the present u, by output; zeros where they are no outputs.
    const std::vector<double>& rates() const { return rates_; }
    void state(state_bytes& bytes) { bytes(way_, rates_); }

   private:
    void differentiate(coupled_system& system, const question& asked, std::span<double> B);
    void read_rates(coupled_system& system, const question& asked);
    void compare(coupled_system& system, const question& asked, std::span<double> B);

    way way_ = way::none;
    std::vector<std::size_t> accelerations_;  ///< slots, as many as outputs; empty: not all offered
    std::vector<double> rates_, by_output_;
};

}  // namespace mdpcosim
