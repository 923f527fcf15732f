#pragma once

#include <cstdint>
#include <vector>

namespace mdpcosim {

/// Who worked when: one piece of work of one worker, in seconds of the steady clock.
struct profile_event {
    double begin = 0, end = 0;
    std::int32_t subsystem = -1;  ///< -1: the whole macro step, waiting included
    std::int32_t worker = 0;
    std::int64_t step = 0;    ///< macro step
    std::int64_t sample = 0;  ///< number of the sampled step, for thinning out
};

/// A bounded list of events; each worker has its own, so that none waits for another.
class profile_log {
   public:
    explicit profile_log(std::size_t capacity = 0) { events_.reserve(capacity); }

    bool full() const { return events_.size() == events_.capacity(); }
    void add(const profile_event& event) {
        if (!full()) events_.push_back(event);
    }
    /// Keeps the events of every `stride`-th sampled step.
    void thin_out(std::int64_t stride) {
        std::erase_if(events_, [stride](const profile_event& e) { return e.sample % stride != 0; });
    }
    const std::vector<profile_event>& events() const { return events_; }
    std::vector<profile_event>& events() { return events_; }

   private:
    std::vector<profile_event> events_;
};

}  // namespace mdpcosim
