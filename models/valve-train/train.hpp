#pragma once

#include <string>
#include <vector>

#include "core/hydraulics.hpp"
#include "core/parameter.hpp"
#include "core/part.hpp"
#include "lift_law.hpp"
#include "subsystem/scene.hpp"

/// Valve trains as data: what the parts say (read_train). Parts know each other by their place in the lists.
namespace mdpcosim::valve_train {

struct shaft_data {
    std::string name;
    location where;
    bool prescribed = false;
    double speed = 0;                       ///< at the start, or all the time
    double inertia = 0;                     ///< of its end, where the port is
    double stiffness = 0, damping = 0;      ///< of each section, from the end to the first cam and from cam to cam
    double friction = 0, bearing_drag = 0;  ///< of each bearing: one at the end and one at every cam
    double x = 0, y = 0, spacing = 0;       ///< in pictures
    std::vector<int> cams;                  ///< in their order along the shaft
};

struct cam_data {
    std::string name;
    location where;
    int shaft = 0;
    double angle = 0, inertia = 0, base_radius = 0, friction = 0;
    double stiffness = 0, damping = 0;  ///< of its contact
    lift_law law;
    int disc = 0;  ///< 1 for the first of its shaft
};

struct follower_data {
    std::string name;
    location where;
    int cam = 0;
    double mass = 0, ratio = 1, drag = 0, lash = 0;
    double stiffness = 0, damping = 0;  ///< of the contact at the tip of the valve
    int adjuster = -1;                  ///< none
    std::vector<int> valves;
};

struct gallery_data {
    std::string name;
    location where;
    double pressure = 0;
};

struct adjuster_data {
    std::string name;
    location where;
    int follower = 0, gallery = 0;
    double area = 0, volume = 0, mass = 0, preload = 0, stiffness = 0, inwards = 0, outwards = 0;
    double leak = 0;  ///< m3/(s.Pa)
    double seat_area = 0, opening = 0, stroke = 0, ball_mass = 0, ball_preload = 0, ball_stiffness = 0, ball_drag = 0;
    double ball_contact = 0;
    double stop_stiffness = 0, contact_damping = 0, discharge = 0;
};

struct valve_data {
    std::string name;
    location where;
    int follower = 0;
    double mass = 0, drag = 0, load = 0;
    double seat_stiffness = 0, seat_damping = 0;
    std::vector<int> springs;
};

struct spring_data {
    std::string name;
    location where;
    int valve = 0, masses = 1;
    double preload = 0, stiffness = 0, mass = 0, damping = 0, travel = 0;
    double coil_stiffness = 0, coil_damping = 0;
};

struct train_data {
    std::vector<shaft_data> shafts;
    std::vector<cam_data> cams;
    std::vector<follower_data> followers;
    std::vector<gallery_data> galleries;
    std::vector<adjuster_data> adjusters;
    std::vector<valve_data> valves;
    std::vector<spring_data> springs;
    hydraulics::compressible oil;
    hydraulics::surroundings surroundings;

    const follower_data& follower_of(const valve_data& v) const {
        return followers[static_cast<std::size_t>(v.follower)];
    }
    const cam_data& cam_of(const follower_data& f) const { return cams[static_cast<std::size_t>(f.cam)]; }
};

/// The kinds of parts, and the model's own parameters.
std::vector<part_info> part_kinds();
std::vector<parameter_info> oil_parameters();

/// Throws user_error with the part's place.
train_data read_train(const parameter_values& p, const std::vector<part>& parts);

/// How reports draw it, unrolled: every cam with what follows it beside the next.
model_scene draw(const train_data& d);

}  // namespace mdpcosim::valve_train
