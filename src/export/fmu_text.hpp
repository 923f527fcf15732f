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
    int derivative_of = -1;      ///< another one of the list
    std::optional<std::vector<int>> depends =
        {};  ///< inputs and states that it follows at once; not given: follows_inputs
};

/// A physical port, for FMI 3.0.
struct described_terminal {
    struct member {
        std::string name, variable, kind;
    };
    std::string name, kind, description;
    std::vector<member> members;
};

struct fmu_text {
    fmi::version version = fmi::version::v2;
    std::string name, identifier, token, description;
    std::vector<described_variable> variables;
    double start = 0, stop = 1, step = 0;
    bool variable_step = true, state = false, once_per_process = false;
    bool has_macro_steps = true;  ///< of its own; else a step is the host's
    // Of single subsystems:
    bool exchange = false;        ///< model exchange is offered, too
    bool completed_step = false;  ///< model exchange: the FMU has to be told
    bool interpolates = false;    ///< inputs may have derivatives (2.0)
    bool directional_steps = false, directional_exchange = false;
    std::vector<described_terminal> terminals;
};

std::string model_description(const fmu_text& fmu);
/// terminalsAndIcons.xml
std::string terminals_description(const fmu_text& fmu);

/// Why FMI does not allow such a name of a variable; empty: it does.
std::string why_no_fmi_name(const std::string& name);

}  // namespace mdpcosim
