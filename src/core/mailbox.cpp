#include "core/mailbox.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <thread>

namespace mdpcosim {

namespace {

inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

/// Whoever waits longer sleeps, whatever its habit: what waking up takes matters no more.
constexpr std::chrono::milliseconds yielding{5};

// Not the private kind: the two sides may be processes.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
    return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

double blend(double mean, double sample) { return mean + 0.25 * (sample - mean); }

}  // namespace

bool waiting_habit::yields(clock::time_point now) {
    if (!yields_ && waits_ >= enough && now >= next_trial_) {
        waits_ = -trial_waits;
        trial_ = 0;
    }
    return yields_ || waits_ < 0;
}

void waiting_habit::took(clock::duration wait, clock::time_point now) {
    const double seconds = std::chrono::duration<double>(wait).count();
    if (waits_ < 0) {
        trial_ += seconds;
        ++waits_;
        // A trial that has taken too long already has shown enough.
        if (waits_ == 0 || trial_ > trial_waits * sleep_mean_) decide_on_trial(now);
    } else if (yields_) {
        yield_mean_ = blend(yield_mean_, seconds);
        if (yield_mean_ > sleep_mean_) {
            yields_ = false, waits_ = 0;
            put_trial_off(now, seconds);
        }
    } else {
        sleep_mean_ = waits_ == 0 ? seconds : blend(sleep_mean_, seconds);
        waits_ = std::min(waits_ + 1, enough);
    }
}

void waiting_habit::decide_on_trial(clock::time_point now) {
    constexpr double clearly = 0.8;
    yield_mean_ = trial_ / (trial_waits + waits_);
    yields_ = waits_ == 0 && yield_mean_ < clearly * sleep_mean_;
    waits_ = enough;
    put_trial_off(now, trial_);
}

void waiting_habit::put_trial_off(clock::time_point now, double cost) {
    constexpr double times_its_cost = 100;
    next_trial_ =
        now + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(times_its_cost * cost));
}

/// Nobody sleeps through a round: either the sleeper sees the new round after it has announced itself, or the poster
/// sees the announcement after it has set the round. That needs one order of all four (sequential consistency).
void mailbox::post(std::uint32_t round) {
    round_.store(round);
    if (sleepers_.load() != 0) futex(round_, FUTEX_WAKE, INT_MAX, nullptr);
}

bool mailbox::yield_until(std::uint32_t round, waiting_habit::clock::time_point end) const {
    do {
        std::this_thread::yield();
        if (arrived(round)) return true;
    } while (waiting_habit::clock::now() < end);
    return false;
}

void mailbox::wait_for(std::uint32_t round, look first, waiting_habit& habit) {
    constexpr std::chrono::hours long_enough{1};
    while (!wait_for(round, first, habit, long_enough)) continue;
}

bool mailbox::wait_for(std::uint32_t round, look first, waiting_habit& habit, std::chrono::milliseconds sleep) {
    if (sleep.count() == 0) return arrived(round);
    for (int i = 0; i < first; ++i) {
        if (arrived(round)) return true;
        relax();
    }
    if (arrived(round)) return true;
    const auto begin = waiting_habit::clock::now();
    if (!habit.yields(begin) || !yield_until(round, begin + yielding)) {
        const timespec timeout{sleep.count() / 1000, static_cast<long>(sleep.count() % 1000) * 1000000L};
        sleepers_.fetch_add(1);
        const std::uint32_t seen = round_.load();
        if (static_cast<std::int32_t>(seen - round) < 0) futex(round_, FUTEX_WAIT, seen, &timeout);
        sleepers_.fetch_sub(1);
    }
    const auto end = waiting_habit::clock::now();
    habit.took(end - begin, end);
    return arrived(round);
}

}  // namespace mdpcosim
