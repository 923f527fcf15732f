// Power bonds: pairs of signals whose energy is watched, corrected, and held to a tolerance. The numbers are those of docs/bonds.md.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "core/json.hpp"
#include "monolithic_fixture.hpp"

namespace mdpcosim {
namespace {

using test::column;
using test::settings;
using testing::AllOf;
using testing::HasSubstr;

const std::filesystem::path car = test::examples / "quarter-car/signals.yaml";
const char* const names[] = {"wheel-speed", "body-speed", "wheel-force", "body-force"};

run_summary run_as(scenario s, const run_options& options) { return run(std::move(s), options); }

class power_bond : public test::monolithic {
   protected:
    static settings with(const std::string& rule, bool correct, int steps) {
        settings list{{"time.step", fmt::format("{} s", 2.0 / steps)}};
        for (const char* name : names) list.push_back({std::string(name) + ".extrapolation", rule});
        for (const char* bond : {"lower", "upper"})
            list.push_back({fmt::format("bonds.{}.correct", bond), correct ? "true" : "false"});
        return list;
    }
    run_summary run_car(const settings& list, bool as_one = false) {
        const run_summary done = run_into(as_one ? "whole" : "parts", read_scenario(car, overrides(list)), as_one);
        EXPECT_EQ(done.status, "done") << done.message;
        return done;
    }
    double error(const std::string& name) {
        const auto all = compare_results(folder / "parts", folder / "whole").errors;
        for (const auto& e : all)
            if (e.name == name) return e.relative;
        throw std::runtime_error(name);
    }
};

TEST_F(power_bond, correction_takes_away_most_of_the_error) {
    run_car({}, true);
    struct row {
        int steps;
        double body, wheel;                      ///< the part of the error of held inputs that is left at most
        double body_by_poly_2, wheel_by_poly_2;  ///< of poly-2 with correction
    };
    for (const auto& [steps, body, wheel, body_2, wheel_2] :
         {row{400, 0.12, 0.30, 0.003, 0.11}, row{1600, 0.03, 0.09, 0.00013, 0.0055}}) {
        const run_summary held = run_car(with("poly-1", false, steps));
        const double held_body = error("body.x"), held_wheel = error("wheel.x");
        const run_summary corrected = run_car(with("poly-1", true, steps));
        fmt::print(
            "{} steps, held: body {:.3g}, wheel {:.3g}; corrected: body {:.3g} (-{:.1f} %), wheel {:.3g} (-{:.1f} "
            "%)\n",
            steps, held_body, held_wheel, error("body.x"), 100 * (1 - error("body.x") / held_body), error("wheel.x"),
            100 * (1 - error("wheel.x") / held_wheel));
        EXPECT_LT(error("body.x"), body * held_body);
        EXPECT_LT(error("wheel.x"), wheel * held_wheel);
        for (const int k : {0, 1}) {
            fmt::print("  bond {}: energy error {:.3g} of {:.3g} J, corrected {:.3g}\n", held.bonds[k].name,
                       held.bonds[k].energy_error, held.bonds[k].energy_peak, corrected.bonds[k].energy_error);
            EXPECT_LT(std::abs(corrected.bonds[k].energy_error), 0.35 * std::abs(held.bonds[k].energy_error));
        }
        run_car(with("poly-2", true, steps));
        fmt::print("  poly-2, corrected: body -{:.2f} %, wheel -{:.2f} %\n", 100 * (1 - error("body.x") / held_body),
                   100 * (1 - error("wheel.x") / held_wheel));
        EXPECT_LT(error("body.x"), body_2 * held_body);
        EXPECT_LT(error("wheel.x"), wheel_2 * held_wheel);
    }
}

TEST_F(power_bond, correction_raises_the_order_by_one) {
    run_car({}, true);
    for (const auto& [rule, order] : {std::pair{"poly-1", 1.0}, {"poly-2", 2.0}})
        for (const bool correct : {false, true}) {
            double found[2];
            for (const int k : {0, 1}) {
                run_car(with(rule, correct, k == 0 ? 1600 : 3200));
                found[k] = error("body.x");
            }
            fmt::print("{} {}: order {:.2f}\n", rule, correct ? "corrected" : "as it is",
                       std::log2(found[0] / found[1]));
            EXPECT_NEAR(std::log2(found[0] / found[1]), order + (correct ? 1 : 0), 0.2) << rule;
        }
}

TEST_F(power_bond, correction_costs_little_stability_where_there_is_damping_and_wins_where_there_is_little) {
    // Whether the car comes to rest within 60 s, in steps below and above the limits of docs/bonds.md.
    const auto rests = [&](const char* rule, bool correct, double H, const char* damping) {
        settings list = with(rule, correct, 400);
        list[0].second = fmt::format("{} s", H);
        for (const auto& [address, value] : {std::pair{"time.end", "60 s"},
                                             {"monitor.divergence", "note"},
                                             {"strut.d", damping},
                                             {"record.every", "1 s"}})
            list.push_back({address, value});
        for (const char* part : {"wheel", "body", "strut"}) list.push_back({std::string(part) + ".solver", "rk4"});
        const run_summary done = run_into("long", read_scenario(car, overrides(list)), false);
        const result_table r = read_results(folder / "long", [](std::string_view name) { return name == "body.x"; });
        return done.status == "done" && std::abs(r.values.back()) < 1e-3;
    };
    EXPECT_TRUE(rests("poly-1", false, 0.031, "1500 N.s/m"));
    EXPECT_TRUE(rests("poly-1", true, 0.027, "1500 N.s/m"));
    EXPECT_FALSE(rests("poly-1", true, 0.030, "1500 N.s/m"));
    EXPECT_TRUE(rests("poly-2", false, 0.025, "1500 N.s/m"));
    EXPECT_TRUE(rests("poly-2", true, 0.020, "1500 N.s/m"));
    EXPECT_FALSE(rests("poly-2", true, 0.022, "1500 N.s/m"));
    EXPECT_FALSE(rests("poly-1", false, 0.011, "200 N.s/m"));
    EXPECT_TRUE(rests("poly-1", true, 0.0135, "200 N.s/m"));
}

TEST_F(power_bond, corrects_plain_fmus) {
    // Wheel and body as FMUs that offer nothing but steps with held inputs.
    run_car({}, true);
    const result_table whole = read_results(folder / "whole", [](std::string_view name) { return name == "body.x"; });
    for (const char* version : {"2", "3"}) {
        const std::string file =
            (std::filesystem::path(MDPCOSIM_BINARY_DIR) / "fmus" / fmt::format("plain-oscillator-{}.fmu", version))
                .string();
        double left[2];
        for (const bool correct : {false, true}) {
            const result_table r = run_text("fmus",
                                            fmt::format(R"(
time: {{end: 2 s, step: 5 ms}}
subsystems:
  wheel: {{fmu: {0}, set: {{m: 40 kg, c: 200 kN/m, d: 0}}}}
  body: {{fmu: {0}, set: {{m: 400 kg, c: 0, d: 0, x0: 20 mm}}}}
  strut:
    ode:
      states: {{q: -20 mm}}
      inputs: {{v1: 0 m/s, v2: 0 m/s}}
      equations: {{q: v1 - v2}}
      outputs: {{F: {{value: 20e3*q + 1500*(v1 - v2), unit: N}}}}
signals:
  - {{connect: wheel.velocity -> strut.v1, extrapolation: poly-1}}
  - {{connect: body.velocity -> strut.v2, extrapolation: poly-1}}
  - {{connect: -1*strut.F -> wheel.force, extrapolation: poly-1}}
  - {{connect: strut.F -> body.force, extrapolation: poly-1}}
bonds:
  lower: {{flow: strut.v1, effort: wheel.force, correct: {1}}}
  upper: {{flow: strut.v2, effort: body.force, correct: {1}}}
record: {{every: 20 ms, only: [body.position]}}
)",
                                                        file, correct),
                                            false);
            ASSERT_EQ(r.rows(), whole.rows());
            left[correct] = 0;
            for (std::size_t i = 0; i < r.rows(); ++i)
                left[correct] = std::max(left[correct], std::abs(r.values[i] - whole.values[i]));
        }
        fmt::print("plain FMUs {}.0: body off by {:.3g} m, corrected {:.3g} m\n", version, left[0], left[1]);
        EXPECT_LT(left[1], 0.12 * left[0]);
    }
}

TEST_F(power_bond, is_the_same_on_threads_and_processes) {
    const auto results_on = [&](const std::string& transport, int workers) {
        run_options options;
        options.out = folder / (transport + std::to_string(workers));
        options.transport = transport;
        options.workers = workers;
        EXPECT_EQ(run_as(read_scenario(car), options).status, "done");
        return read_results(options.out, [](std::string_view) { return true; });
    };
    const result_table one = results_on("threads", 1);
    EXPECT_EQ(results_on("threads", 2).values, one.values);
    EXPECT_EQ(results_on("processes", 3).values, one.values);
}

TEST_F(power_bond, controls_the_step) {
    run_car({}, true);
    double before = 1;
    for (const double rtol : {1e-2, 1e-3, 1e-4}) {
        settings list = with("poly-2", true, 1600);
        list.push_back({"step-control", fmt::format("{{rtol: {}, estimate: energy}}", rtol)});
        const run_summary done = run_car(list);
        fmt::print("rtol {}: {} steps from {:.2g} to {:.2g} s, wheel {:.3g}\n", rtol, done.steps,
                   done.control->smallest, done.control->largest, error("wheel.x"));
        EXPECT_LT(error("wheel.x"), before);
        before = error("wheel.x");
    }
    EXPECT_LT(before, 1e-3);
    // Without bonds held signals have no energy: nothing would hold the steps.
    settings list = with("poly-1", false, 1600);
    list.push_back({"step-control", "{rtol: 1e-3, estimate: energy}"});
    const run_summary watched = run_car(list);
    EXPECT_GT(watched.steps, 300);
}

TEST_F(power_bond, is_shown_and_judged) {
    const settings list = with("poly-1", false, 100);
    const run_summary done = run_car(list);
    ASSERT_EQ(done.bonds.size(), 2U);
    EXPECT_THAT(to_table(done), AllOf(HasSubstr("bond "), HasSubstr("wheel-speed"), HasSubstr("wheel-force")));
    const json summary = json::parse(to_json(done));
    EXPECT_EQ(summary["bonds"][0]["name"], "lower");
    EXPECT_EQ(summary["bonds"][0]["flow"], "wheel-speed");
    EXPECT_GT(summary["bonds"][1]["energy_error_share"].get<double>(), 0.2);
    ASSERT_TRUE(done.judged);
    EXPECT_NE(done.judged->level, trust::good);
    bool told = false;
    for (const auto& reason : done.judged->reasons)
        told = told || (reason.text.find("bond 'upper': it added") == 0 &&
                        reason.remedy.find("'correct: true'") != std::string::npos);
    EXPECT_TRUE(told);
    const std::string text = check(read_scenario(car));
    EXPECT_THAT(text,
                HasSubstr("lower          wheel.v -> strut.v1, back -1*strut.F -> wheel.F; what a step misses is given "
                          "in the next one"));
}

TEST_F(power_bond, mistakes_are_told) {
    const auto scenario_with =
        [](const std::string& signals, const std::string& bond, const std::string& top = "") {
            try {
                check(read_scenario_text(top + R"(
time: {end: 1 s, step: 10 ms}
subsystems:
  a: {ode: {states: {x: 0 m, v: 1 m/s}, inputs: {F: 0 N, p: 0 Pa}, equations: {x: v, v: F}}}
  b: {ode: {states: {q: 0 m}, inputs: {v: 0 m/s, w: 0 m/s}, equations: {q: v}, outputs: {F: {value: 5*q, unit: N}, p: {value: q, unit: Pa}}}}
  c: {ode: {states: {q: 0 m}, inputs: {v: 0 m/s}, equations: {q: v}, outputs: {F: {value: 5*q, unit: N}}}}
signals:
)" + signals + "bonds:\n  shaft: {" + bond + "}\n",
                                         "test.yaml"));
            } catch (const user_error& problem) {
                return std::string(problem.what());
            }
            return std::string("not refused");
        };
    const std::string there = "  - a.v -> b.v\n", back = "  - {connect: -1*b.F -> a.F, name: force}\n";
    EXPECT_EQ(scenario_with(there + back, "flow: b.v, effort: a.F, correct: true"), "not refused");
    EXPECT_EQ(scenario_with(there + back, "flow: b.v, effort: force"), "not refused");
    EXPECT_THAT(
        scenario_with(there + back, "flow: b.w, effort: a.F"),
        AllOf(HasSubstr("test.yaml:"), HasSubstr("bond 'shaft': no signal goes to 'b.w', and none has that name"),
              HasSubstr("Did you mean 'b.v'?")));
    EXPECT_THAT(scenario_with(there + "  - b.p -> a.p\n", "flow: b.v, effort: a.p"),
                AllOf(HasSubstr("test.yaml:11:30: bond 'shaft': 'b.v' in 'm/s' times 'a.p' in 'Pa' is no power"),
                      HasSubstr("does not fit 'W'"), HasSubstr("pressure and flow")));
    EXPECT_THAT(
        scenario_with(there + "  - c.F -> a.F\n", "flow: b.v, effort: a.F"),
        HasSubstr(
            "the flow goes from 'a' to 'b', so that the effort must go from 'b' to 'a'; it goes from 'c' to 'a'"));
    EXPECT_THAT(scenario_with("  - a.v - 2 s-1*c.q -> b.v\n" + back, "flow: b.v, effort: a.F"),
                HasSubstr("a bond carries one output each way"));
    EXPECT_THAT(scenario_with("  - 3*a.v -> b.v\n" + back, "flow: b.v, effort: a.F"),
                HasSubstr("the gains 3 of the flow and -1 of the effort differ"));
    EXPECT_THAT(scenario_with(there + back, "flow: b.v, effort: a.F}\n  again: {flow: b.v, effort: a.F"),
                HasSubstr("the signal to 'b.v' belongs to bond 'shaft' already"));
    EXPECT_THAT(scenario_with(there + back, "flow: b.v, effort: a.F, correct: true", "method: multirate\n"),
                HasSubstr("method 'multirate' has polynomials of its own"));
    EXPECT_THAT(scenario_with(there + back, "flow: b.v"), HasSubstr("key 'effort' is missing"));
}

}  // namespace
}  // namespace mdpcosim
