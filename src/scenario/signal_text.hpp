#pragma once

#include <string>

#include "scenario/map_reader.hpp"

namespace mdpcosim {

/// `2 N/m*a.x - b.y + 3 -> c.u` into terms, offset and target; throws user_error.
void read_signal_text(const text& connect, const let_table& let, signal_spec& signal);

/// The same as text, with gains and numbers in SI.
std::string signal_text(const signal_spec& signal);

}  // namespace mdpcosim
