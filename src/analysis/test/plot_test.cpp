#include <gmock/gmock.h>

#include <cmath>
#include <regex>

#include "analysis/plot.hpp"
#include "core/error.hpp"

namespace mdpcosim {
namespace {

using testing::HasSubstr;
using testing::Not;

plot_panel one_curve(std::vector<double> x, std::vector<double> y) {
    plot_panel panel;
    panel.curves.push_back({"", std::move(x), std::move(y), plot_stroke::solid, plot_marker::none, {}});
    return panel;
}

std::string drawn(plot_panel panel) { return to_svg({"", {std::move(panel)}, 1, 400, 300}); }

/// Coordinates of the curve with the palette's first colour.
std::vector<std::array<double, 2>> curve_points(const std::string& svg, const std::string& ink = "#0072B2") {
    const std::regex path("<path d=\"([^\"]*)\" fill=\"none\" stroke=\"" + ink + "\" stroke-width=\"1.8\"");
    std::smatch found;
    std::vector<std::array<double, 2>> points;
    if (!std::regex_search(svg, found, path)) return points;
    const std::string d = found[1];
    const std::regex pair("[ML](-?[0-9.]+) (-?[0-9.]+)");
    for (std::sregex_iterator i(d.begin(), d.end(), pair), end; i != end; ++i)
        points.push_back({std::stod((*i)[1]), std::stod((*i)[2])});
    return points;
}

TEST(plot, names_are_escaped) {
    auto panel = one_curve({0, 1}, {0, 1});
    panel.title = "<script>&\"";
    panel.x.label = "a\x01 b\xff";
    panel.curves[0].name = "u < \xCF\x89";
    const std::string svg = drawn(panel);
    EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&amp;&quot;"));
    EXPECT_THAT(svg, HasSubstr("a  b\xEF\xBF\xBD"));
    EXPECT_THAT(svg, HasSubstr("u &lt; \xCF\x89"));
    EXPECT_THAT(svg, Not(HasSubstr("<script")));
}

TEST(plot, linear_and_logarithmic_places) {
    const auto linear = curve_points(drawn(one_curve({0, 1, 2}, {0, 10, 20})));
    ASSERT_EQ(linear.size(), 3u);
    EXPECT_NEAR(linear[1][0], (linear[0][0] + linear[2][0]) / 2, 0.11);
    EXPECT_NEAR(linear[1][1], (linear[0][1] + linear[2][1]) / 2, 0.11);
    EXPECT_LT(linear[2][1], linear[0][1]) << "larger values stand higher";

    auto panel = one_curve({1, 10, 100}, {1e-8, 1e-4, 1});
    panel.x.logarithmic = panel.y.logarithmic = true;
    const std::string svg = drawn(panel);
    const auto logarithmic = curve_points(svg);
    ASSERT_EQ(logarithmic.size(), 3u);
    EXPECT_NEAR(logarithmic[1][0], (logarithmic[0][0] + logarithmic[2][0]) / 2, 0.11);
    EXPECT_NEAR(logarithmic[1][1], (logarithmic[0][1] + logarithmic[2][1]) / 2, 0.11);
    EXPECT_THAT(svg, HasSubstr("10<tspan dy=\"-5\" font-size=\"9\">-4</tspan>"));
}

TEST(plot, what_has_no_place_interrupts_a_curve) {
    const double none = std::nan("");
    const std::string svg = drawn(one_curve({0, 1, 2, 3, 4, 5}, {0, 1, none, 1, 0, INFINITY}));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
    auto panel = one_curve({1, 2, 3, 4}, {1, 0, -1, 2});
    panel.y.logarithmic = true;
    EXPECT_TRUE(curve_points(drawn(panel)).empty()) << "two single points make no line";
    EXPECT_THAT(drawn(one_curve({}, {})), Not(HasSubstr("nan")));
    EXPECT_THAT(drawn(one_curve({3}, {5})), Not(HasSubstr("nan")));
}

TEST(plot, given_ends_cut_the_curve_at_the_frame) {
    auto panel = one_curve({0, 10}, {0, 10});
    panel.x.low = 2;
    panel.x.high = 4;
    panel.y.low = 0;
    panel.y.high = 10;
    const auto points = curve_points(drawn(panel));
    ASSERT_EQ(points.size(), 2u);
    EXPECT_NEAR(points[1][0] - points[0][0], 400, 0.11);
    EXPECT_NEAR(points[0][1] - points[1][1], 60, 0.11);
}

TEST(plot, equal_aspect) {
    auto panel = one_curve({0, 1, 1}, {0, 0, 0.1});
    panel.equal_aspect = true;
    const auto points = curve_points(drawn(panel));
    ASSERT_EQ(points.size(), 3u);
    EXPECT_NEAR(points[1][0] - points[0][0], 10 * (points[1][1] - points[2][1]), 1.1);
}

TEST(plot, reference_lines_reach_the_frame_and_widen_nothing) {
    auto panel = one_curve({0, 1}, {0, 1});
    const auto before = curve_points(drawn(panel));
    panel.references = {level_line(0.5, "half"), {{0, 1}, {100, 200}, "far away"}};
    const std::string svg = drawn(panel);
    EXPECT_EQ(curve_points(svg), before);
    EXPECT_THAT(svg, HasSubstr(">half</text>"));
    EXPECT_THAT(svg, Not(HasSubstr("far away")));
}

TEST(plot, small_and_large_numbers_share_a_power_of_ten) {
    const std::string svg = drawn(one_curve({0, 1}, {0, 4e-6}));
    EXPECT_THAT(svg, HasSubstr("\xC3\x97"
                               "10<tspan dy=\"-5\" font-size=\"9\">-6</tspan>"));
    EXPECT_THAT(svg, Not(HasSubstr("0.00000")));
}

TEST(plot, a_file_that_cannot_be_written) { EXPECT_THROW(write_svg("/nowhere/at/all.svg", {}), user_error); }

}  // namespace
}  // namespace mdpcosim
