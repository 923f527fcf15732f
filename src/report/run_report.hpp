#pragma once

#include <filesystem>
#include <string>

/// The report of a finished run, made from its folder alone: results.csv, and, where they are there, summary.json, system.json,
/// coupling.json, profile.json and scenario.yaml. A run that was killed has a report, too.
namespace mdpcosim {

struct report_request {
    std::filesystem::path folder;
    std::filesystem::path with;  ///< a second run's folder or a CSV file, overlaid; empty: none
};

/// What is read of a folder.
inline constexpr const char* files_of_report[] = {"results.csv",   "summary.json", "system.json",
                                                  "coupling.json", "profile.json", "scenario.yaml"};

/// The data of the page as one JSON document. Throws user_error where the folder is not that of a run, or where the second results
/// have nothing in common with it.
std::string run_report_json(const report_request& request);

}  // namespace mdpcosim
