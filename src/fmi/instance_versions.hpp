#pragma once

#include "fmi/library.hpp"

/// One line per version of the standard. Private to fmi/.
namespace mdpcosim::fmi {

std::unique_ptr<instance> make_instance_1(std::shared_ptr<fmu_library> library, const instance_options& options);
std::unique_ptr<instance> make_instance_2(std::shared_ptr<fmu_library> library, const instance_options& options);
std::unique_ptr<instance> make_instance_3(std::shared_ptr<fmu_library> library, const instance_options& options);

}  // namespace mdpcosim::fmi
