#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace mdpcosim {

inline bool all_finite(std::span<const double> y) {
    // An exponent of ones only, plus one, reaches the place of the sign.
    constexpr std::uint64_t exponent = 0x7ff0000000000000ULL, one = 0x0010000000000000ULL;
    std::uint64_t reached = 0;
    for (const double value : y) reached |= (std::bit_cast<std::uint64_t>(value) & exponent) + one;
    return reached >> 63 == 0;
}

}  // namespace mdpcosim
