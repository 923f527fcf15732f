#pragma once

#include <vector>

#include "core/index.hpp"

namespace mdpcosim {

/// What a scenario says about subsystems with steps of their own; for method 'multirate'.
struct multirate_plan {
    double start = 0, end = 0;                ///< of the run
    double macro_step = 0;                    ///< the longest step that an integrator may choose
    std::vector<double> steps = {};           ///< by subsystem; 0: chosen by its integrator
    std::vector<subsystem_index> order = {};  ///< given; empty: from the graph
    std::vector<double> delays = {};          ///< by channel
};

enum class multirate_scheme { slowest_first, fastest_first, sequential };

/// Who sends to whom.
struct coupling_edge {
    std::size_t from, to;
    auto operator<=>(const coupling_edge&) const = default;
};

/// Who leads and who follows: lists of subsystems that are advanced at once, those that lead first; one sequence for every part of the
/// system that is coupled with no other part.
///
/// Whoever hears nothing from others, directly or through third ones, comes before them: what it sends can then be interpolated. Within a
/// loop of couplings the scheme decides: by step, or as listed (`plan.order`, or the order of the subsystems). Neighbours in a sequence with the
/// same step are advanced at once where they are not coupled with each other; schemes by step do so with coupled ones, too.
using multirate_sequence = std::vector<std::vector<std::size_t>>;
std::vector<multirate_sequence> find_sequences(const multirate_plan& plan, multirate_scheme scheme,
                                               std::vector<coupling_edge> edges);

}  // namespace mdpcosim
