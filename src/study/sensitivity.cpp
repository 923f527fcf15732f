#include "study/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace mdpcosim {

namespace {

constexpr double unknown_share = std::numeric_limits<double>::quiet_NaN();

std::vector<std::pair<double, double>> pairs_of(std::span<const double> x, std::span<const double> y) {
    std::vector<std::pair<double, double>> pairs;
    for (std::size_t k = 0; k < std::min(x.size(), y.size()); ++k)
        if (std::isfinite(x[k]) && std::isfinite(y[k])) pairs.emplace_back(x[k], y[k]);
    return pairs;
}

}  // namespace

double correlation(std::span<const double> x, std::span<const double> y) {
    const auto pairs = pairs_of(x, y);
    const auto n = static_cast<double>(pairs.size());
    if (n < 3) return unknown_share;
    double mx = 0, my = 0;
    for (const auto& [a, b] : pairs) mx += a / n, my += b / n;
    double xx = 0, yy = 0, xy = 0;
    for (const auto& [a, b] : pairs) xx += (a - mx) * (a - mx), yy += (b - my) * (b - my), xy += (a - mx) * (b - my);
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : unknown_share;
}

double first_order_index(std::span<const double> x, std::span<const double> y) {
    auto pairs = pairs_of(x, y);
    const std::size_t n = pairs.size();
    constexpr std::size_t least = 50;
    if (n < least) return unknown_share;
    std::ranges::sort(pairs);
    if (pairs.front().first == pairs.back().first) return unknown_share;
    const std::size_t slices =
        std::clamp<std::size_t>(static_cast<std::size_t>(std::cbrt(static_cast<double>(n))) * 2, 6, 100);
    double mean = 0;
    for (const auto& [a, b] : pairs) mean += b / static_cast<double>(n);
    double between = 0, within = 0;
    for (std::size_t s = 0; s < slices; ++s) {
        const std::size_t first = s * n / slices, last = (s + 1) * n / slices;
        const auto count = static_cast<double>(last - first);
        double own = 0;
        for (std::size_t k = first; k < last; ++k) own += pairs[k].second / count;
        between += count * (own - mean) * (own - mean);
        for (std::size_t k = first; k < last; ++k) within += (pairs[k].second - own) * (pairs[k].second - own);
    }
    const double all = between + within;
    if (!(all > 0)) return unknown_share;
    const double chance = static_cast<double>(slices - 1) * within / static_cast<double>(n - slices);
    return std::max(0.0, (between - chance) / all);
}

}  // namespace mdpcosim
