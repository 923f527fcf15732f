#include "coupling/optimised.hpp"

#include <algorithm>
#include <cmath>

namespace mdpcosim {

namespace {

using family = extrapolation_rule::family;

constexpr std::array<optimised_set, 4> published{{
    {family::constant, 2, {0.363, -0.2}},
    {family::constant, 3, {0, 0}},
    {family::linear, 2, {0.667, -0.0069}},
    {family::linear, 3, {0, -0.20322}},
}};

constexpr std::array<optimised_set, 4> for_stiff{{
    {family::constant, 2, {0.522738, 0.010602}},
    {family::constant, 3, {0, 0}},
    {family::linear, 2, {0.684276, 0.013251}},
    {family::linear, 3, {0, -0.188862}},
}};

/// Over log10 F = -1, -0.75 .. 3; in between by straight lines, beyond as at the end.
constexpr double first = -1, distance = 0.25;
constexpr std::size_t nodes = 17;
using over_F = std::array<std::array<double, 2>, nodes>;

constexpr over_F constant_2{{
    {0.735, 0.117},
}};
constexpr over_F linear_2{{
    {0.937, 0.203},
}};
constexpr over_F linear_3{{
    {0, 0.12446},
}};

}  // namespace

std::span<const optimised_set> optimised_2011() { return published; }

std::span<const optimised_set> optimised_for_stiff() { return for_stiff; }

std::optional<optimised_set> optimised_for(family kind, int R, double F) {
    const over_F* table = kind == family::constant && R == 2 ? &constant_2
                          : kind == family::linear && R == 2 ? &linear_2
                          : kind == family::linear && R == 3 ? &linear_3
                                                             : nullptr;
    if (table == nullptr) return std::nullopt;
    const double at = std::clamp((std::log10(F) - first) / distance, 0.0, static_cast<double>(nodes - 1));
    const auto left = std::min(static_cast<std::size_t>(at), nodes - 2);
    const double s = at - static_cast<double>(left);
    optimised_set set{kind, R, {}};
    for (std::size_t k = 0; k < 2; ++k) set.b[k] = (1 - s) * (*table)[left][k] + s * (*table)[left + 1][k];
    return set;
}

}  // namespace mdpcosim
