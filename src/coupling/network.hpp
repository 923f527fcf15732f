#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/index.hpp"
#include "core/polynomial.hpp"
#include "coupling/extrapolation.hpp"
#include "coupling/law.hpp"

/// The coupled system's arithmetic: outputs of all subsystems to input polynomials of all subsystems.
///
/// Call order: add_channel / add_delivery while building, then finish(); per macro step
///   evaluate(y, u, du)            const: coupling variables and rates of all channels
///   accept(t, y, u, du)           the values of an accepted time enter the history; laws remember
///   extrapolate(t_next)           polynomials of all channels from the last accepted time to t_next
///   deliver(H, inputs)            const: sums of channel polynomials per input, projected to what the input takes
/// After finish() nothing allocates.
namespace mdpcosim {

/// A port's or a signal source's part in a channel: q += weight * y[value], v += weight * y[rate].
struct channel_term {
    output_slot value;
    output_slot rate;  ///< invalid where the channel needs no rate
    double weight = 1;
};

struct delivery {
    channel_index channel;
    double factor = 1;
};

class network {
   public:
    channel_index add_channel(std::string name, std::unique_ptr<law> channel_law, std::vector<channel_term> terms,
                              const extrapolation_rule& rule);
    /// Adds factor * u of `channel` to the input; `degree` is the highest degree the input takes.
    void add_delivery(input_slot input, int degree, delivery d);
    /// `start` are the values of the inputs that nothing is delivered to.
    void finish(std::span<const double> start);

    std::size_t channels() const { return laws_.size(); }
    const std::string& name(channel_index channel) const { return names_[channel.value()]; }

    void evaluate(std::span<const double> y, std::span<double> u, std::span<double> du) const;
    void accept(double t, std::span<const double> y, std::span<const double> u, std::span<const double> du);
    void extrapolate(double t_next);
    void deliver(double H, std::span<polynomial> inputs) const;
    /// Values of the inputs of one subsystem (slots first .. first+values.size()) for coupling variables u.
    void input_values(std::span<const double> u, std::size_t first, std::span<double> values) const;
    /// Coupling variable of one channel; for the ordered evaluation of outputs with feed-through.
    double evaluate_one(channel_index channel, std::span<const double> y) const;

    const polynomial& channel_polynomial(channel_index channel) const { return polynomials_[channel.value()]; }
    void clear_history();

   private:
    std::vector<std::string> names_;
    std::vector<std::unique_ptr<law>> laws_;
    std::vector<polynomial> polynomials_;
};

}  // namespace mdpcosim
