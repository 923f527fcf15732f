#pragma once

#include <string>

#include "assembly/assembly.hpp"

/// What the report draws besides results: the coupled system with its ports, connections and scenes, and the units of all columns.
namespace mdpcosim {

/// The document system.json of a run. `s` is the resolved scenario.
std::string system_json(const scenario& s, const assembly& a);

/// By channel; empty for signals.
std::vector<std::string> connection_names(const assembly& a);

}  // namespace mdpcosim
