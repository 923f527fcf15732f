#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exported/variables.hpp"
#include "fmi/description.hpp"

/// The modelDescription.xml of an exported FMU. Private to export/.
namespace mdpcosim {

struct described_variable {
    exported_variable it;
    std::string name;  ///< for the host; most often the address
    std::string unit;  ///< SI; empty: unknown
    std::string description;
    bool follows_inputs = true;  ///< an output that may change with an input at once
};

struct fmu_text {
    fmi::version version = fmi::version::v2;
    std::string name, identifier, token, description;
    std::vector<described_variable> variables;
    double start = 0, stop = 1, step = 0;
    bool variable_step = true, state = false, once_per_process = false;
};

std::string model_description(const fmu_text& fmu);

/// Why FMI does not allow such a name of a variable; empty: it does.
std::string why_no_fmi_name(const std::string& name);

}  // namespace mdpcosim
