#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "api/mdpcosim.hpp"

/// Tables of wrong scenarios and what the message must hold.
namespace mdpcosim {

/// A scenario with one mistake. The mark `|>` in its text stands before the place that the message must give.
struct bad_scenario {
    std::string name;
    std::string text;
    std::vector<std::string> message;  ///< parts, all of them
};

inline void PrintTo(const bad_scenario& bad, std::ostream* out) { *out << bad.name; }

inline std::string scenario_name(const testing::TestParamInfo<bad_scenario>& info) { return info.param.name; }

/// The text without its mark, and the place of the mark as messages give it (empty without a mark).
inline std::pair<std::string, std::string> without_mark(std::string text, const std::string& file) {
    const std::size_t mark = text.find("|>");
    if (mark == std::string::npos) return {text, {}};
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mark), '\n') + 1;
    const std::size_t begin = text.rfind('\n', mark) + 1;  // npos + 1 is the first character
    text.erase(mark, 2);
    return {text, file + ":" + std::to_string(line) + ":" + std::to_string(mark - begin + 1) + ": "};
}

/// What the user reads; "accepted" when nothing is wrong.
inline std::string message_of(const std::string& text, const std::filesystem::path& folder = {},
                              const std::vector<scenario_override>& overrides = {}) {
    try {
        check(read_scenario_text(text, "s.yaml", folder, overrides));
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

/// Asks for the place and all parts, and for a message that reads as a sentence.
inline void expect_message(const std::string& message, const std::string& place,
                           const std::vector<std::string>& parts) {
    EXPECT_TRUE(message.starts_with(place)) << "wanted at " << place << "\n  message: " << message;
    for (const auto& part : parts)
        EXPECT_NE(message.find(part), std::string::npos) << "wanted: " << part << "\n  message: " << message;
    EXPECT_TRUE(message.ends_with('.') || message.ends_with('?')) << message;
    for (const char* inner :
         {"std::", "basic_string", "vector", "yaml-cpp", "terminate", "bad_alloc", ".cpp", "map::at"})
        EXPECT_EQ(message.find(inner), std::string::npos) << message;
}

inline void expect_refused(const bad_scenario& bad) {
    const auto [text, place] = without_mark(bad.text, "s.yaml");
    ASSERT_FALSE(place.empty()) << "the scenario has no mark";
    expect_message(message_of(text), place, bad.message);
}

}  // namespace mdpcosim
