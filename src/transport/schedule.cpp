#include "transport/schedule.hpp"

#include <algorithm>
#include <numeric>

namespace mdpcosim {

namespace {

schedule neighbours_together(std::span<const double> cost, int workers) {
    schedule s;
    s.work.resize(static_cast<std::size_t>(workers));
    const double total = std::accumulate(cost.begin(), cost.end(), 0.0);
    double sum = 0;
    for (std::size_t i = 0; i < cost.size(); ++i) {
        // The middle of a subsystem's share decides, so that the cuts fall where they disturb least.
        const double middle = total > 0 ? (sum + 0.5 * cost[i]) / total : (static_cast<double>(i) + 0.5) / static_cast<double>(cost.size());
        const int worker = std::min(workers - 1, static_cast<int>(middle * workers));
        s.work[static_cast<std::size_t>(worker)].push_back(static_cast<int>(i));
        sum += cost[i];
    }
    return s;
}

schedule longest_first(std::span<const double> cost, int workers) {
    std::vector<int> order(cost.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return cost[a] > cost[b]; });
    schedule s;
    s.work.resize(static_cast<std::size_t>(workers));
    std::vector<double> load(static_cast<std::size_t>(workers), 0.0);
    for (const int i : order) {
        const auto worker = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
        s.work[worker].push_back(i);
        load[worker] += cost[i];
    }
    for (auto& list : s.work) std::sort(list.begin(), list.end());
    return s;
}

}  // namespace

double schedule::busiest(std::span<const double> cost) const {
    double most = 0;
    for (const auto& list : work) {
        double load = 0;
        for (const int i : list) load += cost[i];
        most = std::max(most, load);
    }
    return most;
}

schedule make_schedule(std::span<const double> cost, int workers) {
    schedule near = neighbours_together(cost, workers);
    schedule balanced = longest_first(cost, workers);
    return balanced.busiest(cost) < 0.95 * near.busiest(cost) ? balanced : near;
}

}  // namespace mdpcosim
