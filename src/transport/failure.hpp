#pragma once

#include <span>
#include <string>

#include "core/finite.hpp"
#include "transport/transport.hpp"

/// What all transports say in the same words when a subsystem fails.
namespace mdpcosim {

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
