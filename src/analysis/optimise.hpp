#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/stability.hpp"

/// Search for the free coefficients of const-K-R and lin-K-R that allow the largest macro steps (000, section 2.3.2).
///
/// For one F the largest stable omega H is maximised; for several the smallest of omega_max(F) relative to the optimum at that F,
/// each divided by its weight.
/// The function has ridges and cliffs: narrow unstable pockets cut off parts of the space. So a seeded set of starts covers the
/// space, the best of them are improved by an evolution strategy that learns the direction of ridges, and a candidate counts only
/// with what a dense grid finds for it and for its neighbours at a distance of `margin`.
namespace mdpcosim {

struct optimisation_task {
    int degree = 1;  ///< 0: const-K-R, 1: lin-K-R
    int K = 2;
    int R = 3;
    std::vector<double> F{100};
    std::vector<double>
        weights;  ///< share of its own optimum that each F is to get, relative to each other; empty: the same
    test_system_parameters system;  ///< everything else; rule and F are set by the search
    double margin = 1e-5;           ///< a coefficient may be off by this much
    std::uint32_t seed = 1;
    double effort = 1;  ///< more or fewer starts and steps
    /// The part done (0 to 1) and the best value so far.
    std::function<void(double, double)> progress = {};
};

struct optimum {
    extrapolation_rule rule;
    std::vector<double> free;       ///< the last 2K - R of a_0 .. a_{K-1}, b_0 .. b_{K-1}
    std::vector<double> omega_max;  ///< for every F of the task, from the dense grid
    std::vector<double> best;       ///< the optimum for each F alone
    double relative = 0;            ///< smallest omega_max / (weight * best)
    std::int64_t evaluations = 0;   ///< of omega_max
};

/// Throws std::invalid_argument where K and R leave nothing free or make no sense.
optimum optimise(const optimisation_task& task);

/// const-K-R or lin-K-R with these free coefficients.
extrapolation_rule rule_with_free(int degree, int K, int R, const std::vector<double>& free);

}  // namespace mdpcosim
