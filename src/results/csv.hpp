#pragma once

#include <filesystem>
#include <memory>

#include "results/recorder.hpp"

namespace mdpcosim {

/// Comma-separated values: a header line `time,name,...`, then rows in the shortest decimals that read back to the same
/// doubles. Throws run_error when the file cannot be written (a full disk included).
std::unique_ptr<result_sink> make_csv_sink(const std::filesystem::path& path,
                                           const std::vector<recorded_column>& columns);

}  // namespace mdpcosim
