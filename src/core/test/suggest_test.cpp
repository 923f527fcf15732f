#include "core/suggest.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/registry.hpp"

namespace mdpcosim {
namespace {

using names = std::vector<std::string>;

TEST(did_you_mean, finds_the_closest) {
    const names laws{"spring", "spring-damper", "stop", "gear"};
    EXPECT_EQ(did_you_mean("sprng", laws), " Did you mean 'spring'?");
    EXPECT_EQ(did_you_mean("spring-dampr", laws), " Did you mean 'spring-damper'?");
    EXPECT_EQ(did_you_mean("gaer", laws), " Did you mean 'gear'?");
    EXPECT_EQ(did_you_mean("stpo", laws), " Did you mean 'stop'?");
}

TEST(did_you_mean, is_silent_when_nothing_is_close) {
    EXPECT_EQ(did_you_mean("hydraulic-node", names{"spring", "stop"}), "");
    EXPECT_EQ(did_you_mean("xy", names{"ab"}), "");
    EXPECT_EQ(did_you_mean("x", names{}), "");
    EXPECT_EQ(did_you_mean("", names{"a", "b"}), "");
}

TEST(name_list, cuts_long_lists) {
    EXPECT_EQ(name_list(names{}), "none");
    EXPECT_EQ(name_list(names{"a", "b"}), "a, b");
    EXPECT_EQ(name_list(names{"a", "b", "c", "d"}, 2), "a, b and 2 more");
}

TEST(unknown_name, has_one_form) {
    EXPECT_EQ(unknown_name("port", "wheell", "Subsystem 'crank'", names{"wheel", "mount"}),
              "port 'wheell' does not exist. Subsystem 'crank' has: wheel, mount. Did you mean 'wheel'?");
}

TEST(user_error, begins_with_the_place) {
    const location where{intern("scenario.yaml"), 14, 9};
    EXPECT_STREQ(user_error(where, "wrong.").what(), "scenario.yaml:14:9: wrong.");
    EXPECT_STREQ(user_error({intern("--set a.b=1"), 0, 0}, "wrong.").what(), "--set a.b=1: wrong.");
    EXPECT_STREQ(user_error({}, "wrong.").what(), "wrong.");
    EXPECT_STREQ(user_error("wrong.").what(), "wrong.");
}

TEST(intern, equal_texts_share_one_copy) {
    const std::string first = "some file.yaml", second = first;
    EXPECT_EQ(intern(first).data(), intern(second).data());
    EXPECT_NE(intern(first).data(), intern("another").data());
}

TEST(registry, lists_by_name_and_keeps_the_first_of_a_name) {
    struct thing {
        std::string name;
        int value;
    };
    registry<thing> things;
    things.add({"b", 1});
    things.add({"a", 2});
    things.add({"b", 3});
    EXPECT_EQ(things.names(), (names{"a", "b"}));
    EXPECT_EQ(things.find("b")->value, 1);
    EXPECT_EQ(things.find("c"), nullptr);
}

}  // namespace
}  // namespace mdpcosim
