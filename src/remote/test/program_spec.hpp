#pragma once

#include "support/plugin_spec.hpp"

/// Entries of a scenario with `program:`, as the reader would make them.
namespace mdpcosim::test {

inline const std::filesystem::path example_programs = std::filesystem::path(MDPCOSIM_BINARY_DIR) / "programs";
inline const std::filesystem::path test_programs = std::filesystem::path(MDPCOSIM_BINARY_DIR) / "tests" / "programs";

inline subsystem_spec spec_of_program(std::vector<std::string> command, const settings& set = {},
                                      const std::filesystem::path& folder = example_programs) {
    subsystem_spec spec = plugin_spec(command.front(), set);
    spec.kind = subsystem_spec::source_kind::program;
    spec.program = {std::move(command), folder};
    return spec;
}

}  // namespace mdpcosim::test
