#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace mdpcosim {

enum class port_kind { translation, rotation, hydraulic, thermal, electric, magnetic, frame, signal };

/// Who decides what at a port. In the words of mechanics, used for all domains: `motion` is the position-like quantity
/// with its rates (volume, temperature, charge ...), `load` what acts on it (force, pressure, heat flow, current ...).
enum class causality { takes_load, takes_motion };

/// Names and SI units of the variables of one kind of port, as they stand in addresses (`engine.shaft.angle`).
struct port_kind_info {
    port_kind kind;
    std::string name;
    std::array<std::string, 3> motion;  ///< value, rate, second rate; empty where the domain has none
    std::array<std::string, 3> motion_unit;
    std::string load;
    std::string load_unit;
    std::string load_integral = {};  ///< what a takes_motion port may give besides its load; empty where unused
    std::string load_integral_unit = {};
};

/// A port's motion as numbers in a fixed order. In one dimension: value, rate, second rate. Of a frame (inertial axes
/// throughout; the quaternion w, x, y, z turns vectors from the frame's axes into inertial ones):
namespace frame_motion {
inline constexpr int position = 0, orientation = 3, velocity = 7, angular_velocity = 10, acceleration = 13,
                     angular_acceleration = 16, count = 19;
/// What is whose rate, three numbers each.
inline constexpr std::array<std::pair<int, int>, 3> rates{
    {{position, velocity}, {velocity, acceleration}, {angular_velocity, angular_acceleration}}};
}  // namespace frame_motion
inline constexpr int frame_load_count = 6;  ///< force, torque at the frame's origin

/// One variable of a frame, `orientation`, and its place among the numbers of the motion or load.
struct frame_variable {
    std::string name;
    std::string unit;
    int first;
    int size;
};

std::span<const frame_variable> frame_motion_variables();
std::span<const frame_variable> frame_load_variables();

/// `orientation[3]` for the number at place k.
std::string frame_element_name(std::span<const frame_variable> variables, int k);

/// Numbers of a port's motion and load as joints see them.
inline int motion_count(port_kind kind) { return kind == port_kind::frame ? frame_motion::count : 3; }
inline int load_count(port_kind kind) { return kind == port_kind::frame ? frame_load_count : 1; }

std::span<const port_kind_info> port_kinds();
const port_kind_info& info(port_kind kind);
std::optional<port_kind> find_port_kind(std::string_view name);

/// A law's unit with the kind's units put in: "{load}/{motion}" is N/m for translation and N.m/rad for rotation;
/// {rate} is the unit of the first rate.
std::string unit_for(port_kind kind, std::string_view pattern);

/// Of what resists the input of a port: load over second rate, over first rate where the domain has no other; for a port that
/// takes motion the reverse. Empty where the domain knows no such thing.
std::string inertia_unit(port_kind kind, causality direction);

}  // namespace mdpcosim
