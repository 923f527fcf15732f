#include "core/error.hpp"

#include <fmt/format.h>

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

user_error::user_error(const location& where, const std::string& message)
    : std::runtime_error(where.file.empty() ? message : fmt::format("{}: {}", to_string(where), message)) {}

}  // namespace mdpcosim
