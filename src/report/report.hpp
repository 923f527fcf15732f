#pragma once

#include <filesystem>
#include <string>

/// Reports as web pages, part of the facade: one HTML file that needs nothing else.
namespace mdpcosim {

/// Writes the report of the run in `folder` as `file` (empty: report.html in the folder), with the results in `with` (a folder or a CSV
/// file; empty: none) overlaid, and gives its path. Throws user_error where there is no run or the file cannot be written.
std::filesystem::path write_report(const std::filesystem::path& folder, const std::filesystem::path& with = {},
                                   const std::filesystem::path& file = {});

/// Shows a file in the user's browser, by the desktop's own way; false where there is none.
bool open_in_browser(const std::filesystem::path& file);

}  // namespace mdpcosim
