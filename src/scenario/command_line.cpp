#include "scenario/command_line.hpp"

#include <fmt/format.h>

namespace mdpcosim {

std::vector<std::string> split_command(const text& line, const std::string& object) {
    std::vector<std::string> words;
    char quote = 0;
    bool inside = false;
    const std::string& all = line.value;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const char c = all[i];
        const bool escapes =
            c == '\\' && quote != '\'' && i + 1 < all.size() && (quote == 0 || all[i + 1] == '"' || all[i + 1] == '\\');
        if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
            inside = false;
            continue;
        }
        if (!inside) words.emplace_back();
        inside = true;
        if (escapes)
            words.back() += all[++i];
        else if (c == quote)
            quote = 0;
        else if (quote == 0 && (c == '\'' || c == '"'))
            quote = c;
        else
            words.back() += c;
    }
    if (quote != 0)
        throw user_error(line.where, fmt::format("{}: in '{}' the quote {} is not closed.", object, all, quote));
    return words;
}

}  // namespace mdpcosim
