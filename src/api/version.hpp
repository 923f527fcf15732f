#pragma once

#include <string>

namespace mdpcosim {

/// `0.1.0`
const char* version();
/// For `--version`: that, the commit it was built from, and what is built in.
std::string about_this_build();

}  // namespace mdpcosim
