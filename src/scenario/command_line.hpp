#pragma once

#include <string>
#include <vector>

#include "scenario/spec.hpp"

namespace mdpcosim {

/// Words with quotes and backslashes as a shell takes them; nothing else is special.
std::vector<std::string> split_command(const text& line, const std::string& object);

}  // namespace mdpcosim
