#pragma once

#include <filesystem>
#include <string>

#include "ssp/description.hpp"

/// Files of SSP to plain data. Elements are known by their names without namespace prefix; unknown ones and annotations of others are passed over.
/// Throws user_error with file, line and column: no XML, another root, attributes that are missing or cannot be read, names that stand twice.
namespace mdpcosim::ssp {

/// The type of our annotations.
inline constexpr const char* annotation_type = "org.mdpcosim";

description parse_description(const std::string& text, const std::filesystem::path& path);
parameter_set parse_parameters(const std::string& text, const std::filesystem::path& path);
parameter_mapping parse_mapping(const std::string& text, const std::filesystem::path& path);
std::vector<connector> parse_dictionary(const std::string& text, const std::filesystem::path& path);

/// The text of a file, which may lie in an archive; `what` is what it is to the user.
std::string read_text(const std::filesystem::path& path, const std::string& what);

/// Where a URI in `document` leads: beside it, below it, and, unless the document lies in an archive, anywhere on this machine.
std::filesystem::path resolve(const std::string& uri, const std::filesystem::path& document, const location& where,
                              const std::string& object);

}  // namespace mdpcosim::ssp
