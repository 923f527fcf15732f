#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "results/recorder.hpp"

namespace mdpcosim {

/// HDF5: one dataset per column at the root (`time`, `engine.shaft.angle`, ...) with its unit as attribute `unit`, and `rows`, the number
/// of rows written so far. All datasets get their full size of `most_rows` at the start: from then on only numbers at fixed
/// places of the file change, so that it can be read at any time, whatever happens to this process; rows beyond `rows` are
/// zero. finish() cuts the datasets to `rows` by writing the file anew where it is shorter than planned.
/// Throws run_error when the file cannot be written.
std::unique_ptr<result_sink> make_hdf5_sink(const std::filesystem::path& path, const std::vector<recorded_column>& columns,
                                            std::int64_t most_rows);

}  // namespace mdpcosim
