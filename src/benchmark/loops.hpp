#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coupling/fixed_point.hpp"

/// Iterations of every solver on loops from weak to stiff.
namespace mdpcosim {

struct loop_bench_result {
    std::string system;
    double gain = 0;  ///< of the loop, or stiffness of the coupling over that of the bodies
    std::string solver;
    std::optional<iteration_counts> counts;  ///< nothing: it did not converge
};

/// Algebraic loops of one unknown (a battery and its load), macro steps of two masses and of a chain of ten.
std::vector<loop_bench_result> bench_loops();

std::string to_table(const std::vector<loop_bench_result>& results);
std::string to_json(const std::vector<loop_bench_result>& results);

}  // namespace mdpcosim
