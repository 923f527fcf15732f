#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/parameter.hpp"
#include "core/part.hpp"
#include "scenario/spec.hpp"

namespace mdpcosim {

/// The number in `value`, converted to `unit`. `object` names the owner in messages: "subsystem 'a': parameter 'm'".
double read_number(const text& value, std::string_view unit, std::string_view object);

/// A whole number of at least `least`.
int read_whole(const text& value, int least, std::string_view object);

/// Values for declared parameters from the user's settings: unknown names, wrong words, units that do not fit, values
/// out of range and missing required values are user errors. `where` is the owner's place, for what is missing.
parameter_values resolve_parameters(const std::vector<parameter_info>& infos, std::span<const setting> settings,
                                    const location& where, std::string_view owner);

/// Parts of declared kinds from the user's entries; what does not fit the declarations is a user error, as above.
std::vector<part> resolve_parts(const std::vector<part_info>& kinds, const std::vector<part_spec>& given,
                                const std::string& owner);

}  // namespace mdpcosim
