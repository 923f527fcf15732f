#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "scenario/spec.hpp"
#include "scenario/yaml.hpp"

namespace mdpcosim {

/// `--set object.parameter=value` and the options that stand for such settings (`--step H` is `time.step=H`).
/// `option` is how the user wrote it, for messages.
struct scenario_override {
    std::string address;
    std::string value;
    std::string option;
};

/// Reads and checks the shape of a scenario: keys, types, numbers, units of time, `let`. Names of models, ports, laws are
/// resolved later, against what exists. Throws user_error.
scenario read_scenario(const std::filesystem::path& path, const std::vector<scenario_override>& overrides = {});

/// The same from a text; `name` stands for the file in messages and `folder` is where relative paths start.
scenario read_scenario_text(const std::string& text, const std::string& name, const std::filesystem::path& folder = {},
                            const std::vector<scenario_override>& overrides = {});

/// The same from a tree that does not come from a YAML file; `path` is what the scenario is known by.
scenario read_scenario_tree(yaml_node root, const std::filesystem::path& path, const std::filesystem::path& folder,
                            const std::vector<scenario_override>& overrides = {});

/// The scenario as YAML, which reads back to the same scenario.
std::string write_scenario(const scenario& s);

}  // namespace mdpcosim
