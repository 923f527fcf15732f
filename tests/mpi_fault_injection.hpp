#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "mpi_fixture.hpp"

/// Ranks that are killed at random times.
namespace mdpcosim::test {

class mpi_faults : public mpi_fixture {
   protected:
    /// So many, of either rank. The promise is three seconds until the loss is told; `strict`: for every single one, else for most,
    /// since some may meet a busy machine.
    void kill_ranks(int count, unsigned seed, bool strict) {
        std::mt19937 random(seed);
        std::vector<double> told, ended;
        for (int i = 0; i < count; ++i) {
            const int rank = static_cast<int>(random() % 2);
            SCOPED_TRACE(fmt::format("injection {} of seed {}: rank {}", i, seed, rank));
            kill(rank, std::chrono::microseconds(random() % 100000), told, ended);
            if (HasFailure()) return;
        }
        for (auto* each : {&told, &ended}) std::sort(each->begin(), each->end());
        const std::size_t middle = told.size() / 2;
        fmt::print(
            "from the kill until it is told: median {:.2f} s, longest {:.2f} s; to the end: {:.2f} s, {:.2f} s\n",
            told[middle], told.back(), ended[middle], ended.back());
        EXPECT_LT(strict ? told.back() : told[middle], 3);
    }

   private:
    void kill(int rank, std::chrono::microseconds after, std::vector<double>& told, std::vector<double>& ended) {
        process child(own(2, endless()), {});
        wait_for_begin();
        std::this_thread::sleep_for(after);
        const pid_t victim = process_of_rank(rank);
        ASSERT_GT(victim, 0);
        const auto begin = clock::now();
        const auto seconds = [&] { return std::chrono::duration<double>(clock::now() - begin).count(); };
        ::kill(victim, SIGKILL);
        child.wait_for_error_text("was lost");
        told.push_back(seconds());
        const auto seen = child.wait();
        ended.push_back(seconds());
        EXPECT_EQ(seen.exit_status, 1) << seen.err;
        EXPECT_THAT(seen.err, testing::ContainsRegex(
                                  fmt::format("mdpcosim: rank {} on [^ ]+ was lost, with subsystems '{}', '{}'", rank,
                                              rank == 0 ? "a" : "c", rank == 0 ? "b" : "d")));
        expect_whole_rows(rank == 0);
        if (rank == 1) {
            EXPECT_EQ(summary()["status"], "failed");
        }
        for (int n = 0; n < 500 && !processes().empty(); ++n)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        EXPECT_TRUE(processes().empty()) << processes().front().second;
        fs::remove_all(out());
    }
};

}  // namespace mdpcosim::test
