#pragma once

#include <filesystem>

namespace mdpcosim {

/// The environment's word about where the host program is.
inline constexpr const char* host_variable = "MDPCOSIM_HOST";

/// The host program: where MDPCOSIM_HOST says; else beside this program, below the folder that this program's is in
/// (libexec/mdpcosim, lib/mdpcosim), or where mdpcosim was installed. Throws user_error with all these places where it is in none.
std::filesystem::path find_host_program();

/// From now on this one, whatever the environment says; empty: as before.
void use_host_program(std::filesystem::path file);

}  // namespace mdpcosim
