#include "team.hpp"

namespace mdpcosim::drive {

namespace {

constexpr int spins = 4000;

/// Until `value` is no longer `old`.
template <class T>
void await_change(const std::atomic<T>& value, T old) {
    for (int n = 0; n < spins; ++n) {
        if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    value.wait(old, std::memory_order_acquire);
}

}  // namespace

team::team(int members, std::function<void(int)> work) : work_(std::move(work)) {
    for (int k = 1; k < members; ++k) others_.emplace_back([this, k] { serve(k); });
}

team::~team() {
    over_ = true;
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    for (auto& one : others_) one.join();
}

void team::work_together() {
    busy_.store(static_cast<int>(others_.size()), std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    work_(0);
    for (int left = busy_.load(std::memory_order_acquire); left > 0; left = busy_.load(std::memory_order_acquire))
        await_change(busy_, left);
}

void team::serve(int member) {
    for (unsigned seen = 0;;) {
        await_change(round_, seen);
        seen = round_.load(std::memory_order_acquire);
        if (over_) return;
        work_(member);
        busy_.fetch_sub(1, std::memory_order_release);
        busy_.notify_all();
    }
}

}  // namespace mdpcosim::drive
