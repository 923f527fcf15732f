#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/parameter.hpp"
#include "core/part.hpp"
#include "core/registry.hpp"
#include "subsystem/equations.hpp"
#include "subsystem/sampled_equations.hpp"
#include "subsystem/scene.hpp"

/// Native models register themselves: one folder under models/, one file with a model_registration. A model is continuous
/// (`make`, or `make_of_parts` where it declares kinds of parts), sampled (`make_sampled`), or integrates itself (`make_with_solver`, for
/// contacts and whatever else is no differential equation). One of them is given; a model that can do both says by integrates_itself()
/// which of the last two is meant.
namespace mdpcosim {

struct model_info {
    std::string name;
    std::string summary;
    std::vector<parameter_info> parameters;
    std::function<std::unique_ptr<equations>(const parameter_values&)> make = {};
    std::function<std::unique_ptr<sampled_equations>(const parameter_values&, const sampling&)> make_sampled = {};
    std::function<model_scene(const parameter_values&)> scene = {};  ///< how reports draw it moving
    std::vector<part_info> parts = {};                               ///< kinds that `parts:` of the scenario may hold
    std::function<std::unique_ptr<equations>(const parameter_values&, const std::vector<part>&)> make_of_parts = {};
    std::function<std::unique_ptr<subsystem>(const parameter_values&, const std::vector<part>&)> make_with_solver = {};
    std::function<bool(const parameter_values&)> integrates_itself = {};
    std::function<model_scene(const parameter_values&, const std::vector<part>&)> scene_of_parts =
        {};                   ///< in place of scene
    std::string module = {};  ///< a library beside the program that has its equations; exported FMUs take it along
    /// The solver where the scenario names none, for these kinds of parts; not given: the default one of all.
    std::function<std::string(const std::vector<std::string>& kinds)> solver = {};
};

using model_registration = registration<model_info>;
using model_registry = registry<model_info>;

}  // namespace mdpcosim
