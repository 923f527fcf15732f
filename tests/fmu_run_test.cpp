// FMUs through the whole program: against native models, coupled with them, in other units, from a resolved scenario; what the
// effective rule makes of inputs that are held; what is left of a run whose FMU fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "api/mdpcosim.hpp"
#include "bad_input.hpp"
#include "coupled_run.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string fmu(const std::string& name) { return (fs::path(MDPCOSIM_BINARY_DIR) / "fmus" / (name + ".fmu")).string(); }

std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

using rows = std::vector<std::vector<double>>;

rows follow(const std::string& text, const std::vector<std::string>& addresses, int workers = 1) {
    test::coupled_run run(read_scenario_text(text, "s.yaml"), workers);
    for (const auto& address : addresses) run.watch(address);
    return run.rows();
}

void expect_close(const rows& a, const rows& b, double tolerance) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t n = 0; n < a.size(); ++n)
        for (std::size_t i = 0; i < a[n].size(); ++i) ASSERT_NEAR(a[n][i], b[n][i], tolerance) << "row " << n;
}

const std::string exact_solver = "solver: {name: erk-8, rtol: 1e-12, atol: 1e-14}";
const std::string flange = "ports: {mass: {kind: translation, position: position, velocity: velocity, force: force}}";

/// Two masses on a spring; the entries say what they are.
std::string two_masses(const std::string& a, const std::string& b, const std::string& H, const std::string& end) {
    return "time: {end: " + end + ", step: " + H + "}\nextrapolation: hermite-1\nsubsystems:\n  A: {" + a +
           "}\n  B: {" + b +
           "}\nconnections:\n  spring: {law: spring, between: [A.mass, B.mass], stiffness: 200 N/m}\n";
}

std::string native_mass(const std::string& x0, int degree) {
    return "model: mass-spring-damper, set: {mass: 1 kg, stiffness: 0 N/m, x0: " + x0 + "}, " + exact_solver +
           ", input-degree: " + std::to_string(degree);
}

std::string fmu_mass(const std::string& name, const std::string& x0) {
    return "fmu: '" + fmu(name) + "', set: {m: 1 kg, c: 0 N/m, x0: " + x0 + "}, " + flange;
}

/// An extrapolation whose first macro step is done as a whole by native models, too.
const std::string undivided = "extrapolation: hermite-1\n";

TEST(fmu_run, co_simulation_equals_the_native_model_to_solver_tolerance) {
    const std::vector<std::string> watched{"A.mass.position", "B.mass.velocity"};
    for (const auto& [name, degree] : {std::pair{"oscillator-2", 1},
                                       {"oscillator-3", 1},
                                       {"plain-oscillator-2", 0},
                                       {"plain-oscillator-3", 0},
                                       {"limited-oscillator-2", 0},
                                       {"limited-oscillator-3", 0}}) {
        SCOPED_TRACE(name);
        const rows with_fmus =
            follow(two_masses(fmu_mass(name, "10 mm"), fmu_mass(name, "0 m"), "10 ms", "2 s"), watched);
        const rows native =
            follow(two_masses(native_mass("10 mm", degree), native_mass("0 m", degree), "10 ms", "2 s"), watched);
        expect_close(with_fmus, native, 1e-9);
    }
}

/// FMUs whose description does not say what y depends on: by the standard on every input.
std::string silent_chain(const std::string& name, const std::string& more) {
    std::string text = "time: {end: 1 s, step: 50 ms}\nsubsystems:\n  source: {fmu: '" + fmu("decay-2") + "'}\n";
    for (const char* link : {"c", "b", "a"}) text += std::string("  ") + link + ": {fmu: '" + fmu(name) + "'}\n";
    return text + "signals:\n  - b.y -> c.u\n" + more;
}

TEST(silent_fmu, outputs_follow_inputs_of_the_same_time) {
    for (const char* version : {"2", "3"}) {
        const rows all =
            follow(silent_chain(std::string("silent-feedthrough-") + version, "  - source.x -> a.u\n  - a.y -> b.u\n"),
                   {"source.x", "a.y", "b.y"});
        for (const auto& row : all) {
            ASSERT_EQ(row[1], row[0]);
            ASSERT_EQ(row[2], row[0]);
        }
        EXPECT_NEAR(all.back()[0], std::exp(-1.0), 1e-12);
    }
}

/// In a loop nothing could be calculated that way: there they give what they had after their last step, which was done with the mean of
/// the extrapolated input. Here the loop is closed by a gain of zero.
TEST(silent_fmu, is_no_algebraic_loop) {
    const std::string loop = "  - {connect: 1*c.y + 1*source.x -> a.u, extrapolation: poly-2}\n  - a.y -> b.u\n";
    std::string text = silent_chain("silent-feedthrough-2", loop);
    text.insert(text.find("}\n  b:"), ", set: {gain: 0}");
    EXPECT_THAT(check(read_scenario_text(text, "s.yaml")),
                HasSubstr("fmu of 'c', 'b', 'a': it does not say which inputs its outputs depend on"));
    const rows all = follow(text, {"source.x", "a.y"});
    for (std::size_t n = 3; n < all.size(); ++n)
        ASSERT_NEAR(all[n][1], 1.5 * all[n - 1][0] - 0.5 * all[n - 2][0], 1e-12) << n;
    EXPECT_THROW(check(read_scenario_text(silent_chain("feedthrough-2", loop), "s.yaml")), user_error);
    // Who has loops solved gets them solved here, too.
    for (const auto& row : follow(text + "iteration: newton\n", {"source.x", "a.y"})) ASSERT_NEAR(row[1], row[0], 1e-7);
}

TEST(fmu_run, a_shorter_last_step_that_an_fmu_may_refuse_is_told_before) {
    const auto shown = [](const std::string& name) {
        return check(read_scenario_text("time: {end: 1 s, step: 0.3 s}\nsubsystems:\n  a: {fmu: '" + fmu(name) + "'}\n",
                                        "s.yaml"));
    };
    EXPECT_THAT(shown("fixed-step-oscillator-2"),
                AllOf(HasSubstr("the last macro step, to 1 s, is 0.1 s long instead of 0.3 s"),
                      HasSubstr("Let the run end at 0.9 s or 1.2 s")));
    EXPECT_THAT(shown("oscillator-2"), Not(HasSubstr("last macro step")));
    // Far out the last one differs in the last digits of its times: 0.00099999993 s is refused by nobody.
    for (const char* end : {"1e6 s", "1e8 s"})
        EXPECT_THAT(
            check(read_scenario_text(std::string("time: {end: ") + end + ", step: 1 ms}\nsubsystems:\n  a: {fmu: '" +
                                         fmu("fixed-step-oscillator-3") + "'}\n",
                                     "s.yaml")),
            Not(HasSubstr("last macro step")));
}

/// This program has functions CVodeCreate and, in a shared library, klu_defaults, too. The latter needs a way of loading that sanitizers
/// do not allow, and FMUs that need the C++ runtime do not stand.
TEST(fmu_run, finds_its_own_functions_first) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    constexpr bool sanitized = true;
#else
    constexpr bool sanitized = false;
#endif
    for (const std::string name : {"own-solver-2", "own-solver-3", "own-solver-beside-cpp-2"}) {
        const rows all =
            follow("time: {end: 1 s, step: 0.5 s}\nsubsystems:\n  a: {fmu: '" + fmu(name) + "'}\n", {"a.y", "a.z"});
        EXPECT_EQ(all.back()[0], 42) << name;
        if (!sanitized && !name.starts_with("own-solver-beside")) {
            EXPECT_EQ(all.back()[1], 43) << name;
        }
    }
}

/// The largest macro step with which the oscillation of two masses does not grow, by bisection.
double stability_limit(const std::function<std::string(double H)>& text) {
    const auto grows = [&](double H) {
        rows all;
        try {
            all = follow(text(H), {"A.mass.position", "B.mass.position"});
        } catch (const run_error&) {
            return true;  // beyond all bounds
        }
        double last = 0;
        for (std::size_t n = all.size() * 9 / 10; n < all.size(); ++n)
            last = std::max(last, std::abs(all[n][0] - all[n][1]));
        return !(last < 10 * std::abs(all[0][0] - all[0][1]));
    };
    double stable = 0.01, unstable = 0.3;
    while (unstable - stable > 1e-4) {
        const double middle = (stable + unstable) / 2;
        (grows(middle) ? unstable : stable) = middle;
    }
    return stable;
}

TEST(fmu_run, held_inputs_have_the_stability_limit_of_the_constant_rule) {
    const auto limit = [](const std::string& a, const std::string& b) {
        return stability_limit(
            [&](double H) { return two_masses(a, b, std::to_string(H) + " s", std::to_string(600 * H) + " s"); });
    };
    const double constant = limit(native_mass("10 mm", 0), native_mass("0 m", 0));
    const double linear = limit(native_mass("10 mm", 1), native_mass("0 m", 1));
    EXPECT_GT(std::abs(constant - linear), 0.01) << "the rules differ enough to be told apart";
    for (const char* name : {"plain-oscillator-2", "plain-oscillator-3"})
        EXPECT_NEAR(limit(fmu_mass(name, "10 mm"), fmu_mass(name, "0 m")), constant, 3e-4) << name;
    for (const char* name : {"oscillator-2", "oscillator-3"})
        EXPECT_NEAR(limit(fmu_mass(name, "10 mm"), fmu_mass(name, "0 m")), linear, 3e-4) << name;
}

/// FMU - spring - native model - spring - ode, against three native models.
std::string three_masses(const std::string& a, const std::string& c) {
    return "time: {end: 1 s, step: 5 ms}\nsubsystems:\n  A: {" + a +
           "}\n  B: {model: mass-spring-damper, set: {mass: 2 kg}, " + exact_solver + "}\n  C: {" + c +
           "}\nconnections:\n  left: {law: spring, between: [A.mass, B.mass], stiffness: 200 N/m}\n"
           "  right: {law: spring-damper, between: [B.mass, C.mass], stiffness: 100 N/m, damping: 1 N.s/m}\n";
}

TEST(fmu_run, fmus_native_models_and_equations_mix) {
    const std::vector<std::string> watched{"A.mass.position", "B.mass.position", "C.mass.position"};
    const std::string ode =
        "ode: {parameters: {m: 3 kg}, states: {x: 0 m, v: 0 m/s}, inputs: {F: 0 N}, equations: {x: v, v: F/m}}, "
        "ports: {mass: {kind: translation, position: x, velocity: v, force: F}}, " +
        exact_solver;
    const std::string native = "model: mass-spring-damper, set: {mass: 3 kg}, " + exact_solver;
    const rows reference = follow(undivided + three_masses(native_mass("10 mm", 1), native), watched);
    for (const char* name : {"oscillator-2", "oscillator-3"})
        expect_close(follow(undivided + three_masses(fmu_mass(name, "10 mm"), ode), watched), reference, 1e-9);
}

TEST(fmu_run, units_of_the_fmu_become_si) {
    const auto text = [](const std::string& rotor) {
        return undivided + "time: {end: 1 s, step: 2 ms}\nsubsystems:\n  A: {" + rotor +
               "}\n  B: {model: inertia, set: {inertia: 0.5 kg.m2}, " + exact_solver +
               "}\nconnections:\n  shaft: {law: spring, between: [A.shaft, B.shaft], stiffness: 50 N.m/rad}\n";
    };
    const std::string in_workshop_units =
        "set: {J: 0.2 kg.m2, n0: 300 rpm, phi0: 30 deg}, ports: {shaft: {kind: rotation, angle: shaft.phi, speed: "
        "shaft.n, torque: shaft.tau}}";
    const std::vector<std::string> watched{"A.shaft.angle", "A.shaft.speed", "B.shaft.angle"};
    const rows native = follow(text("model: inertia, set: {inertia: 0.2 kg.m2, w0: 300 rpm, phi0: 30 deg}, "
                                    "input-degree: 0, " +
                                    exact_solver),
                               watched);
    for (const char* name : {"workshop-2", "workshop-3"})
        expect_close(follow(text("fmu: '" + fmu(name) + "', " + in_workshop_units), watched), native, 1e-9);
}

class fmu_program : public testing::Test {
   protected:
    test::temporary_folder folder_;

    std::string results(const scenario& s, const std::string& name, int workers = 1) {
        const run_summary summary = run(s, {.out = folder_.path() / name, .workers = workers});
        EXPECT_EQ(summary.status, "done") << summary.message;
        return content(folder_.path() / name / "results.csv");
    }
};

TEST_F(fmu_program, workers_and_the_resolved_scenario_change_nothing) {
    std::string text = "time: {end: 0.5 s, step: 1 ms}\nsubsystems:\n";
    for (int i = 0; i < 6; ++i)
        text += "  m" + std::to_string(i) + ": {" +
                fmu_mass(i % 2 == 0 ? "oscillator-2" : "oscillator-3", std::to_string(i) + " mm") +
                ", outputs: [x], tolerance: 1e-5, log: [logEvents]}\n";
    text += "connections:\n";
    for (int i = 0; i + 1 < 6; ++i)
        text += "  s" + std::to_string(i) + ": {law: spring, between: [m" + std::to_string(i) + ".mass, m" +
                std::to_string(i + 1) + ".mass], stiffness: 100 N/m}\n";
    const scenario s = read_scenario_text(text, "s.yaml", folder_.path());
    const std::string one = results(s, "one");
    EXPECT_THAT(one, HasSubstr("m3.x"));
    EXPECT_EQ(results(s, "two", 2), one);
    EXPECT_EQ(results(read_scenario(folder_.path() / "one" / "scenario.yaml"), "again"), one);
}

TEST_F(fmu_program, check_shows_ports_units_and_capabilities) {
    const std::string shown =
        check(read_scenario_text("time: {end: 1 s, step: 1 ms}\nsubsystems:\n  shaft: {fmu: '" + fmu("inertia-3") +
                                     "', set: {w0: 60 rpm}}\n" + "  rotor: {fmu: '" + fmu("workshop-2") + "'}\n",
                                 "s.yaml"));
    EXPECT_THAT(shown, AllOf(HasSubstr("fmu inertia-3.fmu (FMI 3.0 co-simulation)"),
                             HasSubstr("gives angle [rad] = phi, speed [rad/s] = w, acceleration [rad/s2] = a, takes "
                                       "torque [N.m] = tau"),
                             HasSubstr("intermediate update"), HasSubstr("set w0            60 rpm = 6.28"),
                             HasSubstr("1 rpm = 0.10471975512 rad/s (shaft.n)"),
                             HasSubstr("possible port     shaft: {kind: rotation, angle: shaft.phi, speed: shaft.n, "
                                       "torque: shaft.tau}")));
}

TEST_F(fmu_program, a_signal_from_an_fmu_uses_its_rate) {
    const std::string shown = check(read_scenario_text("time: {end: 1 s, step: 1 ms}\nsubsystems:\n  a: {fmu: '" +
                                                           fmu("gauge-2") + "'}\n  b: {fmu: '" + fmu("feedthrough-2") +
                                                           "'}\nsignals:\n  - a.y -> b.u\n  - 2*a.y -> b.int32_in\n",
                                                       "s.yaml"));
    EXPECT_THAT(shown, HasSubstr("a.y -> b.u (degree 0)\n                 extrapolation hermite-2 (default)"));
    EXPECT_THAT(shown, HasSubstr("extrapolation poly-1 (default, because the input is sampled)"));
}

/// The outputs of feed-through FMUs follow their inputs at once: a chain of them has no delay.
TEST(fmu_run, feed_through_is_followed_at_every_macro_point) {
    std::string text = "time: {end: 1 s, step: 10 ms}\nsubsystems:\n  source: {fmu: '" + fmu("decay-2") + "'}\n";
    std::string signals = "signals:\n  - source.x -> f1.u\n";
    for (int i = 1; i <= 5; ++i) {
        text += "  f" + std::to_string(i) + ": {fmu: '" + fmu(i % 2 == 0 ? "feedthrough-2" : "feedthrough-3") +
                "', set: {gain: 2}}\n";
        if (i < 5) signals += "  - f" + std::to_string(i) + ".y -> f" + std::to_string(i + 1) + ".u\n";
    }
    text += "  last: {model: lag-1}\n";
    signals += "  - f5.y -> last.u\n";
    for (const auto& row : follow(text + signals, {"source.x", "f1.y", "f5.y"})) {
        EXPECT_EQ(row[1], 2 * row[0]);
        EXPECT_EQ(row[2], 32 * row[0]);
    }
}

/// An FMU with a state and an output that follows its input at once; the way from the one to the other leads through another FMU,
/// which reads the state's output before the first FMU is evaluated again.
TEST(fmu_run, outputs_read_before_the_evaluation_are_those_of_the_step) {
    for (const std::string version : {"2", "3"}) {
        const std::string text = "time: {end: 1 s, step: 10 ms}\nsubsystems:\n  o: {fmu: '" +
                                 fmu("oscillator-" + version) + "', set: {x0: 0.1}}\n  f: {fmu: '" +
                                 fmu("feedthrough-" + version) +
                                 "'}\n  last: {model: lag-1}\nsignals:\n  - 3*o.position -> f.u\n  - 2*f.y -> o.force\n"
                                 "  - 1*o.acceleration -> last.u\n";
        double before = 0;
        for (const auto& row : follow(text, {"o.position", "f.y"})) {
            EXPECT_EQ(row[1], 3 * row[0]);
            EXPECT_NE(row[0], before);
            before = row[0];
        }
    }
}

TEST(fmu_run, only_true_loops_are_loops) {
    const auto text = [](const std::string& back) {
        return "time: {end: 1 s, step: 10 ms}\nsubsystems:\n  a: {fmu: '" + fmu("feedthrough-3") + "'}\n  b: {fmu: '" +
               fmu("feedthrough-3") + "'}\nsignals:\n  - a.y -> b.u\n  - b." + back + " -> a." +
               (back == "y" ? "u" : "int32_in") + "\n";
    };
    EXPECT_EQ(message_of(text("int32_out")), "accepted");
    EXPECT_THAT(message_of(text("y")), HasSubstr("algebraic loop"));
}

/// Evaluating outputs again is all that a loop needs: y = u, u = 8 - 3 y.
TEST(fmu_run, loops_of_plain_fmus_are_solved) {
    for (const std::string name : {"feedthrough-2", "feedthrough-3"}) {
        const std::string text = "time: {end: 0.1 s, step: 10 ms}\nsubsystems:\n  a: {fmu: '" + fmu(name) +
                                 "'}\n  b: {fmu: '" + fmu(name) +
                                 "'}\nsignals:\n  - a.y -> b.u\n  - -3*b.y + 8 -> a.u\niteration: newton\n";
        for (const auto& row : follow(text, {"a.y", "b.y"})) {
            EXPECT_NEAR(row[0], 2, 1e-7) << name;
            EXPECT_NEAR(row[1], 2, 1e-7) << name;
        }
    }
}

/// The numbers of examples/fmu-shaft/README.md, with the FMUs of this build.
class fmu_shaft : public fmu_program {
   protected:
    struct table {
        std::vector<std::string> names;
        rows values;
        double operator()(std::size_t row, const std::string& name) const {
            return values[row][static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin())];
        }
    };

    table run_example(const std::string& name, const std::vector<scenario_override>& changes = {}) {
        const fs::path example = fs::path(MDPCOSIM_SOURCE_DIR) / "examples" / "fmu-shaft";
        std::string text = content(example / name);
        const std::string written = "../../build/";
        for (auto at = text.find(written); at != std::string::npos; at = text.find(written))
            text.replace(at, written.size(), MDPCOSIM_BINARY_DIR "/");
        std::istringstream csv(results(read_scenario_text(text, name, example, changes), name));
        table t;
        std::string line, field;
        std::getline(csv, line);
        for (std::istringstream fields(line); std::getline(fields, field, ',');) t.names.push_back(field);
        while (std::getline(csv, line)) {
            auto& row = t.values.emplace_back();
            for (std::istringstream fields(line); std::getline(fields, field, ',');) row.push_back(std::stod(field));
        }
        return t;
    }

    double error(std::vector<scenario_override> changes) {
        const table t = run_example("scenario.yaml", changes);
        EXPECT_EQ(t.values.size(), 201u);
        const double J1 = 0.2, J2 = 0.5, w0 = 4 * std::acos(-1.0), w = std::sqrt(200 * (1 / J1 + 1 / J2));
        double worst = 0;
        for (std::size_t n = 0; n < t.values.size(); ++n) {
            const double time = t(n, "time"), mean = J1 * w0 / (J1 + J2) * time;
            const double shaft = w0 / w * std::sin(w * time) / (J1 + J2);
            worst = std::max({worst, std::abs(t(n, "engine.phi") - mean - J2 * shaft),
                              std::abs(t(n, "load.phi") - mean + J1 * shaft)});
        }
        return worst;
    }

    /// What the README states, within a factor of 1.5 both ways.
    static void expect_stated(const std::string& what, double measured, double stated) {
        std::printf("%-48s %.3g\n", what.c_str(), measured);
        EXPECT_LT(measured, 1.5 * stated) << what;
        EXPECT_GT(measured, stated / 1.5) << what;
    }
};

TEST_F(fmu_shaft, follows_the_exact_solution) {
    const scenario_override held{"engine.input-degree", "0", "--set"}, held_too{"load.input-degree", "0", "--set"};
    const scenario_override half{"time.step", "0.5 ms", "--set"};
    expect_stated("error at 1 ms [rad]", error({}), 5.36e-5);
    expect_stated("error at 0.5 ms [rad]", error({half}), 6.72e-6);
    expect_stated("inputs held, error at 1 ms [rad]", error({held, held_too}), 1.00e-3);
    expect_stated("inputs held, error at 0.5 ms [rad]", error({held, held_too, half}), 2.52e-4);
}

TEST_F(fmu_shaft, angular_momentum_is_balanced) {
    const table t = run_example("mixed.yaml");
    const double start = 0.2 * t(0, "engine.w");
    double worst = 0;
    for (std::size_t n = 0; n < t.values.size(); ++n)
        worst = std::max(worst, std::abs(0.2 * t(n, "engine.w") + 0.5 * t(n, "load.w") + t(n, "flywheel.shaft.speed") +
                                         0.1 * t(n, "brake.w") - start + 2 * t(n, "brake.phi")));
    std::printf("%-48s %.3g of %.3g\n", "balance of the angular momentum [N.m.s]", worst, start);
    // FMUs are told H, the others integrate from time to time: up to 1.1e-16 s beside it in each of 2000 steps, at some 20 N.m.
    EXPECT_LT(worst, 4.4e-12);
}

TEST_F(fmu_program, a_failing_fmu_leaves_what_was_recorded) {
    for (const auto& [how, where, reason] : {std::tuple{"error", "step", "DoStep returned error"},
                                             {"throw", "get", "an exception left fmi"},
                                             {"nan", "nowhere", "output 'y' is nan"}}) {
        for (const char* version : {"2", "3"}) {
            const std::string text = "time: {end: 1 s, step: 10 ms}\nsubsystems:\n  sick: {fmu: '" +
                                     fmu(std::string("misbehave-") + version) + "', set: {where: " + where +
                                     ", how: " + how + ", when: 0.5 s}}\n  well: {model: lag-1}\n";
            const fs::path out = folder_.path() / (std::string(how) + version);
            const run_summary s = run(read_scenario_text(text, "s.yaml"), {.out = out, .workers = 1});
            EXPECT_EQ(s.status, "failed");
            EXPECT_THAT(s.message, AllOf(HasSubstr("sick"), HasSubstr(reason), HasSubstr("0.5"))) << how;
            const std::string csv = content(out / "results.csv");
            EXPECT_GE(std::count(csv.begin(), csv.end(), '\n'), 50) << how;
        }
    }
}

}  // namespace
}  // namespace mdpcosim
