#include "scenario/plain_yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "core/files.hpp"
#include "yaml_judge.hpp"

namespace mdpcosim {
namespace {

using test::judged;

TEST(plain_yaml, reads_what_programs_write_as_the_library_does) {
    for (const char* text :
         {"a: 1\n", "a: 1", "a:\n", "a:\nb:\n  # nothing\n", "a:\n  b: 1 m\n  c: {d: 2, e: [x.y, -z, 'q: #'], f: {}}\n",
          "list:\n  - 1 N/m*a.x - b.y -> c.u\n  - {from: a, to: b}  # why\n\nend: \"$x\"\n",
          "a: {b: 1,\n    c: [2,\n 3]}\nd: e\n", "# first\n\na-b_c.d: x # y#z\n",
          "a:\n    - [p, q]\n    - r\nb: [[1, 2], [3]]\n", "a: 'it is'\nb: [\"x, y\", z]\n"})
        EXPECT_EQ(judged(text), "as the library") << text;
}

TEST(plain_yaml, leaves_the_unusual_and_every_mistake_to_the_library) {
    for (const char* text : {"",
                             "\n# nothing\n",
                             "a: 1\na: 2\n",
                             "a: {b: 1, b: 2}\n",
                             "a: &x 1\nb: *x\n",
                             "a: |\n  text\n",
                             "a: b: c\n",
                             "a: [1, 2\n",
                             "- a\n- b\n",
                             "a: b\n  c\n",
                             "a: 1\n b: 2\n",
                             "---\na: 1\n",
                             "a: ~\n",
                             "a: null\n",
                             "\ta: 1\n",
                             "a: \"\\x41\"\n",
                             "a: 'it''s'\n",
                             "a: 1\r\n",
                             "a: \xC3\xA9\n",
                             "a:\n- b\n",
                             "a: [b: c]\n",
                             "a: {b}\n",
                             "a: [b,]\n",
                             "a: ? b\n",
                             "'a': 1\n",
                             "a: 1\n...\n",
                             "a: {b: 1} c\n",
                             "a: [\n1]\n"})
        EXPECT_EQ(judged(text), "left to the library") << text;
}

TEST(plain_yaml, examples_are_read_as_the_library_does) {
    int plain = 0, all = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(MDPCOSIM_SOURCE_DIR "/examples")) {
        if (entry.path().extension() != ".yaml") continue;
        const std::string verdict = judged(read_input(entry.path(), 1'000'000));
        EXPECT_THAT(verdict, testing::AnyOf("as the library", "left to the library")) << entry.path();
        ++all;
        if (verdict == "as the library") ++plain;
    }
    EXPECT_GT(all, 20);
    EXPECT_GT(plain, all / 2);
}

TEST(plain_yaml, damaged_texts_are_never_read_otherwise) {
    const std::string good =
        "time: {end: 1 s, step: 1 ms}\nsubsystems:\n  a: {model: m, set: {x: -1.5e-3 m, y: [1, 2]}}\n  b:\n    ode:\n"
        "      states: {x: 0}\n      outputs:\n        - y = 2*x\n\nsignals:\n  - a.y -> b.u  # on\n  - '2*b.y -> "
        "a.u'\n";
    const std::string some = " \n:,{}[]#-'\"ax1.&*?|~";
    std::mt19937 dice(20261118);
    int read = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text = good;
        for (int change = 1 + static_cast<int>(dice() % 3); change > 0; --change) {
            const std::size_t at = dice() % text.size();
            switch (dice() % 4) {
                case 0:
                    text.erase(at, 1);
                    break;
                case 1:
                    text.insert(at, 1, some[dice() % some.size()]);
                    break;
                case 2:
                    text[at] = some[dice() % some.size()];
                    break;
                default:
                    text = text.substr(0, at) + text.substr(at + dice() % (text.size() - at));
            }
            if (text.empty()) text = "a";
        }
        const std::string verdict = judged(text);
        ASSERT_THAT(verdict, testing::AnyOf("as the library", "left to the library"));
        if (verdict == "as the library") ++read;
    }
    EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace mdpcosim
