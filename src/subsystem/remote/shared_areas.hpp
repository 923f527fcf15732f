#pragma once

#include <cstddef>

#include "core/file_handle.hpp"

namespace mdpcosim {

/// A file without a name, in memory, for the areas of an exchange that two processes share. Throws run_error.
file_handle make_shared_file();

/// Maps the whole file for areas of this size, which both sides ask for. Throws run_error.
void* map_areas(const file_handle& file, std::size_t size);

}  // namespace mdpcosim
