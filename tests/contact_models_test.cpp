// The model contact-bodies: exact solutions, the contract of subsystems, users' mistakes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <random>

#include "core/error.hpp"
#include "scenario/read.hpp"
#include "subsystem/factory.hpp"
#include "support/subsystem_contract.hpp"
#include "support/told_messages.hpp"

namespace mdpcosim::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr double g = 9.81;

subsystem_spec entry(const std::string& parts, const std::string& set = "{}") {
    const std::string text =
        "time: {end: 1, step: 0.1}\nsubsystems:\n  a:\n    model: contact-bodies\n    set: " + set + "\n    parts:\n" +
        parts;
    return read_scenario_text(text, "s.yaml").subsystems.at(0);
}

/// Runs alone with constant forces.
class bodies {
   public:
    explicit bodies(const subsystem_spec& spec) : subsystem_(make_subsystem(spec)) {
        inputs_.resize(static_cast<std::size_t>(subsystem_->describe().input_count()));
        y_.resize(static_cast<std::size_t>(subsystem_->describe().output_count()));
        for (const auto& o : subsystem_->describe().outputs) slots_[o.name] = static_cast<std::size_t>(o.slot);
        subsystem_->initialise(0);
    }
    void force(const std::string& name, double value) {
        for (const auto& u : subsystem_->describe().inputs)
            if (u.name == name) return void(inputs_[static_cast<std::size_t>(u.slot)].c[0] = value);
        throw std::logic_error(name);
    }
    void to(double end, double H = 1e-3) {
        const int steps = static_cast<int>(std::lround((end - time_) / H));
        for (int n = 0; n < steps; ++n, ++step_) {
            subsystem_->advance({H * step_, H * (step_ + 1), step_}, inputs_, y_);
            if (subsystem_->has_notice()) events.push_back(subsystem_->take_notice().first_event);
        }
        time_ = end;
    }
    double operator[](const std::string& name) const { return y_[slots_.at(name)]; }

    std::vector<double> events;

   private:
    std::unique_ptr<subsystem> subsystem_;
    std::vector<polynomial> inputs_;
    std::vector<double> y_;
    std::map<std::string, std::size_t> slots_;
    double time_ = 0;
    int step_ = 0;
};

const std::string pile =
    "      lower: {kind: body, mass: 2 kg, y: 5 cm, vx: 0.5 m/s}\n"
    "      upper: {kind: body, mass: 1 kg, y: 15 cm}\n"
    "      ball: {kind: body, mass: 0.5 kg, y: 25 cm}\n"
    "      floor: {kind: contact, of: lower, distance: 5 cm, friction: 0.2}\n"
    "      joint: {kind: contact, of: upper, on: lower, distance: 10 cm, friction: 0.4}\n"
    "      top: {kind: contact, of: ball, on: upper, distance: 6 cm, restitution: 0.6, friction: 0.3}\n";

INSTANTIATE_TEST_SUITE_P(contact_bodies, subsystem_contract,
                         testing::Values(subsystem_case{
                             .name = "pile", .make = [] { return make_subsystem(entry(pile)); }, .tolerance = 2e-2}),
                         case_name);

/// On either side of the angle of friction, and down the slope with g (sin - mu cos).
TEST(contact_bodies, block_on_a_slope) {
    const double mu = 0.3;
    for (const double by : {-1e-3, 1e-3, 0.2}) {
        const double slope = std::atan(mu) + by, normal = std::numbers::pi / 2 - slope;  // falls to the right
        bodies b(
            entry(fmt::format("      block: {{kind: body, mass: 2 kg}}\n"
                              "      plane: {{kind: contact, of: block, angle: {:.17g}, friction: {}}}\n",
                              normal, mu)));
        b.to(1);
        const double a = by < 0 ? 0 : g * (std::sin(slope) - mu * std::cos(slope));
        const double v = std::hypot(b["block.x.velocity"], b["block.y.velocity"]);
        EXPECT_NEAR(v, a, 1e-9) << by;
        EXPECT_NEAR(std::hypot(b["block.x.position"], b["block.y.position"]), a / 2, 1e-9) << by;
        EXPECT_NEAR(b["plane.force"], 2 * g * std::cos(slope), 1e-8);
        EXPECT_NEAR(std::fabs(b["plane.friction"]), std::min(mu * std::cos(slope), std::sin(slope)) * 2 * g, 1e-8);
        EXPECT_EQ(b["not-converged"], 0);
    }
}

/// A block that slides comes to rest after v/(mu g), and stays.
TEST(contact_bodies, sliding_ends) {
    bodies b(
        entry("      block: {kind: body, mass: 3 kg, vx: 2 m/s}\n"
              "      floor: {kind: contact, of: block, friction: 0.25}\n"));
    b.to(0.5);
    EXPECT_NEAR(b["block.x.velocity"], 2 - 0.25 * g * 0.5, 1e-9);
    b.to(3);
    EXPECT_NEAR(b["block.x.velocity"], 0, 1e-12);
    EXPECT_NEAR(b["block.x.position"], 4 / (2 * 0.25 * g), 1e-4);
}

/// The lower of two blocks is pulled: together up to (mu_1 + ...) the joint's friction, apart above.
TEST(contact_bodies, stacked_blocks_stick_and_slide) {
    const std::string parts =
        "      lower: {kind: body, mass: 2 kg}\n"
        "      upper: {kind: body, mass: 1 kg, y: 10 cm}\n"
        "      floor: {kind: contact, of: lower, friction: 0.2}\n"
        "      joint: {kind: contact, of: upper, on: lower, distance: 10 cm, friction: 0.4}\n";
    const double floor = 0.2 * 3 * g, sticks = floor + 3 * 0.4 * g;  // both accelerate with at most 0.4 g
    for (const double pull : {0.95 * floor, 0.99 * sticks, 1.5 * sticks}) {
        bodies b(entry(parts));
        b.force("lower.x.force", pull);
        b.to(1);
        const double together = std::max(0.0, (pull - floor) / 3);
        const double upper = std::min(together, 0.4 * g),
                     lower = pull > sticks ? (pull - floor - 0.4 * g) / 2 : together;
        EXPECT_NEAR(b["upper.x.velocity"], upper, 1e-8) << pull;
        EXPECT_NEAR(b["lower.x.velocity"], lower, 1e-8) << pull;
        EXPECT_NEAR(b["floor.force"], 3 * g, 1e-8);
        EXPECT_NEAR(b["joint.force"], g, 1e-8);
        EXPECT_NEAR(b["upper.y.position"], 0.1, 1e-9);
    }
}

TEST(contact_bodies, ball_to_rest_and_lifted_again) {
    bodies b(
        entry("      ball: {kind: body, mass: 2 kg, y: 1 m}\n"
              "      floor: {kind: contact, of: ball, restitution: 0.5}\n"));
    b.to(1.5);
    const double t_1 = std::sqrt(2 / g);
    ASSERT_GE(b.events.size(), 4U);
    for (std::size_t k = 0; k < 4; ++k)
        EXPECT_NEAR(b.events[k], t_1 * (3 - std::pow(0.5, static_cast<double>(k) + 1) * 4),
                    2e-4 * static_cast<double>(k + 1))
            << k;
    EXPECT_EQ(b["ball.y.velocity"], 0);
    EXPECT_NEAR(b["ball.y.position"], 0, 1e-4);
    EXPECT_NEAR(b["floor.force"], 2 * g, 1e-9);
    const double resting_at = b["ball.y.position"];
    b.force("ball.y.force", 2 * g + 1);
    b.to(2.5);
    EXPECT_NEAR(b["ball.y.position"], resting_at + 0.25, 1e-6);
    EXPECT_EQ(b["floor.force"], 0);
}

/// Bodies thrown into a box, at random: the energy of all of them never grows.
TEST(contact_bodies, energy_never_grows) {
    std::mt19937 dice(7);
    std::uniform_real_distribution<double> any(-1, 1);
    for (int n = 0; n < 20; ++n) {
        const double e = n % 4 * 0.33, mu = n % 3 * 0.3;
        std::string parts;
        for (int i = 0; i < 4; ++i) {
            parts += fmt::format("      b{0}: {{kind: body, mass: {1}, x: {2}, y: {3}, vx: {4}, vy: {5}}}\n", i,
                                 1 + 0.5 * i, 0.1 * any(dice), 0.3 * (i + 1), 3 * any(dice), 3 * any(dice));
            parts += fmt::format(
                "      floor{0}: {{kind: contact, of: b{0}, on: {1}, distance: 0.2, restitution: {2}, "
                "friction: {3}}}\n",
                i, i == 0 ? "b3" : fmt::format("b{}", i - 1), e, mu);
            if (i == 0) parts = parts.substr(0, parts.find("      floor0"));
            parts += fmt::format(
                "      left{0}: {{kind: contact, of: b{0}, angle: 0.3, distance: -1, restitution: {1}, "
                "friction: {2}}}\n      right{0}: {{kind: contact, of: b{0}, angle: 2.5, distance: -1, "
                "restitution: {1}, friction: {2}}}\n      ground{0}: {{kind: contact, of: b{0}, distance: "
                "-0.1, restitution: {1}, friction: {2}}}\n",
                i, e, mu);
        }
        bodies b(entry(parts));
        double last = INFINITY;
        for (int k = 1; k <= 400; ++k) {
            b.to(5e-3 * k);
            double energy = 0;
            for (int i = 0; i < 4; ++i) {
                const std::string name = fmt::format("b{}", i);
                const double vx = b[name + ".x.velocity"], vy = b[name + ".y.velocity"];
                energy += (1 + 0.5 * i) * ((vx * vx + vy * vy) / 2 + g * b[name + ".y.position"]);
            }
            ASSERT_LE(energy, last + 1e-6) << n << " at " << 5e-3 * k;
            last = energy;
        }
        EXPECT_EQ(b["not-converged"], 0) << n;
    }
}

TEST(contact_bodies, tells_of_contacts_that_were_not_solved) {
    std::string parts = "      b0: {kind: body, mass: 1}\n      c0: {kind: contact, of: b0}\n";
    for (int i = 1; i < 10; ++i)
        parts += fmt::format(
            "      b{0}: {{kind: body, mass: 1, y: {0}}}\n"
            "      c{0}: {{kind: contact, of: b{0}, on: b{1}, distance: 1}}\n",
            i, i - 1);
    std::string told;
    const message_scope scope([&](const std::string& text) { told += text; });
    bodies b(entry(parts, "{max-sweeps: 2}"));
    b.to(0.01);
    EXPECT_GT(b["not-converged"], 10);
    EXPECT_THAT(told, AllOf(HasSubstr("at t = 0.0001"), HasSubstr("within 2 sweeps: 'c"), HasSubstr("'max-sweeps'")));
}

/// Recorded forces are means over macro steps: what a ball takes up in them is m g t, impacts with it.
TEST(contact_bodies, forces_add_up_to_the_impulse) {
    bodies b(
        entry("      ball: {kind: body, mass: 2 kg, y: 1 m}\n"
              "      floor: {kind: contact, of: ball, restitution: 0.5}\n"));
    double impulse = 0;
    for (int n = 1; n <= 200; ++n) {
        b.to(0.01 * n, 0.01);
        impulse += 0.01 * b["floor.force"];
    }
    EXPECT_EQ(b["ball.y.velocity"], 0);
    EXPECT_NEAR(impulse, 2 * g * 2, 1e-9);
    EXPECT_EQ(b["without-rebound"], 0);
}

std::string refusal(const std::string& parts, const std::string& set = "{}") {
    try {
        make_subsystem(entry(parts, set));
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

TEST(contact_bodies, mistakes_have_their_place) {
    const std::string ball = "      ball: {kind: body, mass: 2 kg, y: 1 m}\n";
    EXPECT_THAT(
        refusal(ball + "      floor: {kind: contact, of: ball, distance: 1.25 m}\n"),
        AllOf(HasSubstr("s.yaml:8:7"), HasSubstr("contact 'floor': 'ball' and the ground overlap by 0.25 m at the "
                                                 "start (direction 90 deg, distance 1.25 m)")));
    EXPECT_THAT(refusal(ball + "      floor: {kind: contact, of: ball, restitution: 1.2}\n"),
                HasSubstr("restitution 1.2 would make energy. Allowed: 0 to 1."));
    EXPECT_THAT(refusal(ball, "{correction: 1.5}"), HasSubstr("'correction' is 1.5"));
    EXPECT_THAT(refusal(ball + "      floor: {kind: contact, of: ball, on: ball}\n"), HasSubstr("are both 'ball'"));
    EXPECT_THAT(refusal(ball + "      floor: {kind: contact, of: bal}\n"), HasSubstr("Did you mean 'ball'?"));
    EXPECT_THAT(refusal("      ball: {kind: body, mass: 0 kg}\n"), HasSubstr("'mass'"));
    EXPECT_THAT(refusal("      ball: {kind: body}\n"), HasSubstr("parameter 'mass' (mass, in kg) is missing"));
    EXPECT_THAT(refusal("      floor: {kind: contact, of: floor}\n"), HasSubstr("needs a part of kind body"));
}

}  // namespace
}  // namespace mdpcosim::test
