#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "core/mailbox.hpp"

namespace mdpcosim {

/// Threads that do the same piece of work again and again, made for rounds of microseconds.
///
/// run() calls work(w) for every worker w; worker 0 is the caller's thread. Waiting threads look for a moment while there are no more
/// workers than cores, then do what their habit says. One thread calls run(); work() must not throw.
class worker_pool {
   public:
    class job {
       public:
        virtual ~job() = default;
        virtual void work(int worker) noexcept = 0;
    };

    /// Throws run_error when the system gives no more threads.
    /// `units` binds each worker but the caller's thread; empty, or -1: free.
    worker_pool(int workers, job& given, std::vector<int> units = {});
    worker_pool(const worker_pool&) = delete;
    worker_pool& operator=(const worker_pool&) = delete;
    ~worker_pool();

    int workers() const { return workers_; }
    void run();

   private:
    void serve(int worker);
    void stop();

    int workers_;
    bool spin_;
    job& job_;
    std::vector<int> units_;
    std::uint32_t round_ = 0;
    std::atomic<bool> stop_{false};
    lone_mailbox start_;
    std::unique_ptr<lone_mailbox[]> done_;
    std::vector<waiting_habit> habits_;  ///< of the caller, by whom it waits for
    std::vector<std::thread> threads_;
};

}  // namespace mdpcosim
