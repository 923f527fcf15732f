#include "transport/worker_pool.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <system_error>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

// A few microseconds of spinning, some milliseconds of yielding, then sleep. Yielding answers nearly as fast as spinning on a
// free core; where others want the core, long spinning would keep it from the very thread that is waited for.
constexpr int spins = 100;
constexpr int yields = 5000;

}  // namespace

int available_cores() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

worker_pool::worker_pool(int workers, job& what)
    : workers_(workers),
      spin_(workers <= available_cores()),
      job_(what),
      done_(new mailbox[static_cast<std::size_t>(workers)]) {
    try {
        for (int w = 1; w < workers; ++w) threads_.emplace_back([this, w] { serve(w); });
    } catch (const std::system_error& problem) {
        const std::size_t started = threads_.size();
        stop();
        throw run_error(fmt::format("{} worker threads cannot be started, only {} ({}). Choose fewer with --workers.",
                                    workers - 1, started, problem.code().message()));
    }
}

worker_pool::~worker_pool() { stop(); }

void worker_pool::stop() {
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

/// Nobody sleeps through a round: either the sleeper sees the new round after it has announced itself, or the poster
/// sees the announcement after it has set the round. That needs one order of all four (sequential consistency).
void worker_pool::post(mailbox& box, std::uint32_t round) const {
    box.round.store(round);
    if (box.sleepers.load() != 0) box.round.notify_all();
}

void worker_pool::wait_for(mailbox& box, std::uint32_t round) const {
    const auto arrived = [&] {
        return static_cast<std::int32_t>(box.round.load(std::memory_order_acquire) - round) >= 0;
    };
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
