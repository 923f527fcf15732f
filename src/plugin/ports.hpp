#pragma once

#include <string>
#include <vector>

#include "mdpcosim/plugin.h"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

template <class Variables>
std::vector<std::string> variable_names(const Variables& variables) {
    std::vector<std::string> names;
    for (const auto& v : variables) names.push_back(v.name);
    return names;
}

/// Finds the variables of ports that a plugin or a program declares. Throws std::invalid_argument for an unknown kind or causality, a variable that is
/// missing, of another direction, unit or size, or in two ports.
class plugin_port_reader {
   public:
    /// Inputs and outputs of the description are complete; units that are unknown there become those of the ports.
    plugin_port_reader(subsystem_description& description, std::string who)
        : description_(description), who_(std::move(who)), owner_(description.inputs.size()) {}

    port read(const std::string& name, const mdpcosim_port& given);

   private:
    int slot_of(const std::string& object, const std::string& word, const std::string& variable,
                const std::string& unit, bool wants_input, int size = 1);
    bool exists(const std::string& variable, bool input) const;

    subsystem_description& description_;
    std::string who_;                 ///< begins sentences: "The plugin"
    std::vector<std::string> owner_;  ///< by input: the port it belongs to
};

}  // namespace mdpcosim
