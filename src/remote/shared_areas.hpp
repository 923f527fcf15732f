#pragma once

#include <cstddef>
#include <string>

#include "core/file_handle.hpp"

namespace mdpcosim {

/// A file without a name, in memory, for the areas of an exchange that two processes share. A system that does not allow it is a
/// user_error, which names the subsystem.
file_handle make_shared_file(const std::string& subsystem);

/// Maps the whole file for areas of this size, which both sides ask for. Throws run_error.
void* map_areas(const file_handle& file, std::size_t size);

}  // namespace mdpcosim
