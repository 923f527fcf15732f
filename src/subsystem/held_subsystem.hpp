#pragma once

#include <memory>

#include "subsystem/sampling.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// Any subsystem without ports as a sampled one (`sample:` of plugins and programs). At a sample time t_k its inputs u_k are read and its outputs
/// y_k formed, which appear `delay` later and are held; then it advances to t_{k+1} under the constant u_k, in one call. It begins at the
/// first sample; until y_0 appears, its outputs are those of the start with the inputs' start values.
std::unique_ptr<subsystem> make_held_subsystem(std::unique_ptr<subsystem> inner, const sampling& clock);

}  // namespace mdpcosim
