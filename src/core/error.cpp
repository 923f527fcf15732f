#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <unordered_set>

namespace mdpcosim {

std::string_view intern(std::string_view text) {
    static std::mutex guard;
    static std::unordered_set<std::string> texts;
    const std::lock_guard lock(guard);
    return *texts.emplace(text).first;
}

std::string to_string(const location& where) {
    if (where.line == 0) return std::string(where.file);
    return fmt::format("{}:{}:{}", where.file, where.line, where.column);
}

namespace {

constexpr std::size_t longest_message = 1900, kept_end = 500;

/// Bytes of the character at `at` if it is one that a terminal shows; 0: it is not.
std::size_t shown_length(std::string_view text, std::size_t at) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80) return (first >= 0x20 && first != 0x7f) || first == '\n' || first == '\t' ? 1 : 0;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((static_cast<unsigned char>(text[at + i]) & 0xc0U) != 0x80U) return 0;
    // U+0080 to U+009F steer terminals, too.
    return first == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0 ? 0 : length;
}

/// So that no character is cut into two.
bool goes_on(std::string_view text, std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = shown_length(text, at);
        if (length == 0)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
        else
            out += text.substr(at, length);
        at += std::max<std::size_t>(length, 1);
    }
    return out;
}

std::string presentable(std::string text) {
    const auto cut = [](const std::string& whole) {
        if (whole.size() <= longest_message) return whole;
        std::size_t begin = longest_message - kept_end, end = whole.size() - kept_end;
        while (begin > 0 && goes_on(whole, begin)) --begin;
        while (goes_on(whole, end)) ++end;
        return whole.substr(0, begin) + " ... " + whole.substr(end);
    };
    text = cut(text);
    return cut(escaped(text));
}

user_error::user_error(const location& where, const std::string& message)
    : std::runtime_error(presentable(where.file.empty() ? message : fmt::format("{}: {}", to_string(where), message))) {
}

}  // namespace mdpcosim
