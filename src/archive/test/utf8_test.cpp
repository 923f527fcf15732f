#include "archive/utf8.hpp"

#include <gtest/gtest.h>

namespace mdpcosim::archive {
namespace {

std::string repaired(std::string text) {
    repair_utf8(text);
    return text;
}

TEST(utf8, characters_of_every_length_stay) {
    const std::string good = "a \u00e9 \u20ac \U0001f600 \U0010ffff";
    EXPECT_EQ(find_invalid_utf8(good), std::string::npos);
    EXPECT_EQ(repaired(good), good);
}

TEST(utf8, what_is_none_is_replaced) {
    EXPECT_EQ(repaired("Stra\xdf"
                       "e"),
              "Stra?e");                                          // Latin-1
    EXPECT_EQ(repaired("\xc3"), "?");                             // cut off
    EXPECT_EQ(repaired("\xe2\x82"), "??");                        // cut off
    EXPECT_EQ(repaired("\xc0\xaf \xe0\x80\xaf"), "?? ???");       // longer than needed
    EXPECT_EQ(repaired("\xed\xa0\x80"), "???");                   // surrogate
    EXPECT_EQ(repaired("\xf4\x90\x80\x80 \xff\xfe"), "???? ??");  // beyond Unicode
    EXPECT_EQ(repaired("\x80 ok \xc3\xa9"), "? ok \xc3\xa9");
}

}  // namespace
}  // namespace mdpcosim::archive
