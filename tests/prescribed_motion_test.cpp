// Prescribed motion under method one-pass, against the coupled system as one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "api/mdpcosim.hpp"
#include "simulation/simulation.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using test::temporary_folder;
using testing::HasSubstr;

/// Largest error of all positions over their range, against the system as one.
double error_of(const std::string& text) {
    const temporary_folder folder;
    const scenario s = read_scenario_text(text, "s.yaml");
    try {
        run(s, {.out = folder / "run", .workers = 1});
    } catch (const run_error&) {
        return 1e9;
    }
    run(s, {.out = folder / "reference", .workers = 1, .monolithic = true});
    double largest = 0;
    for (const auto& e : compare_results(folder / "run", folder / "reference").errors)
        if (e.name.ends_with("position") || e.name == "ball.x") largest = std::max(largest, e.relative);
    return largest;
}

std::string body(const std::string& set) {
    return "{model: mass-spring-damper, solver: {name: erk-5, rtol: 1e-9, atol: 1e-12}, set: {" + set + "}}";
}

std::string road(const std::string& entry, double stiffness, double step, const std::string& method) {
    return fmt::format(
        "time: {{end: 2 s, step: {} s}}\nrecord: {{every: 10 ms}}\nmethod: {}\nsubsystems:\n{}"
        "  wheel: {}\n  car: {}\nconnections:\n"
        "  tyre: {{law: spring-damper, between: [road.contact, wheel.mass], stiffness: {}, damping: 3000}}\n"
        "  strut: {{law: spring-damper, between: [car.mass, wheel.mass], stiffness: 2e4, damping: 1500}}\n",
        step, method, entry, body("mass: 40"), body("mass: 300"), stiffness);
}

const std::string by_a_formula =
    "  road: {ode: {inputs: {F: 0 N}, outputs: {x: {value: 0.05*sin(2*pi*t), unit: m}}}, ports: {contact: {kind: "
    "translation, position: x, force: F}}}\n";

/// The road of docs/scenario.md.
TEST(prescribed_motion, is_driven_over_in_one_pass) {
    const double soft = error_of(road(by_a_formula, 2e5, 1e-3, "one-pass"));
    EXPECT_LT(soft, 3 * error_of(road(by_a_formula, 2e5, 1e-3, "{name: explicit}")) + 1e-4);
    // A tyre as stiff as steel: explicit has no such step.
    EXPECT_LT(error_of(road(by_a_formula, 2e8, 5e-3, "one-pass")), 0.03);
    const double coarse = error_of(road(by_a_formula, 2e8, 4e-3, "one-pass"));
    EXPECT_NEAR(std::log2(coarse / error_of(road(by_a_formula, 2e8, 2e-3, "one-pass"))), 2, 1);
}

TEST(prescribed_motion, of_infinite_inertia_is_what_is_found) {
    const auto last = [](const std::string& text) {
        simulation of(read_scenario_text(text, "s.yaml"), {.workers = 1});
        of.initialise();
        while (!of.done()) of.step();
        return of.value("wheel.mass.position");
    };
    std::string given = by_a_formula;
    given.insert(given.find("ports:"), "inertia: {contact: inf}, ");
    EXPECT_NEAR(last(road(given, 2e8, 5e-3, "one-pass")), last(road(by_a_formula, 2e8, 5e-3, "one-pass")), 1e-6);
}

/// Recorded motion reaches the port through a subsystem without states.
TEST(prescribed_motion, from_a_file) {
    const temporary_folder folder;
    std::string rows = "time,x [m],v [m/s]\n";
    for (int k = 0; k <= 200; ++k)
        rows += fmt::format("{},{:.15g},{:.15g}\n", k * 0.01, 0.05 * std::sin(k * 0.03), 0.15 * std::cos(k * 0.03));
    const auto file = folder / "road.csv";
    test::write_file(file, rows);
    const std::string entry = fmt::format(
        "  record: {{file: {}, interpolation: cubic}}\n  road: {{ode: {{inputs: {{F: 0 N, xr: 0 m, vr: 0 m/s}}, "
        "outputs: {{x: "
        "{{value: xr, unit: m}}, v: {{value: vr, unit: m/s}}}}}}, ports: {{contact: {{kind: translation, position: x, "
        "velocity: v, force: F}}}}}}\n",
        file.string());
    const std::string signals = "signals:\n  - record.x -> road.xr\n  - record.v -> road.vr\n";
    EXPECT_LT(error_of(road(entry, 2e5, 1e-3, "one-pass") + signals), 1e-4);
    EXPECT_LT(error_of(road(entry, 2e8, 5e-3, "one-pass") + signals), 0.03);
}

TEST(prescribed_motion, an_inertia_that_is_no_inertia_is_refused) {
    for (const std::string wrong : {"-1 kg", "0", "-inf", "[1, 2]"}) {
        std::string entry = by_a_formula;
        entry.insert(entry.find("ports:"), "inertia: {contact: " + wrong + "}, ");
        try {
            simulation(read_scenario_text(road(entry, 2e5, 1e-3, "one-pass"), "s.yaml"), {.workers = 1});
            FAIL() << wrong;
        } catch (const user_error& problem) {
            EXPECT_THAT(problem.what(), HasSubstr("subsystem 'road': inertia: contact")) << wrong;
            if (wrong == "-1 kg" || wrong == "0") {
                EXPECT_THAT(problem.what(),
                            testing::AllOf(HasSubstr(wrong), HasSubstr("greater than zero [kg]"), HasSubstr("'inf'")));
            }
        }
    }
}

}  // namespace
}  // namespace mdpcosim
