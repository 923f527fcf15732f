#include "transport/worker_pool.hpp"
#include "transport/affinity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <vector>

namespace mdpcosim {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int slower = 20;
#else
constexpr int slower = 1;
#endif

/// Counts the calls of every worker. The counters are plain numbers: run() must order them against its caller.
class counting_job final : public worker_pool::job {
   public:
    explicit counting_job(int workers) : calls_(static_cast<std::size_t>(workers)) {}

    void work(int worker) noexcept override {
        ++calls_[static_cast<std::size_t>(worker)].count;
        calls_[static_cast<std::size_t>(worker)].thread = std::this_thread::get_id();
    }

    void expect(std::int64_t rounds) const {
        for (std::size_t w = 0; w < calls_.size(); ++w) ASSERT_EQ(calls_[w].count, rounds) << "worker " << w;
    }

    std::thread::id thread(std::size_t worker) const { return calls_[worker].thread; }

   private:
    struct alignas(64) entry {
        std::int64_t count = 0;
        std::thread::id thread;
    };
    std::vector<entry> calls_;
};

TEST(worker_pool, calls_every_worker_once_in_each_round) {
    counting_job job(2);
    worker_pool pool(2, job);
    // On a machine with other things to do every round may cost a time slice: then fewer rounds have to do.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    for (int round = 1; round <= 100000 / slower && std::chrono::steady_clock::now() < until; ++round) {
        pool.run();
        job.expect(round);
    }
}

TEST(worker_pool, more_workers_than_cores) {
    const int workers = 4 * available_cores() + 1;
    counting_job job(workers);
    worker_pool pool(workers, job);
    EXPECT_EQ(pool.workers(), workers);
    for (int round = 1; round <= 2000 / slower; ++round) {
        pool.run();
        job.expect(round);
    }
}

TEST(worker_pool, worker_0_is_the_caller_and_the_others_are_threads_of_their_own) {
    counting_job job(3);
    worker_pool pool(3, job);
    pool.run();
    EXPECT_EQ(job.thread(0), std::this_thread::get_id());
    EXPECT_NE(job.thread(1), std::this_thread::get_id());
    EXPECT_NE(job.thread(2), std::this_thread::get_id());
    EXPECT_NE(job.thread(1), job.thread(2));
    const auto first = job.thread(1);
    for (int i = 0; i < 100; ++i) pool.run();
    EXPECT_EQ(job.thread(1), first);
}

TEST(worker_pool, one_worker_needs_no_threads) {
    counting_job job(1);
    worker_pool pool(1, job);
    for (int i = 0; i < 10; ++i) pool.run();
    job.expect(10);
}

/// Workers that found nothing to do for a while sleep; the next round wakes all of them.
TEST(worker_pool, sleepers_are_woken) {
    for (const int workers : {2, 3, 8}) {
        counting_job job(workers);
        worker_pool pool(workers, job);
        for (int round = 1; round <= 8; ++round) {
            std::this_thread::sleep_for(std::chrono::milliseconds(15));
            pool.run();
            job.expect(round);
        }
    }
}

/// Pauses about as long as it takes a worker to fall asleep: posting and falling asleep meet in every order.
TEST(worker_pool, no_round_is_slept_through) {
    counting_job job(3);
    worker_pool pool(3, job);
    for (int round = 1; round <= 300 / std::min(slower, 3); ++round) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(20 * (round % 100));
        while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
        pool.run();
        job.expect(round);
    }
}

/// A worker far behind the others: the caller sleeps until it is done.
TEST(worker_pool, the_caller_waits_for_the_slowest) {
    class slow_job final : public worker_pool::job {
       public:
        void work(int worker) noexcept override {
            if (worker == 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
            done[static_cast<std::size_t>(worker)] = true;
        }
        std::array<bool, 3> done{};
    } job;
    worker_pool pool(3, job);
    for (int i = 0; i < 3; ++i) {
        job.done = {};
        pool.run();
        EXPECT_EQ(job.done, (std::array{true, true, true}));
    }
}

TEST(worker_pool, ends_while_its_workers_sleep) {
    counting_job job(4);
    {
        worker_pool pool(4, job);
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    job.expect(0);
    {
        worker_pool pool(4, job);
        pool.run();
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    job.expect(1);
}

TEST(worker_pool, begins_and_ends_many_times) {
    for (int i = 0; i < 200; ++i) {
        const int workers = 1 + i % 5;
        counting_job job(workers);
        worker_pool pool(workers, job);
        for (int round = 0; round < i % 3; ++round) pool.run();
        job.expect(i % 3);
    }
}

}  // namespace
}  // namespace mdpcosim
