#include "scenario/yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mdpcosim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using type = yaml_node::type;

yaml_node read(const std::string& text) { return read_yaml_text(text, "f.yaml"); }

std::string refusal(const std::string& text) {
    try {
        read(text);
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

TEST(yaml, every_key_and_value_knows_its_place) {
    const yaml_node root = read("time:\n  end: 1 s\nlist: [a, {b: c}]\n");
    ASSERT_EQ(root.kind, type::map);
    ASSERT_EQ(root.entries.size(), 2U);
    EXPECT_EQ(to_string(root.entries[0].key.where), "f.yaml:1:1");
    const auto& [key, value] = root.entries[0].value.entries.at(0);
    EXPECT_EQ(key.name, "end");
    EXPECT_EQ(to_string(key.where), "f.yaml:2:3");
    EXPECT_EQ(value.scalar, "1 s");
    EXPECT_EQ(to_string(value.where), "f.yaml:2:8");
    const yaml_node& list = *root.find("list");
    ASSERT_EQ(list.kind, type::list);
    EXPECT_EQ(to_string(list.where), "f.yaml:3:7");
    EXPECT_EQ(to_string(list.items[0].where), "f.yaml:3:8");
    EXPECT_EQ(to_string(list.items[1].find("b")->where), "f.yaml:3:15");
    EXPECT_EQ(root.find("end"), nullptr);
}

TEST(yaml, a_quoted_text_is_placed_at_its_first_character) {
    EXPECT_EQ(to_string(read("a: \"x\"").find("a")->where), "f.yaml:1:5");
    EXPECT_EQ(to_string(read("a: 'x'").find("a")->where), "f.yaml:1:5");
}

TEST(yaml, scalars_stay_as_written) {
    const yaml_node root = read("a: 1e-3\nb: true\nc: \"~\"\nd: ~\ne:\nf: 'it''s'\ng: \"\\u00e9 \\x41\"\nh: null\n");
    EXPECT_EQ(root.find("a")->scalar, "1e-3");
    EXPECT_EQ(root.find("b")->scalar, "true");
    EXPECT_EQ(root.find("c")->scalar, "~");
    EXPECT_EQ(root.find("c")->kind, type::scalar);
    EXPECT_EQ(root.find("d")->kind, type::null);
    EXPECT_EQ(root.find("e")->kind, type::null);
    EXPECT_EQ(root.find("f")->scalar, "it's");
    EXPECT_EQ(root.find("g")->scalar, "\xC3\xA9 A");
    EXPECT_EQ(root.find("h")->kind, type::null);
}

TEST(yaml, aliases_are_copies) {
    const yaml_node root = read("a: &x {m: 1}\nb: *x\n");
    EXPECT_EQ(root.find("b")->find("m")->scalar, "1");
    EXPECT_EQ(to_string(root.find("b")->where), "f.yaml:2:4");
}

TEST(yaml, duplicate_keys_are_refused_with_both_places) {
    EXPECT_EQ(refusal("a: 1\nb: {c: 1, c: 2}\n"),
              "f.yaml:2:11: key 'c' stands twice; the first is at line 2, column 5.");
}

TEST(yaml, keys_are_names) {
    EXPECT_EQ(refusal("{[a]: 1}"), "f.yaml:1:2: a key must be a plain name, not a list.");
    EXPECT_EQ(refusal("? {a: 1}\n: 2\n"), "f.yaml:1:3: a key must be a plain name, not a map.");
}

TEST(yaml, a_second_document_is_refused) {
    EXPECT_THAT(refusal("a: 1\n---\nb: 2\n"), HasSubstr("f.yaml:2:1: a second document begins here"));
    EXPECT_EQ(refusal("---\na: 1\n...\n"), "accepted");
}

TEST(yaml, what_is_no_yaml_is_refused_with_its_place) {
    EXPECT_THAT(refusal("a: {b: 1\n"), HasSubstr("f.yaml:"));
    EXPECT_THAT(refusal("a: {b: 1\n"), HasSubstr("not valid YAML"));
    EXPECT_THAT(refusal("a: b: c\n"), HasSubstr("f.yaml:1:5: this is not valid YAML: no ':' can stand here."));
    EXPECT_THAT(refusal("a: *nowhere\n"), HasSubstr("f.yaml:1:4: this is not valid YAML"));
    EXPECT_THAT(refusal("a:\n\tb: 1\n"),
                HasSubstr("f.yaml:2:3: this is not valid YAML: this line is indented with a tab."));
}

TEST(yaml, only_text_in_utf_8_is_read) {
    EXPECT_EQ(refusal("a: \xC3\xA9 \xE6\x97\xA5 \xF0\x9F\x9A\x97\n"), "accepted");
    EXPECT_EQ(refusal("a: 1\nb: \xE9\n"),
              "f.yaml:2:4: a scenario is a text in UTF-8, but this file holds the byte 0xe9 here.");
    for (const char* bad : {"\xC3", "\xFF", "\x80", "\xC0\x80", "\xE6\x97", "\xF0\x9F\x9A\x28", "\x01", "\x7F"})
        EXPECT_THAT(refusal(std::string("a: ") + bad), HasSubstr("f.yaml:1:4: a scenario is a text in UTF-8"));
}

TEST(yaml, an_alias_inside_its_own_anchor_is_refused) {
    EXPECT_THAT(refusal("a: &x [1, *x]\n"), HasSubstr("f.yaml:1:11: this alias ('*name') stands inside the anchor"));
}

TEST(yaml, aliases_cannot_fill_the_memory) {
    std::string text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
    for (int i = 1; i < 12; ++i) {
        text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int k = 0; k < 10; ++k) text += (k == 0 ? "*a" : ", *a") + std::to_string(i - 1);
        text += "]\n";
    }
    EXPECT_THAT(refusal(text), HasSubstr("stand for more than 1000000 values"));
}

TEST(yaml, deep_nesting_is_refused) {
    for (const std::string one : {"[", "{a: ", "- "}) {
        std::string text;
        for (int i = 0; i < 10000; ++i) text += one;
        EXPECT_THAT(refusal(text), AllOf(StartsWith("f.yaml:1:"), HasSubstr("nested too deep here"))) << one;
    }
}

TEST(yaml, a_text_of_the_command_line_has_one_place) {
    const yaml_node node = read_yaml_text("[1, 2]", "--set a.x=[1, 2]", true);
    EXPECT_EQ(to_string(node.items[1].where), "--set a.x=[1, 2]");
}

TEST(yaml, files_that_cannot_be_read) {
    const auto message = [](const char* path) -> std::string {
        try {
            read_yaml_file(path);
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "accepted";
    };
    EXPECT_EQ(message("/nowhere/s.yaml"), "/nowhere/s.yaml: the file cannot be read (No such file or directory).");
    EXPECT_EQ(message(MDPCOSIM_SOURCE_DIR), MDPCOSIM_SOURCE_DIR ": this is a folder, not a scenario file.");
}

}  // namespace
}  // namespace mdpcosim
