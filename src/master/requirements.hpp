#pragma once

#include <string>

#include "master/coupled_system.hpp"

namespace mdpcosim {

/// A user error that names the subsystems which cannot save and restore, `why` that is needed, and the way that needs less.
void require_save_restore(const coupled_system& system, const std::string& why, const std::string& less);

}  // namespace mdpcosim
