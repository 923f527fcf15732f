#include "core/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/error.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::content;
using test::temporary_folder;
using test::write_file;

std::string refusal(const std::function<void()>& attempt) {
    try {
        attempt();
    } catch (const file_problem& problem) {
        return problem.what();
    }
    return "done";
}

TEST(files, only_what_has_an_end_is_read) {
    const temporary_folder folder;
    write_file(folder / "a", "text");
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    EXPECT_EQ(read_input(folder / "a", 4), "text");
    EXPECT_EQ(refusal([&] { read_input(folder / "none", 4); }), "No such file or directory");
    EXPECT_EQ(refusal([&] { read_input(folder.path(), 4); }), "it is a folder, not a file");
    for (const fs::path& endless : {fs::path("/dev/zero"), fs::path("/dev/tty"), folder / "pipe"})
        EXPECT_THAT(
            refusal([&] { read_input(endless, 4); }),
            testing::AnyOf("it is a device, a socket or a named pipe, not a file", "No such device or address"));
    EXPECT_EQ(refusal([&] { line_reader(folder / "pipe", 4); }),
              "it is a device, a socket or a named pipe, not a file");
}

TEST(files, a_large_file_is_refused_before_it_is_read) {
    const temporary_folder folder;
    write_file(folder / "a", "");
    fs::resize_file(folder / "a", std::uintmax_t{1} << 40);  // a hole takes no space
    EXPECT_EQ(refusal([&] { read_input(folder / "a", 32'000'000); }), "it is larger than 32 MB, which is the limit");
    line_reader lines(folder / "a", 1'000'000);
    std::string line;
    EXPECT_EQ(refusal([&] { lines.next(line); }), "it has a line of more than 1 MB, which is the limit");
}

TEST(files, lines_come_whole_and_the_last_one_may_be_cut) {
    const temporary_folder folder;
    std::string text;
    for (int i = 0; i < 50000; ++i) text += std::to_string(i) + "\n";  // several times what is read at once
    write_file(folder / "a", text + "cut");
    line_reader lines(folder / "a", 1000);
    std::string line;
    for (int i = 0; i < 50000; ++i) {
        ASSERT_TRUE(lines.next(line));
        ASSERT_EQ(line, std::to_string(i));
        ASSERT_FALSE(lines.cut());
    }
    EXPECT_TRUE(lines.next(line));
    EXPECT_EQ(line, "cut");
    EXPECT_TRUE(lines.cut());
    EXPECT_FALSE(lines.next(line));
}

TEST(files, what_is_written_follows_no_link) {
    const temporary_folder folder;
    write_file(folder / "mine", "mine");
    fs::create_symlink("mine", folder / "a.part");
    fs::create_symlink("mine", folder / "a");
    write_output(folder / "a", "new");
    EXPECT_EQ(content(folder / "mine"), "mine");
    EXPECT_EQ(content(folder / "a"), "new");
    EXPECT_FALSE(fs::is_symlink(folder / "a"));
    EXPECT_FALSE(fs::exists(folder / "a.part"));
}

TEST(files, devices_are_written_and_stay) {
    EXPECT_EQ(refusal([] { write_output("/dev/null", "x"); }), "done");
    EXPECT_EQ(refusal([] { write_output("/dev/full", "x"); }), "No space left on device");
    EXPECT_EQ(fs::status("/dev/null").type(), fs::file_type::character);
    EXPECT_EQ(fs::status("/dev/full").type(), fs::file_type::character);
}

TEST(files, documents_replace_documents_only) {
    const temporary_folder folder;
    write_file(folder / "s.yaml", "time: {end: 1 s}");
    EXPECT_EQ(refusal([&] { write_document(folder / "s.yaml", "<svg/>"); }),
              "there is a file of this name that is neither SVG nor HTML; it is left as it is");
    EXPECT_EQ(content(folder / "s.yaml"), "time: {end: 1 s}");
    write_file(folder / "empty.svg", "");
    for (const char* name : {"new.svg", "empty.svg", "new.svg"}) {
        EXPECT_EQ(refusal([&] { write_document(folder / name, "<svg/>"); }), "done");
        EXPECT_EQ(content(folder / name), "<svg/>");
    }
}

TEST(files, a_file_is_known_by_any_of_its_names) {
    const temporary_folder folder;
    write_file(folder / "a", "");
    write_file(folder / "b", "");
    fs::create_symlink("a", folder / "link");
    const std::vector<fs::path> inputs{folder / "link", folder / "none"};
    ASSERT_NE(find_same_file(folder / "a", inputs), nullptr);
    EXPECT_EQ(*find_same_file(folder / "a", inputs), folder / "link");
    EXPECT_EQ(find_same_file(folder / "b", inputs), nullptr);
    EXPECT_EQ(find_same_file(folder / "none", inputs), nullptr);
}

TEST(messages, of_a_long_one_both_ends_are_kept) {
    const std::string text = run_error("begin " + std::string(2'000'000, 'x') + " end").what();
    EXPECT_LT(text.size(), 2000u);
    EXPECT_TRUE(text.starts_with("begin xxx"));
    EXPECT_TRUE(text.ends_with("xxx end"));
    EXPECT_THAT(text, testing::HasSubstr("x ... x"));
    std::string greek;
    for (int i = 0; i < 5000; ++i) greek += "\u03bc";
    EXPECT_EQ(escaped(presentable(greek)), presentable(greek)) << "a character was cut";
    EXPECT_LT(presentable(std::string(5000, '\x1b')).size(), 2000u);
}

TEST(messages, nothing_steers_the_terminal) {
    const location place{intern("a\x1b]0;file"), 1, 2};
    EXPECT_STREQ(user_error(place, "\x1b[31mred\x7f\x07").what(), "a\\x1b]0;file:1:2: \\x1b[31mred\\x7f\\x07");
    EXPECT_STREQ(run_error("\xc2\x9bK \xff \xc3").what(), "\\xc2\\x9bK \\xff \\xc3");
    EXPECT_STREQ(run_error("line\n\tnext \u00b5m").what(), "line\n\tnext \u00b5m");
}

}  // namespace
}  // namespace mdpcosim
