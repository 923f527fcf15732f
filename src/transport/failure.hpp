#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "transport/transport.hpp"

/// What all transports say in the same words when a subsystem fails.
namespace mdpcosim {

inline bool all_finite(std::span<const double> y) {
    // An exponent of ones only, plus one, reaches the place of the sign.
    constexpr std::uint64_t exponent = 0x7ff0000000000000ULL, one = 0x0010000000000000ULL;
    std::uint64_t reached = 0;
    for (const double value : y) reached |= (std::bit_cast<std::uint64_t>(value) & exponent) + one;
    return reached >> 63 == 0;
}

/// The first output that is not a finite number, or -1.
int first_not_finite(std::span<const double> y);

/// Why a subsystem cannot be blamed: what it was given is no number. Empty: it was.
std::string bad_input_reason(const subsystem_description& d, std::span<const double> inputs);

/// "output 'x' is nan"
std::string not_finite_reason(const subsystem_description& d, std::span<const double> y, int slot);

/// A subsystem failed in advance(): the reason with the step and the inputs at its start.
subsystem_failure failure_in_step(const std::string& subsystem, const std::string& reason, const macro_step& step,
                                  const subsystem_description& d, std::span<const polynomial> inputs);

/// Of the exception being handled. Models may throw anything; nothing of it may end the process.
std::string reason_of_exception();

}  // namespace mdpcosim
