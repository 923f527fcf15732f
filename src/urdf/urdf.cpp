#include "urdf/urdf.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "archive/xml_file.hpp"
#include "core/error.hpp"
#include "core/files.hpp"
#include "core/suggest.hpp"

// http://wiki.ros.org/urdf/XML: frames of links stand at their joints; rpy is a rotation about x, then y, then z of the parent.

namespace mdpcosim {

namespace {

using triple = std::array<double, 3>;
using matrix = std::array<triple, 3>;

constexpr matrix identity{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

triple operator*(const matrix& R, const triple& v) {
    triple out{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t k = 0; k < 3; ++k) out[i] += R[i][k] * v[k];
    return out;
}
matrix operator*(const matrix& A, const matrix& B) {
    matrix C{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            for (std::size_t k = 0; k < 3; ++k) C[i][j] += A[i][k] * B[k][j];
    return C;
}
matrix transposed(const matrix& A) {
    matrix T{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) T[i][j] = A[j][i];
    return T;
}
triple plus(const triple& a, const triple& b, double factor = 1) {
    return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}

struct pose {
    matrix R = identity;
    triple p{};
};

pose rolled(const triple& rpy, const triple& xyz) {
    const double cr = std::cos(rpy[0]), sr = std::sin(rpy[0]), cp = std::cos(rpy[1]), sp = std::sin(rpy[1]),
                 cy = std::cos(rpy[2]), sy = std::sin(rpy[2]);
    return {{{{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr},
              {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr},
              {-sp, cp * sr, cp * cr}}},
            xyz};
}

/// About the centre; in axes of the root.
struct mass_of {
    double mass = 0;
    triple centre{};
    matrix inertia{};

    void add(const mass_of& other) {
        if (!(other.mass > 0)) return;
        const double all = mass + other.mass;
        const triple both = plus(plus({}, centre, mass / all), other.centre, other.mass / all);
        shift(plus(centre, both, -1));
        mass_of moved = other;
        moved.shift(plus(other.centre, both, -1));
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j) inertia[i][j] += moved.inertia[i][j];
        mass = all;
        centre = both;
    }

   private:
    void shift(const triple& d) {
        const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j) inertia[i][j] += mass * ((i == j ? square : 0) - d[i] * d[j]);
    }
};

struct link {
    pugi::xml_node node;
    std::string joint;  ///< that it hangs on
    std::vector<std::string> carries;
    pose at;
    std::string body;  ///< that it is part of; empty: the ground
    bool placed = false;
};

struct joint {
    pugi::xml_node node;
    std::string name, type, parent, child;
    pose origin;
    triple axis{1, 0, 0};
    double damping = 0;
};

struct body {
    mass_of mass;
    triple origin{};
};

class urdf_reader {
   public:
    urdf_reader(const std::filesystem::path& file, bool free_base)
        : file_(file.string()),
          sink_(file_, nullptr),
          xml_(file_.c_str(), read_input(file, 64 << 20), sink_),
          free_base_(free_base) {}

    urdf_parts read() {
        const pugi::xml_node robot = xml_.root();
        if (std::string_view(robot.name()) != "robot")
            refuse(robot, fmt::format("the root element is <{}>, not <robot>: this is no URDF.", robot.name()));
        for (const auto& child : robot.children())
            if (std::string_view(child.name()).starts_with("xacro:"))
                refuse(child, fmt::format("<{}> belongs to xacro, from which a URDF is made: xacro {} > robot.urdf",
                                          child.name(), file_));
        read_links(robot);
        read_joints(robot);
        place(root(robot), {}, "");
        if (seen_ != links_.size()) refuse_loop();
        return write();
    }

   private:
    [[noreturn]] void refuse(pugi::xml_node at, const std::string& message) const {
        throw user_error({intern(file_), xml_.line(at), xml_.column(at)}, message);
    }

    triple numbers(pugi::xml_node node, const char* attribute, const triple& otherwise = {}) const {
        const pugi::xml_attribute given = node.attribute(attribute);
        if (!given) return otherwise;
        const auto words = archive::split_words(given.value());
        triple out{};
        for (std::size_t k = 0; k < 3; ++k) {
            const auto number = words.size() == 3 ? archive::parse_number(words[k]) : std::nullopt;
            if (!number || !std::isfinite(*number))
                refuse(node, fmt::format("<{}> of '{}' has {}=\"{}\"; three numbers are needed.", node.name(),
                                         node.parent().attribute("name").value(), attribute, given.value()));
            out[k] = *number;
        }
        return out;
    }
    double number(pugi::xml_node owner, pugi::xml_node node, const char* attribute) const {
        const auto value = archive::parse_number(node.attribute(attribute).value());
        if (!value || !std::isfinite(*value))
            refuse(node ? node : owner,
                   fmt::format("link '{}': its <inertial> needs a number for '{}'; there is \"{}\".",
                               owner.attribute("name").value(), attribute, node.attribute(attribute).value()));
        return *value;
    }
    pose origin_of(pugi::xml_node node) const {
        const pugi::xml_node origin = node.child("origin");
        return rolled(numbers(origin, "rpy"), numbers(origin, "xyz"));
    }

    void read_links(pugi::xml_node robot) {
        for (const auto& node : robot.children("link")) {
            const std::string name = node.attribute("name").value();
            if (name.empty()) refuse(node, "a <link> needs a name.");
            link fresh;
            fresh.node = node;
            if (!links_.emplace(name, fresh).second) refuse(node, fmt::format("there are two links '{}'.", name));
            names_.push_back(name);
            if (node.select_node(".//mesh")) meshes_ = true;
        }
        if (links_.empty()) refuse(robot, "the robot has no <link>.");
    }

    std::string link_of(const joint& j, const char* role) const {
        const std::string name = j.node.child(role).attribute("link").value();
        if (!links_.contains(name))
            refuse(j.node, fmt::format("joint '{}': its {} is the link '{}', which does not exist.{}", j.name, role,
                                       name, did_you_mean(name, names_)));
        return name;
    }

    void read_joints(pugi::xml_node robot) {
        static const std::set<std::string, std::less<>> types{"revolute", "continuous", "prismatic",
                                                              "fixed",    "floating",   "planar"};
        for (const auto& node : robot.children("joint")) {
            joint j;
            j.node = node;
            j.name = node.attribute("name").value();
            j.type = node.attribute("type").value();
            if (!types.contains(j.type))
                refuse(node, fmt::format("joint '{}': type '{}' does not exist. There is: {}.", j.name, j.type,
                                         fmt::join(types, ", ")));
            j.parent = link_of(j, "parent");
            j.child = link_of(j, "child");
            j.origin = origin_of(node);
            j.axis = numbers(node.child("axis"), "xyz", {1, 0, 0});
            j.damping = archive::parse_number(node.child("dynamics").attribute("damping").value()).value_or(0);
            link& child = links_.at(j.child);
            if (!child.joint.empty())
                refuse(node,
                       fmt::format("link '{}' is the child of two joints, '{}' and '{}'. A URDF is a tree: close loops "
                                   "with a closure among the parts.",
                                   j.child, child.joint, j.name));
            child.joint = j.name;
            links_.at(j.parent).carries.push_back(j.name);
            if (node.child("mimic"))
                notes_.push_back(fmt::format("joint '{}' moves by itself, not as another one (<mimic>)", j.name));
            if (node.child("limit").attribute("lower") && j.type != "continuous") limits_ = true;
            if (!joints_.emplace(j.name, j).second) refuse(node, fmt::format("there are two joints '{}'.", j.name));
        }
    }

    std::string root(pugi::xml_node robot) const {
        std::vector<std::string> roots;
        for (const auto& name : names_)
            if (links_.at(name).joint.empty()) roots.push_back(name);
        if (roots.empty()) refuse_loop();
        if (roots.size() > 1)
            refuse(robot, fmt::format("{} links hang on no joint: {}. A robot has one root; join the others to it.",
                                      roots.size(), name_list(roots)));
        return roots.front();
    }
    [[noreturn]] void refuse_loop() const {
        for (const auto& name : names_)
            if (const link& l = links_.at(name); !l.placed)
                refuse(l.node, fmt::format("link '{}' hangs on itself, over joint '{}': one link must be the root.",
                                           name, l.joint));
        refuse(links_.at(names_.front()).node, "every link is the child of a joint: one must be the root.");
    }

    /// A link, and what it carries, at zero positions.
    void place(const std::string& name, const pose& at, const std::string& body_name) {
        link& l = links_.at(name);
        ++seen_;
        l.placed = true;
        l.at = at;
        l.body = body_name;
        const bool is_root = l.joint.empty();
        if (is_root && free_base_) l.body = name;
        if (l.body == name) {
            bodies_[name] = {{}, at.p};
            order_.push_back(name);
        }
        if (!l.body.empty()) bodies_.at(l.body).mass.add(mass_at(l));
        for (const auto& carried : l.carries) {
            const joint& j = joints_.at(carried);
            const pose there{at.R * j.origin.R, plus(at.p, at.R * j.origin.p)};
            place(j.child, there, j.type == "fixed" ? l.body : j.child);
        }
    }

    mass_of mass_at(const link& l) const {
        mass_of m;
        const pugi::xml_node inertial = l.node.child("inertial");
        if (!inertial) return m;
        m.mass = number(l.node, inertial.child("mass"), "value");
        if (m.mass < 0)
            refuse(inertial, fmt::format("link '{}' has the mass {} kg; it must not be negative.",
                                         l.node.attribute("name").value(), m.mass));
        const pose own = origin_of(inertial);
        const pugi::xml_node I = inertial.child("inertia");
        const auto of = [&](const char* name) { return number(l.node, I, name); };
        const double xy = of("ixy"), xz = of("ixz"), yz = of("iyz");
        const matrix about{{{of("ixx"), xy, xz}, {xy, of("iyy"), yz}, {xz, yz, of("izz")}}};
        const matrix R = l.at.R * own.R;
        m.inertia = R * about * transposed(R);
        m.centre = plus(l.at.p, l.at.R * own.p);
        return m;
    }

    // writing

    /// Parts of all kinds share their names.
    std::string part_name(const std::string& wanted, const char* ending) {
        std::string name;
        for (const char c : wanted) name += (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') ? c : '_';
        if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name = "_" + name;
        if (taken_.contains(name)) name += ending;
        while (!taken_.insert(name).second) name += "_";
        return name;
    }
    static std::string list(const triple& v) {
        const auto tidy = [](double x) { return std::fabs(x) < 1e-15 ? 0.0 : x; };
        return fmt::format("[{}, {}, {}]", tidy(v[0]), tidy(v[1]), tidy(v[2]));
    }

    urdf_parts write() {
        urdf_parts out;
        std::map<std::string, std::string> called;
        std::string text =
            fmt::format("# {}, read from {}\nmodel: multibody\nparts:\n", xml_.root().attribute("name").value(),
                        std::filesystem::path(file_).filename().string());
        for (const auto& name : order_) {
            const body& b = bodies_.at(name);
            if (!(b.mass.mass > 0))
                refuse(
                    links_.at(name).node,
                    fmt::format("link '{}' moves and has no mass, nor has what is fixed to it. Give it an <inertial> "
                                "with a mass greater than zero, or make joint '{}' fixed.",
                                name, links_.at(name).joint));
            called[name] = part_name(name, "-body");
            const matrix& I = b.mass.inertia;
            text += fmt::format("  {}: {{kind: body, mass: {}, inertia: [{}, {}, {}, {}, {}, {}], centre: {}}}\n",
                                called[name], b.mass.mass, I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2],
                                list(plus(b.mass.centre, b.origin, -1)));
            out.mass += b.mass.mass;
        }
        for (const auto& name : order_) text += write_joint(name, called);
        out.bodies = static_cast<int>(order_.size());
        out.joints = out.bodies;
        out.yaml = std::move(text);
        if (order_.empty())
            refuse(xml_.root(), "nothing of it moves: all joints are fixed. Read it with a free base (--free).");
        out.notes = std::move(notes_);
        if (limits_) out.notes.emplace_back("limits of joints (<limit>) are not there: nothing stops a joint");
        if (meshes_) out.notes.emplace_back("meshes are not read: pictures show boxes of the same mass and inertia");
        return out;
    }

    std::string write_joint(const std::string& name, const std::map<std::string, std::string>& called) {
        const body& b = bodies_.at(name);
        const std::string& child = called.at(name);
        const link& l = links_.at(name);
        if (l.joint.empty())
            return fmt::format("  {}: {{kind: free, child: {}}}\n", part_name(name + "-place", ""), child);
        const joint& j = joints_.at(l.joint);
        const link& carrier = links_.at(j.parent);
        const triple from = carrier.body.empty() ? triple{} : bodies_.at(carrier.body).origin;
        const bool slides = j.type == "prismatic", turns = j.type == "revolute" || j.type == "continuous";
        const std::string part = part_name(j.name, "-joint");
        std::string text = fmt::format("  {}: {{kind: {}, child: {}{}, at: {}", part,
                                       turns                ? "pin"
                                       : slides             ? "slider"
                                       : j.type == "planar" ? "planar"
                                                            : "free",
                                       child, carrier.body.empty() ? "" : ", parent: " + called.at(carrier.body),
                                       list(plus(b.origin, from, -1)));
        if (j.type != "floating") text += ", axis: " + list(l.at.R * j.axis);
        text += "}\n";
        if (j.damping > 0 && (turns || slides))
            text += fmt::format("  {}: {{kind: joint-spring, joint: {}, damping: {}}}\n",
                                part_name(part + "-damping", ""), part, j.damping);
        return text;
    }

    std::string file_;
    archive::violation_sink sink_;
    archive::xml_file xml_;
    bool free_base_;
    std::map<std::string, link> links_;
    std::map<std::string, joint> joints_;
    std::map<std::string, body> bodies_;
    std::vector<std::string> names_, order_, notes_;
    std::set<std::string> taken_;
    std::size_t seen_ = 0;
    bool limits_ = false, meshes_ = false;
};

}  // namespace

urdf_parts read_urdf(const std::filesystem::path& file, bool free_base) {
    try {
        urdf_reader reader(file, free_base);
        return reader.read();
    } catch (const file_problem& problem) {
        throw user_error(fmt::format("'{}' cannot be read: {}.", file.string(), problem.what()));
    }
}

}  // namespace mdpcosim
