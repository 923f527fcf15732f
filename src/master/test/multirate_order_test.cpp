#include "master/multirate_order.hpp"

#include <gtest/gtest.h>

namespace mdpcosim {
namespace {

constexpr auto by_slowest = multirate_scheme::slowest_first, by_fastest = multirate_scheme::fastest_first,
               as_listed = multirate_scheme::sequential;
using sequences = std::vector<multirate_sequence>;

multirate_plan with_steps(std::vector<double> h, std::vector<std::size_t> order = {}) {
    multirate_plan plan{.start = 0, .end = 1, .macro_step = 1, .steps = std::move(h)};
    for (const std::size_t i : order) plan.order.emplace_back(i);
    return plan;
}

const std::vector<coupling_edge> ring_of_three{{0, 1}, {1, 2}, {2, 0}};

TEST(multirate_order, in_a_loop_the_step_decides) {
    EXPECT_EQ(find_sequences(with_steps({1, 10, 5}), by_slowest, ring_of_three), (sequences{{{1}, {2}, {0}}}));
    EXPECT_EQ(find_sequences(with_steps({1, 10, 5}), by_fastest, ring_of_three), (sequences{{{0}, {2}, {1}}}));
    EXPECT_EQ(find_sequences(with_steps({1, 10, 5}), as_listed, ring_of_three), (sequences{{{0}, {1}, {2}}}));
    EXPECT_EQ(find_sequences(with_steps({1, 10, 5}, {2, 0, 1}), as_listed, ring_of_three),
              (sequences{{{2}, {0}, {1}}}));
}

TEST(multirate_order, steps_that_integrators_choose_count_as_the_shortest_and_stand_alone) {
    EXPECT_EQ(find_sequences(with_steps({0, 10, 0}), by_slowest, ring_of_three), (sequences{{{1}, {0}, {2}}}));
    EXPECT_EQ(find_sequences(with_steps({0, 10, 0}), by_fastest, ring_of_three), (sequences{{{0}, {2}, {1}}}));
}

TEST(multirate_order, equal_steps_are_done_at_once_by_step_and_one_after_the_other_in_sequence) {
    EXPECT_EQ(find_sequences(with_steps({2, 2, 2}), by_slowest, ring_of_three), (sequences{{{0, 1, 2}}}));
    EXPECT_EQ(find_sequences(with_steps({2, 2, 2}), as_listed, ring_of_three), (sequences{{{0}, {1}, {2}}}));
    // 1 and 2 hear each other only through 0.
    const std::vector<coupling_edge> star{{0, 1}, {1, 0}, {0, 2}, {2, 0}};
    EXPECT_EQ(find_sequences(with_steps({2, 2, 2}), as_listed, star), (sequences{{{0}, {1, 2}}}));
}

TEST(multirate_order, causes_come_before_effects_whatever_their_steps) {
    const std::vector<coupling_edge> chain{{2, 1}, {1, 0}};
    for (const auto scheme : {by_slowest, by_fastest, as_listed}) {
        EXPECT_EQ(find_sequences(with_steps({10, 5, 1}), scheme, chain), (sequences{{{2}, {1}, {0}}}));
        EXPECT_EQ(find_sequences(with_steps({1, 1, 1}), scheme, chain), (sequences{{{2}, {1}, {0}}}));
    }
    EXPECT_EQ(find_sequences(with_steps({1, 1, 1}, {0, 1, 2}), as_listed, chain), (sequences{{{0}, {1}, {2}}}));
    // A loop of 1 and 2 behind the source 3, with 0 at its end.
    const std::vector<coupling_edge> loop{{3, 2}, {1, 2}, {2, 1}, {1, 0}};
    EXPECT_EQ(find_sequences(with_steps({1, 1, 1, 1}), by_slowest, loop), (sequences{{{3}, {1, 2}, {0}}}));
}

TEST(multirate_order, parts_that_are_not_coupled_have_sequences_of_their_own) {
    EXPECT_EQ(find_sequences(with_steps({1, 2, 3, 4}), by_slowest, {{0, 2}, {2, 0}, {1, 1}}),
              (sequences{{{2}, {0}}, {{1}}, {{3}}}));
}

TEST(multirate_order, a_long_chain_is_no_deep_recursion) {
    const std::size_t n = 200000;
    std::vector<coupling_edge> chain;
    for (std::size_t i = 1; i < n; ++i) chain.push_back({i, i - 1});
    const auto found = find_sequences(with_steps(std::vector<double>(n, 1)), by_slowest, chain);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].size(), n);
    EXPECT_EQ(found[0].front(), (std::vector<std::size_t>{n - 1}));
}

}  // namespace
}  // namespace mdpcosim
