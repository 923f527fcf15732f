#pragma once

#include "scenario/keys.hpp"

namespace mdpcosim {

/// Keys of one shape of a scene.
const key_group& shape_keys();

}  // namespace mdpcosim
