#include "archive/utf8.hpp"

#include <cstdint>

namespace mdpcosim::archive {

namespace {

/// Bytes of the character at `at`; 0: there is none.
std::size_t character_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) -> unsigned {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
    };
    const unsigned first = byte(at);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4) return 0;
    std::uint32_t code = first & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xc0) != 0x80) return 0;
        code = code << 6 | (byte(at + i) & 0x3f);
    }
    const bool overlong = code < (length == 2 ? 0x80u : length == 3 ? 0x800u : 0x10000u);
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    return overlong || surrogate || code > 0x10ffff ? 0 : length;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text, std::size_t from) {
    while (from < text.size()) {
        const std::size_t length = character_length(text, from);
        if (length == 0) return from;
        from += length;
    }
    return std::string_view::npos;
}

void repair_utf8(std::string& text) {
    for (std::size_t at = find_invalid_utf8(text); at != std::string::npos; at = find_invalid_utf8(text, at + 1))
        text[at] = '?';
}

}  // namespace mdpcosim::archive
