#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// Robots in the Unified Robot Description Format as parts of the model multibody.
namespace mdpcosim {

struct urdf_parts {
    std::string yaml;  ///< `model: multibody` with its parts, for `include:`
    int bodies = 0, joints = 0;
    double mass = 0;                 ///< of what moves
    std::vector<std::string> notes;  ///< what the file says and the parts do not
};

/// Links that fixed joints hold together are one body, with the name of the link that the others hang on. At zero positions all bodies have the
/// axes of the root link, as the model wants it; places, axes and inertias are turned there. The root stands on the ground, or moves where
/// `free_base`. User errors with file, line, what is there and what is to be done: no URDF, links that do not exist or hang on two joints, loops,
/// joints of unknown type, what moves without mass.
urdf_parts read_urdf(const std::filesystem::path& file, bool free_base);

}  // namespace mdpcosim
