// Where URIs lead, and what stands there.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "archive/local_file.hpp"
#include "core/files.hpp"
#include "ssp/read.hpp"

namespace mdpcosim::ssp {

namespace {

constexpr std::size_t most_text = 256'000'000;

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// "%20" as a blank.
std::string decoded(const std::string& uri) {
    std::string text;
    for (std::size_t i = 0; i < uri.size(); ++i) {
        const bool escape =
            uri[i] == '%' && i + 2 < uri.size() && hex_digit(uri[i + 1]) >= 0 && hex_digit(uri[i + 2]) >= 0;
        text += escape ? static_cast<char>(hex_digit(uri[i + 1]) * 16 + hex_digit(uri[i + 2])) : uri[i];
        if (escape) i += 2;
    }
    return text;
}

/// "file", "https"; empty: none.
std::string scheme_of(const std::string& uri) {
    const std::size_t colon = uri.find(':');
    if (colon == std::string::npos || colon == 0) return {};
    const std::string scheme = uri.substr(0, colon);
    const bool word = std::ranges::all_of(
        scheme, [](unsigned char c) { return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.'; });
    return word && std::isalpha(static_cast<unsigned char>(scheme.front())) != 0 ? scheme : std::string();
}

}  // namespace

std::string read_text(const std::filesystem::path& path, const std::string& what) {
    try {
        return read_input(archive::local_file(path).path(), most_text);
    } catch (const file_problem& problem) {
        throw user_error(fmt::format("{} '{}' cannot be read: {}.", what, path.string(), problem.what()));
    }
}

std::filesystem::path resolve(const std::string& uri, const std::filesystem::path& document, const location& where,
                              const std::string& object) {
    const std::filesystem::path within = archive::archive_of(document);
    std::string rest = uri;
    if (const std::string scheme = scheme_of(uri); !scheme.empty()) {
        if (scheme != "file" || !within.empty())
            throw user_error(where,
                             fmt::format("{}: '{}' lies elsewhere. Put a copy {} and write its path.", object, uri,
                                         within.empty() ? "on this machine" : "into the archive, under resources/,"));
        rest = uri.substr(5);
        if (rest.starts_with("//")) rest = rest.substr(std::min(rest.find('/', 2), rest.size()));
    }
    const std::string name = decoded(rest);
    if (name.empty() || name.find('\0') != std::string::npos)
        throw user_error(where, fmt::format("{}: the name of a file is missing.", object));
    std::filesystem::path path = (document.parent_path() / name).lexically_normal();
    if (within.empty()) return path;
    const std::filesystem::path inside = path.lexically_relative(within.lexically_normal());
    if (std::filesystem::path(name).is_absolute() || inside.empty() || *inside.begin() == ".." || inside == ".")
        throw user_error(where,
                         fmt::format("{}: the path '{}' leaves the archive '{}'. Put the file into the archive, under "
                                     "resources/, and write its path there.",
                                     object, uri, within.filename().string()));
    return path;
}

}  // namespace mdpcosim::ssp
