#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.hpp"
#include "drive.hpp"

namespace mdpcosim::drive {

namespace {

using range = parameter_info::range;

// Functions: the model is registered before any constant of this file is made.
part_reference own_chain() {
    return {"chain", "the chain that runs around it; where there is one chain it may be left out", {"chain"}, false};
}

std::vector<parameter_info> circle(double turn, double stiffness) {
    return {{"x", "m", "position of the centre to the right", 0},
            {"y", "m", "position of the centre upwards", 0},
            {"turn",
             "",
             "the way the chain turns around it, seen along its travel",
             turn,
             range::any,
             false,
             false,
             {"left", "right"}},
            {"contact-stiffness", "N/m", "of a pin's contact; not used by rigid contacts", stiffness, range::positive},
            {"contact-damping", "N.s/m", "of a pin's contact; not used by rigid contacts", 60, range::not_negative},
            {"friction", "1", "coefficient of Coulomb friction of the pins", 0, range::not_negative}};
}

std::vector<parameter_info> with(std::vector<parameter_info> first, const std::vector<parameter_info>& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
}

std::vector<parameter_info> surface() {
    return with(circle(1, 2e7),
                {{"radius", "m", "of the circle on which pin centres run", 0, range::positive, true},
                 {"arc", "rad",
                  "angle that the surface covers; not given: twice what the laid chain touches, and two pitches more",
                  0, range::positive}});
}

}  // namespace

std::vector<part_info> part_kinds() {
    return {
        {.kind = "chain",
         .summary = "a closed chain; passes the parts that name it in the order in which they are listed",
         .parameters = {{"links", "1", "number of links, and of pins", 0, range::whole, true, false, {}, {}, 1e5},
                        {"pitch", "m", "length of a link", 8e-3, range::positive},
                        {"stiffness", "N/m", "of a link", 1e8, range::positive},
                        {"damping", "N.s/m", "of a link", 60, range::not_negative},
                        {"mass", "kg", "of a link", 4.8e-3, range::positive}}},
        {.kind = "sprocket",
         .summary = "a wheel with teeth: free on its shaft, or with a prescribed rotation",
         .parameters =
             with(circle(0, 5e7),
                  {{"teeth", "1", "number of teeth", 0, range::whole, true, false, {}, {}, 1e4},
                   {"drive",
                    "",
                    "whether it turns freely or as prescribed",
                    0,
                    range::any,
                    false,
                    false,
                    {"free", "prescribed"}},
                   {"speed", "rad/s",
                    "prescribed mean speed, or that of a free wheel at the start; positive: counterclockwise", 0},
                   {"amplitude", "rad", "of the prescribed rotation's oscillation", 0},
                   {"order", "1", "oscillations per turn", 1, range::not_negative},
                   {"rise", "s", "time in which the oscillation rises", 0, range::not_negative},
                   {"inertia", "kg.m2", "moment of inertia; a free wheel needs it", 0, range::positive},
                   {"mass", "kg", "mass; a wheel in an elastic bearing needs it", 0, range::positive},
                   {"bearing-stiffness", "N/m", "of its bearing; not given: the centre is fixed", 0, range::positive},
                   {"bearing-damping", "N.s/m", "of its bearing", 0, range::not_negative},
                   {"load", "N.m", "torque M against a positive rotation: M + M1 sin(n angle)", 0},
                   {"load-amplitude", "N.m", "M1 of the load", 0},
                   {"load-order", "1", "n of the load", 1, range::not_negative},
                   {"clearance", "m", "play of a pin in its pocket, on either side", 50e-6, range::positive},
                   {"flank", "rad", "angle between a tooth's flank and the radius through the pocket",
                    std::numbers::pi / 9, range::positive}}),
         .references = {own_chain()}},
        {.kind = "guide",
         .summary = "a fixed surface, a part of a circle",
         .parameters = surface(),
         .references = {own_chain()}},
        {.kind = "rail",
         .summary = "a surface that is pressed against the chain along a straight line",
         .parameters = with(
             surface(), {{"angle", "rad", "direction in which the preload pushes: 0 to the right, 90 deg upwards", 0},
                         {"mass", "kg", "mass", 0, range::positive, true},
                         {"preload", "N", "force at the start", 0},
                         {"stiffness", "N/m", "of its spring, added to the preload", 0, range::not_negative},
                         {"damping", "N.s/m", "of its motion", 0, range::not_negative},
                         {"travel", "m", "how far it may be shifted to fit the chain that is laid, either way", 0.02,
                          range::positive}}),
         .references = {own_chain()}},
        {.kind = "pivoting-rail",
         .summary = "a surface that is pressed against the chain around a pivot",
         .parameters =
             with(surface(), {{"pivot-x", "m", "position of the pivot to the right", 0, range::any, true},
                              {"pivot-y", "m", "position of the pivot upwards", 0, range::any, true},
                              {"inertia", "kg.m2", "moment of inertia about the pivot", 0, range::positive, true},
                              {"preload", "N.m", "torque at the start, positive: counterclockwise", 0},
                              {"stiffness", "N.m/rad", "of its spring, added to the preload", 0, range::not_negative},
                              {"damping", "N.m.s/rad", "of its motion", 0, range::not_negative},
                              {"travel", "rad", "how far it may be turned to fit the chain that is laid, either way",
                               0.1, range::positive}}),
         .references = {own_chain()}},
        {.kind = "shaft",
         .summary = "an elastic shaft between two wheels, of two chains most often",
         .parameters = {{"stiffness", "N.m/rad", "against twisting", 0, range::positive, true},
                        {"damping", "N.m.s/rad", "of twisting", 0, range::not_negative},
                        {"bending", "N/m", "between the wheels' centres; not given: they do not act on each other", 0,
                         range::positive}},
         .references = {{"first", "a wheel", {"sprocket"}}, {"second", "the other wheel", {"sprocket"}}}},
    };
}

namespace {

std::string title(const part& p) { return fmt::format("{} '{}'", p.kind, p.name); }

void read_circle(support& s, const part& p) {
    s.name = p.name;
    s.where = p.where;
    s.x = p.values["x"];
    s.y = p.values["y"];
    s.turn = p.values["turn"] == 0 ? 1 : -1;
    s.contact_stiffness = p.values["contact-stiffness"];
    s.contact_damping = p.values["contact-damping"];
    s.friction = p.values["friction"];
}

support read_sprocket(const part& p, double pitch) {
    const auto& value = p.values;
    support s{.kind = support_kind::sprocket};
    read_circle(s, p);
    s.teeth = static_cast<int>(value["teeth"]);
    if (s.teeth < 5)
        throw user_error(p.where,
                         fmt::format("{}: {} teeth leave no room for pockets. Allowed: 5 or more.", title(p), s.teeth));
    s.radius = pitch / (2 * std::sin(std::numbers::pi / s.teeth));
    s.prescribed = value["drive"] == 1;
    s.speed = value["speed"];
    s.amplitude = value["amplitude"];
    s.order = value["order"];
    s.rise = value["rise"];
    s.inertia = value["inertia"];
    s.mass = value["mass"];
    s.free_centre = value.given("bearing-stiffness");
    s.bearing_stiffness = value["bearing-stiffness"];
    s.bearing_damping = value["bearing-damping"];
    s.load = value["load"];
    s.load_amplitude = value["load-amplitude"];
    s.load_order = value["load-order"];
    s.clearance = value["clearance"];
    s.flank = value["flank"];
    if (!s.prescribed && !value.given("inertia"))
        throw user_error(
            p.where,
            fmt::format("{} turns freely and has no inertia. Add 'inertia', for example 'inertia: 1e-3 kg.m2', or "
                        "'drive: prescribed'.",
                        title(p)));
    if (s.free_centre && !value.given("mass"))
        throw user_error(
            p.where,
            fmt::format("{} has an elastic bearing and no mass. Add 'mass', for example 'mass: 0.5 kg', or leave "
                        "'bearing-stiffness' out: its centre is fixed then.",
                        title(p)));
    if (!s.free_centre && s.bearing_damping != 0)
        throw user_error(
            p.where,
            fmt::format("{}: 'bearing-damping' = {} N.s/m without 'bearing-stiffness', where the centre is fixed. "
                        "Add a stiffness, or leave the damping out.",
                        title(p), s.bearing_damping));
    for (const char* name : {"amplitude", "rise"})
        if (!s.prescribed && value[name] != 0)
            throw user_error(
                p.where,
                fmt::format("{} turns freely, and '{}' belongs to a prescribed rotation. Leave it out, or add 'drive: "
                            "prescribed'.",
                            title(p), name));
    if (s.prescribed && (s.load != 0 || s.load_amplitude != 0))
        throw user_error(
            p.where,
            fmt::format("{} turns as prescribed, whatever its load. Leave 'load' and 'load-amplitude' out, or 'drive: "
                        "prescribed'.",
                        title(p)));
    if (!(s.flank < std::numbers::pi / 3))
        throw user_error(p.where, fmt::format("{}: 'flank' = {:.6g} deg is no tooth. Allowed: below 60 deg.", title(p),
                                              s.flank * 180 / std::numbers::pi));
    return s;
}

support read_surface(const part& p) {
    const auto& value = p.values;
    support s{.kind = p.kind == "guide"  ? support_kind::guide
                      : p.kind == "rail" ? support_kind::rail
                                         : support_kind::pivoting_rail};
    read_circle(s, p);
    s.radius = value["radius"];
    s.arc = value["arc"] / 2;
    if (s.kind == support_kind::guide) return s;
    s.preload = value["preload"];
    s.stiffness = value["stiffness"];
    s.damping = value["damping"];
    s.travel = value["travel"];
    if (s.kind == support_kind::rail) {
        s.direction_x = std::cos(value["angle"]);
        s.direction_y = std::sin(value["angle"]);
        s.mass = value["mass"];
    } else {
        s.pivot_x = value["pivot-x"];
        s.pivot_y = value["pivot-y"];
        s.inertia = value["inertia"];
    }
    return s;
}

int number_of(const std::vector<part>& parts, std::string_view name, std::string_view kind) {
    int n = 0;
    for (const part& p : parts) {
        if (p.name == name) return n;
        n += p.kind == kind;
    }
    return n;
}

int chain_of(const part& p, const std::vector<part>& parts, std::size_t chains) {
    const std::string_view named = p.refers_to("chain");
    if (!named.empty()) return number_of(parts, named, "chain");
    if (chains == 1) return 0;
    std::string names;
    for (const part& other : parts)
        if (other.kind == "chain") names += (names.empty() ? "" : ", ") + other.name;
    throw user_error(p.where,
                     fmt::format("{}: which chain runs around it? Add 'chain: NAME'. Chains: {}.", title(p), names));
}

/// All speeds that are given make one of each chain.
void find_speeds(drive_data& d) {
    for (chain_data& c : d.chains) {
        const support* first = nullptr;
        for (const int k : c.route) {
            const support& s = d.supports[static_cast<std::size_t>(k)];
            if (!s.is_sprocket() || !(s.prescribed || s.speed != 0)) continue;
            const double speed = s.turn * s.speed * s.teeth / (2 * std::numbers::pi);
            if (!first) {
                first = &s;
                c.speed = speed;
            } else if (std::fabs(speed - c.speed) > 1e-6 * std::max(std::fabs(speed), std::fabs(c.speed))) {
                throw user_error(
                    s.where,
                    fmt::format(
                        "sprocket '{}': its speed of {:.9g} rad/s moves chain '{}' with {:.6g} m/s, that of '{}' with "
                        "{:.6g} m/s ({:.9g} rad/s). Here {:.9g} rad/s would fit; a free wheel finds its speed by "
                        "itself.",
                        s.name, s.speed, c.name, speed * c.pitch, first->name, c.speed * c.pitch, first->speed,
                        s.turn * c.speed * 2 * std::numbers::pi / s.teeth));
            }
        }
    }
}

}  // namespace

drive_data read_drive(const std::vector<part>& parts) {
    drive_data d;
    for (const part& p : parts) {
        if (p.kind != "chain") continue;
        const auto& value = p.values;
        if (value["links"] < 6)
            throw user_error(p.where,
                             fmt::format("{}: {} links are too few. Allowed: 6 or more.", title(p), value["links"]));
        d.chains.push_back({p.name,
                            p.where,
                            static_cast<int>(value["links"]),
                            value["pitch"],
                            value["stiffness"],
                            value["damping"],
                            value["mass"],
                            d.pins,
                            {}});
        d.pins += d.chains.back().links;
    }
    if (d.chains.empty()) throw std::invalid_argument("it has no part of kind 'chain'; add one under 'parts'");
    d.coordinates = 2 * d.pins;
    for (const part& p : parts) {
        if (p.kind == "chain" || p.kind == "shaft") continue;
        const int chain = chain_of(p, parts, d.chains.size());
        chain_data& c = d.chains[static_cast<std::size_t>(chain)];
        support s = p.kind == "sprocket" ? read_sprocket(p, c.pitch) : read_surface(p);
        s.chain = chain;
        if (2 * s.radius <= c.pitch)
            throw user_error(p.where, fmt::format("{}: radius {} m is smaller than half a link ({} m).", title(p),
                                                  s.radius, c.pitch / 2));
        if (s.is_sprocket()) s.rotation = d.coordinates++;
        if (s.free_centre) s.centre = d.coordinates, d.coordinates += 2;
        if (s.kind == support_kind::rail || s.kind == support_kind::pivoting_rail) s.shift = d.coordinates++;
        c.route.push_back(static_cast<int>(d.supports.size()));
        d.supports.push_back(std::move(s));
    }
    for (const chain_data& c : d.chains)
        if (std::ranges::none_of(c.route,
                                 [&](int k) { return d.supports[static_cast<std::size_t>(k)].is_sprocket(); }) ||
            c.route.size() < 2)
            throw user_error(
                c.where, fmt::format("chain '{}' runs around {} part{}. It needs two at least, one of them a sprocket.",
                                     c.name, c.route.size(), c.route.size() == 1 ? "" : "s"));
    for (chain_data& c : d.chains)
        c.leader = *std::ranges::find_if(c.route,
                                         [&](int k) { return d.supports[static_cast<std::size_t>(k)].is_sprocket(); });
    const auto support_named = [&](std::string_view name) {
        return static_cast<int>(std::ranges::find(d.supports, name, &support::name) - d.supports.begin());
    };
    for (const part& p : parts) {
        if (p.kind != "shaft") continue;
        shaft_data made{p.name,
                        support_named(p.refers_to("first")),
                        support_named(p.refers_to("second")),
                        p.values["stiffness"],
                        p.values["damping"],
                        p.values["bending"]};
        if (made.first == made.second)
            throw user_error(p.where, fmt::format("{}: 'first' and 'second' are both '{}'. It joins two wheels.",
                                                  title(p), p.refers_to("first")));
        for (const int k : {made.first, made.second})
            if (const support& s = d.supports[static_cast<std::size_t>(k)]; made.bending > 0 && !s.free_centre)
                throw user_error(p.where,
                                 fmt::format("{}: 'bending' acts on centres, and that of '{}' is fixed. Give it a "
                                             "'bearing-stiffness', or leave 'bending' out.",
                                             title(p), s.name));
        d.shafts.push_back(std::move(made));
    }
    find_speeds(d);

    d.inverse_mass.resize(static_cast<std::size_t>(d.coordinates));
    d.chain_of_pin.resize(static_cast<std::size_t>(d.pins));
    for (std::size_t c = 0; c < d.chains.size(); ++c)
        for (int i = d.chains[c].first_pin; i < d.chains[c].first_pin + d.chains[c].links; ++i) {
            d.chain_of_pin[static_cast<std::size_t>(i)] = static_cast<int>(c);
            d.inverse_mass[static_cast<std::size_t>(d.x(i))] = d.inverse_mass[static_cast<std::size_t>(d.y(i))] =
                1 / d.chains[c].mass;
        }
    for (const support& s : d.supports) {
        const auto set = [&](int at, double mass) { d.inverse_mass[static_cast<std::size_t>(at)] = 1 / mass; };
        if (s.rotation >= 0) set(s.rotation, s.prescribed ? 1 : s.inertia);
        if (s.centre >= 0) set(s.centre, s.mass), set(s.centre + 1, s.mass);
        if (s.shift >= 0) set(s.shift, s.kind == support_kind::rail ? s.mass : s.inertia);
    }
    return d;
}

/// angle = w t + A r sin(n w t), r from 0 to 1 as 3 z^2 - 2 z^3, z = t/rise.
rotation_law prescribed(const support& wheel, double t) {
    const double w = wheel.speed, n = wheel.order * w;
    double r = 1, r_1 = 0, r_2 = 0;
    if (t < wheel.rise) {
        const double z = std::max(t, 0.0) / wheel.rise;
        r = z * z * (3 - 2 * z);
        r_1 = 6 * z * (1 - z) / wheel.rise;
        r_2 = (6 - 12 * z) / (wheel.rise * wheel.rise);
    }
    const double s = std::sin(n * t), c = std::cos(n * t);
    return {w + wheel.amplitude * (r_1 * s + r * n * c), wheel.amplitude * (r_2 * s + 2 * r_1 * n * c - r * n * n * s)};
}

}  // namespace mdpcosim::drive
