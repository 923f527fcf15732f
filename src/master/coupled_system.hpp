#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coupling/network.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

/// Subsystems behind their transport and the network that couples them: all a method works on.
///
/// Outputs with feed-through depend on inputs of the same time. `levels` says in which order such subsystems are
/// re-evaluated: those of level 1 need only outputs without feed-through, those of level 2 also outputs of level 1, ...
struct coupled_system {
    using evaluation_levels = std::vector<std::vector<subsystem_index>>;

    std::unique_ptr<transport> subsystems;
    network coupling;
    evaluation_levels initial_levels;  ///< every output with feed-through, for the start
    evaluation_levels step_levels;     ///< those that other subsystems' inputs depend on, for every macro step

    std::vector<double> u, du;         ///< coupling variables and rates at the present time
    std::vector<double> input_values;  ///< scratch: inputs of the subsystem being evaluated

    /// Sizes the vectors; after it nothing allocates.
    void finish();
    /// Outputs of all subsystems at t0, consistent with each other through feed-through, and u, du.
    void initialise(double t0);
    /// u, du from the present outputs, after re-evaluating feed-through in the given order.
    void evaluate(const evaluation_levels& levels);
};

}  // namespace mdpcosim
