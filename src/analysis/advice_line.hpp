#pragma once

#include <string>

#include "scenario/spec.hpp"

namespace mdpcosim {

/// For `check` and for runs that went wrong: the scenario's macro step beside its limit, where that is found in a part of a second (few subsystems
/// of this program, all with equations), else how to ask. Empty: nothing is coupled, or advice does not speak of it.
std::string advice_line(const scenario& s);

}  // namespace mdpcosim
