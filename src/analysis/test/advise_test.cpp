// Advice against what is known otherwise: spectral radii of the test system, equations against trials, real runs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice.hpp"
#include "analysis/realisation.hpp"
#include "analysis/stability.hpp"
#include "core/error.hpp"
#include "coupling/extrapolation.hpp"
#include "scenario/read.hpp"

namespace mdpcosim {
namespace {

using testing::HasSubstr;

advice_request wanted(const std::string& text, const std::vector<step_choice>& choices) {
    advice_request request;
    request.load = [text](const step_choice& choice) {
        std::vector<scenario_override> changes;
        if (!choice.method.empty()) changes.push_back({"method", choice.method, "test"});
        if (!choice.extrapolation.empty()) changes.push_back({"extrapolation", choice.extrapolation, "test"});
        return read_scenario_text(text, "system.yaml", {}, changes);
    };
    request.choices = choices;
    return request;
}

std::string ode_body(double m, double c, double d, double x0) {
    return fmt::format(
        "{{ode: {{states: {{x: {}, v: 0}}, inputs: {{F: 0}}, equations: {{x: v, v: (F - {}*x - {}*v)/{}}}}}, ports: "
        "{{mass: {{kind: translation, "
        "position: x, velocity: v, force: F}}}}, solver: {{name: erk-5, rtol: 1e-9, atol: 1e-12}}}}",
        x0, c, d, m);
}

std::string two_bodies(double m_B, double c_B, double damping, double F, double step) {
    return fmt::format(
        "time: {{end: 40, step: {}}}\nsubsystems:\n  A: {}\n  B: {}\nconnections:\n  spring: {{law: spring, between: "
        "[A.mass, B.mass], stiffness: {}}}\n",
        step, ode_body(1, 1, 2 * damping, 1), ode_body(m_B, c_B, 2 * damping * std::sqrt(c_B * m_B), 0), F);
}

/// The border of `stability` is 1 + 1e-6 per step, that of the advice 1 + 1e-3: they are near each other where the radius rises steeply.
TEST(advise, limits_of_two_bodies_are_those_of_the_test_system) {
    for (const auto& [F, V, damping] :
         {std::tuple(100.0, 1.0, 0.0), std::tuple(8.0, 0.2, 0.01), std::tuple(30.0, 6.0, 0.01)}) {
        std::vector<step_choice> choices;
        for (const char* rule : {"lin-2-3-opt", "const-2-3-opt", "quad-2-4"}) choices.push_back({"explicit", rule});
        auto request = wanted(two_bodies(V, V, damping, F, 0.01), choices);
        request.errors = request.confirm = false;
        for (const advised_choice& one : find_advice(request).found) {
            test_system_parameters p;
            p.F = F;
            p.V = V;
            p.damping = damping;
            p.rule = make_extrapolation(one.choice.extrapolation);
            const double exact = stability_scan(p).limit(1e-3).omega_max;
            ASSERT_EQ(one.limit.outcome, step_limit::kind::limit);
            EXPECT_NEAR(one.limit.largest, exact, 0.005 * exact) << one.choice.extrapolation << ", F " << F;
        }
    }
}

/// What is recommended runs: its own confirmation says so, and the error that it makes is the one that was predicted.
TEST(advise, predicts_errors_of_runs) {
    auto request = wanted(two_bodies(3, 2, 0.02, 10, 0.02), {{"explicit", "lin-2-3-opt"},
                                                             {"explicit", "poly-3"},
                                                             {"one-pass", ""},
                                                             {"semi-implicit", ""},
                                                             {"iterated", ""}});
    request.confirm_all = true;
    request.error = 0.02;
    const advice found = find_advice(request);
    ASSERT_TRUE(found.recommended.has_value());
    for (const advised_choice& one : found.found) {
        ASSERT_FALSE(one.refused) << one.why;
        ASSERT_TRUE(one.confirmed.has_value());
        EXPECT_TRUE(one.confirmed->stable) << one.method << ": " << one.confirmed->why;
        EXPECT_EQ(one.confirmed->lowered, 0) << one.method;
        ASSERT_GT(one.confirmed->step, 0) << one.method;
        EXPECT_LT(one.confirmed->measured, 3 * one.confirmed->predicted) << one.method;
        EXPECT_GT(one.confirmed->measured, one.confirmed->predicted / 3) << one.method;
        EXPECT_GE(one.cost(), found.found[*found.recommended].cost() * (1 - 1e-6)) << one.method;
    }
}

/// An undamped oscillator, a free mass and a lag that feeds through, from their answers alone.
TEST(realisation, finds_a_system_from_its_answers) {
    realisation exact;
    exact.A = Eigen::MatrixXd{{0, 1, 0, 0}, {-9, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, -2}};
    exact.B = Eigen::MatrixXd{{0, 0}, {0.5, 0}, {0, 0.25}, {1, 1}};
    exact.C = Eigen::MatrixXd{{0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 3}};
    exact.D = Eigen::MatrixXd{{0, 0}, {0, 0}, {0, 0.7}};
    const double dt = 0.1;
    const realisation found = realise(step_answers(exact, dt, 100), dt);
    EXPECT_FALSE(found.unstable);
    EXPECT_EQ(found.A.rows(), 4);
    // The same system at times between and far behind those that it was found from.
    const auto want = step_answers(exact, 0.37 * dt, 1000), have = step_answers(found, 0.37 * dt, 1000);
    double worst = 0, largest = 0;
    for (std::size_t k = 0; k < want.size(); ++k) {
        worst = std::max(worst, (want[k] - have[k]).cwiseAbs().maxCoeff());
        largest = std::max(largest, want[k].cwiseAbs().maxCoeff());
    }
    EXPECT_LT(worst, 1e-6 * largest);
}

TEST(realisation, tells_what_grows) {
    realisation growing{Eigen::MatrixXd{{0.5}}, Eigen::MatrixXd{{1}}, Eigen::MatrixXd{{1}}, Eigen::MatrixXd{{0}}};
    const realisation found = realise(step_answers(growing, 0.1, 100), 0.1);
    EXPECT_TRUE(found.unstable);
    ASSERT_EQ(found.A.rows(), 1);
    EXPECT_NEAR(found.A(0, 0), 0.5, 1e-6);
}

TEST(advise, names_what_is_unstable_and_what_stands_in_a_kink) {
    const std::string growing = fmt::format(
        "time: {{end: 10, step: 0.01}}\nsubsystems:\n  A: {}\n  B: {}\nconnections:\n  spring: {{law: spring, between: "
        "[A.mass, B.mass], stiffness: 10}}\n",
        ode_body(1, 1, -0.5, 1), ode_body(1, 1, 0, 0));
    auto request = wanted(growing, {{"explicit", "lin-2-3-opt"}});
    request.errors = request.confirm = false;
    const std::string said = to_table(find_advice(request));
    EXPECT_THAT(said, HasSubstr("subsystem 'A' is unstable by itself: eigenvalue 0.25"));
    EXPECT_THAT(said, HasSubstr("the coupled system grows by itself"));
    const std::string stop = fmt::format(
        "time: {{end: 10, step: 0.01}}\nsubsystems:\n  A: {}\n  B: {}\nconnections:\n  touch: {{law: stop, between: "
        "[A.mass, B.mass], stiffness: 100, lower: -1, upper: 0}}\n",
        ode_body(1, 1, 0, 0), ode_body(1, 1, 0, 0));
    auto at_rest = wanted(stop, {{"explicit", "lin-2-3-opt"}});
    at_rest.errors = at_rest.confirm = false;
    EXPECT_THAT(to_table(find_advice(at_rest)), HasSubstr("connection 'touch' stands in a kink: slopes"));
}

TEST(advise, refuses_what_has_no_limit) {
    const std::string alone = fmt::format("time: {{end: 1, step: 0.01}}\nsubsystems:\n  A: {}\n", ode_body(1, 1, 0, 1));
    EXPECT_THROW(
        {
            try {
                find_advice(wanted(alone, {{"", ""}}));
            } catch (const user_error& told) {
                EXPECT_THAT(told.what(), HasSubstr("nothing is coupled"));
                throw;
            }
        },
        user_error);
}

TEST(advise, is_put_into_a_scenario_with_a_comment) {
    const std::string text = "# mine\n" + two_bodies(3, 2, 0.02, 10, 0.02);
    auto request = wanted(text, {{"explicit", "lin-2-3-opt"}, {"explicit", "quad-2-4"}});
    request.confirm = false;
    const advice found = find_advice(request);
    const std::string written = with_advice(text, "system.yaml", found);
    EXPECT_THAT(written, HasSubstr("# mdpcosim advise: explicit "));
    EXPECT_THAT(written, HasSubstr("# mine\n"));
    const scenario read = read_scenario_text(written, "system.yaml");
    EXPECT_NEAR(read.time.step, found.found[*found.recommended].step(), 1e-3 * read.time.step);
    EXPECT_EQ(read.extrapolation.name.value, found.found[*found.recommended].choice.extrapolation);
    EXPECT_EQ(read.time.end, 40);
}

}  // namespace
}  // namespace mdpcosim
