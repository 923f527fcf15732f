#pragma once

#include <initializer_list>
#include <string_view>

#include "core/parameter.hpp"

namespace mdpcosim {

/// A user error when one of `names` was given although `reason` ("excitation is 'none'") leaves it without effect.
void refuse_unused(const parameter_values& values, std::initializer_list<std::string_view> names,
                   std::string_view reason);

}  // namespace mdpcosim
