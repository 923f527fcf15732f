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
    /// How long who waits looks before it yields: not at all where others want its core, some microseconds where both sides have a
    /// core of their own, or for a moment where the other side has one.
    enum look : int { none = 0, moment = 40, always = 100 };
    static look fitting(bool own_core) { return own_core ? always : none; }

    void post(std::uint32_t round);
    void wait_for(std::uint32_t round, look first);
    /// The same, at most for that long once it sleeps (0: only a look); false when the round has not come.
    bool wait_for(std::uint32_t round, look first, std::chrono::milliseconds sleep);

    /// The last one that came.
    std::uint32_t round() const { return round_.load(std::memory_order_acquire); }

   private:
    bool arrived(std::uint32_t round) const {
        return static_cast<std::int32_t>(round_.load(std::memory_order_acquire) - round) >= 0;
    }
    bool awake(std::uint32_t round, look first) const;

    std::atomic<std::uint32_t> round_{0};
    std::atomic<std::uint32_t> sleepers_{0};
};

/// With a cache line of its own.
class alignas(64) lone_mailbox : public mailbox {};

}  // namespace mdpcosim
