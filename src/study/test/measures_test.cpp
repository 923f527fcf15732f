#include "study/measures.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <numbers>

#include "scenario/read.hpp"
#include "study/formula.hpp"
#include "study/runner.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::test {
namespace {

/// Measures of one run, by their names.
std::map<std::string, double> measured(const std::string& scenario_text, const std::string& measures,
                                       const std::string& vary) {
    const temporary_folder folder;
    std::ofstream(folder.path() / "s.yaml") << scenario_text;
    std::ofstream(folder.path() / "study.yaml") << "scenario: s.yaml\nvary: " << vary << "\nmeasure:\n" << measures;
    const study_spec study = read_study(folder.path() / "study.yaml");
    const variant_plan plan(study);
    variant_runner runner(study, plan, nullptr);
    std::vector<double> parameters;
    for (std::size_t p = 0; p < plan.parameters().size(); ++p) parameters.push_back(plan.value(plan.size() - 1, p));
    runner.try_first(parameters);
    const auto row = runner.run(0, parameters);
    EXPECT_TRUE(row && row->done) << row->reason;
    std::map<std::string, double> all;
    for (std::size_t k = 0; k < study.measures.size(); ++k) all[study.measures[k].name] = row->values[k];
    return all;
}

const char* const decay = R"(
time: {end: 8 s, step: 1 ms}
subsystems:
  a:
    ode:
      parameters: {k: 0.5}
      states: {x: 2, q: 0}
      equations: {x: -k*x, q: x}
    solver: {name: erk-8, rtol: 1e-12, atol: 1e-14}
)";

/// x = 2 exp(-k t) with k = 1.
TEST(measures, of_a_decay_in_closed_form) {
    const double e8 = std::exp(-8.0);
    const auto m = measured(
        decay,
        "  first: {start: a.x}\n  last: {end: a.x}\n  low: {min: a.x}\n  high: {max: a.x}\n  middle: {mean: a.x}\n"
        "  power: {rms: a.x}\n  sum: {integral: a.x}\n  settled: {settling-time: a.x, within: 2 %, to: 0}\n  late: "
        "{settling-time: a.x, within: 0.04 %, to: 0}\n"
        "  half: {crossing: a.x, level: 1}\n  never: {crossing: a.x, level: 1, direction: rising}\n"
        "  both: {end: 3*a.x - a.q/2}\n  product: {value: sum*a.k + 1e-3}\n",
        "{a.k: [1]}");
    EXPECT_EQ(m.at("first"), 2);
    EXPECT_NEAR(m.at("last"), 2 * e8, 1e-10);
    EXPECT_EQ(m.at("low"), m.at("last"));
    EXPECT_EQ(m.at("high"), 2);
    EXPECT_NEAR(m.at("sum"), 2 * (1 - e8), 1e-6);
    EXPECT_NEAR(m.at("middle"), 2 * (1 - e8) / 8, 1e-7);
    EXPECT_NEAR(m.at("power"), std::sqrt(2 * (1 - e8 * e8) / 8), 1e-6);
    EXPECT_NEAR(m.at("settled"), std::log(50.0), 1e-6);
    EXPECT_TRUE(std::isnan(m.at("late")));
    EXPECT_NEAR(m.at("half"), std::numbers::ln2, 1e-6);
    EXPECT_TRUE(std::isnan(m.at("never")));
    EXPECT_NEAR(m.at("both"), 6 * e8 - (1 - e8), 1e-9);
    EXPECT_DOUBLE_EQ(m.at("product"), m.at("sum") + 1e-3);
}

/// The answer of a damped oscillator to a step: overshoot exp(-pi zeta/sqrt(1 - zeta^2)).
TEST(measures, overshoot_and_later_crossings_of_a_step_answer) {
    const auto m = measured(R"(
time: {end: 60 s, step: 2 ms}
subsystems:
  a:
    ode:
      parameters: {zeta: 0.9}
      states: {x: 0, v: 0}
      equations: {x: v, v: 1 - x - 2*zeta*v}
)",
                            "  over: {overshoot: a.x}\n  second: {crossing: a.x, level: 1, number: 2}\n"
                            "  down: {crossing: a.x, level: 1, direction: falling}\n",
                            "{a.zeta: [0.2]}");
    const double zeta = 0.2, w = std::sqrt(1 - zeta * zeta);
    EXPECT_NEAR(m.at("over"), std::exp(-std::numbers::pi * zeta / w), 1e-5);
    // cos(w t) + zeta/w sin(w t) = 0
    const double first = (std::numbers::pi - std::atan(w / zeta)) / w;
    EXPECT_NEAR(m.at("second"), first + std::numbers::pi / w, 1e-5);
    EXPECT_EQ(m.at("down"), m.at("second"));
}

TEST(measures, energy_is_that_of_the_summary) {
    const auto m = measured(R"(
time: {end: 3.14159265358979 s, step: 1 ms}
subsystems:
  a: {model: mass-spring-damper, set: {mass: 1 kg, x0: 1 m}}
  b: {model: mass-spring-damper, set: {mass: 1e9 kg}}
connections:
  s: {law: spring, between: [a.mass, b.mass], stiffness: 1 N/m}
)",
                            "  E: {energy: s}\n", "{a.x0: [2 m]}");
    // Half a period: the spring gives 1/2 c x0^2 = 2 J and takes it back.
    EXPECT_NEAR(m.at("E"), 4, 1e-2);
}

TEST(measures, unknown_names_are_told_with_their_place) {
    const auto told = [](const char* measures) {
        try {
            measured(decay, measures, "{a.k: [1]}");
        } catch (const user_error& problem) {
            return std::string(problem.what());
        }
        return std::string("accepted");
    };
    EXPECT_THAT(told("  p: {max: a.y}\n"),
                testing::HasSubstr("study.yaml:4:12: measure 'p': variable 'a.y' does not exist."));
    EXPECT_THAT(told("  p: {max: b.x}\n"), testing::HasSubstr("'b'"));
    EXPECT_THAT(told("  p: {max: a.x +}\n"), testing::HasSubstr("'a.x +'"));
    EXPECT_THAT(told("  p: {max: a.x + 0/0}\n"), testing::HasSubstr("'a.x + 0/0' is never a number"));
    EXPECT_THAT(told("  p: {value: later}\n  later: {max: a.x}\n"), testing::HasSubstr("'later' does not exist"));
    EXPECT_THAT(told("  p: {energy: spring}\n"), testing::HasSubstr("connection 'spring' does not exist"));
}

TEST(formula, the_longest_name_that_exists_counts) {
    const auto value = [](const std::string& written) {
        const std::vector<std::string> names = {"a-1.x", "a", "b.c[2]", "a-1.x-y"};
        const std::vector<double> numbers = {10, 3, 7, 100};
        const expression e = parse_formula(
            {written, {}}, "test",
            [&](const std::string& name) {
                const auto at = std::ranges::find(names, name);
                return at == names.end() ? -1 : static_cast<int>(at - names.begin());
            },
            [](const std::string& name) { return "unknown " + name; });
        const assignment all[] = {{e, 0}};
        double result = 0;
        program(all).evaluate({numbers.data(), nullptr, nullptr}, &result);
        return result;
    };
    EXPECT_EQ(value("a-1.x-a"), 7);
    EXPECT_EQ(value("a-1.x - a"), 7);
    EXPECT_EQ(value("a-1.x-y"), 100);
    EXPECT_EQ(value("2*b.c[2]-1e-1*a"), 14 - 0.1 * 3);
    EXPECT_EQ(value("max(a, b.c[2])^2"), 49);
    EXPECT_THROW(value("z.w + 1"), user_error);
}

}  // namespace
}  // namespace mdpcosim::test
