#include <gtest/gtest.h>

#include <iostream>

#include "scenario/read.hpp"
#include "support/fuzz.hpp"

namespace mdpcosim {
namespace {

/// The examples: together they have most keys.
std::vector<std::string> examples() {
    std::set<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(MDPCOSIM_SOURCE_DIR "/examples"))
        if (std::filesystem::exists(entry.path() / "scenario.yaml")) paths.insert(entry.path() / "scenario.yaml");
    std::vector<std::string> texts;
    for (const auto& path : paths) {
        std::ostringstream text;
        text << std::ifstream(path, std::ios::binary).rdbuf();
        texts.push_back(text.str());
    }
    return texts;
}

/// What is taken can be written, and reads as the same; what is not is a user's mistake with a short message.
std::string try_scenario(const std::string& text) {
    try {
        const std::string written = write_scenario(read_scenario_text(text, "fuzz.yaml", {}));
        EXPECT_EQ(write_scenario(read_scenario_text(written, "written.yaml", {})), written);
        return "taken";
    } catch (const user_error& problem) {
        const std::string message = problem.what();
        EXPECT_LT(message.size(), 2000u);
        EXPECT_TRUE(message.starts_with("fuzz.yaml")) << message;
        return message;
    }
}

TEST(fuzz, scenarios) {
    test::fuzzer fuzz("scenario", examples(),
                      {"nan",
                       "inf",
                       "1e30",
                       "-1",
                       "1e308",
                       "1e-320",
                       "1000000000",
                       "99999999999999999999",
                       "null",
                       "~",
                       "true",
                       "[]",
                       "{}",
                       "''",
                       "\t",
                       "\n",
                       "\n  ",
                       ": ",
                       "- ",
                       "$c",
                       "$",
                       "*a",
                       "&a ",
                       "<<: *a",
                       "!!int ",
                       "---\n",
                       "...",
                       "? ",
                       "|\n",
                       ">-\n",
                       "#",
                       "%",
                       "[[[[[[[[",
                       "{{{{{{{{",
                       "\xff",
                       "\x1b",
                       "\xef\xbb\xbf",
                       "subsystems",
                       "connections",
                       "signals",
                       "between",
                       "model",
                       "ode",
                       "a.x -> b.u",
                       "1 kg",
                       "2 parsec",
                       "solver: {name: euler, step: 1e-300 s}",
                       "replicas: 1000000000",
                       "\"",
                       "'"});
    const long count = fuzz.run(try_scenario);
    std::cout << count << " scenarios, " << fuzz.outcomes() << " kinds of outcome\n";
    EXPECT_GT(count, 1000);
    EXPECT_GT(fuzz.outcomes(), 40u);
}

}  // namespace
}  // namespace mdpcosim
