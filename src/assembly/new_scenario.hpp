#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// The text of a scenario for somebody to go on from.
namespace mdpcosim {

struct new_scenario {
    std::string text;
    int subsystems = 0, ports = 0, signals = 0, free_inputs = 0;
    std::vector<std::string> notes;  ///< what was assumed
};

/// Of FMUs, with comments: the ports that they have or may have, signals between an output and an input of one name, unit and type, which inputs
/// are free, which parameters there are, and as comments what else may belong together. Of one system of SSP: what `run` makes of it, as a
/// scenario. Of nothing: two masses with a spring. FMUs are named as they are seen from
/// `folder`, those of a system by their whole path. User errors: other files, a system beside others.
new_scenario make_new_scenario(const std::vector<std::filesystem::path>& from, const std::filesystem::path& folder);

}  // namespace mdpcosim
