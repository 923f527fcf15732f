#include "transport/worker_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>

namespace mdpcosim {

namespace {

inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

// About 100 us of spinning and some milliseconds of yielding before a worker sleeps.
constexpr int spins = 4000;
constexpr int yields = 2000;

}  // namespace

int available_cores() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

worker_pool::worker_pool(int workers, job& what)
    : workers_(workers), spin_(workers <= available_cores()), job_(what), done_(new mailbox[static_cast<std::size_t>(workers)]) {
    for (int w = 1; w < workers; ++w) threads_.emplace_back([this, w] { serve(w); });
}

worker_pool::~worker_pool() {
    stop_.store(true);
    post(start_, ++round_);
    for (auto& thread : threads_) thread.join();
}

void worker_pool::run() {
    post(start_, ++round_);
    job_.work(0);
    for (int w = 1; w < workers_; ++w) wait_for(done_[static_cast<std::size_t>(w)], round_);
}

void worker_pool::serve(int worker) {
    for (std::uint32_t round = 1;; ++round) {
        wait_for(start_, round);
        if (stop_.load()) return;
        job_.work(worker);
        post(done_[static_cast<std::size_t>(worker)], round);
    }
}

void worker_pool::post(mailbox& box, std::uint32_t round) const {
    box.round.store(round);
    if (box.sleepers.load() != 0) box.round.notify_all();
}

void worker_pool::wait_for(mailbox& box, std::uint32_t round) const {
    const auto arrived = [&] { return static_cast<std::int32_t>(box.round.load(std::memory_order_acquire) - round) >= 0; };
    for (int i = 0; spin_ && i < spins; ++i) {
        if (arrived()) return;
        relax();
    }
    for (int i = 0; i < yields; ++i) {
        if (arrived()) return;
        std::this_thread::yield();
    }
    box.sleepers.fetch_add(1);
    for (std::uint32_t seen = box.round.load(); static_cast<std::int32_t>(seen - round) < 0; seen = box.round.load())
        box.round.wait(seen);
    box.sleepers.fetch_sub(1);
}

}  // namespace mdpcosim
