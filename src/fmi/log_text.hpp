#pragma once

#include <cstdarg>
#include <string>

#include "fmi/description.hpp"

/// Texts that an FMU's logger is called with. Private to fmi/.
namespace mdpcosim::fmi {

/// The text at `text`, at most `most` bytes of it; what cannot be read (a wild pointer) becomes "(unreadable text)".
std::string read_text(const char* text, std::size_t most = 1 << 14);

/// The message of FMI 1.0 and 2.0: a printf format and its arguments. Formats that write (%n), that make no sense or that ask for more
/// than anybody would log are given as they stand; a %s without a readable text does no harm.
std::string format_log(const char* format, std::va_list arguments);

/// "#r12#" becomes the name of the Real with value reference 12, "##" becomes "#".
std::string name_references(std::string_view text, const description& d);

}  // namespace mdpcosim::fmi
