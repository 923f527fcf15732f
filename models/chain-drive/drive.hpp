#pragma once

#include <string>
#include <vector>

#include "core/parameter.hpp"
#include "core/part.hpp"
#include "subsystem/scene.hpp"

/// Chain drives as data: what the parts say (read_drive), laid around its supports (lay) and brought to rest under its preloads (relax).
///
/// Coordinates q of a drive: x of all pins, y of all pins, then those of the supports; velocities v likewise.
namespace mdpcosim::drive {

struct chain_data {
    std::string name;
    location where;
    int links = 0;
    double pitch = 0, stiffness = 0, damping = 0, mass = 0;
    int first_pin = 0;
    std::vector<int> route;  ///< supports in the order in which the chain passes them
    int leader = 0;          ///< its first sprocket
    double speed = 0;        ///< pitches per second at the start
};

enum class support_kind { sprocket, guide, rail, pivoting_rail };

/// Whatever a chain runs around: a circle of pin centres.
struct support {
    support_kind kind = support_kind::sprocket;
    std::string name = {};
    location where = {};
    int chain = 0;
    double turn = 1;  ///< 1: the chain turns left around it
    double x = 0, y = 0, radius = 0;
    double contact_stiffness = 0, contact_damping = 0, friction = 0;

    int teeth = 0;
    bool prescribed = false;
    double speed = 0, amplitude = 0, order = 1, rise = 0;
    double inertia = 0, mass = 0;
    bool free_centre = false;
    double bearing_stiffness = 0, bearing_damping = 0;
    double load = 0, load_amplitude = 0, load_order = 1;
    double clearance = 0, flank = 0;

    double arc = 0;  ///< of guides and rails: half of the angle that their surface covers; 0: as the laid chain needs
    double direction_x = 0, direction_y = 0, pivot_x = 0, pivot_y = 0;
    double preload = 0, stiffness = 0, damping = 0, travel = 0;

    /// First coordinate in q; -1: it has none.
    int rotation = -1, centre = -1, shift = -1;

    // From here on by lay() and relax().
    double phase = 0;         ///< angle of a pocket's middle while the wheel's angle is 0
    double middle = 0;        ///< of a guide: angle of its surface's middle
    int pin = 0, window = 0;  ///< the pin at the middle of the wrap at the start, how many on either side may touch
    double bearing_x = 0, bearing_y = 0;  ///< forces of the bearing at the start

    bool is_sprocket() const { return kind == support_kind::sprocket; }
};

/// Springs between two wheels on one axis.
struct shaft_data {
    std::string name;
    int first = 0, second = 0;
    double stiffness = 0, damping = 0, bending = 0;
};

struct drive_data {
    std::vector<chain_data> chains;
    std::vector<support> supports;
    std::vector<shaft_data> shafts;
    int pins = 0, coordinates = 0;
    std::vector<double> inverse_mass;  ///< by coordinate
    std::vector<int> chain_of_pin;

    std::vector<double> q, v;  ///< at the start

    int x(int pin) const { return pin; }
    int y(int pin) const { return pins + pin; }
};

/// The kinds of parts.
std::vector<part_info> part_kinds();

/// Throws user_error with the part's place.
drive_data read_drive(const std::vector<part>& parts);

/// Fills q with pins at their pitch around the supports, shifts rails until the chains are taut. Throws user_error where that cannot be.
void lay(drive_data& d);

/// To equilibrium under preloads and bearings, without loads and motion; what was reached becomes the zero of the supports' coordinates. Then fills v
/// with the chains' motion along themselves.
void relax(drive_data& d);

/// How reports draw it: wheels with their teeth, surfaces, chains.
model_scene draw(const drive_data& d);

/// A prescribed rotation at time t.
struct rotation_law {
    double speed, acceleration;
};
rotation_law prescribed(const support& wheel, double t);

}  // namespace mdpcosim::drive
