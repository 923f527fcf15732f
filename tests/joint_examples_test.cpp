// examples/double-pendulum and examples/spatial-linkage. The numbers of their READMEs.
#include <gmock/gmock.h>

#include "core/error.hpp"
#include "linkage.hpp"

namespace mdpcosim::test {
namespace {

const fs::path pendulum_file = examples / "double-pendulum/scenario.yaml";

class joint_examples : public monolithic {
   protected:
    /// Largest error of both angles in rad, against the equations in the two angles.
    double pendulum_error(const settings& list, bool as_one = false) {
        const result_table angles = run("angles", examples / "double-pendulum/angles.yaml", false);
        const result_table r = run("run", pendulum_file, as_one, list);
        double worst = 0;
        for (std::size_t row = 0; row < r.rows(); ++row)
            for (const auto& [coupled, whole] :
                 {std::pair("upper.angle", "pendulum.phi_1"), std::pair("lower.angle", "pendulum.phi_2")})
                worst = std::max(worst,
                                 std::abs(r.value(row, column(r, coupled)) - angles.value(row, column(angles, whole))));
        EXPECT_EQ(r.rows(), 101U);
        return worst;
    }

    double slider_error(const settings& list, bool as_one = false) {
        const result_table r = run("linkage", linkage_file, as_one, list);
        return std::abs(r.value(r.rows() - 1, column(r, "slider.centre.position[0]")) - slider_after(1, 4000));
    }

    void expect_refusal(const scenario& s, const std::string& message) {
        for (const bool as_one : {false, true}) {
            std::string told;
            try {
                told = run_into("refused", s, as_one).message;
            } catch (const user_error& problem) {
                told = problem.what();
            }
            EXPECT_THAT(told, testing::HasSubstr(message)) << as_one;
        }
    }
};

TEST_F(joint_examples, double_pendulum_follows_the_equations_in_its_angles) {
    // One Newton step with measured answers, as in the source, and with kept ones.
    for (const char* jacobian : {"fresh", "kept"}) {
        const settings list{{"method.jacobian", jacobian}};
        EXPECT_LT(shown("double pendulum, degree 3, error [rad]", pendulum_error(list)), 3e-8) << jacobian;
        settings quadratic = list;
        quadratic.emplace_back("method.degree", "2");
        EXPECT_LT(shown("double pendulum, degree 2, error [rad]", pendulum_error(quadratic)), 6e-7) << jacobian;
    }
    EXPECT_LT(shown("double pendulum, reference, error [rad]", pendulum_error({}, true)), 2e-11);
}

TEST_F(joint_examples, spatial_linkage_follows_the_equation_in_its_crank_angle) {
    EXPECT_NEAR(slider_after(1, 4000), slider_after(1, 2000), 1e-10);
    const double at_1 = shown("spatial linkage, 1 ms, error [m]", slider_error({})),
                 at_2 = shown("spatial linkage, 2 ms, error [m]", slider_error({{"time.step", "2 ms"}}));
    EXPECT_LT(at_1, 4e-8);
    EXPECT_GT(at_2 / at_1, 8);
    EXPECT_LT(shown("spatial linkage, reference, error [m]", slider_error({}, true)), 1e-11);
}

TEST_F(joint_examples, spatial_joints_keep_the_orders_five_and_six) {
    const auto error = [&](const char* degree, const char* step) {
        const std::string exact = "{name: erk-8, rtol: 1e-11, atol: 1e-13}";
        const settings list{{"method.degree", degree}, {"time.step", step},   {"time.end", "0.5 s"},
                            {"crank.solver", exact},   {"rod.solver", exact}, {"slider.solver", exact}};
        const result_table r = run("order", linkage_file, false, list), whole = run("whole", linkage_file, true, list);
        double worst = 0;
        for (std::size_t row = 0; row < r.rows(); ++row)
            worst = std::max(worst, std::abs(r.value(row, column(r, "crank.centre.position[1]")) -
                                             whole.value(row, column(whole, "crank.centre.position[1]"))));
        return worst;
    };
    EXPECT_NEAR(std::log2(error("2", "1 ms") / error("2", "0.5 ms")), 5, 0.7);
    EXPECT_NEAR(std::log2(error("3", "1 ms") / error("3", "0.5 ms")), 6, 0.9);
}

TEST_F(joint_examples, spatial_linkage_stays_joined) {
    const result_table r = run("drift", linkage_file, false, {{"time.end", "2 s"}, {"method.jacobian", "fresh"}});
    double early = 0, late = 0;
    for (std::size_t row = 0; row < r.rows(); ++row) {
        double& worst = row < r.rows() / 2 ? early : late;
        worst = std::max(worst, violation(r, row));
    }
    EXPECT_LT(shown("spatial linkage, largest violation, first second", early), 1e-10);
    EXPECT_LT(shown("spatial linkage, largest violation, next second", late), 1e-10);
    const result_table whole = run("whole", linkage_file, true, {{"time.end", "2 s"}});
    double worst = 0;
    for (std::size_t row = 0; row < whole.rows(); ++row) worst = std::max(worst, violation(whole, row));
    EXPECT_LT(shown("spatial linkage, largest violation, reference", worst), 2e-12);
}

run_summary run_with(const scenario& s, const run_options& options) { return run(s, options); }

TEST_F(joint_examples, frames_are_the_same_on_every_transport) {
    const auto content_on = [&](const char* transport) {
        run_options options;
        options.out = folder / transport;
        options.transport = transport;
        const run_summary summary = run_with(
            read_scenario(linkage_file, overrides({{"time.end", "20 ms"}, {"record.every", "1 ms"}})), options);
        EXPECT_EQ(summary.status, "done") << summary.message;
        return content(folder / transport / "results.csv");
    };
    const std::string threads = content_on("threads");
    EXPECT_EQ(std::count(threads.begin(), threads.end(), '\n'), 22);
    EXPECT_EQ(threads, content_on("processes"));
    EXPECT_EQ(threads, content_on("tcp"));
}

TEST_F(joint_examples, states_that_do_not_fit_are_refused) {
    expect_refusal(read_scenario(pendulum_file, overrides({{"upper.angle", "44 deg"}})),
                   "the initial state violates joint");
    expect_refusal(read_scenario(pendulum_file, overrides({{"upper.speed", "1 rad/s"}})),
                   "the initial state violates joint");
}

TEST_F(joint_examples, joints_that_repeat_each_other_are_refused) {
    const char* twice = R"(mdpcosim: 1
time: {end: 1 s, step: 1 ms}
method: index-1
subsystems:
  ground: {model: fixed-frame}
  body: {model: rigid-body}
connections:
  one: {joint: revolute, between: [ground.frame, body.first]}
  two: {joint: cylindrical, between: [ground.frame, body.second]}
)";
    expect_refusal(read_scenario_text(twice, "twice.yaml"), "repeat");
}

}  // namespace
}  // namespace mdpcosim::test
