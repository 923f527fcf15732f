#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/registry.hpp"
#include "results/recorder.hpp"

namespace mdpcosim {

/// Comma-separated values: a header line `time,name,...`, then rows in the shortest decimals that read back to the same
/// doubles. Throws run_error when the file cannot be written (a full disk included).
std::unique_ptr<result_sink> make_csv_sink(const std::filesystem::path& path,
                                           const std::vector<recorded_column>& columns);

/// A kind of file that every run leaves its rows in: `results.<extension>`. Rooms above may register more.
struct result_format {
    std::string name;  ///< the extension
    std::function<std::unique_ptr<result_sink>(const std::filesystem::path&, const std::vector<recorded_column>&,
                                               std::int64_t most_rows)>
        make = {};
};
using result_format_registration = registration<result_format>;
using result_format_registry = registry<result_format>;

}  // namespace mdpcosim
