#pragma once

namespace mdpcosim {

/// Environment of a program that the master starts: the subsystem's name; with shared memory "SOCKET MEMORY SPIN", two open files and
/// whether every party has a core of its own.
inline constexpr const char* program_name_variable = "MDPCOSIM_SUBSYSTEM";
inline constexpr const char* program_files_variable = "MDPCOSIM_FILES";

}  // namespace mdpcosim
