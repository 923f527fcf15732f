#pragma once

#include <filesystem>
#include <vector>

#include "scenario/read.hpp"

/// A system of SSP (`.ssp`, `.ssd`) as a scenario.
namespace mdpcosim {

/// `.ssp`, `.ssd` in any case of letters.
bool is_ssp(const std::filesystem::path& path);

/// In our annotations: where a signal stands that is no connection, among all.
inline constexpr const char* ssp_position_key = "position";

/// Components become subsystems, connections signals, parameter sets their settings; an annotation of ours adds what SSP has no words for. Where
/// neither it nor `overrides` say method and step, what is assumed is told in the notes. Throws user_error with the place in the SSD: what is broken,
/// files that are missing or lie elsewhere, names, types and units that do not fit the FMUs.
scenario ssp_scenario(const std::filesystem::path& path, const std::vector<scenario_override>& overrides);

}  // namespace mdpcosim
