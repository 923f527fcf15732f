#pragma once

#include "core/json.hpp"
#include "results/result_table.hpp"

namespace mdpcosim {

/// The scenes of system.json with numbers in place of expressions: a coordinate becomes a number, or one value per frame (base64 of
/// single precision). A chain's coordinates are low + step * n, 16 bit n, frame after frame; 65535 is none. All shapes of all scenes have the same
/// frames, each a row of the results: the fewer, the more points chains have. Shapes whose outputs were not recorded are left out and their
/// names told.
json scene_tracks(const json& scenes, const result_table& table);

}  // namespace mdpcosim
