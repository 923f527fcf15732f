#include "exported/variables.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

constexpr std::array<std::string_view, 7> role_words{"output", "input",      "parameter", "tunable",
                                                     "state",  "derivative", "indicator"};
constexpr std::array<std::string_view, 3> type_words{"real", "integer", "boolean"};

[[noreturn]] void damaged(std::string_view line) {
    throw user_error(fmt::format("the list of variables, {}, is damaged at '{}'.", exported_contents_file, line));
}

template <std::size_t n>
std::size_t place_in(const std::array<std::string_view, n>& words, std::string_view word, std::string_view line) {
    for (std::size_t i = 0; i < n; ++i)
        if (words[i] == word) return i;
    damaged(line);
}

/// The text up to the next blank, which is taken away.
std::string_view take_word(std::string_view& rest) {
    const std::size_t blank = rest.find(' ');
    const std::string_view word = rest.substr(0, blank);
    rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank + 1);
    return word;
}

}  // namespace

std::string write_contents(const exported_contents& contents) {
    std::string text = fmt::format("token {}\nsubsystem {}\n", contents.token, contents.subsystem);
    for (const auto& v : contents.variables)
        text += fmt::format("{} {} {} {}\n", role_words[static_cast<std::size_t>(v.what)],
                            type_words[static_cast<std::size_t>(v.type)], v.start, v.address);
    return text;
}

exported_contents read_contents(std::string_view text) {
    exported_contents made;
    for (int number = 0; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        if (end == std::string_view::npos) damaged(line);
        text.remove_prefix(end + 1);
        std::string_view rest = line;
        const std::string_view first = take_word(rest);
        if (number < 2) {
            if (first != (number == 0 ? "token" : "subsystem")) damaged(line);
            (number == 0 ? made.token : made.subsystem) = rest;
            continue;
        }
        exported_variable v;
        v.what = static_cast<exported_variable::role>(place_in(role_words, first, line));
        v.type = static_cast<variable_type>(place_in(type_words, take_word(rest), line));
        const std::string_view start = take_word(rest);
        const auto read = std::from_chars(start.data(), start.data() + start.size(), v.start);
        if (read.ec != std::errc{} || read.ptr != start.data() + start.size() || rest.empty()) damaged(line);
        v.address = rest;
        made.variables.push_back(std::move(v));
    }
    return made;
}

}  // namespace mdpcosim
