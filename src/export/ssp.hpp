#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scenario/spec.hpp"

/// A scenario as a system of SSP that other tools read.
namespace mdpcosim {

struct exported_ssp {
    std::filesystem::path file;
    int components = 0, connections = 0;
    std::vector<std::string> notes;  ///< what other tools do not see
};

/// FMUs and recorded signals become components, signals connections, `set` parameters; how the whole is run stands in our annotation. What is read
/// back is the same scenario, or nothing is written. User errors: programs, plugins; without `annotated` also models, equations, laws, joints and sums
/// of signals, which other tools would not see; a `file` that is one of the scenario's own, or no SSP.
exported_ssp export_ssp(const scenario& s, const std::filesystem::path& file, bool annotated);

}  // namespace mdpcosim
