#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/profile.hpp"

namespace mdpcosim {

/// Trace-event JSON (chrome://tracing, Perfetto): one row per worker, one bar per subsystem and sampled macro step.
std::string to_trace_json(std::span<const profile_log> logs, const std::vector<std::string>& subsystems);

}  // namespace mdpcosim
