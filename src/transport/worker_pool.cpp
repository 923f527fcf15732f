#include "transport/worker_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "core/error.hpp"
#include "transport/affinity.hpp"

namespace mdpcosim {

worker_pool::worker_pool(int workers, job& given, std::vector<int> units)
    : workers_(workers),
      spin_(workers <= available_cores()),
      job_(given),
      units_(std::move(units)),
      done_(new lone_mailbox[static_cast<std::size_t>(workers)]),
      habits_(static_cast<std::size_t>(workers)) {
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
    start_.post(++round_);
    for (auto& thread : threads_) thread.join();
}

void worker_pool::run() {
    start_.post(++round_);
    job_.work(0);
    for (std::size_t w = 1; w < habits_.size(); ++w) done_[w].wait_for(round_, mailbox::fitting(spin_), habits_[w]);
}

void worker_pool::serve(int worker) {
    const bound_thread here(units_.empty() ? -1 : units_[static_cast<std::size_t>(worker)]);
    waiting_habit habit;
    for (std::uint32_t round = 1;; ++round) {
        start_.wait_for(round, mailbox::fitting(spin_), habit);
        if (stop_.load()) return;
        job_.work(worker);
        done_[static_cast<std::size_t>(worker)].post(round);
    }
}

}  // namespace mdpcosim
