#include "transport/schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

// Counts what this thread asks of the heap. Sanitizers put their own function here; nothing is counted under them.
static thread_local std::int64_t allocations = 0;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {
void* __libc_malloc(std::size_t size) noexcept;
void* malloc(std::size_t size) noexcept {
    ++allocations;
    return __libc_malloc(size);
}
}
#endif

namespace mdpcosim {
namespace {

using testing::ElementsAre;

std::vector<int> work(const schedule& s, int worker) {
    const auto span = s.work(worker);
    return {span.begin(), span.end()};
}

/// Every subsystem belongs to exactly one worker, and the two ways to ask agree.
void expect_partition(const schedule& s, std::size_t subsystems, int workers) {
    std::vector<int> seen(subsystems, 0);
    for (int w = 0; w < workers; ++w) {
        const auto list = work(s, w);
        EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
        for (const int i : list) {
            ++seen[static_cast<std::size_t>(i)];
            EXPECT_EQ(s.worker_of(static_cast<std::size_t>(i)), w);
        }
    }
    EXPECT_THAT(seen, testing::Each(1));
}

TEST(schedule, begins_with_equal_shares_of_neighbours) {
    const schedule s(7, 3);
    EXPECT_THAT(work(s, 0), ElementsAre(0, 1, 2));
    EXPECT_THAT(work(s, 1), ElementsAre(3, 4));
    EXPECT_THAT(work(s, 2), ElementsAre(5, 6));
    expect_partition(s, 7, 3);
}

TEST(schedule, neighbours_stay_together_while_that_is_as_good) {
    schedule s(8, 2);
    s.decide(std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1});
    EXPECT_THAT(work(s, 0), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(work(s, 1), ElementsAre(4, 5, 6, 7));
    // One heavy subsystem at the front: the cut moves behind it.
    const std::vector<double> heavy_first{6, 1, 1, 1, 1, 1, 1, 1};
    s.decide(heavy_first);
    EXPECT_THAT(work(s, 0), ElementsAre(0));
    EXPECT_THAT(work(s, 1), ElementsAre(1, 2, 3, 4, 5, 6, 7));
    EXPECT_EQ(s.busiest(heavy_first), 7);
}

/// Costs 5 4 3 3 3 on two workers: neighbours reach 9 and 9, longest first too (5+3, 4+3+3 = 8, 10): the neighbours win.
/// Costs 9 9 1 1 1 1 ... with the heavy ones side by side: only longest first separates them.
TEST(schedule, longest_first_where_it_balances_better) {
    schedule s(5, 2);
    const std::vector<double> even{5, 4, 3, 3, 3};
    s.decide(even);
    EXPECT_EQ(s.busiest(even), 9);
    EXPECT_THAT(work(s, 0), ElementsAre(0, 1));

    schedule t(6, 2);
    const std::vector<double> split{1, 9, 1, 1, 9, 1};
    t.decide(split);
    EXPECT_EQ(t.busiest(split), 11);

    schedule u(4, 2);
    const std::vector<double> crossed{3, 8, 3, 2};  // neighbours: 11 | 5; longest first: 8 | 3 + 3 + 2
    u.decide(crossed);
    EXPECT_EQ(u.busiest(crossed), 8);
    EXPECT_THAT(work(u, 0), ElementsAre(1));
    EXPECT_THAT(work(u, 1), ElementsAre(0, 2, 3));
}

TEST(schedule, busiest_is_the_largest_sum) {
    const schedule s(4, 2);  // 0 1 | 2 3
    EXPECT_EQ(s.busiest(std::vector<double>{1, 2, 3, 4}), 7);
    EXPECT_EQ(s.busiest(std::vector<double>{5, 2, 3, 3}), 7);
    EXPECT_EQ(s.busiest(std::vector<double>{0, 0, 0, 0}), 0);
}

TEST(schedule, keeps_what_is_within_5_percent) {
    schedule s(4, 2);  // 0 1 | 2 3
    // Busiest now 2.08, best 2.00 (0 3 | 1 2): less than 5 % to gain.
    const std::vector<double> nearly{1.04, 1.04, 0.96, 0.96};
    s.decide(nearly);
    EXPECT_THAT(work(s, 0), ElementsAre(0, 1));
    // Busiest now 2.2, best 2.0: decided anew, and the better one stays when the costs wander a little.
    const std::vector<double> apart{1.1, 1.1, 0.9, 0.9};
    s.decide(apart);
    EXPECT_DOUBLE_EQ(s.busiest(apart), 2.0);
    const auto chosen = work(s, 0);
    s.decide(std::vector<double>{1.0, 1.02, 0.98, 1.01});
    EXPECT_EQ(work(s, 0), chosen);
}

TEST(schedule, more_workers_than_work) {
    schedule s(2, 4);
    expect_partition(s, 2, 4);
    s.decide(std::vector<double>{3, 1});
    expect_partition(s, 2, 4);
    EXPECT_EQ(s.busiest(std::vector<double>{3, 1}), 3);

    schedule zero(3, 2);
    zero.decide(std::vector<double>{0, 0, 0});
    expect_partition(zero, 3, 2);

    schedule one(1, 1);
    one.decide(std::vector<double>{1});
    EXPECT_THAT(work(one, 0), ElementsAre(0));
}

/// Within Graham's bound for list scheduling (equal share + largest), but for the 5 % each that keeping the schedule and
/// keeping neighbours together may cost; a decision allocates nothing.
TEST(schedule, random_costs) {
    std::mt19937 random(1);
    std::lognormal_distribution<double> cost(0, 1.5);
    for (int trial = 0; trial < 300; ++trial) {
        const std::size_t n = 1 + random() % 60;
        const int workers = 1 + static_cast<int>(random() % 9);
        schedule s(n, workers);
        std::vector<double> costs(n);
        for (int again = 0; again < 3; ++again) {
            for (double& c : costs) c = cost(random);
            const std::int64_t before = allocations;
            s.decide(costs);
            EXPECT_EQ(allocations, before);
            expect_partition(s, n, workers);
            const double total = std::accumulate(costs.begin(), costs.end(), 0.0);
            const double largest = *std::max_element(costs.begin(), costs.end());
            EXPECT_GE(s.busiest(costs), std::max(total / workers, largest) * (1 - 1e-12));
            EXPECT_LE(s.busiest(costs), (total / workers + largest) / 0.95 / 0.95);
        }
    }
}

}  // namespace
}  // namespace mdpcosim
