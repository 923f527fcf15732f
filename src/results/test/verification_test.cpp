#include "results/verification.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace mdpcosim {
namespace {

using testing::HasSubstr;

/// sin(t) at multiples of H up to 6, with the error e(t) H^order.
result_table with_error(double H, double order, const std::function<double(double)>& e) {
    result_table table;
    table.names = {"x", "y"};
    for (int n = 0; n * H <= 6 + 1e-9; ++n) {
        const double t = n * H;
        table.time.push_back(t);
        table.values.push_back(std::sin(t) + e(t) * std::pow(H, order));
        table.values.push_back(5 * std::cos(t));
    }
    return table;
}

verification verified(double H, double order, const std::function<double(double)>& e) {
    verification v = verify(with_error(H, order, e), with_error(H / 2, order, e), with_error(2 * H, order, e), {"x"});
    v.half = v.twice = "done";
    return v;
}

TEST(verification, finds_error_and_order) {
    for (const double order : {1.0, 2.0, 3.0, 5.0}) {
        const verification v = verified(0.1, order, [](double t) { return 0.3 * t; });
        ASSERT_NE(v.worst(), nullptr);
        EXPECT_EQ(v.worst()->name, "x");
        EXPECT_NEAR(*v.order, order, 0.05);
        EXPECT_NEAR(v.worst()->error, 1.8 * std::pow(0.1, order), 0.02 * v.worst()->error);
        EXPECT_NEAR(v.worst()->time, 6, 1e-9);
        EXPECT_NEAR(v.worst()->relative, v.worst()->error / 2,
                    0.05 * v.worst()->relative);  // the range of the fine run
    }
}

TEST(verification, rounding_errors_have_no_order) {
    const verification v = verified(0.1, 0, [](double t) { return 1e-15 * std::sin(1000 * t); });
    EXPECT_FALSE(v.order);
    EXPECT_LT(v.worst()->relative, 1e-12);
}

TEST(verification, what_hardly_moves_is_measured_against_others_of_its_kind) {
    const auto table = [](double H, const std::string& second) {
        result_table made = with_error(H, 1, [](double) { return 0; });
        made.names = {"a.position", second};
        for (std::size_t row = 0; row < made.rows(); ++row)
            made.values[2 * row + 1] = 1e-9 * (1 + H) * std::sin(20 * made.time[row] / (1 + H));
        return made;
    };
    const auto relative = [&](const std::string& second) {
        return verify(table(0.1, second), table(0.05, second), {}, {second}).worst()->relative;
    };
    EXPECT_GT(relative("b.speed"), 0.5);
    EXPECT_LT(relative("b.position"), 0.003);
}

TEST(verification, without_the_larger_step_the_order_is_taken_as_one) {
    const auto e = [](double t) { return t; };
    const verification v = verify(with_error(0.1, 1, e), with_error(0.05, 1, e), {}, {"x"});
    EXPECT_FALSE(v.worst()->order);
    EXPECT_NEAR(v.worst()->error, 0.6, 1e-9);
}

TEST(verification, replaces_guesses_but_nothing_else) {
    verdict judged;
    judged.add(trust::wrong, "a guess", {}, verdict::reason::basis::guess);
    judge(verified(0.01, 2, [](double t) { return t; }), judged);
    EXPECT_EQ(judged.level, trust::good);

    judged.add(trust::wrong, "outputs are no numbers", {});
    judge(verified(0.01, 2, [](double t) { return t; }), judged);
    EXPECT_EQ(judged.level, trust::wrong);

    verdict with_events;
    with_events.add(trust::wrong, "a guess", {}, verdict::reason::basis::guess_with_events);
    judge(verified(0.01, 2, [](double t) { return t; }), with_events);
    EXPECT_EQ(with_events.level, trust::doubtful);

    verdict doubtful, wrong;
    judge(verified(0.1, 1, [](double t) { return 0.4 * t; }), doubtful);
    EXPECT_EQ(doubtful.level, trust::doubtful);
    EXPECT_THAT(to_text(doubtful), HasSubstr("'x' is off by about 0.239 at t = 6 s, 12 % of its range"));
    judge(verified(0.1, 1, [](double t) { return 2 * t; }), wrong);
    EXPECT_EQ(wrong.level, trust::wrong);
}

TEST(verification, what_does_not_converge_keeps_the_guesses) {
    verdict judged;
    judged.add(trust::doubtful, "a guess", {}, verdict::reason::basis::guess);
    const auto e = [](double t) { return std::sin(3 * t); };
    verification v = verify(with_error(0.1, 0, [](double) { return 0.1; }), with_error(0.05, 0, e),
                            with_error(0.2, 0, [](double) { return 0.11; }), {"x"});
    v.half = v.twice = "done";
    judge(v, judged);
    EXPECT_EQ(judged.reasons.size(), 2U);
    EXPECT_EQ(judged.level, trust::wrong);
    EXPECT_THAT(to_text(judged), HasSubstr("do not come nearer to each other"));
}

TEST(verification, a_second_run_that_fails_is_told) {
    verification v;
    v.half = "connection 'c' diverges";
    v.twice = "done";
    verdict judged;
    judge(v, judged);
    EXPECT_EQ(judged.level, trust::doubtful);
    EXPECT_THAT(to_text(judged), HasSubstr("with half the macro step: connection 'c' diverges"));
    EXPECT_THAT(to_table(v), HasSubstr("no estimate"));
}

}  // namespace
}  // namespace mdpcosim
