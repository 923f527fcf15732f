#include "core/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace mdpcosim {

namespace {

/// Edit distance with transpositions of neighbours (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        next[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                next[j] = std::min(next[j], before[j - 2] + 1);
        }
        before.swap(row);
        row.swap(next);
    }
    return row[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
    const std::string* best = nullptr;
    std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
    for (const auto& candidate : candidates) {
        const std::size_t d = distance(name, candidate);
        if (d < best_distance && d < std::max(candidate.size(), name.size())) {
            best = &candidate;
            best_distance = d;
        }
    }
    return best == nullptr ? std::string{} : fmt::format(" Did you mean '{}'?", *best);
}

std::string name_list(std::span<const std::string> names, std::size_t most) {
    if (names.empty()) return "none";
    std::string text = fmt::format("{}", fmt::join(names.first(std::min(most, names.size())), ", "));
    if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
    return text;
}

std::string unknown_name(std::string_view kind, std::string_view name, std::string_view owner,
                         std::span<const std::string> candidates) {
    return fmt::format("{} '{}' does not exist. {} has: {}.{}", kind, name, owner, name_list(candidates),
                       did_you_mean(name, candidates));
}

}  // namespace mdpcosim
