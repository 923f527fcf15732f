#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "train.hpp"

// From parts to a train, with what parts must be.

namespace mdpcosim::valve_train {

namespace {

constexpr double pi = std::numbers::pi;
constexpr double degree = pi / 180;

std::string title(const part& p) { return fmt::format("{} '{}'", p.kind, p.name); }

[[noreturn]] void refuse(const part& p, const std::string& what) { throw user_error(p.where, title(p) + ": " + what); }

template <class Data>
int find(const std::vector<Data>& all, std::string_view name) {
    return static_cast<int>(std::ranges::find(all, name, &Data::name) - all.begin());
}

/// The part that is named, or the only one.
template <class Data>
int named_or_only(const part& p, const char* kind, const std::vector<Data>& all) {
    const std::string_view name = p.refers_to(kind);
    if (!name.empty()) return find(all, name);
    if (all.size() == 1) return 0;
    std::vector<std::string> names;
    for (const auto& one : all) names.push_back(one.name);
    if (all.empty()) refuse(p, fmt::format("there is no {0} for it. Add a part of kind '{0}'.", kind));
    refuse(p, fmt::format("'{0}' is missing, which says to which of {1} it belongs.", kind, name_list(names)));
}

/// A point of a table for messages.
std::string point(const std::vector<double>& angles, const std::vector<double>& lifts, std::size_t i) {
    return fmt::format("{:.6g} mm at {:.6g} deg", lifts[i] * 1e3, angles[i] / degree);
}

void check_table(const part& p, const std::vector<double>& angles, const std::vector<double>& lifts) {
    const std::size_t n = angles.size();
    if (lifts.size() != n)
        refuse(p, fmt::format("'angles' has {} values and 'lifts' has {}. A table needs one lift for every angle.", n,
                              lifts.size()));
    if (n < 5) refuse(p, fmt::format("its table has {} points. It needs 5 at least.", n));
    for (std::size_t i = 0; i < n; ++i) {
        if (i > 0 && angles[i] == angles[i - 1] && lifts[i] != lifts[i - 1])
            refuse(p, fmt::format("its table jumps from {} to {} (values {} and {}). Give every angle one lift.",
                                  point(angles, lifts, i - 1), point(angles, lifts, i), i, i + 1));
        if (i > 0 && !(angles[i] > angles[i - 1]))
            refuse(p, fmt::format("'angles' must rise from value to value; value {}, {:.6g} deg, follows {:.6g} deg.",
                                  i + 1, angles[i] / degree, angles[i - 1] / degree));
        if (lifts[i] < 0)
            refuse(p, fmt::format("its table has {}. Lifts are counted from the base circle, upwards.",
                                  point(angles, lifts, i)));
    }
    if (angles[n - 1] - angles[0] > 2 * pi * (1 + 1e-9))
        refuse(p, fmt::format("its table goes from {:.6g} to {:.6g} deg, more than a turn.", angles[0] / degree,
                              angles[n - 1] / degree));
    for (const std::size_t i : {std::size_t{0}, n - 1})
        if (lifts[i] != 0)
            refuse(p, fmt::format("its table jumps where it {}, from 0 on the base circle to {}. Its first and last "
                                  "lift are zero: add the points that lead there.",
                                  i == 0 ? "begins" : "ends", point(angles, lifts, i)));
    const double highest = *std::ranges::max_element(lifts);
    if (!(highest > 0)) refuse(p, "its table has no lift.");
    // A smooth lift of points that are close enough is nowhere much steeper than on one of both sides.
    const auto slope = [&](std::size_t i) { return (lifts[i + 1] - lifts[i]) / (angles[i + 1] - angles[i]); };
    constexpr double steeper = 4, too_little_to_see = 0.02;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        const double own = slope(i), sign = own < 0 ? -1 : 1;
        const double before = i > 0 ? sign * slope(i - 1) : 0, after = i + 2 < n ? sign * slope(i + 1) : 0;
        if (std::fabs(lifts[i + 1] - lifts[i]) <= too_little_to_see * highest ||
            std::fabs(own) <= steeper * std::max({before, after, 0.0}))
            continue;
        refuse(p, fmt::format("its table jumps from {} to {} (values {} and {}): {:.4g} mm/deg, beside {:.4g} before "
                              "and {:.4g} behind. Correct these values, or give points in between.",
                              point(angles, lifts, i), point(angles, lifts, i + 1), i + 1, i + 2, own * 1e3 * degree,
                              sign * before * 1e3 * degree, sign * after * 1e3 * degree));
    }
}

/// Scenarios with every default written out give a shape its default values beside a table.
bool is_default(const parameter_values& v, const char* key) {
    const std::vector<part_info> kinds = part_kinds();
    const auto& cam = std::ranges::find(kinds, "cam", &part_info::kind)->parameters;
    return v[key] == std::ranges::find(cam, key, &parameter_info::name)->default_value;
}

lift_law read_law(const part& p) {
    const parameter_values& v = p.values;
    if (v.given("angles") || v.given("lifts")) {
        for (const char* key : {"lift", "duration", "dwell", "ramp-lift", "ramp"})
            if (!is_default(v, key))
                refuse(p, fmt::format("'{}' is of a shape, 'angles' and 'lifts' are a table. Give one of them.", key));
        check_table(p, v.list("angles"), v.list("lifts"));
        return lift_law(knots_of_points(v.list("angles"), v.list("lifts")));
    }
    const lift_shape shape{v["lift"], v["duration"], v["dwell"], v["ramp-lift"], v["ramp"]};
    if (shape.duration > 2 * pi)
        refuse(p, fmt::format("'duration' is {:.6g} deg, more than a turn.", shape.duration / degree));
    if ((shape.ramp > 0) != (shape.ramp_lift > 0))
        refuse(p, "'ramp' and 'ramp-lift' are given together or not at all.");
    const double flank = shape.duration / 2 - shape.ramp - shape.dwell / 2;
    if (!(flank > 0))
        refuse(p, fmt::format(
                      "two ramps of {:.6g} deg and a dwell of {:.6g} deg leave nothing of a duration of {:.6g} deg.",
                      shape.ramp / degree, shape.dwell / degree, shape.duration / degree));
    // Twice as steep as the mean slope the ramp ends; the flank goes on from there, and must not turn back.
    if (shape.ramp > 0 && !(2 * shape.ramp_lift / shape.ramp <= (shape.lift - shape.ramp_lift) / flank))
        refuse(
            p,
            fmt::format(
                "its ramp of {:.6g} mm within {:.6g} deg is as steep as the flank behind it. Make it lower or longer.",
                shape.ramp_lift * 1e3, shape.ramp / degree));
    return lift_law(knots_of_shape(shape));
}

shaft_data read_shaft(const part& p) {
    const parameter_values& v = p.values;
    return {p.name,
            p.where,
            v["drive"] == 1,
            v["speed"],
            v["inertia"],
            v["stiffness"],
            v["damping"],
            v["bearing-friction"],
            v["bearing-damping"],
            v["x"],
            v["y"],
            v["spacing"],
            {}};
}

cam_data read_cam(const part& p, train_data& d) {
    const parameter_values& v = p.values;
    const int shaft = named_or_only(p, "shaft", d.shafts);
    shaft_data& s = d.shafts[static_cast<std::size_t>(shaft)];
    s.cams.push_back(static_cast<int>(d.cams.size()));
    return {p.name,
            p.where,
            shaft,
            v["angle"],
            v["inertia"],
            v["base-radius"],
            v["friction"],
            v["contact-stiffness"],
            v["contact-damping"],
            read_law(p),
            static_cast<int>(s.cams.size())};
}

follower_data read_follower(const part& p, const train_data& d) {
    const parameter_values& v = p.values;
    return {p.name,
            p.where,
            find(d.cams, p.refers_to("cam")),
            v["mass"],
            v["ratio"],
            v["damping"],
            v["lash"],
            v["contact-stiffness"],
            v["contact-damping"],
            -1,
            {}};
}

adjuster_data read_adjuster(const part& p, train_data& d) {
    const parameter_values& v = p.values;
    adjuster_data a{.name = p.name, .where = p.where};
    a.follower = find(d.followers, p.refers_to("follower"));
    a.gallery = named_or_only(p, "gallery", d.galleries);
    const double D = v["diameter"], h = v["gap"];
    a.area = pi / 4 * D * D;
    a.volume = v["volume"];
    a.mass = v["mass"];
    a.preload = v["preload"];
    a.stiffness = v["stiffness"];
    a.inwards = v["inwards"];
    a.outwards = v["outwards"];
    a.leak = pi * D * h * h * h / (12 * d.surroundings.viscosity * v["gap-length"]);
    a.seat_area = pi / 4 * v["ball-diameter"] * v["ball-diameter"];
    a.opening = pi * v["ball-diameter"] * std::sqrt(0.5);
    a.stroke = v["ball-stroke"];
    a.ball_mass = v["ball-mass"];
    a.ball_preload = v["ball-preload"];
    a.ball_stiffness = v["ball-stiffness"];
    a.ball_drag = v["ball-damping"];
    a.ball_contact = v["ball-contact-stiffness"];
    a.discharge = v["discharge"];
    a.stop_stiffness = v["contact-stiffness"];
    a.contact_damping = v["contact-damping"];
    if (!(a.volume > a.area * a.inwards))
        refuse(p, fmt::format("its chamber of {:.6g} cm3 ends before the plunger does, whose {:.6g} mm inwards take "
                              "{:.6g} cm3. Raise 'volume', or lower 'inwards'.",
                              a.volume * 1e6, a.inwards * 1e3, a.area * a.inwards * 1e6));
    if (a.ball_mass == 0 && !(a.ball_stiffness > 0))
        refuse(p, "a ball without mass needs a 'ball-stiffness', which says how far it lifts.");
    follower_data& f = d.followers[static_cast<std::size_t>(a.follower)];
    if (f.adjuster >= 0)
        refuse(p, fmt::format("follower '{}' has the adjuster '{}' already.", f.name,
                              d.adjusters[static_cast<std::size_t>(f.adjuster)].name));
    if (f.lash > 0)
        throw user_error(f.where, fmt::format("follower '{}': it has a 'lash' of {:.6g} mm and the adjuster '{}', "
                                              "which takes it away. Leave one of them out.",
                                              f.name, f.lash * 1e3, p.name));
    f.adjuster = static_cast<int>(d.adjusters.size());
    return a;
}

valve_data read_valve(const part& p, train_data& d) {
    const parameter_values& v = p.values;
    const int follower = find(d.followers, p.refers_to("follower"));
    d.followers[static_cast<std::size_t>(follower)].valves.push_back(static_cast<int>(d.valves.size()));
    return {p.name, p.where, follower, v["mass"], v["damping"], v["load"], v["seat-stiffness"], v["seat-damping"], {}};
}

spring_data read_spring(const part& p, train_data& d) {
    const parameter_values& v = p.values;
    const int valve = find(d.valves, p.refers_to("valve"));
    d.valves[static_cast<std::size_t>(valve)].springs.push_back(static_cast<int>(d.springs.size()));
    return {p.name,    p.where,      valve,       static_cast<int>(v["masses"]), v["preload"],        v["stiffness"],
            v["mass"], v["damping"], v["travel"], v["contact-stiffness"],        v["contact-damping"]};
}

void check_whole(const train_data& d) {
    const auto need = [](bool there, const location& where, const std::string& what) {
        if (!there) throw user_error(where, what);
    };
    for (const shaft_data& s : d.shafts)
        need(!s.cams.empty(), s.where,
             fmt::format("shaft '{}' has no cam. Add a part of kind 'cam', or leave the shaft out.", s.name));
    for (std::size_t k = 0; k < d.cams.size(); ++k)
        need(std::ranges::any_of(d.followers, [&](const auto& f) { return f.cam == static_cast<int>(k); }),
             d.cams[k].where,
             fmt::format("nothing follows cam '{}'. Add a part of kind 'follower' that names it, or leave the cam out.",
                         d.cams[k].name));
    for (const follower_data& f : d.followers)
        need(!f.valves.empty(), f.where,
             fmt::format(
                 "follower '{}' opens no valve. Add a part of kind 'valve' that names it, or leave the follower out.",
                 f.name));
    for (std::size_t k = 0; k < d.galleries.size(); ++k)
        need(std::ranges::any_of(d.adjusters, [&](const auto& a) { return a.gallery == static_cast<int>(k); }),
             d.galleries[k].where, fmt::format("gallery '{}' feeds no adjuster. Leave it out.", d.galleries[k].name));
    for (const valve_data& v : d.valves) {
        need(!v.springs.empty(), v.where,
             fmt::format("valve '{}' has no spring, which closes it. Add a part of kind 'spring' that names it.",
                         v.name));
        const follower_data& f = d.follower_of(v);
        const cam_data& c = d.cam_of(f);
        const double highest = f.ratio * c.law.highest() - f.lash, start = f.ratio * c.law.at(-c.angle).h - f.lash;
        for (const int k : v.springs) {
            const spring_data& s = d.springs[static_cast<std::size_t>(k)];
            need(s.travel > start, s.where,
                 fmt::format(
                     "spring '{}' is pressed beyond solid at the start: valve '{}' is lifted by {:.6g} mm there, and "
                     "the coils touch at {:.6g} mm ('travel'). Give it more travel, or turn the cam '{}' ('angle').",
                     s.name, v.name, start * 1e3, s.travel * 1e3, c.name));
            need(s.travel > highest, s.where,
                 fmt::format(
                     "spring '{}' would be pressed beyond solid: the largest lift of valve '{}' is {:.6g} mm, and the "
                     "coils touch at {:.6g} mm ('travel'). Give it more travel, or lower the lift of cam '{}'.",
                     s.name, v.name, highest * 1e3, s.travel * 1e3, c.name));
        }
    }
    for (const adjuster_data& a : d.adjusters) {
        const follower_data& f = d.followers[static_cast<std::size_t>(a.follower)];
        const gallery_data& g = d.galleries[static_cast<std::size_t>(a.gallery)];
        double closing = 0;
        for (const int v : f.valves) {
            const valve_data& valve = d.valves[static_cast<std::size_t>(v)];
            closing += valve.load;
            for (const int s : valve.springs) closing += d.springs[static_cast<std::size_t>(s)].preload;
        }
        const double opening = a.area * (g.pressure - d.surroundings.ambient) + a.preload;
        need(closing > opening, a.where,
             fmt::format("adjuster '{}' opens its valve by itself: it pushes with {:.6g} N at the pressure of gallery "
                         "'{}', and springs close with {:.6g} N. Raise their 'preload', or lower the pressure.",
                         a.name, opening, g.name, closing));
    }
}

}  // namespace

train_data read_train(const parameter_values& p, const std::vector<part>& parts) {
    const bool airy = p["air"] > 0;
    train_data d{.shafts = {},
                 .cams = {},
                 .followers = {},
                 .galleries = {},
                 .adjusters = {},
                 .valves = {},
                 .springs = {},
                 .oil = {airy ? hydraulics::modulus_model::pressure_dependent : hydraulics::modulus_model::constant,
                         fluid(p["modulus"], p["air"], p["kappa"], p["reference-pressure"]), p["reference-pressure"],
                         p["vapour-pressure"]},
                 .surroundings = {p["density"], p["viscosity"], p["transition-pressure"], p["ambient-pressure"]}};
    const auto each = [&](const char* kind, const auto& read) {
        for (const part& one : parts)
            if (one.kind == kind) read(one);
    };
    // In an order in which what a part names is there before it.
    each("shaft", [&](const part& one) { d.shafts.push_back(read_shaft(one)); });
    each("cam", [&](const part& one) { d.cams.push_back(read_cam(one, d)); });
    each("follower", [&](const part& one) { d.followers.push_back(read_follower(one, d)); });
    each("gallery", [&](const part& one) { d.galleries.push_back({one.name, one.where, one.values["pressure"]}); });
    each("adjuster", [&](const part& one) { d.adjusters.push_back(read_adjuster(one, d)); });
    each("valve", [&](const part& one) { d.valves.push_back(read_valve(one, d)); });
    each("spring", [&](const part& one) { d.springs.push_back(read_spring(one, d)); });
    if (d.shafts.empty()) throw std::invalid_argument("it has no shaft; add one under 'parts', with a cam on it");
    check_whole(d);
    return d;
}

}  // namespace mdpcosim::valve_train
