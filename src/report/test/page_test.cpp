#include "report/page.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "core/json.hpp"

namespace mdpcosim {

namespace {

/// The text of the element that holds the data.
std::string data_of(const std::string& page) {
    const std::string begin = "<script id=\"data\" type=\"application/json\">";
    const std::size_t from = page.find(begin) + begin.size();
    return page.substr(from, page.find("</script", from) - from);
}

TEST(page, holds_the_data_whatever_it_says) {
    const json data{{"name", "</script><script>alert(1)</script>"},
                    {"comment", "<!-- <script> &amp; \" ' \\ \u2028"},
                    {"place", "@DATA@ @TITLE@ @SCRIPT@"}};
    const std::string page = page_with("<b>title</b> & @DATA@", data.dump());
    const std::string found = data_of(page);
    EXPECT_EQ(json::parse(found), data);
    EXPECT_EQ(found.find('<'), std::string::npos);
    EXPECT_NE(page.find("<title>&#60;b&#62;title&#60;/b&#62; &#38; @DATA@</title>"), std::string::npos);
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
}

TEST(page, needs_nothing_from_elsewhere) {
    const std::string page = page_with("t", "{}");
    for (const char* address : {"src=\"http", "href=\"http", "url(http", "@import", "fetch(", "XMLHttpRequest"})
        EXPECT_EQ(page.find(address), std::string::npos) << address;
    EXPECT_LT(page.size(), 400'000u);
}

TEST(page, says_where_it_cannot_be_written) {
    try {
        write_page("/nowhere/at/all.html", "x");
        FAIL();
    } catch (const user_error& problem) {
        EXPECT_NE(std::string(problem.what()).find("/nowhere/at/all.html: the file cannot be written"),
                  std::string::npos);
    }
}

}  // namespace

}  // namespace mdpcosim
