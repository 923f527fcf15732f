#pragma once

#include <memory>

#include "core/parameter.hpp"
#include "drive.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim::drive {

/// A drive with rigid contacts and friction, which integrates itself (contact/time_stepper.hpp).
std::unique_ptr<subsystem> make_rigid_drive(const parameter_values& p, drive_data d);

}  // namespace mdpcosim::drive
