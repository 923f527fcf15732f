#include "results/compare.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>

#include "core/error.hpp"
#include "core/json.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class compare : public testing::Test {
   protected:
    fs::path file(const std::string& name, const std::string& text) const {
        fs::create_directories((folder / name).parent_path());
        std::ofstream(folder / name, std::ios::binary) << text;
        return folder / name;
    }

    std::string refusal(const fs::path& a, const fs::path& b, const std::vector<std::string>& only = {}) const {
        try {
            compare_results(a, b, only);
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "accepted";
    }

    test::temporary_folder folder;
};

result_table sampled(const std::vector<double>& times, const std::vector<std::function<double(double)>>& signals) {
    result_table t;
    t.path = "memory";
    for (std::size_t k = 0; k < signals.size(); ++k) t.names.push_back(fmt::format("s{}", k));
    t.time = times;
    for (const double time : times)
        for (const auto& s : signals) t.values.push_back(s(time));
    return t;
}

std::vector<double> steps(double end, double h) {
    std::vector<double> t;
    for (int n = 0; n * h < end + h / 2; ++n) t.push_back(n * h);
    return t;
}

TEST_F(compare, errors_on_equal_times) {
    const fs::path a = file("a/results.csv", "time,x,y,z\n0,1,5,0\n0.5,2,5,1\n1,3,5.5,2\n");
    const fs::path b = file("b.csv", "time,y,x,w\n0,5,1,0\n0.5,5,4,0\n1,5,3,0\n");
    const comparison c = compare_results(a.parent_path(), b);
    EXPECT_EQ(c.times, comparison::grid::equal);
    EXPECT_EQ(c.compared, 3u);
    EXPECT_EQ(c.interpolated, 0u);
    EXPECT_EQ(c.end, 1);
    EXPECT_THAT(c.only_a, ElementsAre("z"));
    EXPECT_THAT(c.only_b, ElementsAre("w"));
    ASSERT_EQ(c.errors.size(), 2u);
    EXPECT_EQ(c.errors[0].name, "x");
    EXPECT_EQ(c.errors[0].max_error, 2);
    EXPECT_EQ(c.errors[0].time, 0.5);
    EXPECT_EQ(c.errors[0].rms, std::sqrt(4.0 / 3));
    EXPECT_EQ(c.errors[0].range, 3);
    EXPECT_EQ(c.errors[0].relative, 2.0 / 3);
    EXPECT_EQ(c.errors[1].name, "y");  // a constant: its size stands for its range
    EXPECT_EQ(c.errors[1].range, 0);
    EXPECT_EQ(c.errors[1].relative, 0.1);
}

TEST_F(compare, rounding_errors_of_zero_stay_behind_real_errors) {
    const fs::path a = file("a.csv", "time,zero,x,wrong\n0,0,1,0\n0.5,3e-22,2,0\n1,-1e-17,3.001,7\n");
    const fs::path b = file("b.csv", "time,zero,x,wrong\n0,0,1,0\n0.5,0,2,0\n1,0,3,0\n");
    const comparison c = compare_results(a, b);
    ASSERT_EQ(c.errors.size(), 3u);
    EXPECT_EQ(c.errors[0].name, "wrong");  // something where nothing should be
    EXPECT_EQ(c.errors[1].name, "x");
    EXPECT_EQ(c.errors[2].name, "zero");
    EXPECT_LT(c.errors[2].relative, 1e-5);
}

TEST_F(compare, common_times_need_no_interpolation) {
    const auto f = [](double t) { return std::sin(9 * t); };
    const auto g = [&](double t) { return f(t) + 1e-9; };
    for (const bool finer_first : {true, false}) {
        const auto a = sampled(steps(3, finer_first ? 0.001 : 0.1), {f});
        const auto b = sampled(steps(finer_first ? 3 : 2, finer_first ? 0.1 : 0.001), {g});
        const comparison c = compare_tables(a, b);
        EXPECT_EQ(c.times, comparison::grid::common);
        EXPECT_EQ(c.compared, finer_first ? 31u : 21u);
        EXPECT_EQ(c.interpolated, 0u);
        EXPECT_NEAR(c.errors[0].max_error, 1e-9, 1e-14);
    }
}

/// The cubic through four rows h apart: at most (9/384) h^4 max|y''''| in the middle, h^4/24 max|y''''| in the outer intervals.
TEST_F(compare, interpolation_keeps_its_bound) {
    for (const double h : {0.02, 0.01}) {
        const double w = 3;
        const auto y = [=](double t) { return std::sin(w * t); };
        const auto cubic = [](double t) { return 1 + t * (2 - t * (3 - t)); };
        const comparison c = compare_tables(sampled(steps(4, 0.0173), {y, cubic}), sampled(steps(5, h), {y, cubic}));
        EXPECT_EQ(c.times, comparison::grid::interpolated);
        EXPECT_GT(c.interpolated, 200u);
        ASSERT_EQ(c.errors.front().name, "s0");
        const double bound = std::pow(w * h, 4);
        EXPECT_LT(c.errors.front().max_error, bound / 24);
        EXPECT_GT(c.errors.front().max_error, 0.5 * 9 / 384 * bound);
        EXPECT_LT(c.errors.back().max_error, 2e-14);  // cubics are exact
        std::printf("h = %g: interpolation error %.3g, bound %.3g\n", h, c.errors.front().max_error, 9.0 / 384 * bound);
    }
}

/// A step: no overshoot beside it, a straight line across it.
TEST_F(compare, jumps_are_crossed_by_straight_lines) {
    const auto step = [](double t) { return t < 1.05 ? 0.0 : 1.0; };
    const comparison c =
        compare_tables(sampled({0.5, 0.97, 1.0025, 1.075, 1.13, 1.5}, {step}), sampled(steps(2, 0.1), {step}));
    EXPECT_EQ(c.times, comparison::grid::interpolated);
    EXPECT_NEAR(c.errors[0].max_error, 0.25, 1e-12);  // at 1.075 the line is 0.75
    EXPECT_EQ(c.errors[0].time, 1.075);
    EXPECT_NEAR(c.errors[0].rms, std::hypot(0.25, 0.025) / std::sqrt(6), 1e-12);  // all others but 1.0025 are exact
}

TEST_F(compare, rows_of_equal_time_are_a_jump) {
    result_table b = sampled({0, 1, 2, 3, 3, 4, 5, 6}, {[](double t) { return t; }});
    for (std::size_t row = 4; row < 8; ++row) b.values[row] += 100;
    const comparison c =
        compare_tables(sampled({0, 2.5, 2.9, 3.5, 5.5, 6}, {[](double t) { return t < 3 ? t : t + 100; }}), b);
    EXPECT_EQ(c.interpolated, 4u);
    EXPECT_LT(c.errors[0].max_error, 1e-12);
}

TEST_F(compare, rounded_times_are_the_same_times) {
    std::vector<double> sum;
    for (int n = 0; n < 1000; ++n) sum.push_back(1000 + n * 0.1);
    std::vector<double> other;
    for (int n = 0; n < 1000; ++n) other.push_back(1000.0 + n / 10.0);
    const auto f = [](double t) { return t; };
    EXPECT_EQ(compare_tables(sampled(sum, {f}), sampled(other, {f})).times, comparison::grid::equal);
}

TEST_F(compare, what_is_not_a_number_is_the_worst_error) {
    const fs::path a = file("a.csv", "time,x,y\n0,nan,nan\n1,2,nan\n");
    const fs::path b = file("b.csv", "time,x,y\n0,1,nan\n1,2,nan\n");
    const comparison c = compare_results(a, b);
    EXPECT_EQ(c.errors[0].name, "x");
    EXPECT_TRUE(std::isinf(c.errors[0].max_error));
    EXPECT_EQ(c.errors[1].max_error, 0);
    EXPECT_TRUE(json::parse(to_json(c))["variables"][0]["max_error"].is_null());
    EXPECT_THAT(to_table(c), HasSubstr("not a number"));
}

TEST_F(compare, only_what_is_asked_for) {
    const fs::path a = file("a.csv", "time,m.x,m.v,n.x\n0,1,2,3\n");
    const comparison c = compare_results(a, a, {"m.*", "n.x"});
    EXPECT_EQ(c.errors.size(), 3u);
    EXPECT_EQ(compare_results(a, a, {"*.v"}).errors.front().name, "m.v");
    EXPECT_THAT(refusal(a, a, {"m.y"}), HasSubstr("--only m.y: no variable of"));
    EXPECT_THAT(refusal(a, a, {"m.y"}), HasSubstr("Did you mean 'm."));
}

TEST_F(compare, json_holds_everything) {
    const fs::path a = file("a.csv", "time,\"x,1\",q\n0,1,0\n1,2,0\n2,4,0\n");
    const fs::path b = file("b.csv", "time,\"x,1\"\n0,1\n2,2\n");
    const auto j = json::parse(to_json(compare_results(a, b)));
    EXPECT_EQ(j["times"], "common");
    EXPECT_EQ(j["rows_a"], 3);
    EXPECT_EQ(j["compared_times"], 2);
    EXPECT_EQ(j["interpolated_times"], 0);
    EXPECT_EQ(j["only_a"][0], "q");
    EXPECT_EQ(j["variables"][0]["name"], "x,1");
    EXPECT_EQ(j["variables"][0]["max_error"], 2.0);
    EXPECT_EQ(j["variables"][0]["time"], 2.0);
    EXPECT_EQ(j["variables"][0]["relative"], 2.0);
}

TEST_F(compare, tables_say_how_times_were_matched) {
    const auto f = [](double t) { return t; };
    EXPECT_THAT(to_table(compare_tables(sampled({0, 1}, {f}), sampled({0, 1}, {f}))), HasSubstr("the same times"));
    EXPECT_THAT(to_table(compare_tables(sampled({0, 1}, {f}), sampled({0, 0.5, 1}, {f}))),
                HasSubstr("both have (A: 2 rows, B: 3 rows)"));
    EXPECT_THAT(to_table(compare_tables(sampled({0, 0.3, 1}, {f}), sampled({0, 0.5, 1}, {f}))),
                HasSubstr("at 1 of them B is interpolated"));
}

TEST_F(compare, a_line_without_end_is_left_out) {
    const fs::path a = file("a.csv", "time,x\n0,1\n1,2\n2,3.1");
    const fs::path b = file("b.csv", "time,x\n0,1\n1,2\n2,3.14\n");
    const comparison c = compare_results(a, b);
    EXPECT_EQ(c.compared, 2u);
    EXPECT_EQ(c.errors[0].max_error, 0);
    ASSERT_EQ(c.notes.size(), 1u);
    EXPECT_THAT(c.notes[0], HasSubstr("a.csv: the last line has no end"));
}

TEST_F(compare, bad_input_has_its_place) {
    const fs::path good = file("good.csv", "time,x\n0,1\n1,2\n");
    const auto message = [&](const std::string& text) { return refusal(good, file("bad.csv", text)); };
    EXPECT_THAT(refusal(folder / "nowhere", good), HasSubstr("nowhere: there is no such folder or file"));
    fs::create_directory(folder / "empty");
    EXPECT_THAT(refusal(folder / "empty", good), HasSubstr("empty: the folder has no results.csv"));
    EXPECT_THAT(message(""), HasSubstr("bad.csv:1:1: the file has no header"));
    EXPECT_THAT(message("t,x\n"), HasSubstr("bad.csv:1:1: the header has no column 'time'. It has: t, x."));
    EXPECT_THAT(message("time,x,x\n"), HasSubstr("bad.csv:1:1: column 'x' is there twice"));
    EXPECT_THAT(message("time,\"x\n"), HasSubstr("bad.csv:1:6: a quote in the header has no end"));
    EXPECT_THAT(message("time,x\n0,1\n1,two\n"), HasSubstr("bad.csv:3:3: 'two' in column 'x' is not a number"));
    EXPECT_THAT(message("time,x\n0,1\n1\n"),
                HasSubstr("bad.csv:3:2: the line has 1 values, but the header has 2 columns"));
    EXPECT_THAT(message("time,x\n0,1,2\n"), HasSubstr("bad.csv:2:4: the line has more values"));
    EXPECT_THAT(message("time,x\n0,\n"), HasSubstr("bad.csv:2:3: '' in column 'x' is not a number"));
    EXPECT_THAT(message("time,x\n1,1\n0,1\n"), HasSubstr("bad.csv:3:1: time 0 follows 1"));
    EXPECT_THAT(message("time,x\nnan,1\n"), HasSubstr("bad.csv:2:1: the time nan is not a finite number"));
    EXPECT_THAT(message("time,y\n0,1\n"),
                HasSubstr("have no variable in common. The first has: x. The second has: y."));
    EXPECT_THAT(message("time,x\n5,1\n6,1\n"),
                HasSubstr("no time in common: 2 rows from 0 s to 1 s, and 2 rows from 5 s to 6 s"));
    EXPECT_THAT(message("time,x\n"), HasSubstr("no time in common: 2 rows from 0 s to 1 s, and no rows"));
}

}  // namespace
}  // namespace mdpcosim
