#pragma once

#include <optional>

#include "coupling/fixed_point.hpp"
#include "scenario/spec.hpp"

namespace mdpcosim {

/// How algebraic loops are solved; nothing where the scenario does not say so. Throws user_error.
std::optional<fixed_point_options> loop_options(const scenario& s);
iteration_spec with_defaults(const iteration_spec& spec);

}  // namespace mdpcosim
