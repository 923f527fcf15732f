#pragma once

namespace mdpcosim {

/// Environment of a program that brings a subsystem, besides that of listener.hpp where it connects over TCP: the subsystem's name;
/// what it says at the door, where that is not its name; whether every party has a core of its own; with shared memory "SOCKET MEMORY",
/// two open files.
inline constexpr const char* program_name_variable = "MDPCOSIM_SUBSYSTEM";
inline constexpr const char* program_key_variable = "MDPCOSIM_KEY";
inline constexpr const char* program_spin_variable = "MDPCOSIM_SPIN";
inline constexpr const char* program_files_variable = "MDPCOSIM_FILES";

}  // namespace mdpcosim
