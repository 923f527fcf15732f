#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "scenario/spec.hpp"

/// Entries of a scenario with `plugin:`, as the reader would make them.
namespace mdpcosim::test {

inline const std::filesystem::path example_plugins = std::filesystem::path(MDPCOSIM_BINARY_DIR) / "plugins";
inline const std::filesystem::path test_plugins = std::filesystem::path(MDPCOSIM_BINARY_DIR) / "tests" / "plugins";

using settings = std::vector<std::pair<std::string, std::string>>;

inline std::vector<setting> to_settings(const settings& given) {
    std::vector<setting> result;
    for (const auto& [name, value] : given)
        result.push_back({name, {"s.yaml", 7, 5}, {{value, {"s.yaml", 7, 9}}}, false});
    return result;
}

inline subsystem_spec plugin_spec(const std::filesystem::path& path, const settings& set = {}) {
    subsystem_spec spec;
    spec.name = "a";
    spec.where = {"s.yaml", 4, 3};
    spec.kind = subsystem_spec::source_kind::plugin;
    spec.source = {path.string(), {"s.yaml", 5, 13}};
    spec.path = path;
    spec.set = to_settings(set);
    return spec;
}

}  // namespace mdpcosim::test
