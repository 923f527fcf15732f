#pragma once

#include <string>
#include <vector>

#include "analysis/joint_stability.hpp"
#include "analysis/plot.hpp"

/// Stability maps of joints, part of the facade: shown as table, JSON document and picture.
namespace mdpcosim {

/// Of quadratic and of cubic multipliers.
std::vector<joint_map> map_joints(const joint_test_parameters& system, double range, int points);

std::string to_table(const std::vector<joint_map>& maps);
std::string to_json(const std::vector<joint_map>& maps);
/// Stable points, as in Figs. 14 and 15 of the source.
plot joint_plot(const std::vector<joint_map>& maps);

}  // namespace mdpcosim
