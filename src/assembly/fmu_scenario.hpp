#pragma once

#include "fmi/description.hpp"
#include "fmi/instance.hpp"
#include "scenario/read.hpp"

/// A single FMU as a scenario of its own, for `run model.fmu` and `check model.fmu`.
namespace mdpcosim {

/// The name of the scenario's subsystem: the FMU's model identifier, in the characters that names may have.
std::string fmu_subsystem_name(const fmi::description& fmu);

/// The macro step where nobody gives one: that of the default experiment, or 1/500 of the span; for an FMU that works in
/// fixed steps the nearest whole multiple of those.
double fmu_macro_step(const fmi::description& fmu, fmi::kind kind, double span);

/// One subsystem with the time, step and tolerance of the FMU's default experiment. With `input` a CSV file drives the inputs that
/// its columns are named after, in the FMU's units: continuous ones between the rows linearly, others held.
/// `overrides` as for a scenario file; a variable of the FMU needs no subsystem in front. User errors: no stop time, columns
/// that are no inputs.
scenario fmu_scenario(const std::filesystem::path& path, const std::vector<scenario_override>& overrides,
                      const std::filesystem::path& input);

/// A scenario file, a system of SSP (`.ssp`, `.ssd`), or a single FMU (`.fmu`) with its default experiment, whose inputs `input`, a CSV file, may
/// drive.
scenario load_scenario(const std::filesystem::path& path, const std::vector<scenario_override>& overrides = {},
                       const std::filesystem::path& input = {});

}  // namespace mdpcosim
