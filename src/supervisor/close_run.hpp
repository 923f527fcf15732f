#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/last_words.hpp"

/// Ends a run whose process is gone, from its last words.
namespace mdpcosim {

struct closed_run {
    std::filesystem::path folder;
    std::string summary;    ///< JSON, as in summary.json
    std::int64_t rows = 0;  ///< in results.csv
    std::string message;    ///< in the summary
};

/// Rows that were recorded but not written go into results.csv and results.h5; summary.json says `status` ("failed", "interrupted") and why;
/// drafts and the lock are removed. Without a `message`, what the summary says already stays. Folders of runs that belong to the verification of another one go away. What
/// cannot be done (a full disk) is left.
std::vector<closed_run> close_runs(last_words& words, const std::string& status, const std::string& message);

/// Appends whole rows (numbers of all columns, the time first) to a CSV file whose writer is gone, but for those that are in it; a last row
/// that was cut goes. The names of its columns; none where the file has no header.
std::vector<std::string> append_csv_rows(const std::filesystem::path& path, std::span<const double> values);

}  // namespace mdpcosim
