#include "results/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace mdpcosim {
namespace {

TEST(progress, plain_line) {
    EXPECT_EQ(progress::line(0, 2, 0.84, 0.42, 0), " 42 % t = 0.84 s of 2 s, 2 x real time, 1 s left");
    EXPECT_EQ(progress::line(0, 2, 0.02, 10, 0), "  1 % t = 0.02 s of 2 s, real time / 500, 16 min 30 s left");
    EXPECT_EQ(progress::line(1, 3, 2, 7200, 0), " 50 % t = 2 s of 3 s, real time / 7.2e+03, 2 h 0 min left");
    EXPECT_EQ(progress::line(0, 2, 2, 4, 0), "100 % t = 2 s of 2 s, real time / 2, 0 s left");
}

TEST(progress, at_the_start_nothing_is_promised) {
    EXPECT_EQ(progress::line(0, 2, 0, 0, 0), "  0 % t = 0 s of 2 s");
    EXPECT_EQ(progress::line(0, 2, 0, 3, 0), "  0 % t = 0 s of 2 s");
}

TEST(progress, bar) {
    EXPECT_EQ(progress::line(0, 2, 1, 1, 8), " 50 % |####    | t = 1 s of 2 s, 1 x real time, 1 s left");
    EXPECT_EQ(progress::line(0, 2, 0, 0, 4), "  0 % |    | t = 0 s of 2 s");
    EXPECT_EQ(progress::line(0, 2, 2, 0, 4), "100 % |####| t = 2 s of 2 s");
    EXPECT_EQ(progress::line(0, 2, 2.5, 0, 4), "100 % |####| t = 2.5 s of 2 s");
}

/// A line as long as the terminal would wrap and could not be removed.
TEST(progress, the_bar_fits_the_terminal) {
    for (int columns = 1; columns <= 200; ++columns) {
        const std::string line = progress::fitted_line(0, 12.5, 3.123456, 1234, columns);
        EXPECT_LT(line.size(), static_cast<std::size_t>(std::max(2, columns)));
    }
    EXPECT_EQ(progress::fitted_line(0, 2, 1, 1, 200), progress::line(0, 2, 1, 1, 30));
    EXPECT_EQ(progress::fitted_line(0, 2, 1, 1, 70).size(), 69u);
    EXPECT_THAT(progress::fitted_line(0, 2, 1, 1, 70), testing::HasSubstr("|####"));
    EXPECT_EQ(progress::fitted_line(0, 2, 1, 1, 10), " 50 % t =");
}

/// Neither style writes before its interval (0.1 s, 10 s) has passed, and quiet writes never.
TEST(progress, a_short_run_shows_nothing) {
    std::string text;
    for (const auto style : {progress::style::none, progress::style::lines, progress::style::bar}) {
        progress shown(style, 0, 1, [&](const std::string& more) { text += more; });
        shown.update(0.5);
        shown.finish();
    }
    EXPECT_EQ(text, "");
}

TEST(progress, a_line_that_stays) {
    std::string text;
    for (const auto style : {progress::style::none, progress::style::lines, progress::style::bar})
        progress(style, 0, 1, [&](const std::string& more) { text += more; }).tell("what is to come");
    EXPECT_EQ(text, "what is to come\n\r\033[Kwhat is to come\n");
    EXPECT_EQ(progress::duration(59.4), "59 s");
    EXPECT_EQ(progress::duration(200), "3 min 20 s");
    EXPECT_EQ(progress::duration(7260), "2 h 1 min");
    EXPECT_EQ(progress::size(17), "17 bytes");
    EXPECT_EQ(progress::size(999600), "1 MB");
    EXPECT_EQ(progress::size(1.234e9), "1.23 GB");
}

TEST(progress, quiet_has_no_style) { EXPECT_EQ(progress::fitting(true), progress::style::none); }

}  // namespace
}  // namespace mdpcosim
