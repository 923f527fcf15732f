#include "core/mailbox.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

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

// A few microseconds of spinning, some milliseconds of yielding, then sleep. Yielding answers nearly as fast as spinning on a
// free core; where others want the core, long spinning would keep it from the very thread that is waited for.
constexpr std::chrono::milliseconds yielding{5};
constexpr int yields_per_clock =
    16;  // on a busy core one of them can take milliseconds, on a free one less than the clock

// Not the private kind: the two sides may be processes.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
    return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

/// Nobody sleeps through a round: either the sleeper sees the new round after it has announced itself, or the poster
/// sees the announcement after it has set the round. That needs one order of all four (sequential consistency).
void mailbox::post(std::uint32_t round) {
    round_.store(round);
    if (sleepers_.load() != 0) futex(round_, FUTEX_WAKE, INT_MAX, nullptr);
}

bool mailbox::awake(std::uint32_t round, look first) const {
    for (int i = 0; i < first; ++i) {
        if (arrived(round)) return true;
        relax();
    }
    using clock = std::chrono::steady_clock;
    for (clock::time_point end{};;) {
        for (int i = 0; i < yields_per_clock; ++i) {
            if (arrived(round)) return true;
            std::this_thread::yield();
        }
        const auto now = clock::now();
        if (end == clock::time_point{}) end = now + yielding;
        if (now >= end) return false;
    }
}

void mailbox::wait_for(std::uint32_t round, look first) {
    if (awake(round, first)) return;
    sleepers_.fetch_add(1);
    for (std::uint32_t seen = round_.load(); static_cast<std::int32_t>(seen - round) < 0; seen = round_.load())
        futex(round_, FUTEX_WAIT, seen, nullptr);
    sleepers_.fetch_sub(1);
}

bool mailbox::wait_for(std::uint32_t round, look first, std::chrono::milliseconds sleep) {
    if (sleep.count() == 0) return arrived(round);
    if (awake(round, first)) return true;
    const timespec timeout{sleep.count() / 1000, static_cast<long>(sleep.count() % 1000) * 1000000L};
    sleepers_.fetch_add(1);
    const std::uint32_t seen = round_.load();
    if (static_cast<std::int32_t>(seen - round) < 0) futex(round_, FUTEX_WAIT, seen, &timeout);
    sleepers_.fetch_sub(1);
    return arrived(round);
}

}  // namespace mdpcosim
