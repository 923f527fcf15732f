#pragma once

#include <string_view>

namespace mdpcosim {

/// Whether `name` fits `pattern`, in which `*` stands for any characters, also for none.
bool matches_pattern(std::string_view pattern, std::string_view name);

}  // namespace mdpcosim
