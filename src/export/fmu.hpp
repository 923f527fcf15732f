#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fmi/description.hpp"
#include "scenario/spec.hpp"

/// A coupled scenario, with its method, as one FMU for co-simulation that stands on nothing but the C library; or one of its subsystems, for model
/// exchange, too.
namespace mdpcosim {

struct exported_fmu {
    std::filesystem::path file;
    int inputs = 0, outputs = 0, parameters = 0, states = 0;
    bool exchange = false;  ///< model exchange, too
    std::vector<std::string> notes;
};

/// Inputs that nothing drives become inputs, recorded columns outputs, parameters parameters; FMUs, plugins and tables travel inside. What was
/// written is instantiated and initialised once, or nothing is kept. User errors: programs; names that FMI does not allow; nothing recorded; a
/// `file` that is one of the scenario's own, or no FMU. With `subsystem` that one alone: none of the name, an FMU, a table are user errors as well.
exported_fmu export_fmu(const scenario& s, const std::filesystem::path& file, fmi::version version,
                        const std::string& subsystem = {});

}  // namespace mdpcosim
