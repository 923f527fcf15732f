#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace mdpcosim {

/// How somebody waits, once looking has not helped: asleep, until yielding the core again and again has been measured to take less time.
///
/// On cores that nobody else wants a yield answers at once and a sleeper only after its core has been woken; on a busy machine a yield
/// gives the core away for milliseconds, and a sleeper is woken before others. Which of the two it is changes while a program runs: the
/// other way is tried again, never for more than a hundredth of the time.
class waiting_habit {
   public:
    using clock = std::chrono::steady_clock;

    /// Whether the wait that begins now yields.
    bool yields(clock::time_point now);
    /// What that wait has taken.
    void took(clock::duration wait, clock::time_point now);

   private:
    static constexpr int enough = 8, trial_waits = 4;
    void decide_on_trial(clock::time_point now);
    void put_trial_off(clock::time_point now, double cost);

    bool yields_ = false;
    int waits_ = 0;  ///< in the present way; below zero: those of a trial that are to come
    double sleep_mean_ = 0, yield_mean_ = 0, trial_ = 0;  ///< s
    clock::time_point next_trial_{};
};

/// A counter of rounds that one side raises and another waits for: two threads, or two processes that share its memory.
///
/// Who waits looks for a moment, then yields or sleeps, as its habit says. Rounds may wrap around. What comes with the round fits into
/// the same cache line, which travels once; what the other side writes belongs into another line (lone_mailbox).
class mailbox {
   public:
    /// How long who waits looks at first: not at all where others want its core, some microseconds where both sides have a
    /// core of their own, or for a moment where the other side has one.
    enum look : int { none = 0, moment = 40, always = 100 };
    static look fitting(bool own_core) { return own_core ? always : none; }

    void post(std::uint32_t round);
    void wait_for(std::uint32_t round, look first, waiting_habit& habit);
    /// The same, at most for that long once it sleeps (0: only a look); false when the round has not come.
    bool wait_for(std::uint32_t round, look first, waiting_habit& habit, std::chrono::milliseconds sleep);

    /// The last one that came.
    std::uint32_t round() const { return round_.load(std::memory_order_acquire); }

   private:
    bool arrived(std::uint32_t round) const {
        return static_cast<std::int32_t>(round_.load(std::memory_order_acquire) - round) >= 0;
    }
    bool yield_until(std::uint32_t round, waiting_habit::clock::time_point end) const;

    std::atomic<std::uint32_t> round_{0};
    std::atomic<std::uint32_t> sleepers_{0};
};

/// With a cache line of its own.
class alignas(64) lone_mailbox : public mailbox {};

}  // namespace mdpcosim
