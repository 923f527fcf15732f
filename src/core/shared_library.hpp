#pragma once

#include <filesystem>
#include <functional>
#include <vector>

namespace mdpcosim {

/// Loads a shared library, with everything it needs, apart from all others. A file that is missing, is no library of this
/// machine, was cut off or needs a library or symbol that is not there is a std::invalid_argument that says which. A library
/// is never unloaded: threads and exit handlers of its runtime (OpenMP, Fortran) would not survive that. With `own_first` it finds its
/// own functions before those of this program with the same name (a solver that both brought along), unless it or a library
/// beside it needs the C++ runtime: C++ libraries would miss the one std::cout of the process and crash when they print.
void* open_shared_library(const std::filesystem::path& path, bool own_first = false);
/// `prepare` is called once, before code of others comes into this process for the first time. Once, before any thread.
void before_first_library(std::function<void()> prepare);

/// The symbol's address; nullptr where the library has none of that name.
void* find_symbol(void* library, const char* name);

/// The folders of the running program and, where this code is part of one, of the library: what belongs to mdpcosim lies beside them.
std::vector<std::filesystem::path> own_folders();

}  // namespace mdpcosim
