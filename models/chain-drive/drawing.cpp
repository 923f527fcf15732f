#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drive.hpp"

namespace mdpcosim::drive {

namespace {

constexpr double pi = std::numbers::pi;

std::string number(double value) { return fmt::format("{:.6g}", value); }

std::vector<std::string> at_angle(double radius, double angle) {
    return {number(radius * std::cos(angle)), number(radius * std::sin(angle))};
}

/// A sum of a number and an output.
std::string moved(double start, const std::string& output, double factor = 1) {
    return fmt::format("{:.9g} + ({:.9g})*{}", start, factor, scene_name(output));
}

scene_shape draw_wheel(const support& s, double pitch) {
    scene_shape shape{
        .kind = "outline", .rotation = {scene_name(s.name + ".shaft.angle")}, .ports = {s.name + ".shaft"}};
    const double tooth = 2 * pi / s.teeth, bottom = s.radius - 0.3 * pitch, tip = s.radius + 0.25 * pitch;
    for (int k = 0; k < s.teeth; ++k) {
        const double pocket = s.phase + k * tooth;
        for (const auto& [radius, turned] :
             {std::pair(bottom, -0.2), std::pair(bottom, 0.2), std::pair(tip, 0.42), std::pair(tip, 0.58)})
            shape.points.push_back(at_angle(radius, pocket + turned * tooth));
    }
    shape.place = {number(s.x), number(s.y)};
    if (s.free_centre) shape.place = {moved(s.x, s.name + ".x.position"), moved(s.y, s.name + ".y.position")};
    return shape;
}

/// A dot that shows how far the wheel has turned.
scene_shape draw_mark(const support& s, const scene_shape& wheel) {
    scene_shape shape{.kind = "outline", .rotation = wheel.rotation, .place = wheel.place};
    constexpr int corners = 8;
    for (int k = 0; k < corners; ++k) {
        const double angle = 2 * pi * k / corners, size = 0.09 * s.radius;
        shape.points.push_back({number(size * std::cos(angle)), number(0.6 * s.radius + size * std::sin(angle))});
    }
    return shape;
}

/// What lies behind the plates of the links.
scene_shape draw_surface(const support& s, double pitch) {
    scene_shape shape{.kind = "outline"};
    const bool pivots = s.kind == support_kind::pivoting_rail;
    const double from_x = pivots ? s.x - s.pivot_x : 0, from_y = pivots ? s.y - s.pivot_y : 0;
    constexpr int pieces = 16;
    const double outer = std::max(s.radius - 0.35 * pitch, 0.5 * s.radius),
                 inner = std::max(outer - pitch, 0.5 * outer);
    for (int k = 0; k < 2 * (pieces + 1); ++k) {
        const bool back = k > pieces;
        const double angle = s.middle + s.arc * (2.0 * (back ? 2 * pieces + 1 - k : k) / pieces - 1),
                     radius = back ? inner : outer;
        shape.points.push_back({number(from_x + radius * std::cos(angle)), number(from_y + radius * std::sin(angle))});
    }
    shape.place = {number(s.x), number(s.y)};
    if (s.kind == support_kind::rail)
        shape.place = {moved(s.x, s.name + ".shoe.position", s.direction_x),
                       moved(s.y, s.name + ".shoe.position", s.direction_y)};
    if (pivots) {
        shape.place = {number(s.pivot_x), number(s.pivot_y)};
        shape.rotation = {scene_name(s.name + ".shoe.angle")};
    }
    if (s.shift >= 0) shape.ports = {s.name + ".shoe"};
    return shape;
}

}  // namespace

model_scene draw(const drive_data& d) {
    model_scene scene;
    for (const support& s : d.supports) {
        const double pitch = d.chains[static_cast<std::size_t>(s.chain)].pitch;
        scene.shapes.push_back(s.is_sprocket() ? draw_wheel(s, pitch) : draw_surface(s, pitch));
        if (s.is_sprocket()) scene.shapes.push_back(draw_mark(s, scene.shapes.back()));
    }
    for (const chain_data& c : d.chains)
        scene.shapes.push_back(
            {.kind = "chain", .size = {number(0.6 * c.pitch)}, .vectors = {c.name + ".x", c.name + ".y"}});
    return scene;
}

}  // namespace mdpcosim::drive
