#include <gtest/gtest.h>

#include <iostream>

#include "fmi/test/descriptions.hpp"
#include "fmi/test/promises.hpp"
#include "support/fuzz.hpp"

namespace mdpcosim::fmi {
namespace {

TEST(fuzz, description_reader) {
    test::fuzzer fuzz("description", test::corpus("fmi/test/corpus/description"),
                      {"<",
                       ">",
                       "/>",
                       "\"",
                       "&amp;",
                       "&#0;",
                       "&x;",
                       "<!DOCTYPE x>",
                       "<![CDATA[",
                       "<!--",
                       "-->",
                       "0",
                       "1",
                       "-1",
                       "4294967295",
                       "4294967296",
                       "18446744073709551615",
                       "1e999",
                       "-0",
                       "NaN",
                       "INF",
                       "1 2 3",
                       "",
                       " ",
                       "true",
                       "constant",
                       "fixed",
                       "tunable",
                       "discrete",
                       "continuous",
                       "exact",
                       "approx",
                       "calculated",
                       "parameter",
                       "calculatedParameter",
                       "structuralParameter",
                       "input",
                       "output",
                       "local",
                       "independent",
                       "2.0",
                       "3.0",
                       "\xff\xfe",
                       "\xef\xbb\xbf",
                       "<Dimension start=\"3\"/>",
                       "<Dimension valueReference=\"10\"/>",
                       "<Alias name=\"a\"/>",
                       "<Unknown index=\"1\" dependencies=\"1 2\"/>",
                       "<Terminal name=\"t\">",
                       "</Terminal>"});
    const long count = fuzz.run([](const std::string& xml) { return try_description(xml, good_3); });
    std::cout << count << " descriptions, " << fuzz.outcomes() << " kinds of outcome\n";
    EXPECT_GT(count, 1000);
    EXPECT_GT(fuzz.outcomes(), 40u);
}

TEST(fuzz, description_1_reader) {
    test::fuzzer fuzz("description-1", test::corpus("fmi/test/corpus/description-1"),
                      {"<",
                       ">",
                       "/>",
                       "\"",
                       "&amp;",
                       "&x;",
                       "<![CDATA[",
                       "<!--",
                       "-->",
                       "0",
                       "-1",
                       "4294967295",
                       "4294967296",
                       "1e999",
                       "NaN",
                       "INF",
                       "",
                       " ",
                       "true",
                       "false",
                       "constant",
                       "parameter",
                       "discrete",
                       "continuous",
                       "input",
                       "output",
                       "internal",
                       "none",
                       "noAlias",
                       "alias",
                       "negatedAlias",
                       "1.0",
                       "2.0",
                       "3.0",
                       "\xff\xfe",
                       "<DirectDependency>",
                       "</DirectDependency>",
                       "<Name>torque</Name>",
                       "<Implementation>",
                       "</Implementation>",
                       "<CoSimulation_StandAlone>",
                       "<CoSimulation_Tool>",
                       "<Capabilities/>",
                       "<BaseUnit unit=\"m\">",
                       "<Item name=\"a\"/>",
                       "<String/>",
                       "<Enumeration/>"});
    const long count = fuzz.run([](const std::string& xml) { return try_description(xml, good_3); });
    std::cout << count << " descriptions of FMI 1.0, " << fuzz.outcomes() << " kinds of outcome\n";
    EXPECT_GT(count, 1000);
    EXPECT_GT(fuzz.outcomes(), 40u);
}

TEST(fuzz, archive_reader) {
    test::fuzzer fuzz("archive", test::corpus("fmi/test/corpus/archive"),
                      {"PK\1\2", "PK\3\4", "PK\5\6", "PK\6\6", "PK\6\7", "../", "/", "\\", "modelDescription.xml", "x",
                       std::string("\1\0", 2), std::string("\0\0\0\0", 4), "\xff\xff\xff\xff", "resources/", "a/../b"});
    const test_folder folder;
    const long count = fuzz.run([&](const std::string& bytes) { return try_archive(bytes, folder); });
    std::cout << count << " archives, " << fuzz.outcomes() << " kinds of outcome\n";
    EXPECT_GT(count, 1000);
    EXPECT_GT(fuzz.outcomes(), 10u);
}

}  // namespace
}  // namespace mdpcosim::fmi
