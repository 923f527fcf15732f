// Joints between two frames, put together from three fundamental kinds of equations (d = r1 - r2 between the origins):
//     atpoint         g = e . d     the origins meet; e: an axis of the inertial system
//     inplane         g = n . d     the second origin stays in a plane of the first frame; n: its normal, an axis of the first frame
//     perpendicular   g = a . b     an axis a of the first frame stays perpendicular to an axis b of the second
// Turning the frames by small angles t1, t2 changes a . b by (t1 - t2) . (a x b): the loads are minus these gradients.
#include "coupling/joint.hpp"

namespace mdpcosim {

namespace {

enum class fundamental { atpoint, inplane, perpendicular };

struct spatial_equation {
    fundamental kind;
    int axis;             ///< of the inertial system (atpoint) or of the first frame
    int second_axis = 0;  ///< perpendicular: of the second frame
};

std::array<double, 3> unit_vector(int axis) {
    std::array<double, 3> e{};
    e[static_cast<std::size_t>(axis)] = 1;
    return e;
}

void put(const jet3& vector, jet* to) {
    for (const jet& element : vector) *to++ = element;
}

class spatial_joint final : public joint {
   public:
    explicit spatial_joint(std::vector<spatial_equation> all) : all_(std::move(all)) {}

    int equations() const override { return static_cast<int>(all_.size()); }

    void evaluate(const double* first, const double* second, jet* g, jet* first_load, jet* second_load) const override {
        const moving_frame one(first), two(second);
        const jet3 d = one.position() - two.position(), nothing{};
        for (const auto& e : all_) {
            jet3 n{}, torque{};
            if (e.kind == fundamental::atpoint) {
                n[static_cast<std::size_t>(e.axis)] = {1};
                *g = d[static_cast<std::size_t>(e.axis)];
            } else if (e.kind == fundamental::inplane) {
                n = one.turned(unit_vector(e.axis));
                torque = cross(n, d);
                *g = dot(n, d);
            } else {
                const jet3 a = one.turned(unit_vector(e.axis)), b = two.turned(unit_vector(e.second_axis));
                torque = cross(a, b);
                *g = dot(a, b);
            }
            put(-n, first_load);
            put(-torque, first_load + 3);
            put(n, second_load);
            put(e.kind == fundamental::perpendicular ? torque : nothing, second_load + 3);
            ++g;
            first_load += frame_load_count;
            second_load += frame_load_count;
        }
    }

    std::string unit(int equation) const override { return turns(equation) ? "1" : "m"; }
    std::string multiplier_unit(int equation) const override { return turns(equation) ? "N.m" : "N"; }

   private:
    bool turns(int equation) const {
        return all_[static_cast<std::size_t>(equation)].kind == fundamental::perpendicular;
    }

    std::vector<spatial_equation> all_;
};

using equations_of_joint = std::vector<spatial_equation>;

equations_of_joint at_point() {
    return {{fundamental::atpoint, 0}, {fundamental::atpoint, 1}, {fundamental::atpoint, 2}};
}

/// The second origin stays on the line of the first frame's axis.
equations_of_joint on_line(int axis) {
    return {{fundamental::inplane, (axis + 1) % 3}, {fundamental::inplane, (axis + 2) % 3}};
}

/// The axis of the second frame keeps the direction of the same axis of the first.
equations_of_joint parallel(int axis) {
    return {{fundamental::perpendicular, (axis + 1) % 3, axis}, {fundamental::perpendicular, (axis + 2) % 3, axis}};
}

equations_of_joint no_turn() {
    return {{fundamental::perpendicular, 0, 1}, {fundamental::perpendicular, 1, 2}, {fundamental::perpendicular, 2, 0}};
}

equations_of_joint together(equations_of_joint all, const equations_of_joint& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

parameter_info axis(const char* name, const char* description, int default_value) {
    return {.name = name,
            .unit = "",
            .description = description,
            .default_value = static_cast<double>(default_value),
            .choices = {"x", "y", "z"}};
}

joint_info spatial(std::string name, std::string summary, std::vector<parameter_info> parameters,
                   const std::function<equations_of_joint(const parameter_values&)>& all) {
    return {std::move(name),
            std::move(summary),
            {port_kind::frame},
            std::move(parameters),
            [all](const parameter_values& p, port_kind) { return std::make_unique<spatial_joint>(all(p)); }};
}

int axis_of(const parameter_values& p, const char* name = "axis") { return static_cast<int>(p[name]); }

const joint_registration registered[]{
    joint_registration{
        spatial("atpoint", "the origins of both frames meet", {}, [](const auto&) { return at_point(); })},
    joint_registration{
        spatial("inplane",
                "the second frame's origin stays in a plane through the first frame's origin, fixed in the first frame",
                {axis("normal", "normal of the plane, an axis of the first frame", 2)},
                [](const auto& p) {
                    return equations_of_joint{{fundamental::inplane, axis_of(p, "normal")}};
                })},
    joint_registration{
        spatial("perpendicular", "an axis of the first frame stays perpendicular to one of the second",
                {axis("first-axis", "axis of the first frame", 0), axis("second-axis", "axis of the second frame", 1)},
                [](const auto& p) {
                    return equations_of_joint{
                        {fundamental::perpendicular, axis_of(p, "first-axis"), axis_of(p, "second-axis")}};
                })},
    joint_registration{spatial("planar-revolute",
                               "a hinge of models that move in the plane of x and y: the origins meet there", {},
                               [](const auto&) {
                                   return equations_of_joint{{fundamental::atpoint, 0}, {fundamental::atpoint, 1}};
                               })},
    joint_registration{spatial("spherical", "a ball joint: the origins of both frames meet", {},
                               [](const auto&) { return at_point(); })},
    joint_registration{spatial("revolute", "a hinge: the origins meet, both frames turn about one common axis",
                               {axis("axis", "axis of the hinge, the same in both frames", 2)},
                               [](const auto& p) { return together(at_point(), parallel(axis_of(p))); })},
    joint_registration{spatial(
        "universal", "a cross: the origins meet, an axis of the first frame stays perpendicular to one of the second",
        {axis("first-axis", "arm of the cross in the first frame", 0),
         axis("second-axis", "arm of the cross in the second frame", 1)},
        [](const auto& p) {
            return together(at_point(),
                            {{fundamental::perpendicular, axis_of(p, "first-axis"), axis_of(p, "second-axis")}});
        })},
    joint_registration{spatial("prismatic",
                               "a slider: the second frame moves along an axis of the first and does not turn",
                               {axis("axis", "axis of the slider, in the first frame", 2)},
                               [](const auto& p) { return together(on_line(axis_of(p)), no_turn()); })},
    joint_registration{spatial("cylindrical",
                               "a sleeve: the second frame moves along an axis of the first and turns about it",
                               {axis("axis", "axis of the sleeve, the same in both frames", 2)},
                               [](const auto& p) { return together(on_line(axis_of(p)), parallel(axis_of(p))); })},
    joint_registration{
        spatial("fixed", "both frames are one", {}, [](const auto&) { return together(at_point(), no_turn()); })},
};

}  // namespace

}  // namespace mdpcosim
