#pragma once

#include <cstdint>
#include <span>

namespace mdpcosim {

/// The value of an input that takes one output times numbers, as most signals do: the network's arithmetic for it, to the bit, by slots.
struct plain_signal {
    std::uint32_t source, input;
    double weight, factor;

    double value(const double* outputs) const { return 0 + factor * (0 + weight * outputs[source]); }
};

inline void find_input_values(std::span<const plain_signal> signals, const double* outputs, double* inputs) {
    for (const plain_signal& s : signals) inputs[s.input] = s.value(outputs);
}

}  // namespace mdpcosim
