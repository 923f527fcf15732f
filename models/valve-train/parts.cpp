#include <cmath>
#include <numbers>

#include "train.hpp"

// The kinds of parts. All default values are assumed: sizes of four-valve engines of passenger cars.

namespace mdpcosim::valve_train {

namespace {

using range = parameter_info::range;
constexpr double pi = std::numbers::pi;

parameter_info at_least_zero(const char* name, const char* unit, const char* what, double usual) {
    return {name, unit, what, usual, range::not_negative};
}
parameter_info above_zero(const char* name, const char* unit, const char* what, double usual) {
    return {name, unit, what, usual, range::positive};
}
part_reference to(const char* kind, const char* what, bool required = true) { return {kind, what, {kind}, required}; }

part_info shaft_kind() {
    return {.kind = "shaft",
            .summary = "camshaft: an end with a port, and a disc for every cam, joined by elastic sections",
            .parameters = {{"drive",
                            "",
                            "whether its end turns freely or with a given speed",
                            0,
                            range::any,
                            false,
                            false,
                            {"free", "prescribed"}},
                           {"speed", "rad/s", "speed at the start, or prescribed; positive: counterclockwise", 0},
                           above_zero("inertia", "kg.m2", "inertia of its end", 1e-4),
                           above_zero("stiffness", "N.m/rad", "stiffness of a section", 2e4),
                           at_least_zero("damping", "N.m.s/rad", "damping of a section", 0.02),
                           at_least_zero("bearing-friction", "N.m",
                                         "dry friction in each bearing, at the end and at every cam", 0),
                           at_least_zero("bearing-damping", "N.m.s/rad", "viscous friction in each bearing", 0),
                           {"x", "m", "where the first cam stands in pictures, to the right", 0},
                           {"y", "m", "and upwards", 0},
                           above_zero("spacing", "m", "distance from cam to cam in pictures", 0.08)}};
}

part_info cam_kind() {
    parameter_info angles{"angles", "rad", "angles of the cam at which 'lifts' are given, rising, in place of a shape",
                          NAN};
    angles.list = true;
    parameter_info lifts{"lifts", "m", "lifts there; the first and the last are zero", NAN};
    lifts.list = true;
    return {
        .kind = "cam",
        .summary = "cam with a lift of two continuous derivatives, from a shape or from a table",
        .parameters =
            {{"angle", "rad",
              "angle of the shaft at which the cam's angle is zero: its largest lift, unless a table says otherwise",
              0},
             above_zero("lift", "m", "largest lift of the shape", 9e-3),
             above_zero("duration", "rad", "angle on which the shape lifts, ramps and all", 2 * pi / 3),
             at_least_zero("dwell", "rad", "angle on which it stays at the largest lift", 0),
             at_least_zero("ramp-lift", "m", "lift of the ramps that begin and end it", 0),
             at_least_zero("ramp", "rad", "angle of each ramp", 0),
             angles,
             lifts,
             above_zero("inertia", "kg.m2", "inertia of its disc, with its part of the shaft", 4e-5),
             above_zero("base-radius", "m", "radius of the base circle: lever of friction, and in pictures", 0.015),
             at_least_zero("friction", "1", "coefficient of friction, or of rolling, against its follower", 0),
             above_zero("contact-stiffness", "N/m", "stiffness of its contact", 1e8),
             at_least_zero("contact-damping", "s/m", "damping of its contact, per force and speed", 2)},
        .references = {to("shaft",
                          "the shaft it sits on, behind those listed before; where there is one it may be left out",
                          false)}};
}

part_info follower_kind() {
    return {.kind = "follower",
            .summary = "tappet, rocker or finger: pressed up by a cam, it opens valves with a ratio",
            .parameters = {above_zero("mass", "kg", "mass, as it is felt at the cam", 0.06),
                           above_zero("ratio", "1", "way of the valve over way at the cam", 1.5),
                           at_least_zero("damping", "N.s/m", "damping of its guide or bearing, at the cam", 2),
                           at_least_zero("lash", "m", "play at the valve; a follower with an adjuster has none", 0),
                           above_zero("contact-stiffness", "N/m", "stiffness of the contact at the valve's tip", 1e8),
                           at_least_zero("contact-damping", "s/m", "damping of that contact, per force and speed", 2)},
            .references = {to("cam", "the cam it follows")}};
}

part_info adjuster_kind() {
    return {
        .kind = "adjuster",
        .summary = "hydraulic lash adjuster between a follower and its valves: a chamber of oil with a ball and a gap",
        .parameters = {above_zero("diameter", "m", "diameter D of the plunger", 0.011),
                       above_zero("volume", "m3", "volume V of the chamber while the plunger stands at zero", 1.5e-7),
                       above_zero("mass", "kg", "mass of the plunger", 0.01),
                       at_least_zero("preload", "N", "force of its spring", 20),
                       at_least_zero("stiffness", "N/m", "stiffness of its spring", 1000),
                       above_zero("inwards", "m", "how far the plunger goes in", 1e-3),
                       above_zero("outwards", "m", "how far it comes out", 2e-3),
                       above_zero("gap", "m", "height h of the gap around the plunger", 8e-6),
                       above_zero("gap-length", "m", "length l of that gap", 0.01),
                       above_zero("ball-diameter", "m", "diameter d of the ball's seat", 3e-3),
                       above_zero("ball-stroke", "m", "lift of the ball at its stop", 2e-4),
                       at_least_zero("ball-mass", "kg", "mass of the ball; zero: its lift follows the pressure at once",
                                     0),
                       at_least_zero("ball-preload", "N", "force of the spring on the closed ball", 0.1),
                       at_least_zero("ball-stiffness", "N/m", "stiffness of that spring", 500),
                       at_least_zero("ball-damping", "N.s/m", "damping of a ball with mass", 0.05),
                       above_zero("ball-contact-stiffness", "N/m",
                                  "stiffness of the seat and the stop of a ball with mass", 1e6),
                       above_zero("discharge", "1", "discharge coefficient alpha", 0.7),
                       above_zero("contact-stiffness", "N/m", "stiffness of the plunger's stops", 1e8),
                       at_least_zero("contact-damping", "s/m", "damping of stops and seat, per force and speed", 1)},
        .references = {to("follower", "the follower it stands in"),
                       to("gallery", "where its oil comes from; where there is one it may be left out", false)}};
}

part_info valve_kind() {
    return {.kind = "valve",
            .summary = "valve on its seat",
            .parameters = {above_zero("mass", "kg", "mass, with its plate and cotters", 0.045),
                           at_least_zero("damping", "N.s/m", "damping in its guide", 2),
                           {"load", "N", "force that closes it while nothing is connected to the input 'load'", 0},
                           above_zero("seat-stiffness", "N/m", "stiffness of the seat", 5e8),
                           at_least_zero("seat-damping", "s/m", "damping of the seat, per force and speed", 2)},
            .references = {to("follower", "the follower that opens it")}};
}

part_info spring_kind() {
    parameter_info masses{"masses", "1", "masses between its ends", 9, range::whole};
    masses.most = 1000;
    return {.kind = "spring",
            .summary = "valve spring: a row of masses, which surges, and whose coils may touch",
            .parameters = {masses, at_least_zero("preload", "N", "force on the closed valve", 250),
                           above_zero("stiffness", "N/m", "stiffness", 4e4),
                           above_zero("mass", "kg", "mass of all coils", 0.05),
                           at_least_zero("damping", "N.s/m", "damping, as one damper beside the whole spring", 0.3),
                           above_zero("travel", "m", "lift of the valve at which all coils touch", INFINITY),
                           above_zero("contact-stiffness", "N/m", "stiffness where two coils touch", 1e7),
                           at_least_zero("contact-damping", "s/m", "damping there, per force and speed", 2)},
            .references = {to("valve", "the valve it closes")}};
}

}  // namespace

std::vector<part_info> part_kinds() {
    return {shaft_kind(),
            cam_kind(),
            follower_kind(),
            {.kind = "gallery",
             .summary = "oil for adjusters: a node outside, which takes its pressure and gives volume and flow into it",
             .parameters = {{"pressure", "Pa", "pressure at the start, and while nothing is connected", 4e5,
                             range::not_negative}}},
            adjuster_kind(),
            valve_kind(),
            spring_kind()};
}

std::vector<parameter_info> oil_parameters() {
    return {above_zero("density", "kg/m3", "density rho of the oil", 850),
            above_zero("viscosity", "Pa.s", "dynamic viscosity eta", 0.01),
            above_zero("modulus", "Pa", "bulk modulus of the oil, without air", 1.4e9),
            at_least_zero("air", "1", "volume fraction of air in the adjusters at the reference pressure", 0),
            above_zero("kappa", "1", "isentropic exponent of the air", 1.4),
            above_zero("reference-pressure", "Pa", "pressure at which the fraction of air is given", 1e5),
            above_zero("vapour-pressure", "Pa", "lowest pressure; where it is reached there is a void", 1000),
            above_zero("transition-pressure", "Pa", "pressure drop dp_0 below which orifices are laminar", 2000),
            at_least_zero("ambient-pressure", "Pa", "pressure around the plungers", 1e5)};
}

}  // namespace mdpcosim::valve_train
