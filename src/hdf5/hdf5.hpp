#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "results/recorder.hpp"

namespace mdpcosim {

/// HDF5: one dataset per column at the root (`time`, `engine.shaft.angle`, ...) with its unit as attribute `unit`, and `rows`, the number
/// of rows written so far. Datasets get room for the rows to come (at most `most_rows`) when they are made: from then on only
/// numbers at fixed places of the file change, so that it can be read at any time, whatever happens to this process; rows beyond
/// `rows` mean nothing. Any number of columns: each costs some 30 us and 400 bytes when the file is made. More room, and the cut to `rows` in finish(), come by writing a new file that replaces the old one.
/// Throws run_error when the file cannot be written.
std::unique_ptr<result_sink> make_hdf5_sink(const std::filesystem::path& path,
                                            const std::vector<recorded_column>& columns, std::int64_t most_rows);

/// Adds rows (numbers of all columns, `time` first) to a file whose writer is gone, but for those that are in it; false where it
/// cannot be done, for lack of room, say.
bool append_hdf5_rows(const std::filesystem::path& path, const std::vector<std::string>& names,
                      std::span<const double> values);

}  // namespace mdpcosim
