#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/test/plain_bodies.hpp"

/// The method one-pass on subsystems that tell no more than most FMUs do.
namespace mdpcosim {
namespace {

using test::plain_body;
using test::row_of_bodies;

TEST(one_pass_method, is_stable_with_subsystems_that_offer_nothing) {
    for (const double F : {1.0, 1e2, 1e4, 1e6})
        for (const double noise : {0.0, 1e-9, 1e-7})
            for (const double H : {0.05, 0.3, 0.7}) {
                row_of_bodies two({{.m = 1, .omega = 1, .noise = noise}, {.m = 3, .omega = 0.7, .noise = noise}}, F);
                two.run(H, 3000);
                EXPECT_LT(two.largest, 1.5) << F << ' ' << noise << ' ' << H;
                EXPECT_LT(std::abs(two.x(0)), 1) << F << ' ' << noise << ' ' << H;
                // Three short steps, twice or a few times more, at most at 3000 / 1024 + 7 times.
                EXPECT_LT(two.bodies[0]->steps(), 3000 + 300) << F << ' ' << noise << ' ' << H;
            }
}

TEST(one_pass_method, finds_what_the_user_would_give) {
    for (const bool saves : {false, true})
        for (const double F : {1e2, 1e5}) {
            const std::vector<plain_body::properties> which{{.m = 1, .saves = saves},
                                                            {.m = 0.2, .omega = 2, .saves = saves}};
            row_of_bodies found(which, F), given(which, F);
            given.give_inertias({1, 0.2});
            found.run(0.1, 300);
            given.run(0.1, 300);
            EXPECT_NEAR(found.x(0), given.x(0), 2e-3) << F;
            EXPECT_EQ(given.bodies[0]->steps(), 300);
            EXPECT_EQ(found.bodies[0]->steps() > 300, !saves);
        }
}

using derivatives = plain_body::properties::derivatives;

TEST(one_pass_method, takes_derivatives_for_what_the_user_would_give) {
    for (const bool saves : {false, true}) {
        const std::vector<plain_body::properties> which{
            {.m = 0.3, .saves = saves, .known = derivatives::exact},
            {.m = 0.7, .omega = 2, .saves = saves, .known = derivatives::exact, .fixed_step = true}};
        row_of_bodies found(which, 1e4), given(which, 1e4);
        given.give_inertias({0.3, 0.7});
        EXPECT_THAT(found.chosen->about_subsystems(found.system),
                    testing::Each(testing::StrEq("sensitivity from its directional derivatives")));
        found.run(0.1, 300);
        given.run(0.1, 300);
        EXPECT_EQ(found.x(0), given.x(0));
        EXPECT_EQ(found.x(1), given.x(1));
        EXPECT_EQ(found.bodies[0]->steps(), 300) << "no short steps";
    }
}

TEST(one_pass_method, follows_derivatives_that_change) {
    row_of_bodies two({{.m = 1, .growth = 0.02, .known = derivatives::exact},
                       {.m = 0.5, .growth = 0.02, .known = derivatives::exact}},
                      1e4);
    two.run(0.3, 1000);
    EXPECT_LT(two.largest, 1.5);
    EXPECT_EQ(two.bodies[0]->steps(), 1000);
}

TEST(one_pass_method, derivatives_that_are_not_there_after_all_are_measured) {
    for (const auto known : {derivatives::not_a_number, derivatives::zero})
        for (const bool saves : {false, true}) {
            const std::vector<plain_body::properties> promised{{.m = 1, .saves = saves, .known = known},
                                                               {.m = 0.2, .omega = 2, .saves = saves}},
                plain{{.m = 1, .saves = saves}, {.m = 0.2, .omega = 2, .saves = saves}};
            row_of_bodies one(promised, 1e4), other(plain, 1e4);
            one.run(0.1, 100);
            other.run(0.1, 100);
            EXPECT_EQ(one.x(0), other.x(0));
            EXPECT_EQ(one.bodies[0]->steps(), other.bodies[0]->steps());
        }
}

TEST(one_pass_method, short_steps_that_a_subsystem_cannot_take_are_refused_before_the_run) {
    const auto message = [](row_of_bodies& row, bool at_run) -> std::string {
        try {
            if (at_run)
                row.run(0.1, 1);
            else
                row.chosen->check(row.system);
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "no mistake";
    };
    for (const bool saves : {false, true}) {
        row_of_bodies two({{.m = 1, .saves = saves}, {.m = 1, .saves = saves, .fixed_step = true}}, 1e4);
        EXPECT_THAT(message(two, false),
                    testing::AllOf(testing::HasSubstr("how 'body0.p0' answers"),
                                   testing::HasSubstr("subsystem 'body1' takes none: all its steps are equal"),
                                   testing::HasSubstr("'inertia: {p0: 1 kg}' of subsystem 'body0'"),
                                   testing::HasSubstr("'method: explicit'")));
        two.give_inertias({1, 1});
        EXPECT_EQ(message(two, true), "no mistake");
        // A promise that is not kept shows at the start only.
        row_of_bodies promised({{.m = 1, .saves = saves, .known = derivatives::not_a_number, .fixed_step = true},
                                {.m = 1, .saves = saves, .known = derivatives::exact}},
                               1e4);
        EXPECT_EQ(message(promised, false), "no mistake");
        EXPECT_THAT(message(promised, true), testing::HasSubstr("subsystem 'body0' takes none"));
    }
}

TEST(one_pass_method, a_body_with_two_ports_answers_at_both) {
    for (const bool saves : {false, true})
        for (const double F : {1e2, 1e4}) {
            row_of_bodies row({{.m = 1, .saves = saves},
                               {.m = 0.3, .omega = 1.5, .ports = 2, .saves = saves},
                               {.m = 2, .omega = 0.5, .ports = 2, .saves = saves},
                               {.m = 0.7, .saves = saves}},
                              F);
            row.run(0.4, 2000);
            EXPECT_LT(row.largest, 1.5) << F << ' ' << saves;
        }
}

TEST(one_pass_method, follows_a_sensitivity_that_changes) {
    for (const bool saves : {false, true}) {
        row_of_bodies two({{.m = 1, .saves = saves, .growth = 0.02}, {.m = 0.5, .saves = saves, .growth = 0.02}}, 1e4);
        two.run(0.3, 1000);  // the masses grow to seven times what they were
        EXPECT_LT(two.largest, 1.5) << saves;
    }
}

TEST(one_pass_method, a_wrong_inertia_is_told_by_growth) {
    row_of_bodies two({{.m = 1}, {.m = 1, .omega = 0.5}}, 1e4);
    two.give_inertias({2, 2});
    two.run(0.3, 60);
    EXPECT_GT(two.largest, 1e3);
    EXPECT_THAT(two.chosen->traits().remedy, testing::HasSubstr("20 %"));
}

/// A ground is a body whose rate no load changes.
TEST(one_pass_method, a_port_that_does_not_answer_is_a_ground) {
    for (const bool saves : {false, true})
        for (const double F : {1e2, 1e5}) {
            const std::vector<plain_body::properties> which{{.m = 1, .saves = saves},
                                                            {.m = 1, .omega = 0.5, .saves = saves, .answers = false}};
            row_of_bodies found(which, F), given(which, F);
            given.give_inertias({1, std::numeric_limits<double>::infinity()});
            found.run(0.1, 300);
            given.run(0.1, 300);
            EXPECT_LT(found.largest, 1.5);
            EXPECT_NEAR(found.x(0), given.x(0), 2e-3) << F;
            // What does not answer is asked once.
            EXPECT_LT(found.bodies[0]->steps(), saves ? 301 : 400);
        }
}

TEST(one_pass_method, a_port_that_does_not_answer_in_proportion_is_named) {
    row_of_bodies two({{.m = 1}, {.m = 1, .in_proportion = false}}, 1e4);
    try {
        two.run(0.1, 3);
        FAIL();
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), testing::HasSubstr("port 'body1.p0'"));
        EXPECT_THAT(problem.what(), testing::HasSubstr("'inertia' of subsystem 'body1'"));
    }
}

TEST(one_pass_method, some_inertias_of_a_subsystem_are_not_enough) {
    row_of_bodies row({{.m = 1}, {.m = 1, .ports = 2}, {.m = 1}}, 1e4);
    row.give_inertias({1, 1});
    EXPECT_THROW(row.chosen->check(row.system), user_error);
}

}  // namespace
}  // namespace mdpcosim
