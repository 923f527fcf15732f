#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/suggest.hpp"
#include "subsystem/body_frame.hpp"
#include "system.hpp"

// From parts to bodies, joints and forces, with what parts must be.

namespace mdpcosim::multibody {

namespace {

constexpr std::size_t most_levels = 1000;
constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void refuse(const part& p, const std::string& what) {
    throw user_error(p.where, fmt::format("{} '{}': {}", p.kind, p.name, what));
}

const std::map<std::string, joint_kind, std::less<>>& joint_kinds() {
    static const std::map<std::string, joint_kind, std::less<>> all{
        {"weld", joint_kind::weld},           {"pin", joint_kind::pin},
        {"slider", joint_kind::slider},       {"cylinder", joint_kind::cylinder},
        {"universal", joint_kind::universal}, {"planar", joint_kind::planar},
        {"ball", joint_kind::ball},           {"free", joint_kind::free}};
    return all;
}

std::size_t speeds_of(joint_kind kind) {
    switch (kind) {
        case joint_kind::weld:
            return 0;
        case joint_kind::pin:
        case joint_kind::slider:
            return 1;
        case joint_kind::cylinder:
        case joint_kind::universal:
            return 2;
        case joint_kind::planar:
        case joint_kind::ball:
            return 3;
        case joint_kind::free:
            return 6;
    }
    return 0;
}

triple read_triple(const part& p, const char* key) {
    try {
        return read_vector(p.values, key);
    } catch (const std::invalid_argument& problem) {
        refuse(p, std::string(problem.what()) + ".");
    }
}

/// As many numbers, or one for all.
std::vector<double> read_list(const part& p, const char* key, std::size_t count) {
    std::vector<double> list = p.values.list(key);
    if (list.size() == 1) list.assign(count, list[0]);
    if (list.size() != count)
        refuse(p, fmt::format("'{}' has {} values; one for all or {} are needed.", key, list.size(), count));
    return list;
}

body_data read_body(const part& p) {
    body_data b{p.name, p.values["mass"], read_triple(p, "centre"), {}};
    const std::vector<double>& i = p.values.list("inertia");
    if (i.size() != 1 && i.size() != 3 && i.size() != 6)
        refuse(p, fmt::format(
                      "'inertia' has {} values. It takes 1 for all axes, 3 for the axes, or 6: xx, yy, zz, xy, xz, "
                      "yz.",
                      i.size()));
    for (std::size_t k = 0; k < 6; ++k) b.inertia[k] = i.size() == 1 ? (k < 3 ? i[0] : 0) : k < i.size() ? i[k] : 0;
    // A distribution of mass has second moments tr(I)/2 - I, which are those of a real body where they are not negative in any direction.
    const auto& [xx, yy, zz, xy, xz, yz] = b.inertia;
    const double half = (xx + yy + zz) / 2, a = half - xx, c = half - yy, d = half - zz, least = -1e-9 * half;
    const double minors[] = {a, c, d};
    const char* const rules[] = {"xx <= yy + zz", "yy <= xx + zz", "zz <= xx + yy"};
    for (int k = 0; k < 3; ++k)
        if (!(minors[k] >= least))
            refuse(p,
                   fmt::format("'inertia' (xx {:.6g}, yy {:.6g}, zz {:.6g} kg.m2) is not that of a body: {} does not "
                               "hold. No moment is larger than the sum of the other two.",
                               xx, yy, zz, rules[k]));
    const double square = half * half;
    const double determinant = a * (c * d - yz * yz) - xy * (xy * d + yz * xz) - xz * (xy * yz + c * xz);
    if (!(a * c - xy * xy >= -1e-9 * square && a * d - xz * xz >= -1e-9 * square && c * d - yz * yz >= -1e-9 * square &&
          determinant >= -1e-9 * square * half))
        refuse(p,
               fmt::format("'inertia' with the products xy {:.6g}, xz {:.6g}, yz {:.6g} kg.m2 is not that of a body: "
                           "about some axis its moment is larger than the sum of the other two. Lower the products.",
                           xy, xz, yz));
    return b;
}

/// Rows of numbers below a header that says where they are.
road_data read_road_file(const part& p, const part::text& written) {
    std::filesystem::path file = written.value;
    if (file.is_relative()) file = std::filesystem::path(std::string(written.where.file)).parent_path() / file;
    const auto fail = [&](int line, const std::string& what) {
        throw user_error(written.where, fmt::format("road '{}': '{}', line {}: {}", p.name, file.string(), line, what));
    };
    std::string text;
    try {
        text = read_input(file, 256 << 20);
    } catch (const file_problem& problem) {
        throw user_error(written.where,
                         fmt::format("road '{}': '{}' cannot be read: {}.", p.name, file.string(), problem.what()));
    }
    road_data road;
    std::istringstream in(text);
    std::size_t columns = 0;
    int line = 0;
    for (std::string row; std::getline(in, row);) {
        ++line;
        if (row.ends_with('\r')) row.pop_back();
        if (row.empty()) continue;
        std::vector<double> values;
        std::size_t begin = 0, count = 0;
        for (; begin <= row.size(); ++count) {
            const std::size_t end = std::min(row.find(',', begin), row.size());
            const std::string cell = row.substr(begin, end - begin);
            double value = 0;
            const char* first = cell.data() + std::min(cell.find_first_not_of(' '), cell.size());
            const auto [rest, problem] = std::from_chars(first, cell.data() + cell.size(), value);
            const bool is_number = problem == std::errc() && rest == cell.data() + cell.size() && std::isfinite(value);
            if (columns == 0 && count == 0 && cell != "x")
                fail(line, fmt::format("the first column is '{}', not 'x'.", cell));
            if (columns == 0 && count == 1 && cell == "height") {
                values.push_back(0);
            } else if (columns > 0 || count > 0) {
                if (!is_number) fail(line, fmt::format("'{}' is no number.", cell));
                values.push_back(value);
            }
            begin = end + 1;
        }
        if (columns == 0) {
            columns = count;
            if (columns < 2) fail(line, "there is no column of heights.");
            road.y = values;
        } else if (count != columns) {
            fail(line, fmt::format("{} values, and the header has {} columns.", count, columns));
        } else {
            road.x.push_back(values[0]);
            road.heights.insert(road.heights.end(), values.begin() + 1, values.end());
        }
    }
    return road;
}

road_data read_road(const part& p) {
    road_data road;
    if (const part::text* file = p.written("file")) {
        if (p.values.given("x") || p.values.given("y") || p.values.given("heights"))
            refuse(p, "it has 'file' and points of its own; leave one of both out.");
        road = read_road_file(p, *file);
    } else {
        road = {p.values.list("x"), p.values.given("y") ? p.values.list("y") : std::vector<double>{0},
                p.values.list("heights")};
    }
    const auto rises = [&](const std::vector<double>& points, const char* name, std::size_t least) {
        if (points.size() < least)
            refuse(p, fmt::format("'{}' has {} points; {} are needed.", name, points.size(), least));
        for (std::size_t k = 1; k < points.size(); ++k)
            if (!(points[k] > points[k - 1]))
                refuse(p, fmt::format("'{}' does not rise: {:.9g} m comes after {:.9g} m.", name, points[k],
                                      points[k - 1]));
    };
    rises(road.x, "x", 2);
    rises(road.y, "y", 1);
    if (road.heights.size() != road.x.size() * road.y.size())
        refuse(p, fmt::format("'heights' has {} values; {} points ahead and {} to the left need {}.",
                              road.heights.size(), road.x.size(), road.y.size(), road.x.size() * road.y.size()));
    return road;
}

/// Two perpendicular axes of length 1: the first one along `along`, the second near `towards`.
std::pair<triple, triple> axes(const part& p, const triple& along, triple towards) {
    const auto unit = [&](const triple& v) {
        const double length = std::sqrt(dot(v, v));
        if (!(length > 1e-9)) refuse(p, "its 'axis' has no direction; give three numbers that are not all zero.");
        return (1 / length) * v;
    };
    const triple first = unit(along);
    triple second = towards - dot(towards, first) * first;
    if (dot(second, second) < 1e-12) {
        towards = std::fabs(first[1]) < 0.9 ? triple{0, 1, 0} : triple{0, 0, 1};
        second = towards - dot(towards, first) * first;
    }
    return {first, unit(second)};
}

class system_reader {
   public:
    system_reader(const parameter_values& p, const std::vector<part>& parts) : parts_(parts) {
        const double g = p["gravity"];
        const auto up = static_cast<std::size_t>(2 - static_cast<int>(p["up"]));
        system_.up = {0, 0, 0};
        system_.up[up] = 1;
        system_.gravity = -g * system_.up;
        system_.tolerance = p["constraint-tolerance"];
        for (const part& one : parts)
            if (one.kind == "body") {
                bodies_[one.name] = static_cast<int>(system_.bodies.size());
                system_.bodies.push_back(read_body(one));
            }
        read_joints();
        for (const part& one : parts) read_other(one);
    }
    described_system finish() { return std::move(system_); }

   private:
    int body(const part& p, std::string_view key) const {
        const std::string_view name = p.refers_to(key);
        return name.empty() ? ground : bodies_.find(name)->second;
    }

    // joints

    void read_joints() {
        std::vector<const part*> of(system_.bodies.size());
        for (const part& one : parts_) {
            if (!joint_kinds().contains(one.kind)) continue;
            const part*& there = of[static_cast<std::size_t>(body(one, "child"))];
            if (there != nullptr)
                refuse(one,
                       fmt::format("body '{}' hangs on '{}' already. A second way to it is a loop: close it with a "
                                   "'point-closure', a 'rod-closure' or a 'weld-closure'.",
                                   one.refers_to("child"), there->name));
            there = &one;
        }
        for (const part& one : parts_)
            if (one.kind == "body" && of[static_cast<std::size_t>(bodies_.at(one.name))] == nullptr)
                refuse(one,
                       fmt::format("it hangs on no joint. Add one with 'child: {}': a 'free' one where it can move in "
                                   "all directions.",
                                   one.name));
        enum class state { unknown, open, done };
        std::vector<state> states(of.size());
        const auto visit = [&](auto&& self, std::size_t k, std::size_t level) -> void {
            if (level > most_levels)
                refuse(*of[k],
                       fmt::format("more than {} bodies hang on one another, which is not allowed.", most_levels));
            if (states[k] == state::done) return;
            if (states[k] == state::open)
                refuse(*of[k],
                       fmt::format("body '{}' hangs on itself, over '{}'. One of the joints in this circle begins at "
                                   "the ground (leave 'parent' out); a closure closes the rest.",
                                   system_.bodies[k].name, of[k]->refers_to("parent")));
            states[k] = state::open;
            if (const int parent = body(*of[k], "parent"); parent != ground)
                self(self, static_cast<std::size_t>(parent), level + 1);
            states[k] = state::done;
            joints_[of[k]->name] = static_cast<int>(system_.joints.size());
            system_.joints.push_back(read_joint(*of[k]));
        };
        for (std::size_t k = 0; k < of.size(); ++k) visit(visit, k, 1);
    }

    joint_data read_joint(const part& p) const {
        joint_data j;
        j.name = p.name;
        j.kind = joint_kinds().find(p.kind)->second;
        j.parent = body(p, "parent");
        j.child = body(p, "child");
        j.at = read_triple(p, "at");
        j.child_at = read_triple(p, "child-at");
        const std::size_t count = speeds_of(j.kind);
        if (j.kind != joint_kind::weld && j.kind != joint_kind::ball && j.kind != joint_kind::free) {
            const bool along_x = j.kind == joint_kind::slider || j.kind == joint_kind::universal;
            const triple axis = p.values.given("axis") ? read_triple(p, "axis")
                                : along_x              ? triple{1, 0, 0}
                                                       : triple{0, 0, 1};
            if (along_x) {
                const triple second = j.kind == joint_kind::universal && p.values.given("second-axis")
                                          ? read_triple(p, "second-axis")
                                          : triple{0, 1, 0};
                std::tie(j.x, j.y) = axes(p, axis, second);
            } else {
                const auto [z, x] = axes(p, axis, {1, 0, 0});
                j.x = x;
                j.y = cross(z, x);
            }
        }
        if (count == 0) return j;
        j.start_given = p.values.given("start");
        j.speed_given = p.values.given("speed");
        j.start = j.start_given             ? read_list(p, "start", count)
                  : p.values.given("guess") ? read_list(p, "guess", count)
                                            : std::vector<double>(count);
        j.speed = j.speed_given ? read_list(p, "speed", count) : std::vector<double>(count);
        if (count != 1) return j;
        j.motion = static_cast<joint_data::motions>(static_cast<int>(p.values["motion"]));
        j.amplitude = p.values["amplitude"];
        j.frequency = p.values["rate"];
        j.phase = p.values["phase"];
        if (j.motion == joint_data::motions::steady && !j.speed_given)
            refuse(p, "a 'steady' motion needs its 'speed'.");
        if (j.motion == joint_data::motions::sine && !(j.frequency > 0))
            refuse(p, "a 'sine' motion needs its 'rate', the angle of the sine per second.");
        return j;
    }

    // all others

    pair_data read_pair(const part& p) const {
        const pair_data d{body(p, "first"), body(p, "second"), read_triple(p, "first-at"), read_triple(p, "second-at")};
        if (d.first == d.second) refuse(p, fmt::format("both ends are on '{}'.", p.refers_to("first")));
        return d;
    }

    coordinate_data read_coordinate(const part& p) const {
        const int joint = joints_.find(p.refers_to("joint"))->second;
        const auto coordinate = static_cast<int>(p.values["coordinate"]);
        const joint_data& j = system_.joints[static_cast<std::size_t>(joint)];
        const std::size_t count = coordinates_of(j.kind).size();
        if (static_cast<std::size_t>(coordinate) > count)
            refuse(p, fmt::format("joint '{}' has {} coordinate{}, and this asks for number {}.", j.name, count,
                                  count == 1 ? "" : "s", coordinate));
        return {joint, coordinate - 1};
    }

    void read_other(const part& p) {
        using kind = closure_data::kind;
        const parameter_values& v = p.values;
        if (p.kind == "point-closure") {
            system_.closures.push_back({p.name, kind::point, read_pair(p)});
        } else if (p.kind == "rod-closure") {
            system_.closures.push_back({p.name, kind::rod, read_pair(p), v["length"]});
        } else if (p.kind == "weld-closure") {
            system_.closures.push_back({p.name, kind::weld, read_pair(p)});
        } else if (p.kind == "rolling") {
            system_.closures.push_back(
                {p.name, kind::rolling, {ground, body(p, "body"), {}, read_triple(p, "at")}, v["radius"]});
        } else if (p.kind == "spring") {
            system_.springs.push_back({read_pair(p), v["stiffness"], v["damping"], v["length"]});
        } else if (p.kind == "bushing") {
            bushing_data b{read_pair(p), {}, {}};
            const auto fill = [&](const char* key, std::size_t first, std::array<double, 6>& into) {
                std::ranges::copy(read_list(p, key, 3), into.begin() + static_cast<std::ptrdiff_t>(first));
            };
            fill("rotational-stiffness", 0, b.stiffness);
            fill("stiffness", 3, b.stiffness);
            fill("rotational-damping", 0, b.damping);
            fill("damping", 3, b.damping);
            system_.bushings.push_back(b);
        } else if (p.kind == "joint-spring") {
            const auto [joint, coordinate] = read_coordinate(p);
            system_.joint_springs.push_back({joint, coordinate, v["stiffness"], v["damping"], v["rest"]});
        } else if (p.kind == "ground-contact") {
            system_.contacts.push_back({p.name, body(p, "body"), read_triple(p, "at"), v["radius"], v["stiffness"],
                                        v["damping"], v["friction"], v["slip-speed"]});
        } else if (p.kind == "tyre") {
            const triple axis = v.given("axis") ? axes(p, read_triple(p, "axis"), {1, 0, 0}).first : triple{0, 1, 0};
            system_.tyres.push_back({p.name, body(p, "body"), read_triple(p, "at"), axis, v["radius"], v["stiffness"],
                                     v["damping"], v["friction"], v["B"], v["C"], v["relaxation-length"],
                                     v["slowest"]});
        } else if (p.kind == "frame") {
            system_.frames.push_back({body(p, "body"), read_triple(p, "at")});
            system_.frame_names.push_back(p.name);
        } else if (p.kind == "joint-port") {
            system_.coordinates.push_back(read_coordinate(p));
            system_.coordinate_names.push_back(p.name);
        } else if (p.kind == "road") {
            if (!system_.road.x.empty()) refuse(p, "there is another road; one is enough.");
            system_.road = read_road(p);
        } else if (p.kind == "attitude") {
            system_.attitudes.push_back({p.name, body(p, "body")});
        }
    }

    const std::vector<part>& parts_;
    described_system system_;
    std::map<std::string, int, std::less<>> bodies_, joints_;
};

}  // namespace

std::vector<coordinate_name> coordinates_of(joint_kind kind) {
    switch (kind) {
        case joint_kind::pin:
            return {{"angle", "rad"}};
        case joint_kind::slider:
            return {{"position", "m"}};
        case joint_kind::cylinder:
            return {{"angle", "rad"}, {"position", "m"}};
        case joint_kind::universal:
            return {{"first-angle", "rad"}, {"second-angle", "rad"}};
        case joint_kind::planar:
            return {{"angle", "rad"}, {"x", "m"}, {"y", "m"}};
        default:
            return {};
    }
}

described_system read_system(const parameter_values& p, const std::vector<part>& parts) {
    described_system d = system_reader(p, parts).finish();
    if (d.bodies.empty())
        throw std::invalid_argument("it has no body; add one under 'parts', and a joint that it hangs on");
    return d;
}

std::vector<parameter_info> parameters() {
    using range = parameter_info::range;
    return {{"gravity", "m/s2", "acceleration of gravity", 9.80665, range::not_negative},
            {.name = "up", .unit = "", .description = "where gravity comes from", .choices = {"z", "y", "x"}},
            {"constraint-tolerance", "", "how far loops may drift open, m and m/s, before they are closed again", 1e-8,
             range::positive}};
}

std::vector<part_info> part_kinds() {
    using range = parameter_info::range;
    const auto vector = [](const char* name, const char* unit, const char* description) {
        return parameter_info{.name = name, .unit = unit, .description = description, .list = true};
    };
    const auto number = [](const char* name, const char* unit, const char* description, double value = 0,
                           range allowed = range::not_negative) {
        return parameter_info{name, unit, description, value, allowed};
    };
    const auto needed = [](parameter_info info) {
        info.required = true;
        return info;
    };
    const auto optional = [](parameter_info info) {
        info.default_value = not_given;
        return info;
    };
    const part_reference one_body{"body", "the body", {"body"}};
    const std::vector<part_reference> two_bodies{{"first", "a body", {"body"}},
                                                 {"second", "another one; the ground when left out", {"body"}, false}};
    const std::vector<parameter_info> two_points{vector("first-at", "m", "point of the first body"),
                                                 vector("second-at", "m", "point of the second, or of the ground")};
    const auto with = [](std::vector<parameter_info> all, std::initializer_list<parameter_info> more) {
        all.insert(all.end(), more);
        return all;
    };
    std::vector<part_info> kinds{
        {"body",
         "rigid body",
         {needed(number("mass", "kg", "mass", 0, range::positive)),
          needed(vector(
              "inertia", "kg.m2",
              "about the centre of mass in the body's axes: one for all axes, three, or six (xx, yy, zz, xy, xz, "
              "yz)")),
          vector("centre", "m", "centre of mass in the body's axes")}}};
    const std::map<std::string, const char*> summaries{
        {"weld", "rigid connection"},
        {"pin", "rotation about an axis"},
        {"slider", "translation along an axis"},
        {"cylinder", "rotation about an axis, and translation along it"},
        {"universal", "rotation about an axis of the parent, then about one of the child"},
        {"planar", "rotation about an axis, and translations across it"},
        {"ball", "any rotation about a point"},
        {"free", "any motion"}};
    for (const auto& [name, kind] : joint_kinds()) {
        part_info info{name, summaries.at(name), {}, {}};
        info.parameters = {vector("at", "m", "the joint's place on the parent"),
                           vector("child-at", "m", "the joint's place on the child")};
        if (!coordinates_of(kind).empty())
            info.parameters.push_back(optional(vector("axis", "1", "its axis, in both bodies")));
        if (kind == joint_kind::universal)
            info.parameters.push_back(optional(vector("second-axis", "1", "the child's axis")));
        if (kind != joint_kind::weld) {
            info.parameters.push_back(optional(vector(
                "start", "", "coordinates at the start, rotations before translations; what is left out follows")));
            info.parameters.push_back(optional(vector("guess", "", "where a joint without 'start' begins to follow")));
            info.parameters.push_back(optional(vector("speed", "", "speeds at the start, likewise")));
        }
        if (speeds_of(kind) == 1) {
            info.parameters.push_back(
                {.name = "motion",
                 .unit = "",
                 .description = "prescribed: at the speed of the start, or amplitude sin(rate t + phase)",
                 .choices = {"none", "steady", "sine"}});
            info.parameters.push_back(number("amplitude", "", "of the sine", 0, range::any));
            info.parameters.push_back(number("rate", "rad/s", "of the sine"));
            info.parameters.push_back(number("phase", "rad", "of the sine", 0, range::any));
        }
        info.references = {{"child", "the body that hangs on it", {"body"}},
                           {"parent", "the body that carries it; the ground when left out", {"body"}, false}};
        kinds.push_back(std::move(info));
    }
    std::vector<std::string> with_coordinates;
    for (const auto& [name, kind] : joint_kinds())
        if (!coordinates_of(kind).empty()) with_coordinates.push_back(name);
    const part_reference joint{"joint", "the joint", with_coordinates};
    const parameter_info coordinate = number("coordinate", "1", "number of its coordinate", 1, range::whole);
    const std::vector<part_info> others{
        {"point-closure", "loop: two points stay together", two_points, two_bodies},
        {"rod-closure", "loop: two points keep their distance",
         with(two_points, {needed(number("length", "m", "the distance", 0, range::positive))}), two_bodies},
        {"weld-closure", "loop: two points stay together, and the axes of the bodies parallel", two_points, two_bodies},
        {"rolling",
         "a ball of the body rolls on the ground, the plane through the origin, without slip and lift",
         {vector("at", "m", "the ball's centre in the body"),
          needed(number("radius", "m", "its radius", 0, range::positive))},
         {one_body}},
        {"spring", "spring and damper between two points",
         with(two_points, {number("stiffness", "N/m", "stiffness"), number("damping", "N.s/m", "damping"),
                           number("length", "m", "length without force")}),
         two_bodies},
        {"bushing", "springs and dampers in all directions between two points",
         with(two_points, {vector("stiffness", "N/m", "stiffness along the axes: one for all, or three"),
                           vector("damping", "N.s/m", "damping along the axes"),
                           vector("rotational-stiffness", "N.m/rad", "stiffness about the axes"),
                           vector("rotational-damping", "N.m.s/rad", "damping about the axes")}),
         two_bodies},
        {"joint-spring",
         "spring and damper on a joint's coordinate",
         {coordinate, number("stiffness", "", "stiffness, N/m or N.m/rad"), number("damping", "", "damping"),
          number("rest", "", "coordinate without force", 0, range::any)},
         {joint}},
        {"ground-contact",
         "a ball of the body on the ground, the plane through the origin",
         {vector("at", "m", "the ball's centre in the body"), number("radius", "m", "its radius"),
          needed(number("stiffness", "N/m", "stiffness of the contact", 0, range::positive)),
          number("damping", "s/m", "damping, per force and speed"), number("friction", "1", "coefficient of friction"),
          number("slip-speed", "m/s", "speed of slip at which friction has 0.7 of its force", 0.01, range::positive)},
         {one_body}},
        {"tyre",
         "tyre of a wheel on the ground, the plane through the origin, with slip along and across",
         {vector("at", "m", "the wheel's centre in the body"),
          optional(vector("axis", "1", "the wheel's axis in the body")),
          needed(number("radius", "m", "its radius without load", 0, range::positive)),
          needed(number("stiffness", "N/m", "radial stiffness", 0, range::positive)),
          number("damping", "s/m", "damping, per force and speed"),
          number("friction", "1", "coefficient of friction mu", 1),
          number("B", "1", "factor B of the characteristic sin(C atan(B s))", 10, range::positive),
          number("C", "1", "factor C", 1.6, range::positive),
          number("relaxation-length", "m", "way on which slip builds up", 0.1, range::positive),
          number("slowest", "m/s", "speed v_0 that keeps slip finite at rest", 0.1, range::positive)},
         {one_body}},
        {"frame", "port: a frame at a point of the body, with its axes", {vector("at", "m", "the point")}, {one_body}},
        {"joint-port", "port: a joint's coordinate, rotation or translation", {coordinate}, {joint}},
        {"road",
         "heights of the ground above its plane, for tyres and ground contacts",
         {vector("x", "m", "points ahead, rising"),
          vector("y", "m", "points to the left, rising; without them the road is the same across"),
          vector("heights", "m", "at every x, for all y")},
         {},
         {},
         {{"file", "CSV instead: a header 'x' and 'height', or 'x' and the points to the left, then a row for every x",
           false}}},
        {"attitude",
         "outputs: how the body is turned from its parallel position, as yaw, then pitch, then roll",
         {},
         {one_body}}};
    kinds.insert(kinds.end(), others.begin(), others.end());
    return kinds;
}

}  // namespace mdpcosim::multibody
