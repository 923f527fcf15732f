#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace mdpcosim {

/// A counter of rounds that one side raises and another waits for: two threads, or two processes that share its memory.
///
/// Who waits spins, then yields, then sleeps: waking a sleeper costs as much as hundreds of small macro steps, a spinner
/// answers within a cache miss. Rounds may wrap around. What comes with the round fits into the same cache line, which travels
/// once; what the other side writes belongs into another line (lone_mailbox).
class mailbox {
   public:
    void post(std::uint32_t round);
    /// `spin`: both sides have a core of their own.
    void wait_for(std::uint32_t round, bool spin);
    /// The same, at most for that long once it sleeps (0: only a look); false when the round has not come.
    bool wait_for(std::uint32_t round, bool spin, std::chrono::milliseconds sleep);

   private:
    bool arrived(std::uint32_t round) const {
        return static_cast<std::int32_t>(round_.load(std::memory_order_acquire) - round) >= 0;
    }
    bool awake(std::uint32_t round, bool spin) const;

    std::atomic<std::uint32_t> round_{0};
    std::atomic<std::uint32_t> sleepers_{0};
};

/// With a cache line of its own.
class alignas(64) lone_mailbox : public mailbox {};

}  // namespace mdpcosim
