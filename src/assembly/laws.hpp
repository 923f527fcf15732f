#pragma once

#include <string>
#include <vector>

#include "coupling/law.hpp"
#include "scenario/spec.hpp"

namespace mdpcosim {

/// The law that a connection names; throws user_error with a suggestion.
const law_info& known_law(const connection_spec& c);
/// Its parameters with the units of one kind of port. Kept for the program's life: parameter_values refer to them.
const std::vector<parameter_info>& law_parameters(const law_info& law, port_kind kind);
/// `spring (stiffness = 100 N/m)`
std::string law_text(const law_info& law, const std::vector<parameter_info>& infos, const parameter_values& values);
std::string number_with_unit(double value, const std::string& unit);

}  // namespace mdpcosim
