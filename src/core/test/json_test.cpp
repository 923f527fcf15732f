#include "core/json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace mdpcosim {

namespace {

TEST(json, lists_become_objects_and_arrays) {
    const json made{{"name", "a"},
                    {"values", {1, 2.5, true, nullptr}},
                    {"words", std::vector<std::string>{"x", "y"}},
                    {"sorted", std::set<std::string>{"q", "p"}},
                    {"one", {{{"deep", {"z"}}}}},
                    {"nothing", json::array()},
                    {"none", json::object()}};
    EXPECT_EQ(made.dump(), R"({"name":"a","values":[1,2.5,true,null],"words":["x","y"],"sorted":["p","q"],)"
                           R"("one":[{"deep":["z"]}],"nothing":[],"none":{}})");
    EXPECT_EQ(json::array({"a", 1}).dump(), R"(["a",1])");
}

TEST(json, is_indented_as_others_do) {
    EXPECT_EQ((json{{"a", {1, 2}}, {"b", json::object()}}.dump(2)),
              "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
}

TEST(json, survives_being_written_and_read) {
    const json made{{"tenth", 0.1},
                    {"whole", 1.0},
                    {"tiny", 5e-324},
                    {"huge", std::numeric_limits<std::uint64_t>::max()},
                    {"low", std::numeric_limits<std::int64_t>::min()},
                    {"text", "\"quoted\"\n\u2028 \\"}};
    EXPECT_EQ(json::parse(made.dump()), made);
    EXPECT_EQ(json::parse(made.dump(4)).dump(4), made.dump(4));
    EXPECT_EQ(json(1.0).dump(), "1.0");
    EXPECT_EQ(json::parse(R"({"b": 1, "a": 2})").dump(), R"({"b":1,"a":2})");
}

TEST(json, has_neither_infinity_nor_broken_text) {
    EXPECT_EQ(json(std::numeric_limits<double>::infinity()).dump(), "null");
    EXPECT_EQ(json("a\xff").dump(), "\"a\xef\xbf\xbd\"");
}

TEST(json, grows) {
    json made;
    made["list"].push_back(1);
    made["list"].push_back({{"k", 2}});
    made["list"].back()["l"] = 3;
    made.update({{"list", 4}, {"more", made["list"]}});
    EXPECT_EQ(made.dump(), R"({"list":4,"more":[1,{"k":2,"l":3}]})");
    for (const char* key : {"a", "b", "c", "d", "e"}) made[key] = made["more"];
    EXPECT_EQ(made["e"].dump(), R"([1,{"k":2,"l":3}])");
    for (const char* key : {"a", "b", "c", "d", "e"}) made.erase(key);
    made.erase("list");
    EXPECT_FALSE(made.contains("list"));
    EXPECT_EQ(made.size(), 1u);
}

TEST(json, is_read) {
    const json read = json::parse(R"({"x": 3, "list": [1.5, 2], "text": "t", "flag": false})");
    EXPECT_EQ(read["x"].get<int>(), 3);
    EXPECT_EQ(read["x"].get<double>(), 3.0);
    EXPECT_EQ(read["list"].get<std::vector<double>>(), (std::vector<double>{1.5, 2}));
    EXPECT_EQ(read.value("text", ""), "t");
    EXPECT_EQ(read.value("nothing", 7), 7);
    EXPECT_FALSE(read["flag"].get<bool>());
    EXPECT_EQ(read.members().front().key, "x");
    EXPECT_THROW(read["nothing"], std::out_of_range);
    EXPECT_THROW(read["list"][2], std::out_of_range);
    EXPECT_THROW(read["text"].get<double>(), std::out_of_range);
    EXPECT_THROW(json::parse("{"), std::invalid_argument);
    EXPECT_FALSE(json::parse_if_valid("[1,"));
}

TEST(json, is_equal_whatever_the_order_of_keys_and_the_type_of_numbers) {
    EXPECT_EQ(json::parse(R"({"a": 1, "b": [2]})"), json::parse(R"({"b": [2.0], "a": 1})"));
    EXPECT_NE(json::parse(R"({"a": 1})"), json::parse(R"({"a": 1, "b": 1})"));
    EXPECT_NE(json(1), json("1"));
    EXPECT_NE(json(0), json(false));
}

}  // namespace

}  // namespace mdpcosim
