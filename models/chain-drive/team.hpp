#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

/// Threads that do one piece of work together again and again, some microseconds each: who waits spins for a while, then sleeps.
namespace mdpcosim::drive {

/// Whether work is done sooner together. Where other programs take the cores, a member waits for a thread that has none, a thousand times as long as
/// the work takes; so both ways are timed, the quicker one goes on, and the other is tried again now and then.
///
/// Call order: together(), the work, took() where is_timed().
class benefit {
   public:
    static constexpr int window = 32;  ///< pieces of work that are compared
    static constexpr double least_gain = 0.95;
    static constexpr int least_pause = 1000;      ///< alone, before the next trial
    static constexpr int longest_pause = 256000;  ///< each trial in vain doubles it, up to this
    static constexpr int longest_trust = 16384;   ///< together, before working alone is timed again

    bool together() const { return phase_ == phase::trial || phase_ == phase::together; }
    bool is_timed() const { return phase_ != phase::alone; }
    void took(double seconds) {
        // The first of a trial wakes the others.
        if (phase_ == phase::trial && !awake_ && seconds <= alone_) {
            awake_ = true;
            return;
        }
        sum_ += seconds;
        ++count_;
        const bool whole = count_ == window;
        switch (phase_) {
            case phase::reference:
                if (!whole) return;
                alone_ = sum_;
                return go(phase::trial);
            case phase::trial:
            case phase::together:
                // One long wait is enough.
                if (sum_ > least_gain * alone_) {
                    pause_ = phase_ == phase::trial ? std::min(2 * pause_, longest_pause) : least_pause;
                    return go(phase::alone);
                }
                if (!whole) return;
                trusted_ = phase_ == phase::trial ? 0 : trusted_ + window;
                return go(trusted_ < longest_trust ? phase::together : phase::reference);
            case phase::alone:
                if (count_ == pause_) go(phase::reference);
        }
    }

   private:
    enum class phase { reference, trial, together, alone };
    void go(phase next) {
        awake_ = false;
        phase_ = next;
        sum_ = 0;
        count_ = 0;
    }

    phase phase_ = phase::reference;
    double sum_ = 0, alone_ = 0;
    int count_ = 0, trusted_ = 0, pause_ = least_pause / 2;
    bool awake_ = false;
};

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
