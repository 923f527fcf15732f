#pragma once

#include <filesystem>
#include <map>
#include <string_view>

#include "scenario/yaml.hpp"

namespace mdpcosim {

/// Where relative paths start, by the file (as it stands in places) that they are written in.
using folders_of_files = std::map<std::string_view, std::filesystem::path>;

/// Puts in what `include:` takes from other files, so that the tree is that of one file without it:
///   at the top: entries of `let`, `subsystems`, `connections` and `signals`; a name that stands twice is refused;
///   in a subsystem: the keys of its entry; what the entry says itself comes before them, one by one inside `set`.
/// Paths start at the folder of the file that they stand in. Throws user_error.
void expand_includes(yaml_node& root, const std::filesystem::path& file, const std::filesystem::path& folder,
                     folders_of_files& folders);

}  // namespace mdpcosim
