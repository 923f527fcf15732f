// Contacts of an `ode`: impacts at their exact times, rest, coming off; with every solver.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "scenario/read.hpp"
#include "subsystem/factory.hpp"
#include "support/solver_test_models.hpp"
#include "support/subsystem_contract.hpp"

namespace mdpcosim::test {
namespace {

using testing::HasSubstr;

constexpr double g = 9.81;

subsystem_spec entry(const std::string& ode, const std::string& solver) {
    return read_scenario_text(
               "time: {end: 1, step: 0.1}\nsubsystems:\n  a:\n    ode:\n" + ode + "    solver: " + solver + "\n",
               "s.yaml")
        .subsystems.at(0);
}

std::string ball(double e, const std::string& start = "h: 1 m, v: 0 m/s") {
    return fmt::format(
        "      parameters: {{m: 2 kg, g: 9.81 m/s2}}\n      states: {{{}}}\n      inputs: {{F: 0 N}}\n"
        "      equations: {{h: v, v: F/m - g}}\n"
        "      contacts: {{floor: {{gap: h, impulse: {{v: 1/m}}, restitution: {}, rest-speed: 1e-3}}}}\n",
        start, e);
}

/// Outputs: h, v, the floor's force.
class lone {
   public:
    explicit lone(const subsystem_spec& spec) : made(make_subsystem(spec)) {
        made->initialise(0);
        y.resize(static_cast<std::size_t>(made->describe().output_count()));
        u.resize(static_cast<std::size_t>(made->describe().input_count()));
    }
    void to(double end, int steps = 100) {
        for (int n = 0; n < steps; ++n) {
            const double from = time + (end - time) * n / steps, until = time + (end - time) * (n + 1) / steps;
            made->advance({from, until, step++}, u, y);
            lowest = std::min(lowest, y[0]);
        }
        time = end;
    }
    double force() const {
        for (const auto& o : made->describe().outputs)
            if (o.name == "floor") return y[static_cast<std::size_t>(o.slot)];
        throw std::logic_error("no output 'floor'");
    }

    std::unique_ptr<subsystem> made;
    std::vector<double> y;
    std::vector<polynomial> u;
    double time = 0, lowest = 0;
    int step = 0;
};

class ode_contact : public testing::TestWithParam<std::string> {
   protected:
    std::string solver() const {
        const bool fixed = GetParam() == "euler" || GetParam() == "rk4" || GetParam() == "trapezoidal";
        return fixed ? fmt::format("{{name: {}, step: {} us}}", GetParam(), GetParam() == "euler" ? 20 : 1000)
                     : fmt::format("{{name: {}, rtol: 1e-9, atol: 1e-12, max-steps: 1e6}}", GetParam());
    }
};

TEST_P(ode_contact, a_ball_comes_to_rest_when_it_should_and_is_lifted_again) {
    const double t_1 = std::sqrt(2 / g);
    for (const double e : {0.0, 0.5, 0.8}) {
        lone body(entry(ball(e), solver()));
        const double rest = t_1 * (1 + e) / (1 - e), slow = GetParam() == "euler" ? 0.02 : 1e-3;
        // Before the second impact: the parabola of the first rebound.
        if (e > 0) {
            const double s = e * t_1;
            body.to(t_1 + s);
            EXPECT_NEAR(body.y[0], e * g * t_1 * s - g * s * s / 2, slow) << e;
        }
        body.to(rest + 0.01);
        EXPECT_NEAR(body.y[0], 0, 1e-6) << e;
        EXPECT_NEAR(body.y[1], 0, 1e-12) << e;
        EXPECT_NEAR(body.force(), 2 * g, 1e-9) << e;
        body.u[0].c[0] = 1.9 * g;  // not enough
        body.to(rest + 1);
        EXPECT_NEAR(body.y[0], 0, 1e-6) << e;
        EXPECT_NEAR(body.force(), 0.1 * g, 1e-9) << e;
        body.u[0].c[0] = 2 * g + 1;
        body.to(rest + 2);
        EXPECT_NEAR(body.y[0], 0.25, slow) << e;
        EXPECT_EQ(body.force(), 0) << e;
        body.u[0].c[0] = 0;
        body.to(rest + 2 + 10 * rest);
        EXPECT_NEAR(body.y[0], 0, 1e-6) << e;
        EXPECT_NEAR(body.y[1], 0, 1e-12) << e;
        EXPECT_GT(body.lowest, -1e-6);
    }
}

/// The force that lifts it grows smoothly: off at F = m g, in the middle of a macro step.
TEST_P(ode_contact, comes_off_where_the_force_is_zero) {
    lone body(entry(ball(0.5, "h: 0 m, v: 0 m/s"), solver()));
    body.u[0].c = {0, 4 * g};  // 2 g at t = 1/2
    body.u[0].degree = 1;
    body.to(1, 1);
    // h'' = 2 g (t - 1/2)
    EXPECT_NEAR(body.y[0], g / 24, GetParam() == "euler" ? 1e-2 : 1e-6);
    EXPECT_EQ(body.force(), 0);
}

/// An event of the user throws what rests into the air: with 2 m/s at t = 1/2, down 4/g later; or with 4 m g until t = 1, down at 2.5 + sqrt(3).
TEST_P(ode_contact, another_event_ends_the_rest) {
    const double back = 0.5 + 4 / g;
    for (const char* how : {"v: 2", "lift: 4*9.81"}) {
        lone body(
            entry("      states: {h: 0, v: 0, lift: 0}\n      equations: {h: v, v: lift - 9.81, lift: 0}\n"
                  "      events: [{when: t - 0.5, direction: rising, set: {" +
                      std::string(how) +
                      "}}, {when: t - 1, direction: rising, set: {lift: 0}}]\n"
                      "      contacts: {floor: {gap: h, impulse: {v: 1}}}\n",
                  solver()));
        const bool thrown = how[0] == 'v';
        body.to(0.75, 1);
        EXPECT_NEAR(body.y[0], thrown ? 0.5 - g / 32 : 3 * g / 32, GetParam() == "euler" ? 1e-3 : 1e-6) << how;
        EXPECT_EQ(body.force(), 0) << how;
        body.to((thrown ? back : 2.5 + std::sqrt(3)) + 0.01, 7);
        EXPECT_NEAR(body.y[0], 0, 1e-6) << how;
        EXPECT_NEAR(body.force(), g, 1e-9) << how;
    }
}

INSTANTIATE_TEST_SUITE_P(all, ode_contact,
                         testing::Values("euler", "rk4", "trapezoidal", "erk-3", "erk-5", "erk-8", "dirk-5",
                                         "cvode-bdf", "cvode-adams", "ida"),
                         [](const auto& made) { return test_name(made.param); });

INSTANTIATE_TEST_SUITE_P(ode_contact, subsystem_contract,
                         testing::Values(subsystem_case{
                             .name = "ball",
                             .make = [] { return make_subsystem(entry(ball(0.5, "h: 5 mm, v: 0 m/s"), "erk-5")); },
                             .tolerance = 2e-3}),
                         case_name);

std::string refusal(const std::string& ode) {
    try {
        make_subsystem(entry(ode, "erk-5"))->initialise(0);
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

TEST(ode_contacts, mistakes_have_their_place) {
    const auto with = [](const std::string& contact, const std::string& start = "h: 1 m, v: 0 m/s") {
        return refusal("      states: {" + start + "}\n      inputs: {F: 0 N}\n      equations: {h: v, v: F - 9.81}\n" +
                       "      contacts:\n        floor: {" + contact + "}\n");
    };
    EXPECT_EQ(with("gap: h, impulse: {v: 1}"), "accepted");
    EXPECT_EQ(with("gap: h, impulse: {v: 1}, restitution: 0.5, rest-speed: 1 mm/s"), "accepted");
    EXPECT_THAT(with("gap: h, impulse: {v: 1}, restitution: 0.5, rest-speed: 1 mm/z"), HasSubstr("rest-speed: "));
    EXPECT_THAT(with("gap: h, impulse: {v: -1}"),
                HasSubstr("s.yaml:9:9: subsystem 'a': contact 'floor': a unit of impulse "
                          "changes the rate of its gap by -1"));
    EXPECT_THAT(with("gap: h, impulse: {h: 1}"), HasSubstr("by 0; it must open the gap"));
    EXPECT_THAT(with("gap: h + F, impulse: {v: 1}"), HasSubstr("its gap depends on an input"));
    EXPECT_THAT(with("gap: v, impulse: {v: 1}"), HasSubstr("the rate of its gap depends on an input"));
    EXPECT_THAT(with("gap: h, impulse: {w: 1}"), HasSubstr("contact 'floor': impulse: state 'w'"));
    EXPECT_THAT(with("gap: h, impulse: {v: 1}, restitution: 0.5"), HasSubstr("'rest-speed' is missing"));
    EXPECT_THAT(with("gap: h, impulse: {v: 1}, restitution: 1.5, rest-speed: 1e-3"), HasSubstr("Allowed: 0 to 1"));
    EXPECT_THAT(with("gap: h, impulse: {v: 1}, restitution: 0.5, rest-speed: -1"), HasSubstr("Allowed: 0 and more"));
    EXPECT_THAT(with("gap: h - 1.25, impulse: {v: 1}"), HasSubstr("contact 'floor': its gap is -0.25 at the start"));
}

/// What only an impact shows is told there, by the contact's name.
TEST(ode_contacts, impacts_with_impossible_numbers_end_the_run) {
    const auto failure = [](const std::string& contact) -> std::string {
        try {
            lone ball(
                entry("      states: {h: 1, v: 0}\n      equations: {h: v, v: -9.81}\n"
                      "      contacts: {floor: {gap: h, impulse: {v: " +
                          contact + "}}\n",
                      "erk-5"));
            ball.to(1);
        } catch (const run_error& problem) {
            return problem.what();
        }
        return "none";
    };
    EXPECT_THAT(failure("1}, restitution: 1 + abs(v), rest-speed: 1e-3"),
                HasSubstr("at t = 0.451523641: contact 'floor': restitution 5.42945 is not allowed. Allowed: 0 to 1"));
    EXPECT_THAT(failure("1e-310}"), HasSubstr("at t = 0.451523641: contact 'floor' sets state 'v' to "));
}

TEST(ode_contacts, an_event_may_not_leave_an_overlap) {
    const auto with = [](const std::string& h) {
        return entry(
            "      states: {h: 1, v: 0}\n      equations: {h: v, v: -9.81}\n"
            "      events: [{when: t - 0.1, set: {h: " +
                h +
                ", v: 0}}]\n"
                "      contacts: {floor: {gap: h, impulse: {v: 1}}}\n",
            "erk-5");
    };
    lone touches(with("-1e-7"));
    touches.to(0.2);
    EXPECT_NEAR(touches.y[0], -1e-7, 1e-9);
    EXPECT_NEAR(touches.force(), g, 1e-9);
    try {
        lone overlaps(with("-0.5"));
        overlaps.to(0.2);
        FAIL();
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("event 1 (when: t - 0.1) leaves a gap of -0.5 in contact 'floor'"));
    }
}

/// Two blocks on one another: the upper one's impact reaches the lower one, which rests.
TEST(ode_contacts, that_act_on_each_other_are_refused_when_they_meet) {
    lone pile(
        entry("      states: {h: 0, v: 0, k: 1, w: 0}\n      equations: {h: v, v: -9.81, k: w, w: -9.81}\n"
              "      contacts: {floor: {gap: h, impulse: {v: 1}}, joint: {gap: k - h, impulse: {w: 1, v: -1}}}\n",
              "erk-5"));
    try {
        pile.to(1);
        FAIL();
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("contact 'joint' closes while 'floor' rests"));
        EXPECT_THAT(problem.what(), HasSubstr("contact-bodies"));
    }
}

}  // namespace
}  // namespace mdpcosim::test
