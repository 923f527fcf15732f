#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/parameter.hpp"
#include "core/registry.hpp"
#include "subsystem/equations.hpp"
#include "subsystem/sampled_equations.hpp"
#include "subsystem/scene.hpp"

/// Native models register themselves: one folder under models/, one file with a model_registration. A model is continuous
/// (`make`) or sampled (`make_sampled`); exactly one of the two is given.
namespace mdpcosim {

struct model_info {
    std::string name;
    std::string summary;
    std::vector<parameter_info> parameters;
    std::function<std::unique_ptr<equations>(const parameter_values&)> make = {};
    std::function<std::unique_ptr<sampled_equations>(const parameter_values&, const sampling&)> make_sampled = {};
    std::function<model_scene(const parameter_values&)> scene = {};  ///< how reports draw it moving
};

using model_registration = registration<model_info>;
using model_registry = registry<model_info>;

}  // namespace mdpcosim
