#pragma once

#include <string>
#include <vector>

#include "assembly/assembly.hpp"
#include "subsystem/scene.hpp"

namespace mdpcosim {

/// The scene of one subsystem: what the scenario says, or else what its model declares.
struct subsystem_scene {
    std::string subsystem;
    model_scene scene;
    std::vector<std::pair<std::string, double>> constants;  ///< parameters of an ode
};

/// Of all subsystems that have one. Throws user_error where an expression of the scenario is wrong, with its place.
std::vector<subsystem_scene> collect_scenes(const scenario& s, const assembly& a);

}  // namespace mdpcosim
