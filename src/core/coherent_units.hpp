#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mdpcosim {

/// The product of base units, `m.kg.s-2`, that a product of coherent SI units, `(N.m/rad)/s`, is; nothing where the text is not one. For
/// programs without a unit library, whose scenarios are in SI.
std::optional<std::string> coherent_base(std::string_view text);

}  // namespace mdpcosim
