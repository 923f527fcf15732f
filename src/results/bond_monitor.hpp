#pragma once

#include <span>
#include <vector>

#include "results/coupling_monitor.hpp"

/// The energy of power bonds, watched at every macro step. A bond is a pair of signals: a flow v from one side to the other and an effort F
/// back. In between macro points the first side receives F~ and the other v~, what the polynomials say:
///
///     power received  F~ v ,   power given  F v~ ,   energy error = integral of (F~ v - F v~) = integral of ((F~ - F) v - (v~ - v) F)
///
/// by Simpson's rule; v and F in the middle of a step as in coupling_monitor. Positive: the bond has made energy.
/// (Sadjina, Kyllingstad, Skjong, Pedersen, Energy conservation and power bonds in co-simulations, 2017.)
namespace mdpcosim {

struct bond_quality {
    double energy_error = 0;  ///< J, signed sum over the run
    double energy = 0;        ///< J, sum of absolute amounts exchanged in macro steps
    double energy_peak = 0;   ///< J, what the bond has passed on or stored at most
    /// Half the energy error over the largest energy: how far amplitudes are off.
    double deviation() const;
};

class bond_monitor {
   public:
    struct bond {
        std::size_t flow, effort;                           ///< channels
        double scale = 1;                                   ///< of the product, to be the power
        bool rate_of_flow = false, rate_of_effort = false;  ///< du is known
    };
    explicit bond_monitor(std::vector<bond> bonds = {}) : bonds_(std::move(bonds)), now_(bonds_.size()) {}

    std::size_t size() const { return bonds_.size(); }
    void start(std::span<const double> u, std::span<const double> du);
    void step(double H, const coupling_monitor::step_values& s);
    bond_quality quality(std::size_t i) const;
    void state(state_bytes& bytes) { bytes(now_, H_past_); }

   private:
    struct side {
        double u = 0, du = 0, past = 0;  ///< past: u one macro point earlier
    };
    struct present {
        side flow, effort;
        double error = 0, energy = 0, exchanged = 0, low = 0, high = 0;
    };
    double middle(const side& s, double u, double du, bool rate, double H) const;

    std::vector<bond> bonds_;
    std::vector<present> now_;
    double H_past_ = 0;
};

}  // namespace mdpcosim
