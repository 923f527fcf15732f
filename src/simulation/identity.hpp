#pragma once

#include <string>

#include "scenario/spec.hpp"

/// What a simulation that loads a saved state must have in common with the one that saved it.
namespace mdpcosim {

/// The scenario without who works where and pictures, and without the end unless steps depend on it.
std::string identity_of(scenario s, bool end_matters);

/// The check sums of all files that the scenario names: FMUs, plugins, data, programs and what is handed to them. Each is read once, however
/// many subsystems use it.
std::string contents_of(const scenario& s);

}  // namespace mdpcosim
