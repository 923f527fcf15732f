// `run --verify` and `expect:` as a user meets them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/mdpcosim.hpp"
#include "process.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using test::process;
using test::temporary_folder;
using test::write_file;
using testing::HasSubstr;
using testing::Not;

std::string two_masses(const std::string& step, const std::string& more = {}) {
    return fmt::format(
        "time: {{end: 2 s, step: {}}}\n{}subsystems:\n"
        "  A: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 100, x0: 0.1}}}}\n"
        "  B: {{model: mass-spring-damper, set: {{mass: 2, stiffness: 150}}}}\n"
        "connections:\n  c: {{law: spring, between: [A.mass, B.mass], stiffness: 300}}\n",
        step, more);
}

class verified_run : public testing::Test {
   protected:
    process::outcome started(const std::string& text, const std::vector<std::string>& more) {
        write_file(folder / "s.yaml", text);
        std::vector<std::string> words{MDPCOSIM_PROGRAM, "run", (folder / "s.yaml").string(), "--out",
                                       (folder / "out").string()};
        words.insert(words.end(), more.begin(), more.end());
        return process(words, {}).wait();
    }
    temporary_folder folder;
};

TEST_F(verified_run, that_diverges_leaves_no_part_of_another_one) {
    const auto r = started(two_masses("200 ms", "extrapolation: poly-2\n"), {"--verify", "--set", "time.end=60 s"});
    EXPECT_EQ(r.exit_status, 1) << r.out;
    EXPECT_TRUE(std::filesystem::exists(folder / "out/results.csv"));
    EXPECT_FALSE(std::filesystem::exists(folder / "out/half-step"));
}

/// Who has been measured is not told how to measure.
TEST_F(verified_run, tells_no_way_to_verify) {
    const std::string coarse = two_masses("50 ms");
    EXPECT_THAT(started(coarse, {"--no-verify"}).out, HasSubstr("'run --verify' measures"));
    EXPECT_THAT(started(coarse, {"--verify"}).out, Not(HasSubstr("'run --verify'")));
}

/// The estimates against the reference: within a factor of 1.5 for every coupled variable, for steps of all sizes and methods.
TEST_F(verified_run, estimates_are_true) {
    for (const char* method : {"explicit", "semi-implicit", "iterated", "one-pass"})
        for (const char* step : {"2 ms", "10 ms", "20 ms"}) {
            const std::string text = two_masses(step, fmt::format("method: {}\n", method));
            const run_summary s =
                run_verified(read_scenario_text(text, "s.yaml"), {.out = folder / "out", .workers = 1});
            ASSERT_EQ(s.status, "done") << s.message;
            ASSERT_TRUE(s.verified);
            run(read_scenario_text(text, "s.yaml"), {.out = folder / "reference", .workers = 1, .monolithic = true});
            const comparison truth = compare_results(folder / "out", folder / "reference");
            for (const auto& e : truth.errors)
                for (const auto& x : s.verified->variables)
                    if (x.name == e.name && x.coupled && e.relative < 0.3) {
                        EXPECT_LT(x.error, 1.5 * e.max_error) << method << " " << step << " " << x.name;
                        EXPECT_GT(1.5 * x.error, e.max_error) << method << " " << step << " " << x.name;
                    }
        }
}

TEST_F(verified_run, table_summary_and_verdict) {
    const auto good = started(two_masses("5 ms"), {"--verify"});
    EXPECT_EQ(good.exit_status, 0) << good.err;
    EXPECT_THAT(good.out, HasSubstr("verified with half and twice the macro step: observed order "));
    EXPECT_THAT(good.out, HasSubstr("error about"));
    EXPECT_THAT(good.out, testing::EndsWith("verdict: good\n"));
    EXPECT_THAT(test::content(folder / "out/summary.json"), HasSubstr("\"verification\": {"));
    EXPECT_TRUE(std::filesystem::exists(folder / "out/half-step/results.csv"));
    // The next run without it leaves nothing behind that belongs to the last one.
    EXPECT_EQ(started(two_masses("5 ms"), {}).exit_status, 0);
    EXPECT_FALSE(std::filesystem::exists(folder / "out/half-step"));

    const auto coarse = started(two_masses("40 ms"), {"--verify"});
    EXPECT_NE(coarse.exit_status, 0) << coarse.out;
}

/// Whoever only receives counts, too: the source itself is exact.
TEST_F(verified_run, receivers_count) {
    const auto r = started(
        "time: {end: 1 s, step: 20 ms}\nsubsystems:\n  net: {ode: {outputs: {y: \"sin(2*pi*50*t)\"}}}\n"
        "  b: {ode: {states: {y: 0}, inputs: {u: 0}, equations: {y: 100*(u-y)}}}\nsignals: [net.y -> b.u]\n",
        {"--verify"});
    EXPECT_EQ(r.exit_status, 3) << r.out;
}

TEST_F(verified_run, what_is_not_recorded_keeps_its_guesses) {
    const std::string text =
        "time: {end: 5 s, step: 20 ms}\nsubsystems:\n"
        "  a: {model: mass-spring-damper, set: {mass: 1, stiffness: 10, x0: 1}}\n"
        "  b: {model: mass-spring-damper, set: {mass: 1, stiffness: 20}}\n"
        "  c: {model: mass-spring-damper, set: {mass: 1, stiffness: 10, x0: 1}}\n"
        "  d: {model: mass-spring-damper, set: {mass: 0.1, stiffness: 20}}\n"
        "connections:\n  k1: {law: spring, between: [a.mass, b.mass], stiffness: 1}\n"
        "  k2: {law: spring, between: [c.mass, d.mass], stiffness: 250}\nrecord: {only: [a.mass.position, k1.u]}\n";
    const auto r = started(text, {"--verify"});
    EXPECT_EQ(r.exit_status, 3) << r.out;
    EXPECT_THAT(r.out, HasSubstr("nothing of 'k2' is recorded"));
}

/// Two halves of Lorenz's equations: nothing of the coupling looks wrong while the solution is another one.
TEST_F(verified_run, small_runs_verify_themselves) {
    const std::string lorenz =
        "time: {end: 16 s, step: 4 ms}\nsubsystems:\n"
        "  s0: {ode: {states: {x: 1}, inputs: {y: 1}, equations: {x: 10*(y - x)}}}\n"
        "  s1: {ode: {states: {y: 2, z: 20}, inputs: {x: 1}, equations: {y: x*(28 - z) - y, z: x*y - 8/3*z}}}\n"
        "signals: [s0.x -> s1.x, s1.y -> s0.y]\n";
    const auto alone = started(lorenz, {"--no-verify"});
    EXPECT_EQ(alone.exit_status, 0);
    EXPECT_THAT(alone.out, HasSubstr("verdict: good\n  from this run alone"));
    const std::string bits = test::content(folder / "out/results.csv");
    const auto by_itself = started(lorenz, {});
    EXPECT_EQ(by_itself.exit_status, 3) << by_itself.out;
    EXPECT_THAT(by_itself.out, HasSubstr("verdict: wrong\n"));
    EXPECT_EQ(test::content(folder / "out/results.csv"), bits);
    EXPECT_FALSE(std::filesystem::exists(folder / "out/half-step"));
    EXPECT_THAT(test::content(folder / "out/summary.json"), HasSubstr("\"half_step\": \"done\""));
    EXPECT_EQ(started(lorenz, {"--verify", "--no-verify"}).exit_status, 2);
}

/// The wheel is far off; only the body is recorded.
TEST_F(verified_run, small_runs_look_at_what_is_not_recorded) {
    const std::string car =
        "time: {end: 1 s, step: 33 ms}\nsubsystems:\n"
        "  wheel: {model: mass-spring-damper, set: {mass: 40 kg, stiffness: 200 kN/m}}\n"
        "  body: {model: mass-spring-damper, set: {mass: 400 kg, x0: 20 mm}}\nconnections:\n"
        "  strut: {law: spring-damper, between: [wheel.mass, body.mass], stiffness: 20 kN/m, damping: 1500 N.s/m}\n"
        "record: {only: [body.mass.position]}\n";
    const auto r = started(car, {});
    EXPECT_EQ(r.exit_status, 3) << r.out;
    EXPECT_THAT(r.out, HasSubstr("wrong: 'wheel.mass.velocity' is off by"));
}

TEST_F(verified_run, large_runs_and_those_with_code_of_others_do_not_verify_themselves) {
    EXPECT_THAT(started(two_masses("10 us"), {"--set", "time.end=0.6 s"}).out, HasSubstr("from this run alone"));
    const auto fmu = [](const char* name) {
        return fmt::format(
            "  {}: {{fmu: {}, set: {{c: 10, x0: 0.1}}, ports: {{mass: {{kind: translation, position: position, "
            "velocity: velocity, force: force}}}}}}\n",
            name, (std::filesystem::path(MDPCOSIM_BINARY_DIR) / "fmus/plain-oscillator-2.fmu").string());
    };
    EXPECT_THAT(started("time: {end: 1 s, step: 1 ms}\nsubsystems:\n" + fmu("a") + fmu("b") +
                            "connections: {k: {law: spring, between: [a.mass, b.mass], stiffness: 1}}\n",
                        {})
                    .out,
                HasSubstr("verdict: good\n  from this run alone"));
}

/// A joint needs three micro steps in a macro step, which half the step would not have.
TEST_F(verified_run, whose_half_step_is_not_possible_keeps_its_own_verdict) {
    const auto r = process({MDPCOSIM_PROGRAM, "run", MDPCOSIM_SOURCE_DIR "/examples/spatial-linkage/scenario.yaml",
                            "--end", "0.05", "--out", (folder / "out").string()},
                           {})
                       .wait();
    EXPECT_EQ(r.exit_status, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("from this run alone"));
}

TEST_F(verified_run, rows_between_macro_points_are_no_error) {
    const auto r = started(
        "time: {end: 0.2 s, step: 0.4 ms}\nsubsystems:\n"
        "  a: {model: mass-spring-damper, set: {mass: 1, stiffness: 63165, x0: 1}}\n"
        "  b: {model: mass-spring-damper, set: {mass: 10, stiffness: 20}}\n"
        "connections: {k1: {law: spring, between: [a.mass, b.mass], stiffness: 1000}}\nrecord: {every: 5 ms}\n",
        {"--verify"});
    EXPECT_THAT(r.out, testing::EndsWith("verdict: good\n"));
    EXPECT_THAT(r.out, testing::ContainsRegex("observed order (2\\.[5-9]|3\\.[0-5])"));
}

TEST_F(verified_run, a_step_longer_than_the_run_is_halved_all_the_same) {
    EXPECT_EQ(started(two_masses("10 s"), {"--verify"}).exit_status, 3);
    const auto few = started(two_masses("0.5 s"), {"--no-verify"});
    EXPECT_EQ(few.exit_status, 0);
    EXPECT_THAT(few.out, HasSubstr("4 macro steps are too few to judge by"));
}

TEST_F(verified_run, bits_do_not_depend_on_it) {
    EXPECT_EQ(started(two_masses("5 ms"), {}).exit_status, 0);
    const std::string alone = test::content(folder / "out/results.csv");
    EXPECT_EQ(started(two_masses("5 ms"), {"--verify"}).exit_status, 0);
    EXPECT_EQ(test::content(folder / "out/results.csv"), alone);
}

TEST_F(verified_run, controlled_steps_and_fmus) {
    const auto controlled = started(two_masses("5 ms", "step-control: {rtol: 1e-4}\n"), {"--verify"});
    EXPECT_EQ(controlled.exit_status, 0) << controlled.out << controlled.err;
    EXPECT_THAT(controlled.out, HasSubstr("verified with tolerances a quarter and four times as large"));
    const std::string fmu = (std::filesystem::path(MDPCOSIM_BINARY_DIR) / "fmus/plain-oscillator-2.fmu").string();
    const auto plain =
        started(fmt::format("time: {{end: 1 s, step: 5 ms}}\nsubsystems:\n"
                            "  A: {{fmu: {0}, set: {{x0: 0.1}}}}\n  B: {{fmu: {0}, set: {{m: 2}}}}\n"
                            "signals: [\"-50 N/m*A.position + 50 N/m*B.position -> A.force\", \"50 N/m*A.position - 50 "
                            "N/m*B.position -> B.force\"]\n",
                            fmu),
                {"--verify"});
    EXPECT_EQ(plain.exit_status, 0) << plain.out << plain.err;
    EXPECT_THAT(plain.out, HasSubstr("observed order"));
}

TEST_F(verified_run, what_cannot_be_verified_says_so) {
    const auto reference = started(two_masses("5 ms"), {"--verify", "--monolithic"});
    EXPECT_EQ(reference.exit_status, 2);
    EXPECT_THAT(reference.err, HasSubstr("--verify: the reference has no macro step"));
    const auto remote = started(two_masses("5 ms"), {"--verify", "--transport", "tcp", "--remote", "A"});
    EXPECT_EQ(remote.exit_status, 2);
    EXPECT_THAT(remote.err, HasSubstr("--verify: subsystems that 'mdpcosim serve' brings"));
    const auto mistake = started("time: {end: 1, step: 0}\n", {"--verify"});
    EXPECT_EQ(mistake.exit_status, 2);
    EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

class expected_results : public verified_run {};

TEST_F(expected_results, are_checked) {
    const auto met =
        started(two_masses("5 ms",
                           "expect:\n  - {variable: A.mass.position, min: -200 mm, max: 0.2}\n"
                           "  - {variable: c.u, min: -1 kN}\n  - {variable: A.mass.velocity, end: 0, within: "
                           "10}\n"),
                {});
    EXPECT_EQ(met.exit_status, 0) << met.out << met.err;
    EXPECT_THAT(met.out, HasSubstr("note: 3 of 3 expectations are met"));

    const auto missed = started(two_masses("5 ms",
                                           "expect:\n  - {variable: A.mass.position, max: 50 mm}\n"
                                           "  - {variable: A.mass.position, end: 1 m, within: 1 mm}\n"),
                                {});
    EXPECT_EQ(missed.exit_status, 3) << missed.out;
    EXPECT_THAT(missed.out,
                HasSubstr("s.yaml:3:5: 'A.mass.position' rises to 0.1 m at t = 0 s, above the expected 0.05 m"));
    EXPECT_THAT(missed.out, HasSubstr("1 m within 0.001 m was expected"));
    EXPECT_THAT(test::content(folder / "out/summary.json"), HasSubstr("\"level\": \"wrong\""));
    // The reference can be checked as well.
    EXPECT_EQ(started(two_masses("5 ms", "expect: [{variable: c.u, max: 1 N}]\n"), {"--monolithic"}).exit_status, 3);
}

TEST_F(expected_results, of_a_file) {
    EXPECT_EQ(started(two_masses("1 ms"), {}).exit_status, 0);
    std::filesystem::copy_file(folder / "out/results.csv", folder / "expected.csv");
    const auto with = [](const char* rest) { return fmt::format("expect: [{{file: expected.csv, {}}}]\n", rest); };
    EXPECT_EQ(started(two_masses("1 ms", with("within: 0")), {}).exit_status, 0);
    EXPECT_EQ(started(two_masses("5 ms", with("within: 2 %")), {}).exit_status, 0);
    const auto missed = started(two_masses("5 ms", with("within: 1e-6, only: '*.position'")), {});
    EXPECT_EQ(missed.exit_status, 3) << missed.out;
    EXPECT_THAT(missed.out, HasSubstr("% of the range that "));
    EXPECT_THAT(missed.out, Not(HasSubstr("'c.u' is off")));
}

TEST_F(expected_results, of_a_part_of_the_run_are_told_as_such) {
    write_file(folder / "expected.csv", "time,A.mass.position\n0,0.1\n0.5,0.1\n");
    const auto part = started(two_masses("5 ms", "expect: [{file: expected.csv, within: 300 %}]\n"), {}).out;
    EXPECT_THAT(part, HasSubstr("note: expect: file 'expected.csv' has rows from 0 s to 0.5 s; the rest of the run is "
                                "not compared"));
}

/// A tolerance is a difference: a degree Celsius is a kelvin.
TEST_F(expected_results, tolerances_have_no_offset) {
    const auto end = [&](const char* within) {
        return started(fmt::format("time: {{end: 100 s, step: 1 s}}\nsubsystems:\n"
                                   "  a: {{model: thermal-mass, set: {{heat-capacity: 100, temperature0: 80 degC}}}}\n"
                                   "  b: {{model: thermal-mass, set: {{heat-capacity: 100, temperature0: 20 degC}}}}\n"
                                   "connections: {{c: {{law: conductor, between: [a.body, b.body], conductance: 1}}}}\n"
                                   "expect: [{{variable: a.body.temperature, end: 20 degC, within: {}}}]\n",
                                   within),
                       {})
            .exit_status;
    };
    EXPECT_EQ(end("1 degC"), 3);
    EXPECT_EQ(end("100 degC"), 0);
}

TEST_F(expected_results, mistakes_are_told_before_the_run) {
    const auto told = [&](const char* expect) {
        const auto r = started(two_masses("5 ms", fmt::format("expect: [{{{}}}]\n", expect)), {});
        EXPECT_EQ(r.exit_status, 2) << expect;
        EXPECT_FALSE(std::filesystem::exists(folder / "out")) << expect;
        return r.err;
    };
    EXPECT_THAT(told("variable: A.mass.positon, max: 1"), HasSubstr("Did you mean 'A.mass.position'"));
    EXPECT_THAT(told("variable: A.mass.position, max: 1 kg"), HasSubstr("'max'"));
    EXPECT_THAT(told("variable: A.mass.position, max: soon"), HasSubstr("'max'"));
    EXPECT_THAT(told("variable: A.mass.position"), HasSubstr("give 'end' with 'within', 'min', 'max'"));
    EXPECT_THAT(told("variable: A.mass.position, end: 1"), HasSubstr("'end' and 'within' go together"));
    EXPECT_THAT(told("variable: A.mass.position, end: 1, within: -1"), HasSubstr("is negative"));
    EXPECT_THAT(told("variable: A.mass.position, min: 2, max: 1"), HasSubstr("lies above max"));
    EXPECT_THAT(told("file: nowhere.csv, within: 1 %"), HasSubstr("nowhere.csv"));
    EXPECT_THAT(told("file: s.yaml"), HasSubstr("key 'within' is missing"));
    EXPECT_THAT(told("max: 1"), HasSubstr("variable"));
    write_file(folder / "late.csv", "time,c.u\n5,1\n6,2\n");
    EXPECT_THAT(told("file: late.csv, within: 1 %"), HasSubstr("has no row between 0 s and 2 s"));
    write_file(folder / "nan.csv", "time,c.u\n0,1\n1,nan\n");
    EXPECT_THAT(told("file: nan.csv, within: 1 %"), HasSubstr("no finite numbers"));
    EXPECT_THAT(told("file: late.csv, variable: c.u, within: 1 %"), HasSubstr("not both"));
}

}  // namespace
}  // namespace mdpcosim
