// The model multibody: motions in closed form, energy, loops, ports, the contract of subsystems, users' mistakes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "core/error.hpp"
#include "scenario/read.hpp"
#include "subsystem/factory.hpp"
#include "support/subsystem_contract.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::test {
namespace {

using std::numbers::pi;
using testing::AllOf;
using testing::HasSubstr;

constexpr double g = 9.80665;

subsystem_spec entry(const std::string& parts, const std::string& more = "",
                     const std::string& solver = "{name: erk-8, rtol: 1e-11, atol: 1e-12}") {
    const std::string text =
        "time: {end: 1, step: 0.1}\nsubsystems:\n  a:\n    model: multibody\n    solver: " + solver + "\n" + more +
        "    parts:\n" + parts;
    return read_scenario_text(text, "s.yaml").subsystems.at(0);
}

/// Whether this build has the module; sanitized ones have not.
bool has_simbody() {
    static const bool there = [] {
        try {
            make_subsystem(entry("      b: {kind: body, mass: 1, inertia: 1}\n      j: {kind: free, child: b}\n"));
            return true;
        } catch (const user_error& problem) {
            EXPECT_THAT(problem.what(), AllOf(HasSubstr("built without Simbody"), HasSubstr("tools/setup multibody")));
            return false;
        }
    }();
    return there;
}

class multibody : public testing::Test {
   protected:
    void SetUp() override {
        if (!has_simbody()) GTEST_SKIP() << "this build has no module for multibody systems";
    }
};

/// Runs alone with constant inputs.
class runner {
   public:
    explicit runner(const std::string& parts, const std::string& more = "",
                    const std::string& solver = "{name: erk-8, rtol: 1e-11, atol: 1e-12}")
        : subsystem_(make_subsystem(entry(parts, more, solver))) {
        const auto& d = subsystem_->describe();
        inputs_.resize(static_cast<std::size_t>(d.input_count()));
        y_.resize(static_cast<std::size_t>(d.output_count()));
        for (const auto& o : d.outputs) slots_[o.name] = static_cast<std::size_t>(o.slot);
        subsystem_->initialise(0);
        look();
    }
    runner& set(const std::string& name, int element, double value) {
        for (const auto& u : subsystem_->describe().inputs)
            if (u.name == name) inputs_.at(static_cast<std::size_t>(u.slot + element)).c[0] = value;
        if (time_ == 0) look();
        return *this;
    }
    runner& to(double end) {
        subsystem_->advance({time_, end, step_++}, inputs_, y_);
        time_ = end;
        return *this;
    }
    double operator()(const std::string& name, std::size_t element = 0) const { return y_[slots_.at(name) + element]; }

   private:
    void look() {
        std::vector<double> u;
        for (const auto& p : inputs_) u.push_back(p.c[0]);
        subsystem_->outputs(u, y_);
    }

    std::unique_ptr<subsystem> subsystem_;
    std::vector<polynomial> inputs_;
    std::vector<double> y_;
    std::map<std::string, std::size_t> slots_;
    double time_ = 0;
    int step_ = 0;
};

// ---- contract ----------------------------------------------------------------------------------------------------------

const std::string open_chain = R"y(
      base: {kind: body, mass: 2, inertia: [0.02, 0.03, 0.04], centre: [0.1, 0, 0]}
      arm: {kind: body, mass: 1, inertia: 0.01, centre: [0.2, 0, 0]}
      hand: {kind: body, mass: 0.5, inertia: [0.002, 0.003, 0.004, 0.0005, 0, 0]}
      shoulder: {kind: universal, child: base, start: [0.4, -0.2]}
      elbow: {kind: pin, child: arm, parent: base, at: [0.3, 0, 0], axis: [0, 1, 0], start: 0.7, speed: 1}
      wrist: {kind: ball, child: hand, parent: arm, at: [0.4, 0, 0], child-at: [-0.05, 0, 0], speed: [1, 2, 3]}
      stay: {kind: spring, first: arm, first-at: [0.2, 0, 0], second-at: [0, 0, 1], stiffness: 200, damping: 2, length: 0.5}
      rubber: {kind: joint-spring, joint: elbow, stiffness: 5, damping: 0.1}
      floor: {kind: ground-contact, body: hand, radius: 0.05, stiffness: 1e4, damping: 0.3, friction: 0.4}
      grip: {kind: frame, body: hand, at: [0.05, 0, 0.01]}
      drive: {kind: joint-port, joint: elbow}
)y";
const std::string four_bar = R"y(
      crank: {kind: body, mass: 1, inertia: 0.01, centre: [0.1, 0, 0]}
      rod: {kind: body, mass: 2, inertia: 0.03, centre: [0.25, 0, 0]}
      rocker: {kind: body, mass: 1.5, inertia: 0.02, centre: [0.15, 0, 0]}
      a: {kind: pin, child: crank, axis: [0, 1, 0], start: -0.5, speed: 3}
      b: {kind: pin, child: rod, parent: crank, at: [0.2, 0, 0], axis: [0, 1, 0]}
      c: {kind: pin, child: rocker, at: [0.5, 0, 0], axis: [0, 1, 0]}
      loop: {kind: point-closure, first: rod, first-at: [0.5, 0, 0], second: rocker, second-at: [0.3, 0, 0]}
      shaft: {kind: joint-port, joint: a}
)y";

/// Without the module there is nothing to hold to the contract.
std::vector<subsystem_case> contract_cases() {
    if (!has_simbody()) return {};
    const auto with = [](const std::string& name, const std::string& parts) {
        return subsystem_case{
            .name = name,
            .make = [=] { return make_subsystem(entry(parts, "", "{name: erk-5, rtol: 1e-9, atol: 1e-10}")); },
            .H = 5e-3,
            .tolerance = 1e-4,
            .counts_allocations = false};
    };
    return {with("open_chain", open_chain), with("four_bar", four_bar)};
}

INSTANTIATE_TEST_SUITE_P(multibody, subsystem_contract, testing::ValuesIn(contract_cases()), case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(subsystem_contract);

// ---- closed forms ------------------------------------------------------------------------------------------------------

/// Large swings: the period is 4 K(sin(a/2))/w with w^2 = m g l/(I + m l^2).
TEST_F(multibody, pendulum_has_its_period) {
    const double a = 2.0, w = std::sqrt(3 * g * 0.4 / (0.1 + 3 * 0.16));
    const double period = 4 * std::comp_ellint_1(std::sin(a / 2)) / w;
    runner r(
        fmt::format("      b: {{kind: body, mass: 3, inertia: [0.2, 0.1, 0.15], centre: [0, 0, -0.4]}}\n"
                    "      p: {{kind: pin, child: b, axis: [0, 1, 0], start: {}}}\n",
                    a));
    const double energy = r("energy");
    r.to(period / 2);
    EXPECT_NEAR(r("p.angle"), -a, 1e-8);
    r.to(period);
    EXPECT_NEAR(r("p.angle"), a, 1e-8);
    EXPECT_NEAR(r("der(p.angle)"), 0, 1e-7);
    r.to(5.25 * period);
    EXPECT_NEAR(r("p.angle"), 0, 1e-7);
    EXPECT_NEAR(r("energy"), energy, 1e-8);
}

/// A free symmetric top: w goes around L with |L|/I_1.
TEST_F(multibody, free_top_precesses) {
    const double I1 = 0.2, I3 = 0.3, wx = 2, wz = 5;
    runner r(
        "      b: {kind: body, mass: 1, inertia: [0.2, 0.2, 0.3]}\n"
        "      j: {kind: free, child: b, speed: [2, 0, 5, 0, 0, 1]}\n",
        "    set: {gravity: 0}\n");
    const double Lx = I1 * wx, Lz = I3 * wz, L = std::hypot(Lx, Lz), ex = Lx / L, ez = Lz / L;
    const double along = wx * ex + wz * ez, px = wx - along * ex, pz = wz - along * ez;
    for (const double t : {0.3, 1.1, 2.7}) {
        r.to(t);
        const double c = std::cos(L / I1 * t), s = std::sin(L / I1 * t);  // p cos + (e x p) sin
        EXPECT_NEAR(r("b.angular-velocity", 0), along * ex + px * c, 1e-8);
        EXPECT_NEAR(r("b.angular-velocity", 1), (ez * px - ex * pz) * s, 1e-8);
        EXPECT_NEAR(r("b.angular-velocity", 2), along * ez + pz * c, 1e-8);
        EXPECT_NEAR(r("b.position", 2), t, 1e-9);
    }
}

/// A horizontal gyroscope, held at its end, goes around with m g l/(I_3 w) and neither rises nor nods.
TEST_F(multibody, gyroscope_precesses_steadily) {
    const double W = 2 * g * 0.3 / (0.05 * 80);
    runner r(
        fmt::format("      rotor: {{kind: body, mass: 2, inertia: [0.05, 0.03, 0.03], centre: [0.3, 0, 0]}}\n"
                    "      tip: {{kind: ball, child: rotor, speed: [80, 0, {}]}}\n",
                    W));
    for (const double t : {0.2, 1.0}) {
        r.to(t);
        EXPECT_NEAR(r("rotor.position", 0), 0.3 * std::cos(W * t), 1e-7);
        EXPECT_NEAR(r("rotor.position", 1), 0.3 * std::sin(W * t), 1e-7);
        EXPECT_NEAR(r("rotor.position", 2), 0, 1e-7);
    }
}

/// x = r cos a + sqrt(l^2 - r^2 sin^2 a), and its rate; rod and piston are assembled from the crank alone.
TEST_F(multibody, slider_crank_is_assembled) {
    const double radius = 0.1, l = 0.25, w = 20;
    runner r(R"y(
      crank: {kind: body, mass: 1, inertia: 0.01}
      rod: {kind: body, mass: 0.5, inertia: 0.005, centre: [0.1, 0, 0]}
      piston: {kind: body, mass: 0.4, inertia: 0.001}
      main: {kind: pin, child: crank, start: 0.4, speed: 20, motion: steady}
      pin: {kind: pin, child: rod, parent: crank, at: [0.1, 0, 0]}
      liner: {kind: slider, child: piston, guess: 0.3}
      gudgeon: {kind: point-closure, first: rod, first-at: [0.25, 0, 0], second: piston}
)y");
    for (const double t : {0.0, 0.11, 0.5}) {
        if (t > 0) r.to(t);
        const double a = 0.4 + w * t, root = std::sqrt(l * l - std::pow(radius * std::sin(a), 2));
        EXPECT_NEAR(r("liner.position"), radius * std::cos(a) + root, 1e-8) << t;
        EXPECT_NEAR(r("der(liner.position)"), -radius * w * std::sin(a) * (1 + radius * std::cos(a) / root), 1e-6) << t;
    }
}

/// Pulled at its centre a wheel that rolls has the mass m + I/r^2.
TEST_F(multibody, wheel_rolls) {
    runner r(
        "      wheel: {kind: body, mass: 3, inertia: [0.03, 0.05, 0.03]}\n"
        "      j: {kind: free, child: wheel, start: [0, 0, 0, 0, 0, 0.2], speed: [0, 2.5, 0, 0.5, 0, 0]}\n"
        "      road: {kind: rolling, body: wheel, radius: 0.2}\n"
        "      hub: {kind: frame, body: wheel}\n");
    r.set("hub.force", 0, 6);
    const double a = 6 / (3 + 0.05 / 0.04);
    EXPECT_NEAR(r("hub.acceleration", 0), a, 1e-10);
    r.to(1.3);
    EXPECT_NEAR(r("wheel.position", 0), 0.5 * 1.3 + a * 1.3 * 1.3 / 2, 1e-8);
    EXPECT_NEAR(r("wheel.position", 2), 0.2, 1e-8);
    EXPECT_NEAR(r("wheel.angular-velocity", 1), (0.5 + a * 1.3) / 0.2, 1e-7);
}

/// A ball that slides first decelerates with mu g, and rolls at last with 5/7 of its speed.
TEST_F(multibody, bowling_ball_comes_to_roll) {
    const double m = 4, radius = 0.1, mu = 0.2, v0 = 3, slip = 1e-3;
    runner r(fmt::format(
                 "      ball: {{kind: body, mass: {0}, inertia: {1}}}\n"
                 "      j: {{kind: free, child: ball, start: [0, 0, 0, 0, 0, {2}], speed: [0, 0, 0, 3, 0, 0]}}\n"
                 "      lane: {{kind: ground-contact, body: ball, radius: {3}, stiffness: 1e5, damping: 0, friction: "
                 "{4}, slip-speed: {5}}}\n",
                 m, 0.4 * m * radius * radius, radius - m * g / 1e5, radius, mu, slip),
             "", "{name: erk-5, rtol: 1e-9, atol: 1e-10}");
    r.to(0.3);
    EXPECT_NEAR(r("ball.velocity", 0), v0 - mu * g * 0.3, 2e-3);
    r.to(2 * v0 / (7 * mu * g) + 0.3);
    EXPECT_NEAR(r("ball.velocity", 0), 5.0 / 7 * v0, 2e-3);
    EXPECT_NEAR(r("ball.angular-velocity", 1), r("ball.velocity", 0) / radius, 0.02);
}

/// A wheel that is driven too fast for its way, at an angle to it: slip builds up with exp(-V t/sigma), the force has the characteristic.
TEST_F(multibody, tyre_builds_up_its_slip) {
    const double V = 10, a = 0.05, w = 52, radius = 0.2, sigma = 0.3, v0 = 0.1;
    runner r(fmt::format(
        "      carriage: {{kind: body, mass: 1, inertia: 1}}\n"
        "      fork: {{kind: body, mass: 20, inertia: 1}}\n"
        "      wheel: {{kind: body, mass: 5, inertia: [0.1, 0.15, 0.1]}}\n"
        "      way: {{kind: slider, child: carriage, speed: {0}, motion: steady}}\n"
        "      lift: {{kind: slider, child: fork, parent: carriage, axis: [0, 0, 1], start: {1}}}\n"
        "      spin: {{kind: pin, child: wheel, parent: fork, axis: [{2}, {3}, 0], speed: {4}, motion: steady}}\n"
        "      tyre: {{kind: tyre, body: wheel, axis: [{2}, {3}, 0], radius: {5}, stiffness: 1e5, damping: 0.1, "
        "friction: 0.9, relaxation-length: {6}, slowest: {7}}}\n",
        V, radius - 25 * g / 1e5, -std::sin(a), std::cos(a), w, radius, sigma, v0));
    const double speed = V * std::cos(a) + v0;
    const double along = (V * std::cos(a) - w * radius) / speed, across = -V * std::sin(a) / speed;
    for (const double t : {0.01, 0.05, 1.0}) {
        r.to(t);
        const double grown = 1 - std::exp(-speed * t / sigma), s = std::hypot(along, across);
        EXPECT_NEAR(r("tyre.slip", 0), along * grown, 1e-8);
        EXPECT_NEAR(r("tyre.slip", 1), across * grown, 1e-8);
        const double force = 0.9 * 25 * g * std::sin(1.6 * std::atan(10 * s * grown));
        EXPECT_NEAR(r("tyre.force", 0), -force * along / s, 1e-5);
        EXPECT_NEAR(r("tyre.force", 1), -force * across / s, 1e-5);
        EXPECT_NEAR(r("tyre.force", 2), 25 * g, 1e-5);
    }
}

/// Without dampers: in the tree and in the loop.
TEST_F(multibody, energy_is_kept) {
    std::string tree = open_chain;
    for (const auto& [what, with] :
         std::vector<std::pair<std::string, std::string>>{{"damping: 2, ", ""}, {", damping: 0.1", ""}})
        tree.replace(tree.find(what), what.size(), with);
    const auto floor = tree.find("      floor");
    tree.erase(floor, tree.find('\n', floor) + 1 - floor);
    for (const std::string& parts : {tree, four_bar}) {
        runner r(parts);
        const double before = r("energy");
        r.to(2);
        EXPECT_NEAR(r("energy"), before, 2e-7);
    }
}

/// Springs, joints and motions of all kinds, each on a body of its own.
TEST_F(multibody, joints_and_springs_in_closed_form) {
    runner r(R"y(
      a: {kind: body, mass: 2, inertia: 0.1}
      ja: {kind: slider, child: a, axis: [0, 0, 1], start: 0.1}
      sa: {kind: joint-spring, joint: ja, stiffness: 50}
      b: {kind: body, mass: 2, inertia: 0.1}
      jb: {kind: cylinder, child: b, axis: [0, 3, 0], start: [0.2, 0], speed: [0, 0.7]}
      sb: {kind: joint-spring, joint: jb, coordinate: 1, stiffness: 0.9}
      c: {kind: body, mass: 1, inertia: [1, 1.2, 0.5]}
      jc: {kind: planar, child: c, speed: [2, 0.3, -0.4]}
      d: {kind: body, mass: 1, inertia: 1}
      jd: {kind: slider, child: d, axis: [0, 1, 0], motion: sine, amplitude: 0.2, rate: 5, phase: 0.3}
      e: {kind: body, mass: 1, inertia: 1, centre: [0, 0.5, 0]}
      je: {kind: weld, child: e, parent: d, at: [0, 0.5, 0]}
      f: {kind: body, mass: 2, inertia: 0.1}
      jf: {kind: free, child: f}
      sf: {kind: bushing, first: f, stiffness: [200, 300, 400], rotational-stiffness: 3}
      h: {kind: body, mass: 0.5, inertia: 0.01}
      jh: {kind: slider, child: h, at: [2, 0, 0]}
      sh: {kind: spring, first: h, second-at: [5, 0, 0], stiffness: 8, length: 2}
)y");
    for (const double t : {0.4, 1.7}) {
        r.to(t);
        const double rest = -2 * g / 50;
        EXPECT_NEAR(r("ja.position"), rest + (0.1 - rest) * std::cos(5 * t), 1e-8);
        EXPECT_NEAR(r("jb.angle"), 0.2 * std::cos(3 * t), 1e-8);
        EXPECT_NEAR(r("b.position", 1), 0.7 * t, 1e-8);
        EXPECT_NEAR(r("jc.angle"), 2 * t, 1e-8);
        EXPECT_NEAR(r("c.position", 0), 0.3 * t, 1e-8);
        EXPECT_NEAR(r("c.position", 1), -0.4 * t, 1e-8);
        EXPECT_NEAR(r("d.position", 1), 0.2 * std::sin(5 * t + 0.3), 1e-9);
        EXPECT_NEAR(r("e.position", 1), 1 + 0.2 * std::sin(5 * t + 0.3), 1e-9);
        EXPECT_NEAR(r("f.position", 2), -2 * g / 400 * (1 - std::cos(std::sqrt(200.0) * t)), 1e-8);
        EXPECT_NEAR(r("h.position", 0), 3 - std::cos(4 * t), 1e-8);
    }
}

/// On four springs, of different stiffness in front and behind: heave and pitch of the rest.
TEST_F(multibody, stands_in_equilibrium) {
    std::string parts =
        "      car: {kind: body, mass: 150, inertia: [8, 14, 12]}\n"
        "      j: {kind: free, child: car, start: [0, 0, 0, 0, 0, 0.3]}\n";
    for (const double x : {0.5, -0.6})
        for (const double y : {0.4, -0.4})
            parts += fmt::format(
                "      tyre{}{}: {{kind: ground-contact, body: car, at: [{}, {}, -0.3], stiffness: {}, "
                "damping: 0.5, friction: 0.5}}\n",
                x > 0, y > 0, x, y, x > 0 ? 20000 : 30000);
    runner r(parts, "    initial: equilibrium\n", "{name: dirk-4, rtol: 1e-8, atol: 1e-9}");
    double pitch = 0, front = 0, rear = 0;  // depths, of two springs each
    for (int n = 0; n < 30; ++n) {
        const double c = std::cos(pitch), s = std::sin(pitch), x_front = 0.5 * c - 0.3 * s, x_rear = -0.6 * c - 0.3 * s;
        front = -x_rear / (x_front - x_rear) * 150 * g / 40000;
        rear = x_front / (x_front - x_rear) * 150 * g / 60000;
        pitch = std::asin((front - rear) / 1.1);
    }
    EXPECT_NEAR(r("car.position", 2), -front + 0.5 * std::sin(pitch) + 0.3 * std::cos(pitch), 1e-7);
    EXPECT_NEAR(r("car.orientation", 2), std::sin(pitch / 2), 1e-7);
    r.to(0.5);
    EXPECT_NEAR(r("car.velocity", 2), 0, 1e-5);
}

/// Yaw, pitch and roll of a body that is turned so, whatever is up.
TEST_F(multibody, attitude_tells_yaw_pitch_and_roll) {
    const double yaw = 2.5, pitch = -0.4, roll = 0.3;
    const auto half = [](double angle) { return std::pair(std::cos(angle / 2), std::sin(angle / 2)); };
    const auto [cy, sy] = half(yaw);
    const auto [cp, sp] = half(pitch);
    const auto [cr, sr] = half(roll);
    const double w = cr * cp * cy + sr * sp * sy, x = sr * cp * cy - cr * sp * sy, y = cr * sp * cy + sr * cp * sy,
                 z = cr * cp * sy - sr * sp * cy, angle = 2 * std::acos(w), length = std::sin(angle / 2) / angle;
    const std::array vector{x / length, y / length, z / length};  // ahead, left, up
    for (const auto& [up, ahead] : {std::pair("z", 0U), std::pair("x", 1U), std::pair("y", 2U)}) {
        std::array<double, 3> start{};
        for (unsigned k = 0; k < 3; ++k) start[(ahead + k) % 3] = vector[k];
        runner r(fmt::format("      b: {{kind: body, mass: 1, inertia: 1}}\n      j: {{kind: free, child: b, start: "
                             "[{}, {}, {}, 1, 2, "
                             "3]}}\n      a: {{kind: attitude, body: b}}\n",
                             start[0], start[1], start[2]),
                 fmt::format("    set: {{up: {}}}\n", up));
        EXPECT_NEAR(r("a.yaw"), yaw, 1e-12) << up;
        EXPECT_NEAR(r("a.pitch"), pitch, 1e-12) << up;
        EXPECT_NEAR(r("a.roll"), roll, 1e-12) << up;
    }
}

/// What is zero by symmetry, but for rounding, does not keep Newton's method from its end.
TEST_F(multibody, implicit_steps_converge_in_spite_of_symmetry) {
    std::string parts =
        "      car: {kind: body, mass: 150, inertia: [8, 14, 12]}\n"
        "      j: {kind: free, child: car, start: [0, 0, 0, 0, 0, 0.295], speed: [0, 0, 0, 20, 0, 0]}\n";
    for (const double x : {0.5, -0.6})
        for (const double y : {0.4, -0.4})
            parts += fmt::format(
                "      wheel{0}{1}: {{kind: body, mass: 4, inertia: 0.04}}\n"
                "      spin{0}{1}: {{kind: pin, child: wheel{0}{1}, parent: car, at: [{2}, {3}, -0.17], axis: [0, 1, "
                "0], speed: 100}}\n"
                "      tyre{0}{1}: {{kind: tyre, body: wheel{0}{1}, radius: 0.13, stiffness: 5e4, damping: 0.5}}\n",
                x > 0, y > 0, x, y);
    runner implicit(parts, "", "{name: trapezoidal, step: 2 ms}"), exact(parts);
    for (const double t : {0.1, 0.3}) {
        implicit.to(t);
        exact.to(t);
        EXPECT_NEAR(implicit("car.velocity"), exact("car.velocity"), 2e-3) << t;
        EXPECT_NEAR(implicit("car.position", 2), exact("car.position", 2), 2e-5) << t;
        EXPECT_NEAR(implicit("car.position", 1), 0, 1e-12) << t;
    }
    // The tyres bring body and wheels to roll; momentum and spin of the wheels together stay.
    EXPECT_NEAR(exact("car.velocity"), (166 * 20 + 4 * 0.04 * 100 / 0.13) / (166 + 4 * 0.04 / (0.13 * 0.13)), 2e-3);
}

/// A torque on the port of a joint, a force at a frame: as the same thing on both ways.
TEST_F(multibody, ports_take_loads) {
    runner r(
        "      b: {kind: body, mass: 3, inertia: 0.2, centre: [0.5, 0, 0]}\n"
        "      p: {kind: pin, child: b}\n"
        "      drive: {kind: joint-port, joint: p}\n"
        "      tip: {kind: frame, body: b, at: [1, 0, 0]}\n");
    const double inertia = 0.2 + 3 * 0.25;
    r.set("drive.torque", 0, 1.9);
    EXPECT_NEAR(r("drive.acceleration"), 1.9 / inertia, 1e-12);
    EXPECT_NEAR(r("tip.acceleration", 1), 1.9 / inertia, 1e-12);
    r.set("tip.force", 1, 0.4);
    r.set("tip.torque", 2, -0.3);
    EXPECT_NEAR(r("drive.acceleration"), 2.0 / inertia, 1e-12);
    r.to(0.5);  // the force keeps its direction
    EXPECT_NEAR(r("tip.orientation", 3), std::sin(r("drive.angle") / 2), 1e-9);
    EXPECT_NEAR(r("tip.velocity", 1), r("drive.speed") * std::cos(r("drive.angle")), 1e-9);
}

/// Down a road that falls, and to the side of one that is banked: a ball rolls with 5/7 of what a block slides without friction.
TEST_F(multibody, ball_rolls_down_a_road) {
    const double slope = 0.1, cosine = 1 / std::hypot(1, slope), radius = 0.1, k = 2e4;
    const double height = (radius - g * cosine / k) / cosine;
    const auto run = [&](const std::string& road) {
        return runner(fmt::format("      b: {{kind: body, mass: 1, inertia: 0.004}}\n"
                                  "      j: {{kind: free, child: b, start: [0, 0, 0, 0, 0, {}]}}\n"
                                  "      c: {{kind: ground-contact, body: b, radius: {}, stiffness: {}, friction: 0.6, "
                                  "slip-speed: 0.1 mm/s}}\n"
                                  "      r: {{kind: road, {}}}\n",
                                  height, radius, k, road),
                      "", "{name: dirk-4, rtol: 1e-9, atol: 1e-11}");
    };
    const double way = 5.0 / 7 * g * slope * cosine * cosine / 2;  // after 1 s, seen from above
    runner falling = run("x: [-10, 0, 20], heights: [1, 0, -2]"),
           banked = run("x: [-9, 9], y: [-10, 10], heights: [-1, 1, -1, 1]");
    falling.to(1);
    banked.to(1);
    EXPECT_NEAR(falling("b.position", 0), way, 2e-4 * way);
    EXPECT_NEAR(falling("b.position", 1), 0, 1e-9);
    EXPECT_NEAR(banked("b.position", 1), -way, 2e-4 * way);
    EXPECT_NEAR(banked("b.position", 2), height + slope * banked("b.position", 1), 1e-6);
}

/// A mass on a spring that is drawn over waves, which a file has.
TEST_F(multibody, mass_follows_waves_of_a_file) {
    const temporary_folder folder;
    const double amplitude = 2e-3, wave = 2, speed = 3, k = 1000;
    std::string csv = "x,height\n";
    for (int i = -10; i <= 1200; ++i) csv += fmt::format("{},{}\n", 0.005 * i, amplitude * std::sin(wave * 0.005 * i));
    write_file(folder / "waves.csv", csv);
    const double rest = -g / k, w = std::sqrt(k), W = wave * speed;
    runner r(
        fmt::format("      sled: {{kind: body, mass: 1, inertia: 1}}\n"
                    "      mass: {{kind: body, mass: 1, inertia: 0.01}}\n"
                    "      along: {{kind: slider, child: sled, motion: steady, speed: {}}}\n"
                    "      up: {{kind: slider, child: mass, parent: sled, axis: [0, 0, 1], start: {}}}\n"
                    "      foot: {{kind: ground-contact, body: mass, stiffness: {}}}\n"
                    "      waves: {{kind: road, file: {}}}\n",
                    speed, rest, k, (folder / "waves.csv").string()));
    for (const double t : {0.3, 0.9, 1.7}) {
        r.to(t);
        const double expected = rest + amplitude / (1 - W * W / w / w) * (std::sin(W * t) - W / w * std::sin(w * t));
        EXPECT_NEAR(r("mass.position", 2), expected, 2e-3 * amplitude) << t;
    }
    EXPECT_THROW(r.to(3), run_error);
}

TEST_F(multibody, roads_that_are_none_are_refused) {
    const temporary_folder folder;
    const auto refusal = [](const std::string& road) -> std::string {
        try {
            make_subsystem(
                entry("      b: {kind: body, mass: 1, inertia: 1}\n      j: {kind: free, child: b, start: [0, 0, 0, 5, "
                      "0, 0.3]}\n"
                      "      w: {kind: tyre, body: b, radius: 0.3, stiffness: 1e5}\n      r: {kind: road, " +
                      road + "}\n"));
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "accepted";
    };
    EXPECT_THAT(refusal("x: [0, 2], heights: [0, 0]"),
                AllOf(HasSubstr("s.yaml:"), HasSubstr("tyre 'w' is at 5 m ahead"), HasSubstr("known from 0 to 2 m"),
                      HasSubstr("Give more of the road")));
    EXPECT_THAT(refusal("x: [0, 9], y: [1, 2], heights: [0, 0, 0, 0]"), HasSubstr("tyre 'w' is at 0 m to the left"));
    EXPECT_THAT(refusal("x: [0, 9, 9], heights: [0, 0, 0]"), HasSubstr("'x' does not rise: 9 m comes after 9 m"));
    EXPECT_THAT(refusal("x: [0, 9], heights: [0, 0, 0]"),
                HasSubstr("'heights' has 3 values; 2 points ahead and 1 to the left need 2"));
    EXPECT_THAT(refusal("x: [0]"), HasSubstr("'x' has 1 points; 2 are needed"));
    EXPECT_THAT(refusal("file: nowhere.csv"), AllOf(HasSubstr("nowhere.csv' cannot be read"), HasSubstr("s.yaml:")));
    const auto of_file = [&](const char* text) {
        write_file(folder / "r.csv", text);
        return refusal("file: " + (folder / "r.csv").string());
    };
    EXPECT_THAT(of_file("s,height\n0,0\n"), HasSubstr("line 1: the first column is 's', not 'x'"));
    EXPECT_THAT(of_file("x,height\n0,0\n9,a\n"), HasSubstr("line 3: 'a' is no number"));
    EXPECT_THAT(of_file("x,height\n0,0\n9\n"), HasSubstr("line 3: 1 values, and the header has 2 columns"));
    EXPECT_EQ(of_file("x,-1,1\n0,0,0\n9,0,0\n"), "accepted");
}

// ---- mistakes ----------------------------------------------------------------------------------------------------------

TEST_F(multibody, mistakes_are_named) {
    const auto refusal = [](const std::string& parts) -> std::string {
        try {
            make_subsystem(entry(parts));
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "";
    };
    const std::string body = "      b: {kind: body, mass: 1, inertia: 1}\n";
    EXPECT_THAT(refusal("      b: {kind: body, inertia: 1}\n"),
                AllOf(HasSubstr("s.yaml:7:"), HasSubstr("'mass' (mass, in kg) is missing")));
    EXPECT_THAT(refusal("      b: {kind: body, mass: 0, inertia: 1}\n"), HasSubstr("'0' must be greater than zero"));
    EXPECT_THAT(refusal("      b: {kind: body, mass: 1, inertia: [1, 2, 4]}\n      j: {kind: free, child: b}\n"),
                AllOf(HasSubstr("body 'b'"), HasSubstr("zz <= xx + yy does not hold")));
    EXPECT_THAT(
        refusal("      b: {kind: body, mass: 1, inertia: [1, 1, 1, 0.9, 0, 0]}\n      j: {kind: free, child: b}\n"),
        HasSubstr("Lower the products"));
    EXPECT_THAT(
        refusal("      b: {kind: body, mass: 1, inertia: 1, centre: [1e308, 0, 0]}\n      j: {kind: free, child: b}\n"),
        AllOf(HasSubstr("s.yaml:3:"), HasSubstr("subsystem 'a'"), HasSubstr("Simbody cannot start it")));
    std::string chain;
    for (int i = 0; i < 20000; ++i)
        chain +=
            fmt::format("      b{0}: {{kind: body, mass: 1, inertia: 1}}\n      j{0}: {{kind: pin, child: b{0}{1}}}\n",
                        i, i < 19999 ? fmt::format(", parent: b{}", i + 1) : "");
    EXPECT_THAT(refusal(chain), HasSubstr("more than 1000 bodies hang on one another"));
    EXPECT_THAT(refusal(body), HasSubstr("it hangs on no joint. Add one with 'child: b'"));
    EXPECT_THAT(refusal(body + "      j: {kind: hinge, child: b}\n"),
                AllOf(HasSubstr("kind 'hinge' does not exist"), HasSubstr("pin, planar")));
    EXPECT_THAT(refusal(body + "      j: {kind: pin, child: c}\n"), HasSubstr("part 'c' does not exist"));
    EXPECT_THAT(refusal(body + "      j: {kind: pin, child: b}\n      k: {kind: slider, child: b}\n"),
                AllOf(HasSubstr("hangs on 'j' already"), HasSubstr("point-closure")));
    EXPECT_THAT(
        refusal(
            body +
            "      c: {kind: body, mass: 1, inertia: 1}\n      j: {kind: pin, child: b, parent: c}\n      k: {kind: "
            "slider, child: c, parent: b}\n"),
        HasSubstr("hangs on itself"));
    EXPECT_THAT(refusal(body + "      j: {kind: pin, child: b, axis: 0}\n"), HasSubstr("'axis' has no direction"));
    EXPECT_THAT(refusal(body + "      j: {kind: pin, child: b, at: [1, 2]}\n"), HasSubstr("'at' has 2 numbers"));
    EXPECT_THAT(
        refusal(body + "      j: {kind: pin, child: b}\n      p: {kind: joint-port, joint: j, coordinate: 2}\n"),
        HasSubstr("joint 'j' has 1 coordinate, and this asks for number 2"));
    EXPECT_THAT(refusal(body + "      j: {kind: pin, child: b, motion: sine}\n"), HasSubstr("needs its 'rate'"));
    EXPECT_THAT(
        refusal(body + "      j: {kind: pin, child: b}\n      rod: {kind: rod-closure, first: b, first-at: [1, 0, 0], "
                       "second-at: [5, 0, 0], length: 2}\n"),
        AllOf(HasSubstr("its loops cannot close"), HasSubstr("'rod' is open by 2")));
    EXPECT_THAT(
        refusal(body + "      j: {kind: pin, child: b, start: 0, speed: 1}\n      rod: {kind: point-closure, first: b, "
                       "first-at: [1, 0, 0], second-at: [1, 0, 0]}\n"),
        AllOf(HasSubstr("speeds of its joints tear its loops"), HasSubstr("'rod' is open by 1 m/s")));
}

}  // namespace
}  // namespace mdpcosim::test
