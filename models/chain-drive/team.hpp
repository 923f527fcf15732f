#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

/// Threads that do one piece of work together again and again, some microseconds each: who waits spins for a while, then sleeps.
namespace mdpcosim::drive {

class team {
   public:
    /// `work(k)` is done by member k; member 0 is the one who calls.
    team(int members, std::function<void(int)> work);
    ~team();
    team(const team&) = delete;
    team& operator=(const team&) = delete;

    /// Every member does its part; returns when all have. What work throws ends the program.
    void work_together();

   private:
    void serve(int member);

    std::function<void(int)> work_;
    std::atomic<unsigned> round_ = 0;
    std::atomic<int> busy_ = 0;
    std::atomic<bool> over_ = false;
    std::vector<std::thread> others_;
};

}  // namespace mdpcosim::drive
