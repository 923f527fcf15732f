#pragma once

#include <string>
#include <string_view>

namespace mdpcosim::archive {

/// Where the first byte stands that is no part of a UTF-8 character; npos: nowhere.
std::size_t find_invalid_utf8(std::string_view text, std::size_t from = 0);

/// Every such byte replaced by '?', so that texts from a stranger do not spoil our files; the length stays.
void repair_utf8(std::string& text);

}  // namespace mdpcosim::archive
