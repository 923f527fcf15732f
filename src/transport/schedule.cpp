#include "transport/schedule.hpp"

#include <algorithm>
#include <numeric>

namespace mdpcosim {

schedule::schedule(std::size_t subsystems, int workers)
    : workers_(workers),
      worker_(subsystems, 0),
      fixed_(subsystems, -1),
      order_(subsystems),
      begin_(static_cast<std::size_t>(workers) + 1, 0),
      near_(subsystems),
      balanced_(subsystems),
      by_cost_(subsystems),
      load_(static_cast<std::size_t>(workers)) {
    for (std::size_t i = 0; i < subsystems; ++i)
        near_[i] = static_cast<int>(i * static_cast<std::size_t>(workers) / subsystems);
    adopt(near_);
}

std::span<const int> schedule::work(int worker) const {
    const auto w = static_cast<std::size_t>(worker);
    return std::span(order_).subspan(static_cast<std::size_t>(begin_[w]),
                                     static_cast<std::size_t>(begin_[w + 1] - begin_[w]));
}

void schedule::fix(std::size_t subsystem, int worker) {
    fixed_[subsystem] = near_[subsystem] = worker;
    adopt(near_);
}

double schedule::busiest(std::span<const int> worker, std::span<const double> cost) const {
    std::fill(load_.begin(), load_.end(), 0.0);
    for (std::size_t i = 0; i < cost.size(); ++i) load_[static_cast<std::size_t>(worker[i])] += cost[i];
    return *std::max_element(load_.begin(), load_.end());
}

void schedule::decide(std::span<const double> cost) {
    neighbours_together(cost);
    longest_first(cost);
    const double near = busiest(near_, cost);
    const double balanced = busiest(balanced_, cost);
    const double now = busiest(worker_, cost);
    if (std::min(near, balanced) < 0.95 * now) adopt(balanced < 0.95 * near ? balanced_ : near_);
}

void schedule::neighbours_together(std::span<const double> cost) {
    const double total = std::accumulate(cost.begin(), cost.end(), 0.0);
    double sum = 0;
    for (std::size_t i = 0; i < cost.size(); ++i) {
        // The middle of a subsystem's share decides, so that the cuts fall where they disturb least.
        const double middle = total > 0 ? (sum + 0.5 * cost[i]) / total : 0;
        near_[i] = fixed_[i] >= 0 ? fixed_[i] : std::min(workers_ - 1, static_cast<int>(middle * workers_));
        sum += cost[i];
    }
}

void schedule::longest_first(std::span<const double> cost) {
    std::iota(by_cost_.begin(), by_cost_.end(), 0);
    std::sort(by_cost_.begin(), by_cost_.end(),
              [&](int a, int b) { return cost[a] != cost[b] ? cost[a] > cost[b] : a < b; });
    std::fill(load_.begin(), load_.end(), 0.0);
    const auto serve = [&](int i, std::size_t worker) {
        balanced_[static_cast<std::size_t>(i)] = static_cast<int>(worker);
        load_[worker] += cost[static_cast<std::size_t>(i)];
    };
    for (const int i : by_cost_)
        if (fixed_[static_cast<std::size_t>(i)] >= 0)
            serve(i, static_cast<std::size_t>(fixed_[static_cast<std::size_t>(i)]));
    for (const int i : by_cost_) {
        if (fixed_[static_cast<std::size_t>(i)] >= 0) continue;
        const auto least = std::min_element(load_.begin(), load_.end());
        serve(i, static_cast<std::size_t>(least - load_.begin()));
    }
}

void schedule::adopt(std::span<const int> worker) {
    std::copy(worker.begin(), worker.end(), worker_.begin());
    std::size_t at = 0;
    for (int w = 0; w < workers_; ++w) {
        begin_[static_cast<std::size_t>(w)] = static_cast<int>(at);
        for (std::size_t i = 0; i < worker_.size(); ++i)
            if (worker_[i] == w) order_[at++] = static_cast<int>(i);
    }
    begin_.back() = static_cast<int>(at);
}

}  // namespace mdpcosim
