#pragma once

#include <string>
#include <vector>

namespace mdpcosim {

/// What exists, for `mdpcosim list`: models, laws, joints, extrapolations, methods, solvers, the keys of scenario files, and
/// their JSON schema.
std::vector<std::string> list_topics();
std::string list_text(const std::string& topic);
std::string list_json(const std::string& topic);

}  // namespace mdpcosim
