#pragma once

#include <string>
#include <vector>

#include "core/parameter.hpp"
#include "mdpcosim/plugin.h"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// A plugin's table, checked, in our own words.
struct plugin_model {
    std::string file;             ///< its name without folders, for messages
    mdpcosim_plugin functions{};  ///< counts and functions; what the library does not know is zero
    subsystem_description description;
    std::vector<parameter_info> parameters;

    bool own_solver() const { return functions.advance != nullptr; }
};

/// Reads what a library's entry point returned. Throws std::invalid_argument for a version or a layout we do not know,
/// for names, units, kinds or rates that do not fit, and for functions that are missing for what is declared; the text names
/// the item.
plugin_model read_plugin_table(const mdpcosim_plugin* table, const std::string& file);

}  // namespace mdpcosim
