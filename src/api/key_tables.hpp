#pragma once

#include <string>
#include <vector>

namespace mdpcosim {

/// The keys of scenario files as tables in Markdown, for docs/scenario.md and `mdpcosim list keys`. Names are those of the
/// groups of keys ("time", "connection"); "subsystem" has the keys of several sources, "subsystem file" those of one.
std::vector<std::string> key_table_names();

/// The table with this name; empty where there is none.
std::string key_table(const std::string& name);

/// All tables with a heading each.
std::string all_key_tables();

}  // namespace mdpcosim
