#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/part.hpp"
#include "engine.hpp"
#include "subsystem/equations.hpp"
#include "subsystem/scene.hpp"

namespace mdpcosim::multibody {

/// What the scenario lists, checked: names of ports are those of their parts.
struct described_system : system_data {
    std::vector<std::string> frame_names, coordinate_names;
    struct attitude {
        std::string name;
        int body = 0;
    };
    std::vector<attitude> attitudes;
    double tolerance = 1e-8;  ///< of constraints, above which they are closed again
};

/// How one coordinate of a joint is called, and its unit.
struct coordinate_name {
    const char *name, *unit;
};
std::vector<coordinate_name> coordinates_of(joint_kind kind);

std::vector<part_info> part_kinds();
std::vector<parameter_info> parameters();
/// Mistakes are user errors at the part.
described_system read_system(const parameter_values& p, const std::vector<part>& parts);
model_scene draw(const described_system& d);

/// On an engine of the module; std::invalid_argument where the module is missing or the loops cannot close.
std::unique_ptr<equations> make_system(described_system d);

}  // namespace mdpcosim::multibody
