#pragma once

#include <optional>
#include <string_view>

#include "scenario/yaml.hpp"

namespace mdpcosim {

/// The YAML that programs write and most people, read many times as fast as by the library: block maps and lists, flow maps and lists, plain and
/// quoted texts without escapes, comments. The tree is the library's, places included. Nothing for whatever is not surely of that
/// kind, every mistake among it.
std::optional<yaml_node> read_plain_yaml(std::string_view text, std::string_view file, int lines_above = 0);

}  // namespace mdpcosim
