#pragma once

#include <functional>
#include <string>

#include "expression/expression.hpp"
#include "scenario/spec.hpp"

namespace mdpcosim {

/// An expression whose names are addresses: `strut.u * (body.mass.velocity - wheel.mass.velocity)`. `find` gives the index of a name in bank 0, -1: it does not
/// exist. The longest name that exists counts, so that names may contain '-'. Throws user_error with the place.
expression parse_formula(const text& written, const std::string& object,
                         const std::function<int(const std::string&)>& find,
                         const std::function<std::string(const std::string&)>& why_unknown);

}  // namespace mdpcosim
