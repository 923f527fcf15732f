#pragma once

#include <string>
#include <string_view>

/// The page of all reports: one HTML file with its scripts and styles inside (made from web/ by the build), and a place for the data.
namespace mdpcosim {

/// False: this mdpcosim was built without.
bool has_page();

/// The page with a title and its data, a JSON document. Nothing in them can end the place where they stand: `<` and `&` are
/// written by their numbers.
std::string page_with(std::string_view title, std::string_view json);

/// Writes a page as a file, under another name first. Throws user_error where it cannot be written.
void write_page(const std::string& path, const std::string& page);

}  // namespace mdpcosim
