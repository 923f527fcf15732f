#pragma once

#include "support/plugin_spec.hpp"

/// Entries of a scenario with `fmu:`, as the reader would make them.
namespace mdpcosim::test {

inline std::filesystem::path test_fmu(const std::string& name) {
    return std::filesystem::path(MDPCOSIM_BINARY_DIR) / "fmus" / (name + ".fmu");
}

inline subsystem_spec spec_of_fmu(const std::string& name, const settings& set = {}) {
    subsystem_spec spec = plugin_spec(test_fmu(name), set);
    spec.kind = subsystem_spec::source_kind::fmu;
    return spec;
}

inline port_spec port_of(const std::string& name, const std::string& kind, const settings& variables,
                         const std::string& causality = "") {
    return {name, {"s.yaml", 8, 7}, {kind, {"s.yaml", 8, 20}}, {causality, {"s.yaml", 8, 30}}, to_settings(variables)};
}

}  // namespace mdpcosim::test
