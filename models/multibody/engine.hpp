#pragma once

#include <array>
#include <string>
#include <vector>

/// What models/multibody and its module say to each other: a multibody system as plain data, and the same as something that can be asked for
/// rates. The module (simbody/module.cpp) is compiled with C++17, which Simbody's headers need, so nothing newer stands here.
///
/// Call order of an engine: start() once; then look() at a time and state, and any questions about what is there. Failures are exceptions of
/// the standard library.
namespace mdpcosim::multibody {

using triple = std::array<double, 3>;

inline constexpr int ground = -1;

struct body_data {
    std::string name;
    double mass = 0;
    triple centre{};                  ///< of mass, in the body's axes
    std::array<double, 6> inertia{};  ///< about the centre: xx, yy, zz, xy, xz, yz
};

enum class joint_kind { weld, pin, slider, cylinder, universal, planar, ball, free };

/// Joints are in an order in which every parent hangs on an earlier one.
struct joint_data {
    std::string name;
    joint_kind kind = joint_kind::weld;
    int parent = ground, child = 0;
    triple at{}, child_at{};
    triple x{1, 0, 0}, y{0, 1, 0};     ///< axes of the joint, in both bodies
    std::vector<double> start, speed;  ///< as many as speeds; rotations of ball and free as vectors
    bool start_given = false, speed_given = false;
    enum class motions { none, steady, sine } motion = motions::none;
    double amplitude = 0, frequency = 0, phase = 0;  ///< of the sine, rad/s
};

struct pair_data {
    int first = ground, second = ground;
    triple at_first{}, at_second{};
};

struct closure_data {
    std::string name;
    enum class kind { point, rod, weld, rolling } what = kind::point;
    pair_data between;
    double size = 0;  ///< the rod's length, the rolling ball's radius
};

struct spring_data {
    pair_data between;
    double stiffness = 0, damping = 0, length = 0;
};

struct bushing_data {
    pair_data between;
    std::array<double, 6> stiffness{}, damping{};  ///< rotations, then translations
};

struct joint_spring_data {
    int joint = 0, coordinate = 0;
    double stiffness = 0, damping = 0, rest = 0;
};

/// Heights above the plane of the ground at x[i] ahead and y[k] to the left: heights[i * y.size() + k]; linear between. Without x: the plane. One
/// y: the same everywhere across.
struct road_data {
    std::vector<double> x, y, heights;
};

/// A ball of a body against the ground, at its point right below; its normal is that of the road there.
struct contact_data {
    std::string name;
    int body = 0;
    triple at{};
    double radius = 0, stiffness = 0, damping = 0, friction = 0, slip_speed = 0;
};

/// A wheel on the ground: its contact is the point of a circle about the body's axis that is nearest to the plane that the road is below its centre. Slip follows sliding with the relaxation length,
///     sigma s' = v_slide - (|v_roll| + v_0) s,    F = -mu F_n sin(C atan(B |s|)) s/|s|,    F_n as that of a ground contact.
struct tyre_data {
    std::string name;
    int body = 0;
    triple at{}, axis{0, 1, 0};
    double radius = 0, stiffness = 0, damping = 0, friction = 0, B = 0, C = 0, relaxation = 0, slowest = 0;
};
inline constexpr int tyre_states = 2;   ///< slip along and across
inline constexpr int tyre_outputs = 5;  ///< force along, across and up; slip along and across

struct frame_data {
    int body = ground;
    triple at{};
};

struct coordinate_data {
    int joint = 0, coordinate = 0;
};

struct system_data {
    triple gravity{}, up{0, 0, 1};
    std::vector<body_data> bodies;
    std::vector<joint_data> joints;
    std::vector<closure_data> closures;
    std::vector<spring_data> springs;
    std::vector<bushing_data> bushings;
    std::vector<joint_spring_data> joint_springs;
    std::vector<contact_data> contacts;
    std::vector<tyre_data> tyres;
    road_data road;
    std::vector<frame_data> frames;            ///< that loads act on
    std::vector<coordinate_data> coordinates;  ///< likewise
};

class engine {
   public:
    engine() = default;
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;
    virtual ~engine() = default;

    /// The state: coordinates, speeds, those of tyres.
    virtual int coordinate_count() const = 0;
    virtual int speed_count() const = 0;
    virtual bool has_constraints() const = 0;
    /// Assembled: loops are closed, in position and velocity. std::invalid_argument where they cannot be.
    virtual void start(double* x) = 0;

    /// From here on everything is about this time and state; loads: six for every frame, one for every coordinate. `accelerations`: those will
    /// be asked for.
    virtual void look(double t, const double* x, const double* loads, bool accelerations) = 0;
    virtual void rates(double* dx) = 0;
    virtual void frame(const frame_data& which, double* motion) = 0;  ///< in the order of frame_motion
    virtual void coordinate(const coordinate_data& which, double* motion) = 0;
    virtual void tyre(int which, double* outputs) = 0;
    virtual double energy() = 0;
    /// How far constraints are open, in position or velocity.
    virtual double drift() = 0;
    /// The state that was looked at, with constraints closed.
    virtual void close(double* x) = 0;
};

/// What the module gives by the name `mdpcosim_multibody`: a new engine, owned by the caller; throws std::exception. nullptr where `size`, that
/// of system_data, tells that it comes from another build.
using make_engine = engine* (*)(const system_data&, std::size_t size);

}  // namespace mdpcosim::multibody
