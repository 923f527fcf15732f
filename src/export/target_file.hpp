#pragma once

#include <filesystem>
#include <string>

#include "scenario/spec.hpp"

/// The archive that is written: under another name first. Private to export/.
namespace mdpcosim {

/// User errors: a name that does not end with `extension`, a file of the scenario's own, a file that is there and is no archive. `kind`: "SSP".
void refuse_file(const scenario& s, const std::filesystem::path& file, const std::string& extension,
                 const std::string& kind);

/// Beside the file, with its extension.
std::filesystem::path draft_of(const std::filesystem::path& file);

/// The draft gets the file's name; run_error where that fails, and then there is no draft.
void put_in_place(const std::filesystem::path& draft, const std::filesystem::path& file);

}  // namespace mdpcosim
