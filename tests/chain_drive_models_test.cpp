// The model chain-drive: closed forms, the contract of subsystems, users' mistakes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <map>
#include <numbers>

#include "../models/chain-drive/team.hpp"
#include "core/error.hpp"
#include "scenario/read.hpp"
#include "scenario/resolve.hpp"
#include "subsystem/factory.hpp"
#include "subsystem/model.hpp"
#include "support/subsystem_contract.hpp"

namespace mdpcosim::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr double pi = std::numbers::pi, pitch = 8e-3;

subsystem_spec entry(const std::string& parts, const std::string& more = "") {
    return read_scenario_text(
               "time: {end: 1, step: 0.1}\nsubsystems:\n  a:\n    model: chain-drive\n" + more + "    parts:\n" + parts,
               "s.yaml")
        .subsystems.at(0);
}
std::string solver(double tolerance) {
    return fmt::format("    solver: {{name: erk-3, rtol: {0}, atol: {0}, max-steps: 1000000}}\n", tolerance);
}
const std::string rigid = "    set: {contacts: rigid}\n";

/// Runs alone with constant loads.
class runner {
   public:
    explicit runner(const subsystem_spec& spec) : subsystem_(make_subsystem(spec)) {
        inputs_.resize(static_cast<std::size_t>(subsystem_->describe().input_count()));
        y_.resize(static_cast<std::size_t>(subsystem_->describe().output_count()));
        for (const auto& o : subsystem_->describe().outputs) slots_[o.name] = static_cast<std::size_t>(o.slot);
        subsystem_->initialise(0);
        subsystem_->outputs(std::vector<double>(inputs_.size()), y_);
    }
    void load(const std::string& name, double value) {
        for (const auto& u : subsystem_->describe().inputs)
            if (u.name == name) return void(inputs_[static_cast<std::size_t>(u.slot)].c[0] = value);
        throw std::logic_error(name);
    }
    void step(double H) {
        subsystem_->advance({time, time + H, step_++}, inputs_, y_);
        time += H;
    }
    void to(double end, double H) {
        while (time < end - H / 2) step(H);
    }
    double operator()(const std::string& name, int i = 0) const {
        return y_[slots_.at(name) + static_cast<std::size_t>(i)];
    }

    const std::vector<double>& all() const { return y_; }

    double time = 0;

   private:
    std::unique_ptr<subsystem> subsystem_;
    std::vector<polynomial> inputs_;
    std::vector<double> y_;
    std::map<std::string, std::size_t> slots_;
    int step_ = 0;
};

/// Two wheels with 20 teeth each; the chain is stretched by some hundredths of a link.
std::string two_wheels(int links, double stretch, const std::string& first, const std::string& second,
                       const std::string& chain = "") {
    const double span = (links - 20) / 2.0 * pitch + stretch / 2 * pitch;
    return fmt::format(
        "      chain: {{kind: chain, links: {}{}}}\n"
        "      crank: {{kind: sprocket, teeth: 20, {}}}\n"
        "      cam: {{kind: sprocket, teeth: 20, y: {:.17g}, {}}}\n",
        links, chain, first, span, second);
}

const std::string with_rail =
    "      chain: {kind: chain, links: 59}\n"
    "      crank: {kind: sprocket, teeth: 20, drive: prescribed, speed: 100, amplitude: 0.3 deg, order: 2, rise: 2 "
    "ms}\n"
    "      guide: {kind: guide, x: 135 mm, y: 75 mm, radius: 110 mm, friction: 0.1}\n"
    "      cam: {kind: sprocket, teeth: 20, y: 155 mm, inertia: 5e-4, mass: 0.5, bearing-stiffness: 2e8, "
    "bearing-damping: 1e3, load: 3, "
    "load-amplitude: 4, friction: 0.08}\n"
    "      rail: {kind: pivoting-rail, x: -135 mm, y: 75 mm, radius: 108 mm, pivot-x: -80 mm, pivot-y: 170 mm, "
    "inertia: 1e-4, preload: 12 N.m, "
    "damping: 1}\n";

INSTANTIATE_TEST_SUITE_P(
    chain_drive, subsystem_contract,
    testing::Values(subsystem_case{.name = "compliant",
                                   .make = [] { return make_subsystem(entry(with_rail, solver(1e-7))); },
                                   .H = 2e-5,
                                   .tolerance = 0.2},
                    subsystem_case{.name = "rigid",
                                   .make =
                                       [] {
                                           return make_subsystem(entry(two_wheels(60, 0.06, "drive: prescribed",
                                                                                  "inertia: 1e-2", ", damping: 400"),
                                                                       rigid));
                                       },
                                   .H = 5.12e-4,
                                   .tolerance = 0.2,
                                   .input_scale = 0.01}),
    case_name);

/// Laid and relaxed: links have their length but for what their force takes, and nothing moves.
TEST(chain_drive, begins_at_rest) {
    for (const std::string& parts :
         {two_wheels(60, 0.02, "inertia: 1e-3", "inertia: 1e-3"),
          two_wheels(61, -0.3, "drive: prescribed", "inertia: 1e-3"),
          two_wheels(60, 0.03, "inertia: 1e-3", "inertia: 1e-3, mass: 1, bearing-stiffness: 2e8")}) {
        runner one(entry(parts, solver(1e-9)));
        std::vector<double> x;
        const int N = parts.find("links: 61") == std::string::npos ? 60 : 61;
        for (int i = 0; i < N; ++i) {
            const int j = (i + 1) % N;
            x.push_back(one("chain.x", i));
            EXPECT_NEAR(std::hypot(one("chain.x", j) - one("chain.x", i), one("chain.y", j) - one("chain.y", i)),
                        pitch + one("chain.force", i) / 1e8, 1e-12);
        }
        one.to(1e-3, 1e-4);
        for (int i = 0; i < N; ++i) EXPECT_NEAR(one("chain.x", i), x[static_cast<std::size_t>(i)], 1e-9) << i;
        EXPECT_NEAR(one("cam.shaft.angle"), 0, 1e-8);
    }
}

/// The moment of the links that leave a wheel carries its torque: with the pitch radius R as the lever but for the polygon, R cos(pi/z) to R. Nothing
/// damps strands that swing, so that means are compared.
TEST(chain_drive, static_forces) {
    for (const std::string& contacts : {std::string(), rigid}) {
        const double torque = 8, R = pitch / (2 * std::sin(pi / 20)), span = 20 * pitch + 0.03 * pitch;
        runner one(entry(two_wheels(60, 0.06, "drive: prescribed", "inertia: 1e-4", ", damping: 400"),
                         contacts.empty() ? solver(1e-6) : contacts));
        one.load("cam.shaft.torque", torque);
        double moment = 0, forces = 0, on_cam = 0, at_crank = 0;
        constexpr int n = 500;
        for (int k = 0; k < n; ++k) {
            one.step(97e-6);
            // Middle links of the strands, and their levers about the cam's centre.
            for (const int i : {20, 50}) {
                const double ax = one("chain.x", i), ay = one("chain.y", i) - span, bx = one("chain.x", i + 1),
                             by = one("chain.y", i + 1) - span;
                const double sign = i == 20 ? 1 : -1, F = one("chain.force", i);
                moment += sign * F * std::fabs(ax * by - ay * bx) / std::hypot(bx - ax, by - ay) / n;
                forces += sign * F / n;
            }
            on_cam += one("cam.contact-torque") / n;
            at_crank += one("crank.drive-torque") / n;
        }
        EXPECT_NEAR(std::fabs(moment), torque, 0.02 * torque) << contacts;
        EXPECT_NEAR(on_cam, -torque, 0.02 * torque) << contacts;
        EXPECT_NEAR(at_crank, -torque, 0.02 * torque) << contacts;
        EXPECT_LT(torque / std::fabs(forces), R * 1.02);
        EXPECT_GT(torque / std::fabs(forces), R * std::cos(pi / 20) * 0.98);
    }
}

/// A front of tension runs along the chain with sqrt(c p^2/m).
TEST(chain_drive, wave_speed) {
    runner one(entry(two_wheels(420, 0.4, "drive: prescribed", "inertia: 1e-5", ", damping: 5"), solver(1e-6)));
    one.load("cam.shaft.torque", 5);
    // The cam stands 200 links along the left strand, from pin 210 on.
    const double before_1 = one("chain.force", 230), before_2 = one("chain.force", 330);
    double at_1 = 0, at_2 = 0, last_1 = before_1, last_2 = before_2;
    const double level = 40, H = 1e-6;
    while (at_2 == 0 && one.time < 2e-3) {
        one.step(H);
        const auto crossing = [&](double before, double& last, int i) {
            const double now = one("chain.force", i), was = std::exchange(last, now);
            return std::fabs(now - before) > level
                       ? one.time - H * (std::fabs(now - before) - level) / std::fabs(now - was)
                       : 0;
        };
        if (at_1 == 0) at_1 = crossing(before_1, last_1, 230);
        if (at_2 == 0) at_2 = crossing(before_2, last_2, 330);
    }
    ASSERT_GT(at_1, 0);
    EXPECT_NEAR(100 * pitch / (at_2 - at_1), std::sqrt(1e8 * pitch * pitch / 4.8e-3), 12);
}

/// Teeth come with z n; that is where the wheel has a line, at any speed.
TEST(chain_drive, polygon_order) {
    for (const double speed : {150.0, 200.0}) {
        runner one(entry(two_wheels(60, 0.1, fmt::format("drive: prescribed, speed: {}", speed),
                                    "inertia: 2e-3, load: 4", ", damping: 300"),
                         solver(1e-5)));
        one.to(20e-3, 1e-4);
        const double f = 20 * speed / (2 * pi);
        constexpr int teeth = 40, per_tooth = 64;
        std::vector<double> values;
        for (int k = 0; k < teeth * per_tooth; ++k) {
            one.step(1 / f / per_tooth);
            values.push_back(one("cam.shaft.speed"));
        }
        const auto line = [&](double per_tooth_passed) {
            std::complex<double> sum;
            for (int k = 0; k < teeth * per_tooth; ++k)
                sum += values[static_cast<std::size_t>(k)] * std::polar(1 - std::cos(2 * pi * k / (teeth * per_tooth)),
                                                                        -2 * pi * per_tooth_passed * k / per_tooth);
            return std::abs(sum);
        };
        for (const double other : {0.8, 0.85, 0.9, 1.1, 1.15, 1.2})
            EXPECT_GT(line(1), 3 * line(other)) << speed << ' ' << other;
    }
}

/// Without dampers energy stays, and grows by what torques do.
TEST(chain_drive, energy) {
    const std::string lossless = ", contact-damping: 0";
    for (const double torque : {0.0, 2.0}) {
        runner one(entry(two_wheels(60, 0.1, "inertia: 1e-3, speed: 150, mass: 0.5, bearing-stiffness: 1e8" + lossless,
                                    "inertia: 5e-4" + lossless, ", damping: 0"),
                         solver(1e-9)));
        one.load("cam.shaft.torque", torque);
        const double before = one("energy");
        one.to(5e-3, 1e-4);
        EXPECT_NEAR(one("energy") - before, torque * one("cam.shaft.angle"), 2e-6 * before) << torque;
        EXPECT_GT(one("cam.shaft.angle"), 0.7);
    }
}

/// The same drive with either kind of contact: cam angles agree to a fraction of a degree, mean forces to some per cent.
TEST(chain_drive, compliant_against_rigid) {
    const std::string parts = two_wheels(60, 0.06, "drive: prescribed, speed: 100, amplitude: 0.5 deg, rise: 5 ms",
                                         "inertia: 1e-3, load: 6", ", damping: 300");
    runner springs(entry(parts, solver(1e-5))), hard(entry(parts, rigid));
    double mean_springs = 0, mean_hard = 0;
    for (int k = 0; k < 200; ++k) {
        springs.step(1e-4);
        hard.step(1e-4);
        EXPECT_NEAR(springs("cam.shaft.angle"), hard("cam.shaft.angle"), 2e-3);
        if (k < 100) continue;
        mean_springs += springs("cam.contact-torque") / 100;
        mean_hard += hard("cam.contact-torque") / 100;
    }
    EXPECT_NEAR(mean_springs, 6, 0.5);
    EXPECT_NEAR(mean_hard, 6, 0.5);
}

/// Stiff springs come near to rigid contacts: a torque that begins to act at rest lets the wheel swing alike.
TEST(chain_drive, stiff_contacts_against_rigid) {
    const std::string stiff = ", contact-stiffness: 5e8, contact-damping: 1900";
    const std::string parts = two_wheels(60, 0.05, "drive: prescribed" + stiff, "inertia: 1e-3, load: 5" + stiff);
    runner springs(entry(parts, solver(1e-7))), hard(entry(parts, rigid));
    double speed[2]{}, angle[2]{};
    for (int k = 0; k < 300; ++k)
        for (runner* one : {&springs, &hard}) {
            one->step(2e-5);
            const int of = one == &hard;
            speed[of] = std::max(speed[of], (*one)("cam.shaft.speed"));
            angle[of] = std::min(angle[of], (*one)("cam.shaft.angle"));
        }
    EXPECT_NEAR(speed[0], speed[1], 0.02 * speed[1]);
    EXPECT_NEAR(angle[0], angle[1], -0.02 * angle[1]);
}

/// Any number of threads, the same bits.
TEST(chain_drive, threads) {
    std::vector<std::vector<double>> ended;
    for (const char* threads : {"1", "2", "3"}) {
        runner one(entry(with_rail, fmt::format("    set: {{threads: {}}}\n", threads) + solver(1e-6)));
        one.to(4e-4, 2e-5);
        ended.push_back(one.all());
    }
    EXPECT_EQ(ended[0], ended[1]);
    EXPECT_EQ(ended[0], ended[2]);
}

/// Threads that wait for each other longer than the work takes are left alone for a while, and tried again.
TEST(chain_drive, threads_work_together_only_where_that_gains) {
    using drive::benefit;
    const auto shares = [](double alone, double together, int pieces, benefit& b) {
        int done = 0;
        for (int n = 0; n < pieces; ++n) {
            const bool both = b.together();
            done += both;
            b.took(b.is_timed() ? (both ? together : alone) : 0);
        }
        return static_cast<double>(done) / pieces;
    };
    benefit b;
    EXPECT_FALSE(b.together());
    EXPECT_GT(shares(5e-6, 3e-6, 100000, b), 0.99);
    // The cores are taken: each meeting takes 4 ms.
    int waits = 0;
    for (int n = 0; n < 1000000; ++n) {
        waits += b.together();
        b.took(b.together() ? 4e-3 : 5e-6);
    }
    EXPECT_GE(waits, 5);
    EXPECT_LE(waits, 12);
    // They are free again.
    EXPECT_GT(shares(5e-6, 3e-6, 2000000, b), 0.7);
    // The first evaluation together wakes the others, which takes longer than it gains in a trial.
    benefit sleepy;
    int together = 0;
    for (int n = 0, last = -2; n < 100000; ++n) {
        const bool both = sleepy.together();
        sleepy.took(both ? (last == n - 1 ? 3e-6 : 1e-4) : sleepy.is_timed() ? 5e-6 : 0);
        if (both) last = n;
        together += both;
    }
    EXPECT_GT(together, 90000);
    benefit slower;
    EXPECT_LT(shares(5e-6, 6e-6, 100000, slower), 0.01);
}

std::string refusal(const std::string& parts, const std::string& more = "") {
    try {
        make_subsystem(entry(parts, more));
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

TEST(chain_drive, mistakes_have_their_place) {
    const std::string chain = "      chain: {kind: chain, links: 60}\n",
                      crank = "      crank: {kind: sprocket, teeth: 20, inertia: 1e-3}\n",
                      cam = "      cam: {kind: sprocket, teeth: 20, y: 160 mm, inertia: 1e-3}\n";
    EXPECT_EQ(refusal(chain + crank + cam), "accepted");
    EXPECT_THAT(refusal("      chain: {kind: chain, links: 57}\n" + crank + cam),
                AllOf(HasSubstr("s.yaml:6:7: chain 'chain' is too short: 57 links of 8 mm, and the path around its "
                                "parts has 60 pitches. 60 to 61 links would "
                                "fit."),
                      HasSubstr("gets shorter by 24 mm")));
    EXPECT_THAT(refusal("      chain: {kind: chain, links: 1e8}\n" + crank + cam), HasSubstr("'links'"));
    EXPECT_THAT(refusal("      chain: {kind: chain, links: 64}\n" + crank + cam), HasSubstr("is too long: 64 links"));
    EXPECT_THAT(refusal(chain + crank + "      cam: {kind: sprocket, teeth: 20, y: 48 mm, inertia: 1e-3}\n"),
                AllOf(HasSubstr("s.yaml:8:7: sprockets 'crank' and 'cam' overlap by 3.14"), HasSubstr("48 mm apart"),
                      HasSubstr("(20 teeth)")));
    EXPECT_THAT(refusal(chain + crank + "      cam: {kind: sprocket, teeth: 20, y: 160 mm}\n"),
                HasSubstr("s.yaml:8:7: sprocket 'cam' turns freely and has no inertia. Add 'inertia'"));
    EXPECT_THAT(refusal(chain + crank +
                        "      cam: {kind: sprocket, teeth: 20, y: 160 mm, inertia: 1e-3, bearing-stiffness: 2e8}\n"),
                HasSubstr("has an elastic bearing and no mass. Add 'mass'"));
    EXPECT_THAT(refusal(chain + crank + "      cam: {kind: wheel, teeth: 20}\n"),
                HasSubstr("kind 'wheel' does not exist. Kinds: chain, sprocket, guide, rail, pivoting-rail, shaft."));
    EXPECT_THAT(refusal(chain + crank + "      guide: {kind: guide, x: 80 mm, y: 80 mm, radius: 30 mm}\n" + cam),
                AllOf(HasSubstr("s.yaml:8:7: "),
                      HasSubstr("chain 'chain': the chain does not touch guide 'guide' on its way")));
    EXPECT_THAT(refusal("      chain: {kind: chain, links: 65}\n" + crank + cam +
                        "      idler: {kind: sprocket, teeth: 20, x: 2 mm, y: 80 mm, turn: right, inertia: 1}\n"),
                AllOf(HasSubstr("s.yaml:9:7: chain 'chain' and sprocket 'idler' penetrate each other by 2 mm at the "
                                "start, between 'crank' and 'cam'")));
    EXPECT_THAT(refusal("      chain: {kind: chain, links: 67}\n" + crank +
                        "      cam: {kind: sprocket, teeth: 20, y: 180 mm, turn: right, inertia: 1e-3}\n"),
                AllOf(HasSubstr("s.yaml:8:7: chain 'chain': the chain would cross itself: it turns by 213"),
                      HasSubstr("Change the 'turn' of sprocket 'cam'")));
    EXPECT_THAT(refusal(chain + "      crank: {kind: sprocket, teeth: 20, drive: prescribed, speed: 100}\n" +
                        "      cam: {kind: sprocket, teeth: 20, y: 160 mm, inertia: 1e-3, speed: 90}\n"),
                AllOf(HasSubstr("s.yaml:8:7: sprocket 'cam': its speed of 90 rad/s moves chain 'chain' with 2.29183 "
                                "m/s, that of 'crank' with 2.54648 m/s"),
                      HasSubstr("Here 100 rad/s would fit")));
    EXPECT_THAT(refusal(chain + "      crank: {kind: sprocket, teeth: 20, drive: prescribed, load: 3}\n" + cam),
                HasSubstr("turns as prescribed, whatever its load"));
    EXPECT_THAT(refusal(chain + "      crank: {kind: sprocket, teeth: 20, inertia: 1, amplitude: 3}\n" + cam),
                HasSubstr("'amplitude' belongs to a prescribed rotation"));
    EXPECT_THAT(refusal(chain),
                HasSubstr("chain 'chain' runs around 0 parts. It needs two at least, one of them a sprocket."));
    EXPECT_THAT(refusal(crank + cam), HasSubstr("no part of kind 'chain'"));
    EXPECT_THAT(refusal(chain + "      other: {kind: chain, links: 60}\n" + crank + cam),
                HasSubstr("which chain runs around it? Add 'chain: NAME'. Chains: chain, other."));
    EXPECT_THAT(
        refusal(chain + crank + cam + "      axis: {kind: shaft, first: crank, second: crank, stiffness: 1e4}\n"),
        HasSubstr("are both 'crank'"));
    EXPECT_THAT(refusal(chain + crank + cam +
                        "      axis: {kind: shaft, first: crank, second: cam, stiffness: 1e4, bending: 1e9}\n"),
                HasSubstr("that of 'crank' is fixed"));
    EXPECT_THAT(refusal(chain + crank + cam, "    set: {contacts: rigid, step: 10 us}\n"),
                HasSubstr("Set 'step' to less than"));
    EXPECT_THAT(refusal(chain + crank + cam, rigid + "    solver: erk-3\n"),
                HasSubstr("integrates itself. Leave 'solver' out."));
}

TEST(chain_drive, is_drawn) {
    const subsystem_spec spec = entry(with_rail);
    const model_info& info = *model_registry::instance().find("chain-drive");
    const model_scene scene =
        info.scene_of_parts(parameter_values(info.parameters), resolve_parts(info.parts, spec.parts, ""));
    ASSERT_EQ(scene.shapes.size(), 7U);  // crank and its mark, guide, cam and its mark, rail, chain
    EXPECT_EQ(scene.shapes[0].points.size(), 80U);
    EXPECT_EQ(scene.shapes[1].rotation, scene.shapes[0].rotation);
    EXPECT_THAT(scene.shapes[3].place[0], HasSubstr("(1)*cam_x_position"));
    EXPECT_EQ(scene.shapes[4].place, scene.shapes[3].place);
    EXPECT_EQ(scene.shapes[5].rotation, std::vector<std::string>{"rail_shoe_angle"});
    EXPECT_EQ(scene.shapes[6].vectors, (std::vector<std::string>{"chain.x", "chain.y"}));
    // The band of the guide lies behind the links: the circle of the pins has a radius of 110 mm.
    for (const auto& point : scene.shapes[2].points) {
        const double r = std::hypot(std::stod(point[0]), std::stod(point[1]));
        EXPECT_LT(r, 0.110 - 0.3 * pitch);
        EXPECT_GT(r, 0.110 - 2 * pitch);
    }
}

TEST(chain_drive, rigid_contacts_have_no_equations) {
    try {
        make_equations(entry(with_rail, rigid));
        ADD_FAILURE() << "accepted";
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(HasSubstr("--monolithic"), HasSubstr("parts of kind 'shaft'")));
    }
}

}  // namespace
}  // namespace mdpcosim::test
