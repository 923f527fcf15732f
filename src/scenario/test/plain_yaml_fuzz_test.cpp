#include <gtest/gtest.h>

#include <iostream>

#include "support/fuzz.hpp"
#include "yaml_judge.hpp"

namespace mdpcosim {
namespace {

/// Every scenario below examples/ and what the plain reader was made for: flow and block, lists, comments, quoted texts.
std::vector<std::string> plain_texts() {
    std::set<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(MDPCOSIM_SOURCE_DIR "/examples"))
        if (entry.path().extension() == ".yaml") paths.insert(entry.path());
    std::vector<std::string> texts{"a: 1\n", "a: {b: [1, 2], c: {d: 'x', e: \"y\"}}  # z\nf:\n  - g\n  - {h: i}\n",
                                   "a:\n    b:\n        c: -1.5e-3 m\n    d:\n\ne: $x + 1\n"};
    for (const auto& path : paths) {
        std::ostringstream text;
        text << std::ifstream(path, std::ios::binary).rdbuf();
        texts.push_back(text.str());
    }
    return texts;
}

TEST(fuzz, plain_yaml) {
    test::fuzzer fuzz(
        "plain-yaml", plain_texts(),
        {" ",  "  ",   "\n", "\n  ", "\n    ", ":",  ": ",  " :",  ":\n",   ",",     ", ",    "{",     "}",
         "[",  "]",    "{}", "[]",   "- ",     "-",  "- -", "#",   " #",    "'",     "\"",    "''",    "\\",
         "?",  "? ",   "!",  "!!",   "&a ",    "*a", "|",   ">",   "%",     "@",     "`",     "~",     "null",
         "<<", "true", "-1", "+1",   ".5",     "$",  "(",   ")",   "/",     "=",     "---",   "...",   "\n---\n",
         "\t", "\r\n", "\r", "é",    "\x7f",   "a",  "a:",  "a: ", "\na: ", "'a': ", "- a: ", "--- a", "\xef\xbb\xbf"});
    long read = 0;
    const long count = fuzz.run([&](const std::string& text) {
        const std::string verdict = test::judged(text);
        EXPECT_TRUE(verdict == "as the library" || verdict == "left to the library") << verdict;
        read += verdict == "as the library";
        return verdict;
    });
    std::cout << count << " texts, " << read << " read\n";
    EXPECT_GT(count, 1000);
    EXPECT_GT(read, count / 20);
}

}  // namespace
}  // namespace mdpcosim
