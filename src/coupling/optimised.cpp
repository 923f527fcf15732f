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
    {family::constant, 2, {0.246107, -0.27949}},
    {family::constant, 3, {0, 0}},
    {family::linear, 2, {0.667595, -0.074772}},
    {family::linear, 3, {0, -0.188862}},
}};

/// Over log10 F = -1, -0.75 .. 3; in between by straight lines, beyond as at the end.
constexpr double first = -1, distance = 0.25;
constexpr std::size_t nodes = 17;
using over_F = std::array<std::array<double, 2>, nodes>;

constexpr over_F constant_2{{
    {0.73877, 0.11655},
    {0.70083, 0.09696},
    {0.65805, 0.0757},
    {0.61522, 0.05496},
    {0.57757, 0.03677},
    {0.54909, 0.02315},
    {0.52962, 0.01387},
    {0.51748, 0.0082},
    {0.51002, 0.00465},
    {0.51312, 0.01},
    {0.50421, 0.00246},
    {0.50204, 0.00105},
    {0.4961, -0.00446},
    {0.4937, -0.00664},
    {0.50473, 0.00449},
    {0.50088, 0.00071},
    {0.50427, 0.00413},
}};
constexpr over_F linear_2{{
    {0.94249, 0.20949},
    {0.87559, 0.15841},
    {0.81657, 0.11341},
    {0.76787, 0.07649},
    {0.73113, 0.04864},
    {0.70588, 0.02955},
    {0.68978, 0.0174},
    {0.68002, 0.01003},
    {0.67429, 0.00573},
    {0.67099, 0.00322},
    {0.66909, 0.0017},
    {0.66804, 0.00098},
    {0.66743, 0.00046},
    {0.66709, 0.00019},
    {0.66695, 0.0001},
    {0.66686, -0.00022},
    {0.66682, -0},
}};
constexpr over_F linear_3{{
    {0, 0.11991},
    {0, 0.03334},
    {0, -0.04387},
    {0, -0.10342},
    {0, -0.14387},
    {0, -0.1691},
    {0, -0.18407},
    {0, -0.19273},
    {0, -0.19767},
    {0, -0.20047},
    {0, -0.20205},
    {0, -0.20294},
    {0, -0.20342},
    {0, -0.20368},
    {0, -0.20383},
    {0, -0.20392},
    {0, -0.20398},
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
