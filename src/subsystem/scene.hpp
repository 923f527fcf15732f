#pragma once

#include <string>
#include <vector>

/// How reports draw a subsystem moving: shapes at places that follow its outputs. Coordinates, sizes (m) and angles (rad) are
/// expressions (expression.hpp) of `t` and of outputs, whose names have `_` where they are no letters or digits: `mass_position` is
/// mass.position, `x_3` is x[3].
namespace mdpcosim {

struct scene_shape {
    std::string kind;                                   ///< see model_scene
    std::vector<std::vector<std::string>> points = {};  ///< coordinates
    std::vector<std::string> size = {}, rotation = {};  ///< rotation: none, an angle, or a unit quaternion
    std::vector<std::string> ports = {};    ///< that stand at the first point, of an outline in the middle of all
    std::vector<std::string> vectors = {};  ///< of a chain: outputs, as the subsystem names them
    std::vector<std::string> place = {};    ///< of an outline: where its origin stands
    bool closed = true;                     ///< outline, chain: the last point is joined with the first
};

/// In space: ball, box, disc (one point), rod, spring, line (two or more), each point with two or three coordinates.
/// outline: three points or more about its own origin, which stands at `place` and turns by `rotation` (a wheel with its teeth, a guide); filled
/// where it is closed. chain: rollers of diameter `size` joined by links, at as many points as the vector outputs have elements: two outputs,
/// x and y (or three), or one that holds them in turn.
/// What stands later in the list covers what stands before, in a scene that does not leave the plane.
/// In a row: parts from left to right, which the page spaces itself: ground, spring, block (one point with one coordinate, its
/// displacement), wheel (an angle). Displacements are drawn larger or smaller than they are.
struct model_scene {
    bool row = false;
    std::vector<scene_shape> shapes;
};

/// The name of an output as expressions of scenes write it.
std::string scene_name(const std::string& output);

}  // namespace mdpcosim
