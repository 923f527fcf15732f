// The verdict on a run against the truth: known findings, and generated systems whose error is known from a reference.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "api/mdpcosim.hpp"
#include "benchmark/trust.hpp"
#include "process.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using test::process;
using test::temporary_folder;
using testing::HasSubstr;

struct judged_run {
    std::string status, message;
    trust level = trust::good;
    std::string text;
};

judged_run judge_text(const std::string& text, const std::filesystem::path& out) {
    const run_summary s = run(read_scenario_text(text, "v.yaml"), {out, 1});
    return {s.status, s.message, s.judged ? s.judged->level : trust::good, s.judged ? to_text(*s.judged) : ""};
}

judged_run judge_text(const std::string& text) {
    const temporary_folder folder;
    return judge_text(text, folder / "out");
}

bool is_green(const judged_run& r) { return r.status == "done" && r.level != trust::wrong; }

std::string quarter(const std::string& step, const std::string& more = {}) {
    return fmt::format(
        "time: {{end: 1 s, step: {}}}\n{}subsystems:\n"
        "  wheel: {{model: mass-spring-damper, set: {{mass: 40 kg, stiffness: 200 kN/m}}}}\n"
        "  body: {{model: mass-spring-damper, set: {{mass: 400 kg, x0: 20 mm}}}}\nconnections:\n"
        "  strut: {{law: spring-damper, between: [wheel.mass, body.mass], stiffness: 20 kN/m, damping: 1500 N.s/m}}\n",
        step, more);
}

TEST(verdict, a_diverged_strut_is_never_green) {
    for (const char* step : {"14 ms", "16 ms", "18 ms", "20 ms", "25 ms", "40 ms", "50 ms"})
        EXPECT_FALSE(is_green(judge_text(quarter(step, "extrapolation: lin-3-3-b0\n")))) << step;
    // With the strut's rate it is stable for longer; its true error is 26 % at 25 ms and 65 % at 33 ms.
    for (const char* step : {"14 ms", "20 ms", "25 ms"})
        EXPECT_EQ(judge_text(quarter(step)).level, trust::doubtful) << step;
    for (const char* step : {"33 ms", "40 ms", "50 ms"}) EXPECT_FALSE(is_green(judge_text(quarter(step)))) << step;
    for (const char* step : {"0.5 ms", "1 ms"})
        EXPECT_EQ(judge_text(quarter(step)).level, trust::good) << judge_text(quarter(step)).text;
}

/// The same strut in the hands of the body's model, which tells its force as a signal.
std::string quarter_by_signals(const std::string& step) {
    return fmt::format(
        "time: {{end: 1 s, step: {}}}\nsubsystems:\n"
        "  wheel: {{ode: {{states: {{x: 0, v: 0}}, inputs: {{F: 0}}, equations: {{x: v, v: (F - 2e5*x)/40}}}}}}\n"
        "  body: {{ode: {{states: {{x: 0.02, v: 0}}, inputs: {{xw: 0, vw: 0}}, outputs: {{F: 2e4*(x - xw) + 1500*(v - "
        "vw)}}, "
        "equations: {{x: v, v: -(2e4*(x - xw) + 1500*(v - vw))/400}}}}}}\n"
        "signals: [body.F -> wheel.F, wheel.x -> body.xw, wheel.v -> body.vw]\n",
        step);
}

TEST(verdict, signals_are_judged_too) {
    for (const char* step : {"20 ms", "30 ms", "50 ms"}) {
        const judged_run r = judge_text(quarter_by_signals(step));
        EXPECT_FALSE(is_green(r)) << step;
        if (r.status == "done") {
            EXPECT_THAT(r.text, HasSubstr("signal to '")) << step;
        }
    }
    const judged_run fine = judge_text(quarter_by_signals("0.1 ms"));
    EXPECT_EQ(fine.level, trust::good) << fine.text;
}

/// Held because the scenario says so, not because what they join is sampled: the same loop loses its damping.
TEST(verdict, signals_that_are_held_by_choice_are_judged) {
    const auto held = [](const char* step) {
        std::string text = quarter_by_signals(step);
        text.replace(text.find("signals: ["), std::string::npos, "signals:\n");
        for (const char* signal : {"body.F -> wheel.F", "wheel.x -> body.xw", "wheel.v -> body.vw"})
            text += fmt::format("  - {{connect: {}, extrapolation: poly-1}}\n", signal);
        return text;
    };
    EXPECT_EQ(judge_text(held("5 ms")).level, trust::doubtful);
    for (const char* step : {"10 ms", "20 ms"}) {
        const judged_run r = judge_text(held(step));
        EXPECT_EQ(r.level, trust::wrong) << step << r.message;
        EXPECT_THAT(r.text, HasSubstr("signal to '")) << step;
    }
}

/// What nothing comes back from is late by a step at its edges, which neither adds up nor diverges: 11 % is the truth here.
TEST(verdict, square_waves_of_sources_are_neither_stopped_nor_wrong) {
    const auto driven = [](const char* step) {
        return fmt::format(
            "time: {{end: 5 s, step: {}}}\nsubsystems:\n"
            "  s: {{model: source, set: {{kind: pulse, amplitude: 100, duration: 20 ms, period: 50 ms}}}}\n"
            "  a: {{model: lag-1, set: {{time-constant: 10 ms}}}}\nsignals: [s.y -> a.u]\n",
            step);
    };
    const judged_run coarse = judge_text(driven("1 ms")), fine = judge_text(driven("0.01 ms"));
    EXPECT_EQ(coarse.status, "done") << coarse.message;
    EXPECT_EQ(coarse.level, trust::doubtful) << coarse.text;
    EXPECT_NE(fine.level, trust::wrong) << fine.text;
    EXPECT_EQ(judge_text(driven("12.5 ms")).status, "done");
}

TEST(verdict, statuses_of_the_program) {
    const temporary_folder folder;
    const auto status = [&](const std::string& text, const std::vector<std::string>& more) {
        test::write_file(folder / "s.yaml", text);
        std::vector<std::string> words{MDPCOSIM_PROGRAM, "run", (folder / "s.yaml").string(), "--out",
                                       (folder / "out").string()};
        words.insert(words.end(), more.begin(), more.end());
        return process(words, {}).wait();
    };
    const auto good = status(quarter("1 ms"), {});
    EXPECT_EQ(good.exit_status, 0);
    EXPECT_THAT(good.out, testing::EndsWith("verdict: good\n"));
    const auto alone = status(quarter("1 ms"), {"--no-verify"});
    EXPECT_THAT(alone.out, testing::EndsWith("verdict: good\n  from this run alone; 'run --verify' measures it\n"));
    const auto doubtful = status(quarter("14 ms"), {"--no-verify"});
    EXPECT_EQ(doubtful.exit_status, 0) << doubtful.out;
    EXPECT_THAT(doubtful.out, HasSubstr("verdict: doubtful\n  doubtful: connection 'strut': "));
    EXPECT_EQ(status(quarter("14 ms"), {"--strict"}).exit_status, 3);
    const auto wrong = status(quarter("33 ms"), {"--quiet", "--no-verify"});
    EXPECT_EQ(wrong.exit_status, 3) << wrong.err;
    EXPECT_THAT(wrong.err, HasSubstr("verdict: wrong\n"));
    EXPECT_THAT(test::content(folder / "out/summary.json"), HasSubstr("\"level\": \"wrong\""));
}

/// Of a diverging run that dies elsewhere: the first words are the subsystem's or the method's, the last ones tell why.
TEST(verdict, failures_that_follow_from_divergence_say_so) {
    const judged_run r = judge_text(
        "time: {end: 3 s, step: 0.11 s}\nmethod: index-1\nsubsystems:\n"
        "  s0: {model: planar-link, set: {support: hinged, mass: 1, length: 1, angle: 50 deg}}\n"
        "  s1: {model: planar-link, set: {mass: 3, length: 0.8, angle: -50 deg, position: [0.6427876096865394, "
        "0.766044443118978]}}\n"
        "connections:\n  j: {joint: planar-revolute, between: [s0.second, s1.first]}\n");
    EXPECT_EQ(r.status, "failed");
    EXPECT_THAT(r.message, HasSubstr("Most likely this comes from connection 'j["));
    EXPECT_THAT(r.message, HasSubstr("Use a smaller macro step"));
}

std::string with_inner_mass(const char* step) {
    return fmt::format(
        "time: {{end: 1 s, step: {}}}\nmethod: one-pass\nsubsystems:\n"
        "  a: {{ode: {{states: {{x: 0, v: 0, y: 0, w: 0}}, inputs: {{f: 0}}, equations: {{x: v, v: (f - 1e5*(x - "
        "y))/0.1, y: "
        "w, w: (1e5*(x - y) - 1000*y)/10}}}}, ports: {{p: {{kind: translation, position: x, velocity: v, force: "
        "f}}}}}}\n"
        "  b: {{model: mass-spring-damper, set: {{mass: 5, stiffness: 1000, x0: 0.01}}}}\n"
        "connections:\n  c: {{law: spring, between: [a.p, b.mass], stiffness: 1e6}}\n",
        step);
}

TEST(verdict, one_pass_tells_of_fast_inner_modes) {
    for (const char* step : {"2 ms", "5 ms", "10 ms"}) {
        const judged_run r = judge_text(with_inner_mass(step));
        EXPECT_EQ(r.status, "failed") << step;
        EXPECT_THAT(r.message, HasSubstr("too large for a frequency inside the subsystems")) << step;
    }
    EXPECT_FALSE(is_green(judge_text(with_inner_mass("1 ms"))));
}

/// Heave and pitch of a body on two wheels; a sampled skyhook damper at each end.
std::string half_car(const char* step) {
    return fmt::format(
        "time: {{end: 2 s, step: {}}}\nsubsystems:\n"
        "  body:\n    ode:\n      parameters: {{m: 600 kg, J: 900 kg.m2, a: 1.2 m, b: 1.4 m}}\n"
        "      states: {{z: 0 m, w: 0 m/s, phi: 0 rad, om: 0 rad/s}}\n"
        "      inputs: {{Ff: 0 N, Fr: 0 N, Cf: 0 N, Cr: 0 N}}\n"
        "      equations: {{z: w, w: (Ff + Fr + Cf + Cr)/m, phi: om, om: (a*(Ff + Cf) - b*(Fr + Cr))/J}}\n"
        "      outputs: {{zf: z + a*phi, wf: w + a*om, zr: z - b*phi, wr: w - b*om}}\n"
        "    ports: {{front: {{kind: translation, position: zf, velocity: wf, force: Ff}},\n"
        "            rear: {{kind: translation, position: zr, velocity: wr, force: Fr}}}}\n"
        "  wf: {{ode: {{states: {{x: 0.03, v: 0}}, inputs: {{F: 0}}, equations: {{x: v, v: (F - 2e5*x)/40}}}}, ports: "
        "{{p: "
        "{{kind: translation, position: x, velocity: v, force: F}}}}}}\n"
        "  wr: {{ode: {{states: {{x: 0, v: 0}}, inputs: {{F: 0}}, equations: {{x: v, v: (F - 2e5*x)/40}}}}, ports: "
        "{{p: "
        "{{kind: translation, position: x, velocity: v, force: F}}}}}}\n"
        "  cf: {{model: pid-sampled, set: {{kp: 2500, ki: 0}}, sample: {{time: 5 ms}}}}\n"
        "  cr: {{model: pid-sampled, set: {{kp: 2500, ki: 0}}, sample: {{time: 5 ms}}}}\n"
        "connections:\n"
        "  sf: {{law: spring-damper, between: [wf.p, body.front], stiffness: 20 kN/m, damping: 800 N.s/m}}\n"
        "  sr: {{law: spring-damper, between: [wr.p, body.rear], stiffness: 22 kN/m, damping: 800 N.s/m}}\n"
        "signals:\n  - body.wf -> cf.measurement\n  - cf.y -> body.Cf\n  - body.wr -> cr.measurement\n"
        "  - cr.y -> body.Cr\n",
        step);
}

TEST(verdict, a_sampled_damper_is_not_stopped) {
    const temporary_folder folder;
    for (const char* step : {"1 ms", "0.5 ms", "0.25 ms", "0.2 ms", "0.1 ms"}) {
        const judged_run r = judge_text(half_car(step), folder / "out");
        EXPECT_EQ(r.status, "done") << step << r.message;
        EXPECT_NE(r.level, trust::wrong) << step << r.text;
    }
}

/// Where the load has the wrong sign the system grows, smoothly: no figure of the coupling is wrong, the model is.
TEST(verdict, a_port_that_moves_against_its_load_is_found) {
    const auto text = [](const char* sign) {
        return fmt::format(
            "time: {{end: 2 s, step: 1 ms}}\nsubsystems:\n"
            "  a: {{ode: {{states: {{x: 0.01, v: 0}}, inputs: {{f: 0}}, equations: {{x: v, v: {}f/2}}}}, ports: {{p: "
            "{{kind: "
            "translation, position: x, velocity: v, force: f}}}}}}\n"
            "  b: {{model: mass-spring-damper, set: {{mass: 4, stiffness: 100}}}}\n"
            "connections:\n  c: {{law: spring, between: [a.p, b.mass], stiffness: 200}}\n",
            sign);
    };
    const judged_run reversed = judge_text(text("-")), right = judge_text(text(""));
    EXPECT_EQ(reversed.level, trust::wrong);
    EXPECT_THAT(reversed.text, HasSubstr("port 'a.p' moves against its load"));
    EXPECT_EQ(right.level, trust::good) << right.text;
    EXPECT_THAT(check(read_scenario_text(text("-"), "v.yaml")), HasSubstr("warning: port 'a.p' moves against"));
    EXPECT_THAT(check(read_scenario_text(text(""), "v.yaml")), testing::Not(HasSubstr("warning")));
}

TEST(verdict, methods_for_connections_say_that_signals_are_none) {
    for (const char* method : {"one-pass", "semi-implicit"}) {
        const scenario s =
            read_scenario_text("method: " + std::string(method) + "\n" + quarter_by_signals("1 ms"), "v.yaml");
        EXPECT_THAT(check(s), HasSubstr("the run is the one of 'explicit'")) << method;
    }
    EXPECT_THAT(check(read_scenario_text("method: one-pass\n" + quarter("1 ms"), "v.yaml")),
                testing::Not(HasSubstr("the run is the one of 'explicit'")));
}

/// A sample of `mdpcosim bench trust` with a seed that no limit was drawn from; `make test-long` has more of them.
TEST(verdict, is_right_on_generated_systems) {
    trust_request request;
    request.each = 10;
    request.seed = 20;
    request.fmus = std::filesystem::path(MDPCOSIM_BINARY_DIR) / "fmus";
    const auto results = bench_trust(request, [](const std::string&) {});
    fmt::print("{}\n{}", to_table(results, false), to_table(results, true));
    const trust_counts alone = count(results, false), verified = count(results, true);
    ASSERT_EQ(alone.systems, 120);
    EXPECT_GE(alone.below_1, 40);
    EXPECT_GE(alone.above_50, 5);
    EXPECT_EQ(alone.diverged_passed, 0);
    EXPECT_LE(alone.good_above_5, 3);
    EXPECT_LE(alone.wrong_below_1, 1);
    EXPECT_GE(alone.good_below_1, 0.85 * alone.below_1);
    EXPECT_EQ(verified.diverged_passed, 0);
    EXPECT_LE(verified.good_above_5, 1);  // where a force jumps at a damped stop, one row near it decides
    EXPECT_EQ(verified.wrong_below_1, 0);
    EXPECT_GE(verified.good_below_1, 0.95 * verified.below_1);
    EXPECT_GE(verified.caught_above_50, 0.9 * verified.above_50);

    // Where neither events nor chaos multiply errors one run alone must do.
    std::vector<trust_result> simple;
    std::ranges::copy_if(results, std::back_inserter(simple), [](const trust_result& r) {
        return r.kind == "chain" || r.kind == "signals" || r.kind == "forced" || r.kind == "growing";
    });
    const trust_counts of_simple = count(simple, false);
    ASSERT_EQ(of_simple.systems, 40);
    EXPECT_EQ(of_simple.good_above_5, 0);
    EXPECT_EQ(of_simple.wrong_below_1, 0);
    EXPECT_GE(of_simple.good_below_1, 0.85 * of_simple.below_1);
    EXPECT_GE(of_simple.caught_above_50, 0.95 * of_simple.above_50);
}

}  // namespace
}  // namespace mdpcosim
